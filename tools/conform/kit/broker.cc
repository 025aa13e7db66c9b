#include "tools/conform/kit/broker.h"

#include <fmt/format.h>

#include "protocol/generated/messages.h"
#include "tools/conform/kit/connection.h"
#include "tools/conform/kit/failure.h"
#include "tools/conform/kit/json.h"

namespace ackord::conform {
namespace {

constexpr int16_t kApiVersionsVersion = 3;
constexpr Millis kProbeLimit{5000};

}  // namespace

int16_t api_key_of(std::string_view api) {
  const protocol::MessageInfo* found = protocol::find_message(std::string(api) + "Request");
  return found == nullptr ? int16_t{-1} : found->api_key;
}

Broker::Broker(client::Endpoint endpoint) : endpoint_(std::move(endpoint)) {
  Exchange exchange;
  try {
    Connection connection(*this, client::Deadline::in(kProbeLimit), exchange);
    const Sent sent =
        connection.send("ApiVersions", kApiVersionsVersion,
                        {{"clientSoftwareName", "ackord-conform"}, {"clientSoftwareVersion", "1"}});
    const Value answer = connection.receive(sent, kProbeLimit);
    answer["errorCode"].is_none();
    for (const Value& api : answer["apiKeys"].items()) {
      versions_[static_cast<int16_t>(api["apiKey"].number())] = {
          static_cast<int16_t>(api["minVersion"].number()),
          static_cast<int16_t>(api["maxVersion"].number())};
    }
    if (answer.has("finalizedFeatures")) {
      for (const Value& feature : answer["finalizedFeatures"].items())
        features_[feature["name"].text()] =
            static_cast<int16_t>(feature["maxVersionLevel"].number());
    }
  } catch (const Failure& failure) {
    throw std::runtime_error(
        fmt::format("no Kafka broker answers at {}: {}", address(), failure.what()));
  }
}

std::optional<VersionRange> Broker::versions(std::string_view api) const {
  return versions(api_key_of(api));
}

std::optional<VersionRange> Broker::versions(int16_t api_key) const {
  const auto found = versions_.find(api_key);
  if (found == versions_.end()) return std::nullopt;
  return found->second;
}

int16_t Broker::feature(const std::string& name) const {
  const auto found = features_.find(name);
  return found == features_.end() ? int16_t{0} : found->second;
}

}  // namespace ackord::conform
