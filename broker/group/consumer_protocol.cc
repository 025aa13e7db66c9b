#include "broker/group/consumer_protocol.h"

#include <algorithm>
#include <span>

#include "protocol/generated/consumer_protocol_assignment.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::group {
namespace {

template <class Message>
struct Versioned {
  int16_t version;
  Message message;
};

template <class Message>
std::optional<Versioned<Message>> read(std::string_view bytes) {
  protocol::Reader in(std::as_bytes(std::span(bytes.data(), bytes.size())));
  const int16_t version = in.int16();
  if (!in.ok() || version < Message::kMinVersion) return std::nullopt;
  const int16_t read_as = std::min(version, Message::kMaxVersion);
  Result<Message> message = Message::decode(in, read_as);
  if (!message) return std::nullopt;
  return Versioned<Message>{read_as, std::move(*message)};
}

}  // namespace

std::optional<ConsumerSubscription> read_subscription(std::string_view bytes) {
  const auto found = read<protocol::ConsumerProtocolSubscription>(bytes);
  if (!found) return std::nullopt;
  ConsumerSubscription out;
  out.version = found->version;
  for (const auto& topic : found->message.topics) out.topics.emplace_back(topic.sv());
  for (const auto& owned : found->message.owned_partitions)
    out.owned.emplace_back(owned.topic.str(), owned.partitions);
  if (found->message.rack_id && !found->message.rack_id->empty())
    out.rack = found->message.rack_id->str();
  return out;
}

std::optional<ConsumerAssignment> read_assignment(std::string_view bytes) {
  const auto found = read<protocol::ConsumerProtocolAssignment>(bytes);
  if (!found) return std::nullopt;
  ConsumerAssignment out;
  for (const auto& topic : found->message.assigned_partitions)
    out.partitions.emplace_back(topic.topic.str(), topic.partitions);
  out.has_user_data = found->message.user_data && !found->message.user_data->empty();
  return out;
}

std::string write_assignment(int16_t version, const NamedPartitions& partitions) {
  protocol::ConsumerProtocolAssignment message;
  for (const auto& [topic, numbers] : partitions) {
    auto& out = message.assigned_partitions.emplace_back();
    out.topic = topic;
    out.partitions = numbers;
  }
  message.user_data.reset();
  protocol::Writer out;
  out.int16(version);
  message.encode(out, version);
  const std::vector<std::byte> bytes = out.finish().copy();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace ackord::group
