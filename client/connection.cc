#include "client/connection.h"

#include <algorithm>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"

namespace ackord::client {
namespace {

// Every broker since 2.4 understands it; an older one answers version 0 and is refused.
constexpr int16_t kApiVersionsVersion = 3;

}  // namespace

int16_t BrokerAbilities::feature(const std::string& name) const {
  const auto found = finalized_features.find(name);
  return found == finalized_features.end() ? 0 : found->second;
}

Connection::Connection(Socket socket, const Endpoint& endpoint, const ClientConfig& config)
    : socket_(std::move(socket)),
      peer_(endpoint.host + ":" + std::to_string(endpoint.port)),
      client_id_(config.client_id),
      max_response_size_(config.max_response_size) {}

Result<std::unique_ptr<Connection>> Connection::open(const Endpoint& endpoint,
                                                     const ClientConfig& config,
                                                     const Deadline& deadline) {
  const Deadline until = deadline.within(config.connection_timeout);
  Result<Socket> socket = Socket::connect(endpoint, until);
  if (!socket) return socket.error();
  std::unique_ptr<Connection> connection(new Connection(std::move(*socket), endpoint, config));
  if (Result<void> negotiated = connection->negotiate(until); !negotiated)
    return negotiated.error();
  return connection;
}

Result<void> Connection::negotiate(const Deadline& deadline) {
  protocol::ApiVersionsRequest request;
  request.client_software_name = "ackord-client";
  request.client_software_version = "0.1.0";
  protocol::Writer body;
  request.encode(body, kApiVersionsVersion);
  Result<Sent> sent = send_frame(protocol::ApiVersionsRequest::kApiKey, kApiVersionsVersion,
                                 body.finish().copy(), deadline);
  if (!sent) return sent.error();
  Result<Answer<protocol::ApiVersionsResponse>> answer =
      receive<protocol::ApiVersionsResponse>(*sent, deadline);
  if (!answer) return answer.error();
  const protocol::ApiVersionsResponse& versions = answer->message;
  if (versions.error_code != ErrorCode::NONE) {
    usable_ = false;
    return error(versions.error_code, "the broker refused ApiVersions");
  }
  for (const auto& api : versions.api_keys)
    abilities_.apis[api.api_key] = {api.min_version, api.max_version};
  for (const auto& feature : versions.finalized_features) {
    abilities_.finalized_features[feature.name.str()] = feature.max_version_level;
  }
  return {};
}

std::optional<int16_t> Connection::common_version(int16_t api_key, int16_t min, int16_t max) const {
  const auto found = abilities_.apis.find(api_key);
  if (found == abilities_.apis.end()) return std::nullopt;
  const int16_t version = std::min(max, found->second.max);
  if (version < std::max(min, found->second.min)) return std::nullopt;
  return version;
}

Error Connection::no_version(std::string_view message) const {
  return error(ErrorCode::UNSUPPORTED_VERSION,
               "the broker has no version of " + std::string(message));
}

Error Connection::failed(std::string_view message, const Error& cause) const {
  return error(cause.code, std::string(message) + ", " + peer_ + ": " + cause.message);
}

Result<Sent> Connection::send_frame(int16_t api_key, int16_t version,
                                    const std::vector<std::byte>& body, const Deadline& deadline) {
  if (!usable_) return error(ErrorCode::NETWORK_EXCEPTION, "the connection is broken");
  const Sent sent{next_correlation_id_++, version};
  protocol::RequestHeader fields;
  fields.request_api_key = api_key;
  fields.request_api_version = version;
  fields.correlation_id = sent.correlation_id;
  fields.client_id = String::view(client_id_);
  protocol::Writer header;
  protocol::write_request_header(header, fields);
  protocol::Writer frame;
  frame.int32(static_cast<int32_t>(header.size() + body.size()));
  frame.raw(header.finish().copy());
  frame.raw(body);
  Result<void> written = socket_.send(frame.finish().copy(), deadline);
  if (!written) {
    usable_ = false;
    return written.error();
  }
  return sent;
}

Result<std::vector<std::byte>> Connection::receive_frame(const Sent& sent,
                                                         const Deadline& deadline) {
  if (!usable_) return error(ErrorCode::NETWORK_EXCEPTION, "the connection is broken");
  usable_ = false;  // until the whole frame is there: a part of one cannot be taken up again
  std::byte prefix[4];
  if (Result<void> read = socket_.receive(prefix, deadline); !read) return read.error();
  const int32_t size = protocol::Reader(prefix).int32();
  if (size < 4 || static_cast<uint32_t>(size) > max_response_size_) {
    return error(ErrorCode::NETWORK_EXCEPTION, "a frame of " + std::to_string(size) + " bytes");
  }
  std::vector<std::byte> frame(static_cast<size_t>(size));
  if (Result<void> read = socket_.receive(frame, deadline); !read) return read.error();
  if (protocol::Reader(frame).int32() != sent.correlation_id) {
    return error(ErrorCode::NETWORK_EXCEPTION, "an answer to another request");
  }
  usable_ = true;
  return frame;
}

}  // namespace ackord::client
