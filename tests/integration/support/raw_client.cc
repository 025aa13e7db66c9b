#include "tests/integration/support/raw_client.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <ostream>

#include "protocol/record_batch/big_endian.h"

namespace ackord::integration {
namespace {

client::Socket connect(uint16_t port) {
  auto socket = client::Socket::connect({"127.0.0.1", port}, client::Deadline::in(Millis(10000)));
  if (!socket) throw std::runtime_error(socket.error().message);
  return std::move(*socket);
}

}  // namespace

RawClient::RawClient(uint16_t port) : socket_(connect(port)) {}

void RawClient::write_header(protocol::Writer& out, const Pending& pending) {
  protocol::RequestHeader header;
  header.request_api_key = pending.api_key;
  header.request_api_version = pending.version;
  header.correlation_id = pending.correlation_id;
  header.client_id = String("integration");
  protocol::write_request_header(out, header);
}

std::vector<std::byte> RawClient::with_length(const std::vector<std::byte>& body) {
  std::vector<std::byte> bytes(sizeof(int32_t));
  protocol::store_big(bytes.data(), static_cast<int32_t>(body.size()));
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

void RawClient::send_bytes(std::span<const std::byte> bytes) {
  auto sent = socket_.send(bytes, client::Deadline::in(kAnswerLimit));
  if (!sent) throw std::runtime_error(sent.error().message);
}

std::optional<std::vector<std::byte>> RawClient::receive_frame(Millis limit) {
  const client::Deadline deadline = client::Deadline::in(limit);
  std::array<std::byte, sizeof(int32_t)> length{};
  auto got = socket_.receive(length, deadline);
  if (got) {
    std::vector<std::byte> body(protocol::load_big<uint32_t>(length.data()));
    got = socket_.receive(body, deadline);
    if (got) return body;
  }
  if (got.error().code == ErrorCode::REQUEST_TIMED_OUT)
    throw std::runtime_error("no answer in time");
  return std::nullopt;
}

void require(bool truth, const std::string& what) {
  if (!truth) throw std::runtime_error(what);
}

void require_none(ErrorCode code, const std::string& what) {
  require(code == ErrorCode::NONE, what + ": " + std::string(name_of(code)));
}

bool is_starting(ErrorCode code) {
  return code == ErrorCode::COORDINATOR_LOAD_IN_PROGRESS ||
         code == ErrorCode::COORDINATOR_NOT_AVAILABLE || code == ErrorCode::NOT_COORDINATOR;
}

std::string fresh_name(const std::string& prefix) {
  static std::atomic<int> counter{0};
  return prefix + "-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

}  // namespace ackord::integration

namespace ackord {

void PrintTo(ErrorCode code, std::ostream* out) { *out << name_of(code); }

}  // namespace ackord
