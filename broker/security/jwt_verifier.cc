#include "broker/security/jwt_verifier.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cmath>
#include <set>
#include <utility>

#include "broker/security/base64.h"

namespace ackord::security {
namespace {

namespace json = boost::json;

constexpr int64_t kMsPerSecond = 1000;
// Beyond it milliseconds would overflow.
constexpr double kMostSeconds = 9e15;

struct Parts {
  std::string_view header;
  std::string_view payload;
  std::string_view signature;
  std::string_view signed_text;  // header and payload with the dot between them
};

std::optional<Parts> split(std::string_view token) {
  const size_t first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos || token.find('.', second + 1) != std::string_view::npos)
    return std::nullopt;
  return Parts{token.substr(0, first), token.substr(first + 1, second - first - 1),
               token.substr(second + 1), token.substr(0, second)};
}

std::optional<json::object> object_of(std::string_view part) {
  const auto text = from_base64url(part);
  if (!text) return std::nullopt;
  boost::system::error_code failure;
  json::value value = json::parse(*text, failure);
  if (failure || !value.is_object()) return std::nullopt;
  return std::move(value.get_object());
}

std::optional<std::string_view> text_of(const json::value& value) {
  if (!value.is_string()) return std::nullopt;
  return std::string_view(value.get_string());
}

// A NumericDate, in whole seconds.
std::optional<int64_t> seconds_of(const json::value& value) {
  const double number = value.is_double()  ? value.get_double()
                        : value.is_int64() ? static_cast<double>(value.get_int64())
                                           : HUGE_VAL;
  if (!(std::abs(number) <= kMostSeconds)) return std::nullopt;
  return value.is_double() ? static_cast<int64_t>(number) : value.get_int64();
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_for(const json::object& claims, const std::vector<std::string>& audiences) {
  const json::value* audience = claims.if_contains("aud");
  if (audience == nullptr) return false;
  const auto expected = [&audiences](const json::value& one) {
    const auto text = text_of(one);
    return text && std::find(audiences.begin(), audiences.end(), *text) != audiences.end();
  };
  if (!audience->is_array()) return expected(*audience);
  const json::array& all = audience->get_array();
  return std::all_of(all.begin(), all.end(), [](const auto& one) { return one.is_string(); }) &&
         std::any_of(all.begin(), all.end(), expected);
}

// Kafka's rule: a text that is not blank, or several that differ; anything else is no scope.
bool are_scopes(const json::value& scope) {
  std::set<std::string_view> seen;
  const auto is_new = [&seen](const json::value& one) {
    const auto text = text_of(one);
    return text && !trimmed(*text).empty() && seen.insert(trimmed(*text)).second;
  };
  if (scope.is_string()) return is_new(scope);
  if (!scope.is_array()) return true;
  const json::array& all = scope.get_array();
  return std::all_of(all.begin(), all.end(), is_new);
}

// Why the token is not good now; empty when it is.
std::string_view wrong_time(const json::object& claims, int64_t now, int64_t skew) {
  std::array<std::optional<int64_t>, 3> times;
  constexpr std::array<std::string_view, 3> kNames = {"exp", "iat", "nbf"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    const json::value* value = claims.if_contains(kNames[i]);
    if (value == nullptr) continue;
    times[i] = seconds_of(*value);
    if (!times[i]) return "a time that is none";
  }
  const auto [expires, issued, begins] = times;
  if (!expires || *expires < 0) return "no expiry";
  if (!issued || *issued < 0) return "no time of issue";
  if (now - skew >= *expires) return "expired";
  if (*expires < *issued) return "expired before it was issued";
  if (begins && *expires < *begins) return "expired before it began";
  if (begins && now + skew < *begins) return "not yet";
  return "";
}

}  // namespace

std::variant<JwtClaims, std::string_view> JwtVerifier::verify(std::string_view token,
                                                              TimeMs now_ms) const {
  const auto parts = split(token);
  if (!parts) return "not a signed token";
  const auto header = object_of(parts->header);
  const auto signature = from_base64url(parts->signature);
  if (!header || !signature) return "malformed";
  const json::value* algorithm = header->if_contains("alg");
  const json::value* key_id = header->if_contains("kid");
  if (algorithm == nullptr || !algorithm->is_string()) return "no algorithm";
  if (key_id != nullptr && !key_id->is_string()) return "malformed";
  // RFC 7515, section 4.1.11, and RFC 7797: what is not understood must not be passed over.
  if (header->contains("crit") || header->contains("b64")) return "an extension";
  const auto id = key_id == nullptr ? std::nullopt : text_of(*key_id);
  if (!settings_.keys->verify(*text_of(*algorithm), id, parts->signed_text, *signature))
    return "no key of the set signed it";

  const auto claims = object_of(parts->payload);
  if (!claims) return "malformed";
  const std::string_view time =
      wrong_time(*claims, now_ms / kMsPerSecond, settings_.clock_skew_seconds);
  if (!time.empty()) return time;
  if (settings_.issuer) {
    const json::value* issuer = claims->if_contains("iss");
    if (issuer == nullptr || text_of(*issuer) != std::string_view(*settings_.issuer))
      return "another issuer";
  }
  if (!settings_.audiences.empty() && !is_for(*claims, settings_.audiences))
    return "another audience";
  const json::value* scope = claims->if_contains(settings_.scope_claim);
  if (scope != nullptr && !are_scopes(*scope)) return "its scope";
  const json::value* subject = claims->if_contains(settings_.subject_claim);
  const std::string_view name = subject == nullptr ? "" : trimmed(text_of(*subject).value_or(""));
  if (name.empty()) return "no subject";
  return JwtClaims{std::string(name), *seconds_of(claims->at("exp")) * kMsPerSecond};
}

}  // namespace ackord::security
