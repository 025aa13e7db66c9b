// RawClient: one blocking connection that sends any request in any version, and any bytes.
//
// Errors: std::runtime_error, which GoogleTest reports as a failure. One thread at a time.
//   auto answer = client.call<protocol::ProduceResponse>(request, 11);
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "client/connection.h"
#include "client/socket.h"
#include "protocol/generated/request_header.h"
#include "protocol/types/error_code.h"
#include "protocol/wire/header.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::integration {

using Millis = std::chrono::milliseconds;
using client::Answer;

constexpr Millis kAnswerLimit{20000};

// Of a request that was sent and whose answer has not been taken.
struct Pending {
  int16_t api_key = 0;
  int16_t version = 0;
  int32_t correlation_id = 0;
};

class RawClient {
 public:
  explicit RawClient(uint16_t port);

  template <class Response, class Request>
  Answer<Response> call(const Request& request, int16_t version) {
    return receive<Response>(send(request, version));
  }

  template <class Request>
  Pending send(const Request& request, int16_t version) {
    const Pending pending{Request::kApiKey, version, next_correlation_id_++};
    send_bytes(frame(request, pending));
    return pending;
  }

  // Answers come in the order of the requests: take them so.
  template <class Response>
  Answer<Response> receive(const Pending& pending, Millis limit = kAnswerLimit) {
    std::optional<std::vector<std::byte>> bytes = receive_frame(limit);
    if (!bytes)
      throw std::runtime_error(std::string(Response::kName) + ": the connection was closed");
    Answer<Response> answer;
    answer.frame = std::move(*bytes);
    protocol::Reader in(answer.frame);
    auto header = protocol::read_response_header(in, pending.api_key, pending.version);
    if (!header) throw std::runtime_error(header.error().message);
    if (header->correlation_id != pending.correlation_id)
      throw std::runtime_error("correlation id");
    auto message = Response::decode(in, pending.version);
    if (!message) throw std::runtime_error(message.error().message);
    if (in.remaining() != 0)
      throw std::runtime_error(std::string(Response::kName) + ": bytes are left over");
    answer.message = std::move(*message);
    return answer;
  }

  // A request with its length and header, for tests that spoil it before they send it.
  template <class Request>
  static std::vector<std::byte> frame(const Request& request, const Pending& pending) {
    protocol::Writer out;
    write_header(out, pending);
    request.encode(out, pending.version);
    return with_length(out.finish().copy());
  }

  void send_bytes(std::span<const std::byte> bytes);
  // The next frame without its length; nothing when the broker has closed the connection.
  std::optional<std::vector<std::byte>> receive_frame(Millis limit = kAnswerLimit);

 private:
  static void write_header(protocol::Writer& out, const Pending& pending);
  static std::vector<std::byte> with_length(const std::vector<std::byte>& body);

  client::Socket socket_;
  int32_t next_correlation_id_ = 1;
};

// Calls `step` until it returns true; fails the test after the limit. The pauses are short: this
// polls a state that another process reaches in its own time.
template <class Step>
void poll_until(const std::string& what, Step step, Millis limit = Millis(20000)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!step()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("not in time: " + what);
    std::this_thread::sleep_for(Millis(5));
  }
}

void require(bool truth, const std::string& what);
void require_none(ErrorCode code, const std::string& what);
// What a client answers with another try: the coordinator is loading, or is not known yet.
bool is_starting(ErrorCode code);
// A name that no other test or run has used.
std::string fresh_name(const std::string& prefix);

}  // namespace ackord::integration

namespace ackord {
// For GoogleTest's messages.
void PrintTo(ErrorCode code, std::ostream* out);
}  // namespace ackord
