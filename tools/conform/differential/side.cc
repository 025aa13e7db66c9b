#include "tools/conform/differential/side.h"

#include <fmt/format.h>

#include "protocol/generated/messages.h"
#include "protocol/record_batch/big_endian.h"
#include "tools/conform/kit/failure.h"

namespace ackord::conform::differential {
namespace {

constexpr size_t kVersionAt = 2;
constexpr size_t kCorrelationAt = 4;
constexpr size_t kHeaderEnd = 8;
constexpr int32_t kProbeId = 0x5eed5eed;
// Longer than any story.
constexpr Millis kForever{24 * 3600 * 1000};
constexpr int16_t kApiVersions = 18;
constexpr std::string_view kRequest = "Request";

std::string api_name(int16_t key) {
  const auto* found = protocol::find_message(protocol::MessageType::kRequest, key);
  if (found == nullptr) return {};
  return std::string(found->name.substr(0, found->name.size() - kRequest.size()));
}

}  // namespace

Side::Side(client::Endpoint endpoint) : broker_(std::move(endpoint)) {}

Connection& Side::connection() {
  if (!connection_) {
    try {
      connection_.emplace(broker_, client::Deadline::in(kForever), exchange_);
    } catch (const Failure& failure) {
      throw std::runtime_error(broker_.address() + ": " + failure.what());
    }
  }
  return *connection_;
}

void Side::send(std::span<const std::byte> frame) {
  using protocol::load_big;
  api_key_ = frame.size() >= kVersionAt ? load_big<int16_t>(frame.data()) : int16_t{-1};
  version_ =
      frame.size() >= kCorrelationAt ? load_big<int16_t>(frame.data() + kVersionAt) : int16_t{-1};
  correlation_id_ =
      frame.size() >= kHeaderEnd ? load_big<int32_t>(frame.data() + kCorrelationAt) : -1;
  try {
    connection().send_frame(frame);
    connection().send_frame(encode_request("ApiVersions", 0, {}, {.correlation_id = kProbeId}));
  } catch (const Failure&) {
    // It was closed already: receive() tells.
  }
}

Answer Side::receive() {
  Answer answer = read();
  if (answer.kind != Answer::Kind::kBody && answer.kind != Answer::Kind::kNone &&
      answer.kind != Answer::Kind::kUnreadable)
    disconnect();
  return answer;
}

Answer Side::read() {
  try {
    const auto frame = connection().receive_frame(kHangLimit);
    if (!frame) return {Answer::Kind::kClosed, {}};
    if (frame->size() >= sizeof(int32_t) && protocol::load_big<int32_t>(frame->data()) == kProbeId)
      return {Answer::Kind::kNone, {}};
    // The probe's answer; without it the connection is of no use.
    if (!connection().receive_frame(kHangLimit)) disconnect();
    try {
      return {Answer::Kind::kBody,
              decode_answer({api_name(api_key_), version_, correlation_id_}, *frame).json()};
    } catch (const Failure&) {
      if (api_key_ != kApiVersions) return {Answer::Kind::kUnreadable, {}};
      return {Answer::Kind::kBody,
              decode_answer({"ApiVersions", 0, correlation_id_}, *frame).json()};
    }
  } catch (const Failure&) {
    return {Answer::Kind::kHangs, {}};
  }
}

json::value Side::ask(std::string_view api, int16_t version, const json::object& body) {
  try {
    return connection().ask(api, version, body).json();
  } catch (const Failure& failure) {
    throw std::runtime_error(fmt::format("{}: {}", broker_.address(), failure.what()));
  }
}

}  // namespace ackord::conform::differential
