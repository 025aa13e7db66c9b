// Subscriptions of client metrics (KIP-714): what the configs of a CLIENT_METRICS resource say.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/metadata/image.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

inline constexpr int32_t kDefaultPushIntervalMs = 300000;
inline constexpr int32_t kMinPushIntervalMs = 100;
inline constexpr int32_t kMaxPushIntervalMs = 3600000;

// The properties of a client that a subscription may ask for.
struct MetricsClient {
  std::string instance_id;
  std::string client_id;
  std::string software_name;
  std::string software_version;
  std::string address;
  std::string port;
};

// One subscription in force. A value that another broker has stored and that does not parse
// matches no client.
class MetricsSubscription {
 public:
  explicit MetricsSubscription(const ConfigMap& configs);
  ~MetricsSubscription();
  MetricsSubscription(MetricsSubscription&&) noexcept;

  // Every pattern fits the whole of its property.
  bool matches(const MetricsClient& client) const;
  int32_t interval_ms() const { return interval_ms_; }
  const std::vector<std::string>& metrics() const { return metrics_; }

 private:
  struct Pattern;
  std::vector<Pattern> patterns_;
  std::vector<std::string> metrics_;
  int32_t interval_ms_ = kDefaultPushIntervalMs;
  bool readable_ = true;
};

}  // namespace ackord::metadata
