// Side: one of the two brokers, with its connection and its names for things. Whatever the broker
// does with a request is an Answer; only a broker that is gone is a std::runtime_error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/conform/differential/symbols.h"
#include "tools/conform/kit/connection.h"

namespace ackord::conform::differential {

struct Answer {
  enum class Kind : int8_t {
    kBody,
    kNone,        // the next request was answered instead
    kClosed,      // the connection was closed
    kHangs,       // neither, in time
    kUnreadable,  // not an answer to a request of this API and version
  };
  Kind kind = Kind::kBody;
  json::value body;  // of kBody
};

// Short limits, so that requests that are never answered do not stall a story.
constexpr Millis kHangLimit{4000};

class Side {
 public:
  explicit Side(client::Endpoint endpoint);

  const Broker& broker() const { return broker_; }
  Symbols symbols;

  // In two steps, so that both brokers work at the same time. `frame`: header and body; behind it
  // goes a request that is always answered, which tells no answer from a late one.
  void send(std::span<const std::byte> frame);
  Answer receive();
  // Ends the connection, and all that lives with it.
  void disconnect() { connection_.reset(); }

  // A sound request of the set-up: its answer, or std::runtime_error.
  json::value ask(std::string_view api, int16_t version, const json::object& body);

 private:
  Connection& connection();
  Answer read();

  Broker broker_;
  Exchange exchange_;
  std::optional<Connection> connection_;
  // Of the frame that was sent.
  int16_t api_key_ = 0;
  int16_t version_ = 0;
  int32_t correlation_id_ = 0;
};

}  // namespace ackord::conform::differential
