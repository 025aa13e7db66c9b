// Connection: requests and answers over one TCP connection to one broker.
//
// Version negotiation: open() asks ApiVersions; each request goes out with the highest version that
// both sides have. Errors: NETWORK_EXCEPTION and REQUEST_TIMED_OUT of the transport;
// UNSUPPORTED_VERSION when no version is common; INVALID_REQUEST for an answer that cannot be
// decoded; their texts name the message and the broker. After any of them but UNSUPPORTED_VERSION
// the connection is not usable any more: open a new one. Error codes inside an answer are the
// caller's. One thread at a time.
//
//   auto connection = Connection::open({"localhost", 9092}, config, deadline);
//   auto answer = (*connection)->call<protocol::MetadataResponse>(request, deadline);
//   for (const auto& topic : answer->message.topics) …
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/config.h"
#include "client/deadline.h"
#include "client/socket.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"
#include "protocol/wire/header.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::client {

// A decoded message and the bytes that its fields borrow from.
template <class Message>
struct Answer {
  std::vector<std::byte> frame;
  Message message;
};

// What a broker said in ApiVersions.
struct BrokerAbilities {
  struct Range {
    int16_t min = 0;
    int16_t max = -1;
  };
  std::map<int16_t, Range> apis;
  std::map<std::string, int16_t> finalized_features;  // name to level

  bool has(int16_t api_key) const { return apis.contains(api_key); }
  int16_t feature(const std::string& name) const;  // 0 when it is not finalized
};

// A request that was sent and whose answer has not been taken yet.
struct Sent {
  int32_t correlation_id = 0;
  int16_t version = 0;
};

class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const Endpoint& endpoint,
                                                  const ClientConfig& config,
                                                  const Deadline& deadline);

  const BrokerAbilities& abilities() const { return abilities_; }
  bool usable() const { return usable_; }
  // For poll(2): readable when an answer begins.
  int descriptor() const { return socket_.descriptor(); }

  template <class Request>
  std::optional<int16_t> version_of() const {
    return common_version(Request::kApiKey, Request::kMinVersion, Request::kMaxVersion);
  }

  template <class Response, class Request>
  Result<Answer<Response>> call(const Request& request, const Deadline& deadline) {
    Result<Sent> sent = send(request, deadline);
    if (!sent) return sent.error();
    return receive<Response>(*sent, deadline);
  }

  template <class Request>
  Result<Sent> send(const Request& request, const Deadline& deadline) {
    const std::optional<int16_t> version = version_of<Request>();
    if (!version) return no_version(Request::kName);
    protocol::Writer body;
    request.encode(body, *version);
    Result<Sent> sent = send_frame(Request::kApiKey, *version, body.finish().copy(), deadline);
    if (!sent) return failed(Request::kName, sent.error());
    return sent;
  }

  // Answers come in the order of the requests: take them so.
  template <class Response>
  Result<Answer<Response>> receive(const Sent& sent, const Deadline& deadline) {
    Result<std::vector<std::byte>> frame = receive_frame(sent, deadline);
    if (!frame) return failed(Response::kName, frame.error());
    return decode<Response>(std::move(*frame), sent.version);
  }

 private:
  Connection(Socket socket, const Endpoint& endpoint, const ClientConfig& config);

  template <class Response>
  Result<Answer<Response>> decode(std::vector<std::byte> frame, int16_t version) {
    Answer<Response> answer;
    answer.frame = std::move(frame);
    protocol::Reader in(answer.frame);
    // Its correlation id was compared by receive_frame.
    Result<protocol::ResponseHeader> header =
        protocol::read_response_header(in, Response::kApiKey, version);
    if (!header) {
      usable_ = false;
      return header.error();
    }
    Result<Response> message = Response::decode(in, version);
    if (!message) {
      usable_ = false;
      return message.error();
    }
    answer.message = std::move(*message);
    return answer;
  }

  Result<void> negotiate(const Deadline& deadline);
  std::optional<int16_t> common_version(int16_t api_key, int16_t min, int16_t max) const;
  Error no_version(std::string_view message) const;
  // The same error, with what it was about.
  Error failed(std::string_view message, const Error& cause) const;
  Result<Sent> send_frame(int16_t api_key, int16_t version, const std::vector<std::byte>& body,
                          const Deadline& deadline);
  Result<std::vector<std::byte>> receive_frame(const Sent& sent, const Deadline& deadline);

  Socket socket_;
  std::string peer_;  // host:port
  std::string client_id_;
  uint32_t max_response_size_;
  BrokerAbilities abilities_;
  bool usable_ = true;
  int32_t next_correlation_id_ = 1;
};

}  // namespace ackord::client
