#include <charconv>

#include "client/share_consumer.h"

namespace ackord::client {
namespace {

Error bad_value(std::string_view name, std::string_view value) {
  return error(ErrorCode::INVALID_CONFIG,
               std::string(name) + " cannot be '" + std::string(value) + "'");
}

// Numbers that Kafka's clients allow here: from `least` on.
template <class Set>
Result<void> set_number(std::string_view name, std::string_view value, int32_t least, Set set) {
  int32_t number = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size() || number < least)
    return bad_value(name, value);
  set(number);
  return {};
}

std::optional<AcknowledgementMode> mode_of(std::string_view value) {
  if (value == "implicit") return AcknowledgementMode::kImplicit;
  if (value == "explicit") return AcknowledgementMode::kExplicit;
  if (value == "transactional") return AcknowledgementMode::kTransactional;
  return std::nullopt;
}

}  // namespace

Result<void> ShareConsumerConfig::set(std::string_view name, std::string_view value) {
  if (name == "bootstrap.servers") {
    client.bootstrap_servers = value;
  } else if (name == "client.id") {
    client.client_id = value;
  } else if (name == "group.id") {
    group = GroupId(value);
  } else if (name == "client.rack") {
    rack = std::string(value);
  } else if (name == "share.acknowledgement.mode") {
    const std::optional<AcknowledgementMode> known = mode_of(value);
    if (!known) return bad_value(name, value);
    mode = *known;
  } else if (name == "share.acknowledgement.fallback") {
    const std::optional<AcknowledgementMode> known = mode_of(value);
    if (!known || known == AcknowledgementMode::kTransactional) return bad_value(name, value);
    fallback = known;
  } else if (name == "share.acquire.mode") {
    if (value != "batch_optimized" && value != "record_limit") return bad_value(name, value);
    limits.acquire_mode =
        value == "record_limit" ? AcquireMode::kRecordLimit : AcquireMode::kBatchOptimized;
  } else if (name == "max.poll.records") {
    return set_number(name, value, 1, [this](int32_t number) { limits.max_poll_records = number; });
  } else if (name == "fetch.min.bytes") {
    return set_number(name, value, 0, [this](int32_t number) { limits.min_bytes = number; });
  } else if (name == "fetch.max.bytes") {
    return set_number(name, value, 0, [this](int32_t number) { limits.max_bytes = number; });
  } else if (name == "fetch.max.wait.ms") {
    return set_number(name, value, 0, [this](int32_t number) { limits.max_wait = Millis(number); });
  } else if (name == "request.timeout.ms") {
    return set_number(name, value, 0,
                      [this](int32_t number) { client.request_timeout = Millis(number); });
  } else {
    return error(ErrorCode::INVALID_CONFIG, "unknown option " + std::string(name));
  }
  return {};
}

}  // namespace ackord::client
