#include "broker/main/authorizer_config.h"

#include <fmt/format.h>

#include <utility>

namespace ackord::main {
namespace {

constexpr std::string_view kStandard = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";

}  // namespace

Result<std::optional<security::AuthorizerConfig>> authorizer_config(const Config& config) {
  const std::string name = config.text("authorizer.class.name");
  if (name.empty()) return std::optional<security::AuthorizerConfig>();
  if (name != kStandard) {
    return error(ErrorCode::INVALID_CONFIG,
                 fmt::format("authorizer.class.name={} cannot be had; what is served is {}", name,
                             kStandard));
  }
  auto users = security::parse_super_users(config.text("super.users"));
  if (users.has_error()) return users.error();
  security::AuthorizerConfig made;
  made.super_users = std::move(users.value());
  made.allow_if_no_acl = config.flag("allow.everyone.if.no.acl.found");
  return std::optional<security::AuthorizerConfig>(std::move(made));
}

std::string listeners_beyond_loopback(std::span<const ListenerConfig> listeners) {
  std::string names;
  for (const ListenerConfig& one : listeners) {
    const std::string& host = one.settings.host;
    if (host == "localhost" || host == "::1" || host.starts_with("127.")) continue;
    names += (names.empty() ? "" : ",") + one.advertised.name;
  }
  return names;
}

}  // namespace ackord::main
