#include "broker/main/sasl_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <sstream>
#include <utility>

#include "broker/metadata/config_tables.h"
#include "broker/security/crypto.h"
#include "broker/security/jaas.h"

namespace ackord::main {
namespace {

using security::JaasModule;
using security::SaslSettings;

constexpr std::array kServed = {security::kPlain, security::kScramSha256, security::kScramSha512,
                                security::kOauthbearer};
constexpr std::string_view kUserOption = "user_";
constexpr size_t kKeyBytes = 32;

Error refuse(std::string text) { return error(ErrorCode::INVALID_CONFIG, std::move(text)); }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The login module that a JAAS entry of the mechanism must name.
std::string_view module_of(std::string_view mechanism) {
  if (mechanism == security::kPlain)
    return "org.apache.kafka.common.security.plain.PlainLoginModule";
  if (mechanism == security::kOauthbearer)
    return "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule";
  return "org.apache.kafka.common.security.scram.ScramLoginModule";
}

// One mechanism of one listener.
class Scope {
 public:
  Scope(const Config& config, std::string_view listener, std::string_view mechanism)
      : config_(config),
        listener_prefix_(fmt::format("listener.name.{}.", lower(listener))),
        prefix_(mechanism.empty() ? listener_prefix_
                                  : fmt::format("{}{}.", listener_prefix_, lower(mechanism))) {}

  // The name in its own form, as error texts have it.
  std::string own(std::string_view name) const { return prefix_ + std::string(name); }
  std::optional<std::string> find(std::string_view name) const {
    for (const std::string& prefix : {prefix_, listener_prefix_}) {
      const auto given = config_.given().find(prefix + std::string(name));
      if (given != config_.given().end()) return given->second;
    }
    return config_.find(name);
  }
  std::string text(std::string_view name) const { return find(name).value_or(""); }
  int64_t number(std::string_view name) const {
    const std::string value = text(name);
    int64_t number = 0;  // checked by Config::make()
    std::from_chars(value.data(), value.data() + value.size(), number);
    return number;
  }
  bool flag(std::string_view name) const { return text(name) == "true"; }
  std::vector<std::string> list(std::string_view name) const {
    return metadata::split_list(text(name));
  }
  // Of this mechanism alone.
  std::optional<std::string> jaas() const {
    const auto given = config_.given().find(own("sasl.jaas.config"));
    if (given == config_.given().end()) return std::nullopt;
    return given->second;
  }

