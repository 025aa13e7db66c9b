#include "tools/conform/kit/connection.h"

#include <poll.h>

#include <array>

#include "protocol/json/json_message.h"
#include "protocol/record_batch/big_endian.h"
#include "protocol/wire/header.h"
#include "tools/conform/kit/failure.h"
#include "tools/conform/kit/show.h"

namespace ackord::conform {
namespace {

// Above what any broker sends by default (message.max.bytes and fetch.max.bytes are below).
constexpr uint32_t kMaxAnswer = 200u << 20;
constexpr uint32_t kHttp = 0x48545450;  // "HTTP"

const protocol::JsonMessage& message(std::string_view api, const char* kind) {
  const protocol::JsonMessage* found = protocol::find_json_message(std::string(api) + kind);
  if (found == nullptr) throw Failure("no schema for " + std::string(api) + kind);
  return *found;
}

void write_header(protocol::Writer& out, int16_t api_key, int16_t version, const Framing& framing) {
  protocol::RequestHeader header;
  header.request_api_key = api_key;
  header.request_api_version = version;
  header.correlation_id = framing.correlation_id.value_or(0);
  header.client_id.reset();
  if (framing.client_id) header.client_id = String(*framing.client_id);
  protocol::write_request_header(out, header);
}

}  // namespace

std::vector<std::byte> encode_header(int16_t api_key, int16_t version, const Framing& framing) {
  protocol::Writer out;
  write_header(out, api_key, version, framing);
  return out.finish().copy();
}

std::vector<std::byte> encode_request(std::string_view api, int16_t version,
                                      const boost::json::object& body, const Framing& framing) {
  protocol::Writer out;
  write_header(out, api_key_of(api), version, framing);
  auto encoded = message(api, "Request").encode(body, version, out, protocol::Missing::kDefault);
  if (!encoded) throw Failure("the case's own request: " + encoded.error().message);
  return out.finish().copy();
}

Value decode_answer(const Sent& sent, std::span<const std::byte> frame) {
  const std::string name = fmt::format("{} v{}", sent.api, sent.version);
  protocol::Reader in(frame);
  auto header = protocol::read_response_header(in, api_key_of(sent.api), sent.version);
  if (!header) throw Failure(name + ": the answer's header: " + header.error().message);
  if (header->correlation_id != sent.correlation_id) {
    throw Failure(fmt::format("{}: expected correlation id {}, received {}", name,
                              sent.correlation_id, header->correlation_id));
  }
  auto body = message(sent.api, "Response").decode(in, sent.version);
  if (!body) throw Failure(name + ": the answer cannot be read: " + body.error().message);
  if (in.remaining() != 0)
    throw Failure(fmt::format("{}: {} bytes follow the answer", name, in.remaining()));
  return Value(std::move(*body), sent.api);
}

Connection::Connection(const Broker& broker, client::Deadline end, Exchange& exchange)
    : broker_(broker), end_(end), exchange_(exchange) {
  auto socket = client::Socket::connect(broker.endpoint(), within(kAnswerLimit));
  if (!socket) throw Failure("cannot connect: " + socket.error().message);
  socket_.emplace(std::move(*socket));
}

client::Socket& Connection::socket() {
  if (!socket_) throw Failure("the case uses a connection that it has closed");
  return *socket_;
}

Value Connection::ask(std::string_view api, int16_t version, const boost::json::object& body,
                      Millis limit) {
  const auto served = broker_.versions(api);
  if (!served || !served->has(version))
    throw Failure(fmt::format("the broker does not advertise {} v{}", api, version));
  return receive(send(api, version, body), limit);
}

Sent Connection::send(std::string_view api, int16_t version, const boost::json::object& body,
                      const Framing& framing) {
  Framing used = framing;
  if (!used.correlation_id) used.correlation_id = next_correlation_id_++;
  exchange_.request = fmt::format("{} v{} {}", api, version, show(boost::json::value(body)));
  exchange_.answer.clear();
  send_frame(encode_request(api, version, body, used));
  return {std::string(api), version, *used.correlation_id};
}

Value Connection::receive(const Sent& sent, Millis limit) {
  const auto frame = receive_frame(limit);
  if (!frame)
    throw Failure(fmt::format("{} v{}: the broker closed the connection", sent.api, sent.version));
  Value answer = decode_answer(sent, *frame);
  exchange_.answer = show(answer.json());
  return answer;
}

bool Connection::readable_within(Millis limit) {
  struct pollfd entry{socket().descriptor(), POLLIN, 0};
  return ::poll(&entry, 1, static_cast<int>(within(limit).left().count())) > 0;
}

void Connection::send_bytes(std::span<const std::byte> bytes) {
  if (auto sent = socket().send(bytes, within(kAnswerLimit)); !sent)
    throw Failure("cannot send: " + sent.error().message);
}

void Connection::send_frame(std::span<const std::byte> payload) {
  std::vector<std::byte> bytes(sizeof(int32_t));
  protocol::store_big(bytes.data(), static_cast<int32_t>(payload.size()));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  send_bytes(bytes);
}

std::optional<std::vector<std::byte>> Connection::receive_frame(Millis limit) {
  const client::Deadline deadline = within(limit);
  std::array<std::byte, sizeof(int32_t)> length{};
  auto got = socket().receive(length, deadline);
  if (got) {
    const auto size = protocol::load_big<uint32_t>(length.data());
    if (size == kHttp) throw Failure("an HTTP server answers");
    if (size > kMaxAnswer) throw Failure(fmt::format("the answer claims a length of {}", size));
    std::vector<std::byte> body(size);
    got = socket().receive(body, deadline);
    if (got) return body;
  }
  if (got.error().code == ErrorCode::REQUEST_TIMED_OUT)
    throw Failure(fmt::format("no answer within {} ms", limit.count()));
  return std::nullopt;
}

void Connection::expect_closed(Millis limit) {
  const auto frame = receive_frame(limit);
  if (frame)
    throw Failure(fmt::format("expected a closed connection, received {} bytes", frame->size()));
}

}  // namespace ackord::conform
