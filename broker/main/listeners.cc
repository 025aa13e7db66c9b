#include "broker/main/listeners.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "broker/metadata/config_tables.h"

namespace ackord::main {
namespace {

// Of the machine's memory, where queued.max.request.bytes says nothing.
constexpr int64_t kShareForRequests = 4;

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
  using enum security::SecurityProtocol;
  const auto found = map.find(name);
  if (found == map.end()) {
    return refuse(
        fmt::format("listeners: listener.security.protocol.map has no protocol for {}", name));
  }
  if (found->second == "PLAINTEXT") return kPlaintext;
  if (found->second == "SSL") return kSsl;
  if (found->second == "SASL_PLAINTEXT") return kSaslPlaintext;
  if (found->second == "SASL_SSL") return kSaslSsl;
  return refuse(
      fmt::format("listener.security.protocol.map: {} is no security protocol", found->second));
}

Result<void> set_principals(const Config& config, net::ListenerSettings& settings) {
  if (settings.protocol != security::SecurityProtocol::kSsl) return {};
  const auto rules = config.find_for(settings.name, "ssl.principal.mapping.rules");
  auto mapper = security::SslPrincipalMapper::make(rules.value_or("DEFAULT"));
  if (!mapper) return mapper.error();
  settings.principals = std::make_shared<const security::SslPrincipalMapper>(std::move(*mapper));
  return {};
}

// Checked where it was given.
int64_t number_or(const std::optional<std::string>& text, int64_t fallback) {
  if (!text) return fallback;
  int64_t number = fallback;
  std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

net::ListenerSettings settings_of(const Config& config, const Endpoint& endpoint) {
  net::ListenerSettings settings;
  settings.name = endpoint.name;
  settings.host = endpoint.host == "::" ? "" : endpoint.host;
  settings.port = endpoint.port;
  settings.bounds = listener_bounds(config, endpoint.name);
  settings.max_idle_ms = config.number("connections.max.idle.ms");
  settings.max_authentication_ms = config.number("connections.max.authentication.ms");
  settings.limits.max_frame_bytes = config.number("socket.request.max.bytes");
  settings.limits.max_unauthenticated_frame_bytes =
      number_or(config.find_for(endpoint.name, "sasl.server.max.receive.size"),
                settings.limits.max_unauthenticated_frame_bytes);
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

// Two may share a port only where one has an address of IPv4 and the other one of IPv6.
Result<void> check_ports(const std::vector<Endpoint>& listeners) {
  const auto family = [](const std::string& host) {
    in6_addr scratch{};
    if (::inet_pton(AF_INET, host.c_str(), &scratch) == 1) return AF_INET;
    return ::inet_pton(AF_INET6, host.c_str(), &scratch) == 1 ? AF_INET6 : AF_UNSPEC;
  };
  for (size_t i = 0; i < listeners.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (listeners[i].port == 0 || listeners[i].port != listeners[j].port) continue;
      const int families = family(listeners[i].host) + family(listeners[j].host);
      if (families == AF_INET + AF_INET6) continue;
      return refuse(fmt::format("listeners: each must have a different port, {} and {} have {}",
                                listeners[j].name, listeners[i].name, listeners[i].port));
    }
  }
  return {};
}

// As texts of addresses, in the form in which peers are named.
Result<std::vector<std::string>> addresses_of(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &list); failed != 0) {
    return refuse(
        fmt::format("max.connections.per.ip.overrides: {}: {}", host, ::gai_strerror(failed)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, ::freeaddrinfo);
  std::vector<std::string> all;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    char text[INET6_ADDRSTRLEN] = "";
    ::getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    all.emplace_back(text);
  }
  return all;
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

Result<net::ConnectionBounds> connection_bounds(const Config& config) {
  net::ConnectionBounds bounds;
  bounds.max_connections = config.number("max.connections");
  bounds.max_per_ip = config.number("max.connections.per.ip");
  bounds.max_creation_rate = config.number("max.connection.creation.rate");
  for (const std::string& entry :
       metadata::split_list(config.text("max.connections.per.ip.overrides"))) {
    const size_t colon = entry.rfind(':');
    int64_t most = -1;
    if (colon != std::string::npos) {
      const auto [end, failed] =
          std::from_chars(entry.data() + colon + 1, entry.data() + entry.size(), most);
      if (failed != std::errc() || end != entry.data() + entry.size()) most = -1;
    }
    if (most < 0)
      return refuse(fmt::format("max.connections.per.ip.overrides: {} is not host:number", entry));
    std::string host = entry.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    auto addresses = addresses_of(host);
    if (!addresses) return addresses.error();
    for (std::string& address : *addresses) bounds.per_ip_overrides[std::move(address)] = most;
  }
  return bounds;
}

net::ListenerBounds listener_bounds(const Config& config, std::string_view listener) {
  return {number_or(config.find_only_for(listener, "max.connections"), INT32_MAX),
          number_or(config.find_only_for(listener, "max.connection.creation.rate"), INT32_MAX)};
}

QueueBounds queue_bounds(const Config& config) {
  QueueBounds bounds;
  bounds.max_requests = config.number("queued.max.requests");
  bounds.max_bytes = config.number("queued.max.request.bytes");
  if (bounds.max_bytes <= 0) {
    const int64_t memory = int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE);
    bounds.max_bytes =
        std::max(memory / kShareForRequests, config.number("socket.request.max.bytes"));
  }
  return bounds;
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
  sound = check_ports(listeners.value());
  if (sound.has_error()) return sound.error();
  if (auto bounds = connection_bounds(config); !bounds) return bounds.error();

  std::vector<ListenerConfig> all;
  for (const Endpoint& endpoint : listeners.value()) {
    if (std::find(controllers.begin(), controllers.end(), endpoint.name) != controllers.end())
      continue;
    auto protocol = protocol_of(map.value(), endpoint.name);
    if (protocol.has_error()) return protocol.error();
    net::ListenerSettings settings = settings_of(config, endpoint);
    settings.protocol = *protocol;
    if (auto set = set_principals(config, settings); !set) return set.error();
    all.push_back({std::move(settings), advertised_for(endpoint, advertised.value())});
  }
  if (all.empty()) return refuse("listeners: none is left for clients");
  return all;
}

}  // namespace ackord::main