 private:
  const Config& config_;
  std::string listener_prefix_;
  std::string prefix_;
};

Result<std::optional<JaasModule>> jaas_module(const Scope& scope, std::string_view mechanism) {
  const auto text = scope.jaas();
  if (!text) return std::optional<JaasModule>();
  auto module = security::parse_jaas(*text);
  if (!module)
    return refuse(fmt::format("{}: {}", scope.own("sasl.jaas.config"), module.error().message));
  if (module->name != module_of(mechanism)) {
    return refuse(fmt::format("{}: the login module of {} is {}", scope.own("sasl.jaas.config"),
                              mechanism, module_of(mechanism)));
  }
  return std::optional<JaasModule>(std::move(*module));
}

Result<security::PlainUsers> plain_users(const Scope& scope,
                                         const std::optional<JaasModule>& module) {
  security::PlainUsers users(security::random_bytes(kKeyBytes));
  if (!module) {
    return refuse(
        fmt::format("PLAIN is enabled, but {} is not set; it names the users: {} "
                    "required user_alice=\"password\";",
                    scope.own("sasl.jaas.config"), module_of(security::kPlain)));
  }
  for (const auto& [name, value] : module->options) {
    if (!name.starts_with(kUserOption)) continue;
    if (name.size() == kUserOption.size() || value.empty()) {
      return refuse(
          fmt::format("{}: a user needs a name and a password", scope.own("sasl.jaas.config")));
    }
    users.add(name.substr(kUserOption.size()), value);
  }
  if (users.empty())
    return refuse(
        fmt::format("{}: no user, that is no option user_<name>", scope.own("sasl.jaas.config")));
  return users;
}

Result<std::shared_ptr<const security::Jwks>> read_keys(const Scope& scope) {
  constexpr std::string_view kName = "sasl.oauthbearer.jwks.endpoint.url";
  constexpr std::string_view kFile = "file:";
  const std::string url = scope.text(kName);
  if (url.empty()) {
    return refuse(
        fmt::format("OAUTHBEARER is enabled, but {} is not set: without the keys of "
                    "those who sign tokens none can be checked",
                    kName));
  }
  if (!url.starts_with(kFile))
    return refuse(fmt::format("{}={}: only file: URLs are read", kName, url));
  std::string path = url.substr(kFile.size());
  if (path.starts_with("///")) path.erase(0, 2);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return refuse(fmt::format("{}: cannot read {}", kName, path));
  auto keys = security::Jwks::parse(text.str());
  if (!keys) return refuse(fmt::format("{}: {}: {}", kName, path, keys.error().message));
  return keys;
}

Result<std::shared_ptr<const security::JwtVerifier>> token_verifier(const Scope& scope) {
  const std::string handler = scope.text("sasl.server.callback.handler.class");
  if (!handler.empty() && !handler.ends_with(".OAuthBearerValidatorCallbackHandler")) {
    return refuse(
        fmt::format("{}={}: tokens are checked by Ackord itself, as Kafka's "
                    "OAuthBearerValidatorCallbackHandler does; no other class is known",
                    scope.own("sasl.server.callback.handler.class"), handler));
  }
  security::JwtSettings settings;
  settings.audiences = scope.list("sasl.oauthbearer.expected.audience");
  if (const std::string issuer = scope.text("sasl.oauthbearer.expected.issuer"); !issuer.empty())
    settings.issuer = issuer;
  if (!settings.issuer && !scope.flag("sasl.oauthbearer.allow.unverified.issuer")) {
    return refuse(
        "OAUTHBEARER is enabled, but sasl.oauthbearer.expected.issuer is not set; "
        "sasl.oauthbearer.allow.unverified.issuer=true takes tokens of any");
  }
  if (settings.audiences.empty() && !scope.flag("sasl.oauthbearer.allow.unverified.audience")) {
    return refuse(
        "OAUTHBEARER is enabled, but sasl.oauthbearer.expected.audience is not set; "
        "sasl.oauthbearer.allow.unverified.audience=true takes tokens for anybody");
  }
  settings.clock_skew_seconds = scope.number("sasl.oauthbearer.clock.skew.seconds");
  settings.subject_claim = scope.text("sasl.oauthbearer.sub.claim.name");
  settings.scope_claim = scope.text("sasl.oauthbearer.scope.claim.name");
  auto keys = read_keys(scope);
  if (!keys) return keys.error();
  settings.keys = std::move(*keys);
  return std::make_shared<const security::JwtVerifier>(std::move(settings));
}

Result<std::vector<std::string>> enabled_mechanisms(const Scope& scope, std::string_view listener) {
  std::vector<std::string> mechanisms;
  for (std::string& one : scope.list("sasl.enabled.mechanisms")) {
    if (std::find(kServed.begin(), kServed.end(), one) == kServed.end()) {
      return refuse(
          fmt::format("sasl.enabled.mechanisms of the listener {}: {} is not served; "
                      "served are {}",
                      listener, one, fmt::join(kServed, ", ")));
    }
    if (std::find(mechanisms.begin(), mechanisms.end(), one) == mechanisms.end())
      mechanisms.push_back(std::move(one));
  }
  if (mechanisms.empty())
    return refuse(fmt::format("sasl.enabled.mechanisms of the listener {} is empty", listener));
  return mechanisms;
}

Result<void> add_mechanism(SaslSettings& settings, const Config& config, std::string_view listener,
                           const std::string& mechanism) {
  const Scope scope(config, listener, mechanism);
  settings.mechanisms.push_back({mechanism, scope.number("connections.max.reauth.ms")});
  auto module = jaas_module(scope, mechanism);
  if (!module) return module.error();
  if (mechanism == security::kPlain) {
    auto users = plain_users(scope, *module);
    if (!users) return users.error();
    settings.plain_users = std::move(*users);
  }
  if (mechanism == security::kOauthbearer) {
    auto verifier = token_verifier(scope);
    if (!verifier) return verifier.error();
    settings.tokens = std::move(*verifier);
  }
  return {};
}

}  // namespace

Result<security::SaslListeners> sasl_listeners(const Config& config,
                                               const std::vector<ListenerConfig>& listeners) {
  security::SaslListeners logins;
  const std::string decoy_key = security::random_bytes(kKeyBytes);
  for (const ListenerConfig& listener : listeners) {
    if (!security::uses_sasl(listener.settings.protocol)) continue;
    const std::string& name = listener.settings.name;
    const Scope scope(config, name, "");
    auto mechanisms = enabled_mechanisms(scope, name);
    if (!mechanisms) return mechanisms.error();
    SaslSettings settings;
    settings.decoy_key = decoy_key;
    settings.failure_delay_ms =
        static_cast<int32_t>(scope.number("connection.failed.authentication.delay.ms"));
    for (const std::string& mechanism : *mechanisms) {
      auto added = add_mechanism(settings, config, name, mechanism);
      if (!added) return added.error();
    }
    logins.emplace(name, std::make_unique<security::SaslListener>(std::move(settings)));
  }
  return logins;
}

}  // namespace ackord::main
