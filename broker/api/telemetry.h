// ClientTelemetry: what clients are asked to push of their metrics, and which of them may push now
// (KIP-714). What they push is checked and counted.
//
// An instance belongs to the core that its id names; a client may come in over any connection.
// State is soft: a change of any subscription forgets what was said and when, as in Kafka. Threads:
// any core; the Tasks resume on the caller's.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/api/handler.h"
#include "broker/io/core.h"
#include "broker/metadata/client_metrics.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::api {

inline constexpr int32_t kTelemetryMaxBytes = 1048576;

struct TelemetrySubscription {
  int32_t id = 0;
  int32_t push_interval_ms = 0;
  std::vector<std::string> metrics;
};
struct TelemetryPush {
  Uuid instance;
  int32_t subscription_id = 0;
  bool terminating = false;
  int8_t compression = 0;
  size_t bytes = 0;
};

// How subscriptions see the client of a request.
metadata::MetricsClient metrics_client(const RequestContext& context, const Uuid& instance);

class ClientTelemetry {
 public:
  ClientTelemetry(io::Environment& environment, const metadata::MetadataService& metadata);
  ClientTelemetry(const ClientTelemetry&) = delete;

  // THROTTLING_QUOTA_EXCEEDED: too early.
  io::Task<Result<TelemetrySubscription>> subscribe(Uuid instance, metadata::MetricsClient client);
  // INVALID_REQUEST (after its end), THROTTLING_QUOTA_EXCEEDED, UNKNOWN_SUBSCRIPTION_ID,
  // UNSUPPORTED_COMPRESSION_TYPE, TELEMETRY_TOO_LARGE.
  io::Task<Result<void>> push(TelemetryPush push, metadata::MetricsClient client);

  // Of the pushes that were taken.
  uint64_t pushes() const { return pushes_.load(std::memory_order_relaxed); }
  uint64_t pushed_bytes() const { return pushed_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Instance {
    Uuid id;
    TelemetrySubscription subscription;
    int64_t asked_at_ms = kNever;
    int64_t pushed_at_ms = kNever;
    bool terminating = false;
  };
  struct PerCore {
    int64_t version = -1;  // of the image that `subscriptions` was made from
    std::vector<metadata::MetricsSubscription> subscriptions;
    std::list<Instance> instances;  // the one used last is the first
    std::unordered_map<Uuid, std::list<Instance>::iterator> by_id;
  };
  static constexpr int64_t kNever = -1;

  const io::Core& core_of(const Uuid& instance) const {
    return environment_.core(std::hash<Uuid>()(instance));
  }
  Instance& instance_of(const Uuid& id, const metadata::MetricsClient& client);
  io::Task<Result<TelemetrySubscription>> subscribe_here(Uuid id, metadata::MetricsClient client);
  io::Task<Result<void>> push_here(TelemetryPush push, metadata::MetricsClient client);

  io::Environment& environment_;
  const metadata::MetadataService& metadata_;
  std::vector<PerCore> cores_;
  std::atomic<uint64_t> pushes_{0};
  std::atomic<uint64_t> pushed_bytes_{0};
};

}  // namespace ackord::api
