#include "broker/main/listeners.h"

#include <fmt/format.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>

namespace ackord::main {
namespace {

Error refuse(std::string text) { return error(ErrorCode::INVALID_CONFIG, std::move(text)); }

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

bool is_wildcard(const std::string& host) {
  return host.empty() || host == "0.0.0.0" || host == "::";
}

// The name by which others most likely reach this machine, as Kafka finds it.
std::string own_host() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
  addrinfo wanted{};
  wanted.ai_flags = AI_CANONNAME;
  addrinfo* list = nullptr;
  if (::getaddrinfo(name, nullptr, &wanted, &list) != 0) return "localhost";
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, ::freeaddrinfo);
  return list->ai_canonname != nullptr ? list->ai_canonname : name;
}

Result<std::vector<Endpoint>> endpoints(const Config& config, std::string_view name) {
  std::vector<Endpoint> all;
  std::set<std::string> names;
  for (const std::string& text : config.list(name)) {
    auto endpoint = parse_endpoint(text);
    if (endpoint.has_error()) return refuse(fmt::format("{}: {}", name, endpoint.error().message));
    if (!names.insert(endpoint.value().name).second) {
      return refuse(fmt::format("{}: the name {} comes twice", name, endpoint.value().name));
    }
    all.push_back(std::move(endpoint.value()));
  }
  return all;
}

// Listener name → security protocol.
Result<std::map<std::string, std::string>> protocols(const Config& config) {
  std::map<std::string, std::string> map;
  for (const std::string& entry : config.list("listener.security.protocol.map")) {
    const size_t colon = entry.find(':');
    if (colon == std::string::npos) {
      return refuse(fmt::format("listener.security.protocol.map: {} is not NAME:PROTOCOL", entry));
    }
    map[upper(entry.substr(0, colon))] = upper(entry.substr(colon + 1));
  }
  return map;
}

Result<security::SecurityProtocol> protocol_of(const std::map<std::string, std::string>& map,
                                               const std::string& name) {
  const auto found = map.find(name);
  if (found == map.end()) {
    return refuse(
        fmt::format("listeners: listener.security.protocol.map has no protocol for {}", name));
  }
  if (found->second == "PLAINTEXT") return security::SecurityProtocol::kPlaintext;
  if (found->second == "SASL_PLAINTEXT") return security::SecurityProtocol::kSaslPlaintext;
  return refuse(fmt::format("listeners: {} uses {}; only PLAINTEXT and SASL_PLAINTEXT are served",
                            name, found->second));
}

net::ListenerSettings settings_of(const Config& config, const Endpoint& endpoint) {
  net::ListenerSettings settings;
  settings.name = endpoint.name;
  settings.host = endpoint.host == "::" ? "" : endpoint.host;
  settings.port = endpoint.port;
  settings.max_idle_ms = config.number("connections.max.idle.ms");
  settings.max_connections = config.number("max.connections");
  settings.max_connections_per_ip = config.number("max.connections.per.ip");
  settings.limits.max_frame_bytes = config.number("socket.request.max.bytes");
  // Kafka's defaults for these are small; where nobody asks for them the system does better.
  if (config.is_given("socket.listen.backlog.size")) {
    settings.backlog = static_cast<int>(config.number("socket.listen.backlog.size"));
  }
  if (config.is_given("socket.send.buffer.bytes")) {
    settings.send_buffer_bytes = static_cast<int>(config.number("socket.send.buffer.bytes"));
  }
  if (config.is_given("socket.receive.buffer.bytes")) {
    settings.receive_buffer_bytes = static_cast<int>(config.number("socket.receive.buffer.bytes"));
  }
  return settings;
}

Endpoint advertised_for(const Endpoint& endpoint, const std::vector<Endpoint>& advertised) {
  const auto found = std::find_if(advertised.begin(), advertised.end(),
                                  [&](const Endpoint& one) { return one.name == endpoint.name; });
  Endpoint out = found != advertised.end() ? *found : endpoint;
  if (is_wildcard(out.host)) out.host = own_host();
  return out;
}

Result<void> check_advertised(const std::vector<Endpoint>& advertised,
                              const std::vector<Endpoint>& listeners,
                              const std::vector<std::string>& controllers) {
  for (const Endpoint& one : advertised) {
    const bool known = std::any_of(listeners.begin(), listeners.end(),
                                   [&](const Endpoint& other) { return other.name == one.name; });
    const bool controller =
        std::find(controllers.begin(), controllers.end(), one.name) != controllers.end();
    if (!known && !controller) {
      return refuse(fmt::format("advertised.listeners: no listener is named {}", one.name));
    }
    if (one.host == "0.0.0.0" || one.host == "::") {
      return refuse(fmt::format("advertised.listeners: no client can reach {}", one.host));
    }
  }
  return {};
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto bad = [text](std::string_view why) {
    return refuse(fmt::format("{} is not NAME://host:port: {}", text, why));
  };
  const size_t slashes = text.find("://");
  if (slashes == std::string_view::npos || slashes == 0) return bad("no name before ://");
  Endpoint endpoint;
  endpoint.name = upper(text.substr(0, slashes));
  std::string_view rest = text.substr(slashes + 3);
  const size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return bad("no port");
  const std::string_view port = rest.substr(colon + 1);
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (failed != std::errc() || end != port.data() + port.size())
    return bad("the port is no number up to 65535");
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]/ ") != std::string_view::npos) {
    return bad("not a host; an IPv6 address stands in brackets");
  }
  endpoint.host = std::string(host);
  return endpoint;
}

Result<std::vector<ListenerConfig>> listener_configs(const Config& config) {
  auto listeners = endpoints(config, "listeners");
  if (listeners.has_error()) return listeners.error();
  auto advertised = endpoints(config, "advertised.listeners");
  if (advertised.has_error()) return advertised.error();
  auto map = protocols(config);
  if (map.has_error()) return map.error();
  std::vector<std::string> controllers;
  for (const auto& name : config.list("controller.listener.names"))
    controllers.push_back(upper(name));
  auto sound = check_advertised(advertised.value(), listeners.value(), controllers);
  if (sound.has_error()) return sound.error();

  std::vector<ListenerConfig> all;
  for (const Endpoint& endpoint : listeners.value()) {
    if (std::find(controllers.begin(), controllers.end(), endpoint.name) != controllers.end())
      continue;
    auto protocol = protocol_of(map.value(), endpoint.name);
    if (protocol.has_error()) return protocol.error();
    net::ListenerSettings settings = settings_of(config, endpoint);
    settings.protocol = protocol.value();
    all.push_back({std::move(settings), advertised_for(endpoint, advertised.value())});
  }
  if (all.empty()) return refuse("listeners: none is left for clients");
  return all;
}

}  // namespace ackord::main
