#include "client/config.h"

#include <charconv>
#include <cstdio>

namespace ackord::client {
namespace {

Result<Endpoint> parse_endpoint(std::string_view text) {
  Endpoint endpoint;
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return error(ErrorCode::INVALID_CONFIG, "']' is missing");
    endpoint.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
    if (!text.empty() && text[0] != ':') return error(ErrorCode::INVALID_CONFIG, "':' is missing");
    port = text.empty() ? text : text.substr(1);
  } else {
    const size_t colon = text.rfind(':');
    endpoint.host = text.substr(0, colon);
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
  }
  if (endpoint.host.empty())
    return error(ErrorCode::INVALID_CONFIG, "a bootstrap server has no host");
  if (port.empty()) return endpoint;
  const auto [end, problem] =
      std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (problem != std::errc() || end != port.data() + port.size() || endpoint.port == 0) {
    return error(ErrorCode::INVALID_CONFIG, "not a port: " + std::string(port));
  }
  return endpoint;
}

}  // namespace

Result<std::vector<Endpoint>> parse_endpoints(std::string_view text) {
  std::vector<Endpoint> endpoints;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    Result<Endpoint> endpoint = parse_endpoint(one);
    if (!endpoint) return endpoint.error();
    endpoints.push_back(*endpoint);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  if (endpoints.empty()) return error(ErrorCode::INVALID_CONFIG, "no bootstrap servers");
  return endpoints;
}

void warn(const ClientConfig& config, std::string_view text) {
  if (config.warn) {
    config.warn(text);
  } else {
    std::fprintf(stderr, "ackord client: %.*s\n", static_cast<int>(text.size()), text.data());
  }
}

}  // namespace ackord::client
