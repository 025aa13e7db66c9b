// Broker: the one under test: its address, and which versions of which APIs it says it serves.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "client/config.h"

namespace ackord::conform {

using client::Millis;

struct VersionRange {
  int16_t min = 0;
  int16_t max = -1;
  bool has(int16_t version) const { return min <= version && version <= max; }
};

class Broker {
 public:
  // Asks for its versions. Throws std::runtime_error with one line when nothing, or something that
  // is no Kafka broker, answers there.
  explicit Broker(client::Endpoint endpoint);

  const client::Endpoint& endpoint() const { return endpoint_; }
  std::string address() const { return endpoint_.host + ":" + std::to_string(endpoint_.port); }
  // Nothing when it does not advertise the API. `api`: as in the schemas, without "Request".
  std::optional<VersionRange> versions(std::string_view api) const;
  std::optional<VersionRange> versions(int16_t api_key) const;
  const std::map<int16_t, VersionRange>& all_versions() const { return versions_; }
  // The level of a finalized feature; 0 when it has none of that name.
  int16_t feature(const std::string& name) const;

 private:
  client::Endpoint endpoint_;
  std::map<int16_t, VersionRange> versions_;
  std::map<std::string, int16_t> features_;
};

// The key of an API; -1 when there is none of this name.
int16_t api_key_of(std::string_view api);

}  // namespace ackord::conform
