// Connection: one blocking connection to the broker under test that sends any request in any
// version, and any bytes. A request is JSON in the form of Kafka's JsonConverter classes (see
// protocol/json/json_message.h); a field that is left out has its schema's default.
//
// Nothing here waits for longer than its limit, and never past the case's own time. Errors:
// Failure. One thread at a time.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/deadline.h"
#include "client/socket.h"
#include "tools/conform/kit/broker.h"
#include "tools/conform/kit/value.h"

namespace ackord::conform {

constexpr Millis kAnswerLimit{15000};
constexpr Millis kCloseLimit{5000};

// The last request and its answer, for the message of a failure.
struct Exchange {
  std::string request;
  std::string answer;
};

// A request that was sent and whose answer has not been taken.
struct Sent {
  std::string api;
  int16_t version = 0;
  int32_t correlation_id = 0;
};

// What a frame's header says, where a case wants it to differ.
struct Framing {
  std::optional<int32_t> correlation_id;
  std::optional<std::string> client_id = "ackord-conform";  // nothing: null
};

class Connection {
 public:
  // `exchange` is written by every request; both must outlive it.
  Connection(const Broker& broker, client::Deadline end, Exchange& exchange);

  // Sends, and waits for the answer. A version that the broker does not advertise is a Failure at
  // once: it would close the connection.
  Value ask(std::string_view api, int16_t version, const boost::json::object& body,
            Millis limit = kAnswerLimit);

  // In two steps, for what happens in between. Answers come in the order of the requests.
  Sent send(std::string_view api, int16_t version, const boost::json::object& body,
            const Framing& framing = {});
  Value receive(const Sent& sent, Millis limit = kAnswerLimit);
  // Whether an answer (or the end) is there to be received without waiting for longer.
  bool readable_within(Millis limit);

  void send_bytes(std::span<const std::byte> bytes);
  // With its length in front.
  void send_frame(std::span<const std::byte> payload);
  // Without its length; nothing when the broker has closed the connection. Failure when neither
  // comes in time.
  std::optional<std::vector<std::byte>> receive_frame(Millis limit = kAnswerLimit);
  // The broker closes it, and sends nothing before. Failure otherwise.
  void expect_closed(Millis limit = kCloseLimit);
  void close() { socket_.reset(); }

 private:
  client::Socket& socket();
  client::Deadline within(Millis limit) const { return end_.within(limit); }

  const Broker& broker_;
  client::Deadline end_;
  Exchange& exchange_;
  std::optional<client::Socket> socket_;
  int32_t next_correlation_id_ = 1;
};

// A request as it stands in a frame, without the length: header and body.
std::vector<std::byte> encode_request(std::string_view api, int16_t version,
                                      const boost::json::object& body, const Framing& framing);
// Only the header.
std::vector<std::byte> encode_header(int16_t api_key, int16_t version, const Framing& framing);
// The body of an answer. Failure when it is not one, to its last byte.
Value decode_answer(const Sent& sent, std::span<const std::byte> frame);

}  // namespace ackord::conform
