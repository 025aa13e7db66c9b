#include "broker/security/sasl_oauthbearer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ackord::security {
namespace {

constexpr char kSeparator = '\x01';
constexpr std::string_view kInvalidToken = R"({"status":"invalid_token"})";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_value(char c) { return (c >= ' ' && c < 0x7f) || c == '\t' || c == '\r' || c == '\n'; }
bool is_token(char c) {
  return is_letter(c) || is_digit(c) ||
         std::string_view("-_~+/.").find(c) != std::string_view::npos;
}

struct ClientMessage {
  std::string_view authorization_id;
  std::string_view token;
};

// The key-value pairs, each behind which is a separator, up to one more separator at the end.
std::optional<std::map<std::string_view, std::string_view>> parse_pairs(std::string_view rest) {
  std::map<std::string_view, std::string_view> pairs;
  while (true) {
    const size_t end = rest.find(kSeparator);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (pair.empty()) {
      if (!rest.empty()) return std::nullopt;
      return pairs;
    }
    const size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : pair.substr(equals + 1);
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_letter)) return std::nullopt;
    if (value.empty() || !std::all_of(value.begin(), value.end(), is_value)) return std::nullopt;
    pairs[name] = value;
  }
}

// "Bearer" 1*SP token; the scheme in any case.
std::optional<std::string_view> bearer_token(std::string_view auth) {
  constexpr std::string_view kScheme = "bearer";
  const bool bearer =
      auth.size() > kScheme.size() && std::equal(kScheme.begin(), kScheme.end(), auth.begin(),
                                                 [](char a, char b) { return a == (b | 0x20); });
  if (!bearer || auth[kScheme.size()] != ' ') return std::nullopt;
  std::string_view token =
      auth.substr(std::min(auth.find_first_not_of(' ', kScheme.size()), auth.size()));
  std::string_view characters = token;
  while (characters.ends_with('=')) characters.remove_suffix(1);
  if (characters.empty() || !std::all_of(characters.begin(), characters.end(), is_token))
    return std::nullopt;
  return token;
}

// "n," ["a=" name] "," separator pairs separator. A name with a comma or an equals sign would be
// written otherwise than it is; no such name can be asked for, as it must be the token's.
std::optional<ClientMessage> parse(std::string_view message) {
  ClientMessage out;
  if (!message.starts_with("n,")) return std::nullopt;
  message.remove_prefix(2);
  const size_t comma = message.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::string_view authorization = message.substr(0, comma);
  message.remove_prefix(comma + 1);
  if (!authorization.empty()) {
    if (!authorization.starts_with("a=") || authorization.size() == 2) return std::nullopt;
    out.authorization_id = authorization.substr(2);
  }
  if (!message.starts_with(kSeparator)) return std::nullopt;
  const auto pairs = parse_pairs(message.substr(1));
  if (!pairs) return std::nullopt;
  const auto auth = pairs->find("auth");
  if (auth == pairs->end()) return std::nullopt;
  const auto token = bearer_token(auth->second);
  if (!token) return std::nullopt;
  out.token = *token;
  return out;
}

class OauthbearerExchange final : public SaslExchange {
 public:
  explicit OauthbearerExchange(const JwtVerifier& verifier) : verifier_(verifier) {}

  SaslStep step(std::string_view message, TimeMs now_ms) override {
    // RFC 7628, section 3.2.3: the client acknowledges the error with a separator.
    if (!why_not_.empty() && message == std::string_view(&kSeparator, 1))
      return sasl_refused(why_not_, std::string(kInvalidToken));
    const auto shown = parse(message);
    if (!shown) return sasl_refused("malformed");
    auto verified = verifier_.verify(shown->token, now_ms);
    if (const auto* why = std::get_if<std::string_view>(&verified)) {
      // Checking a signature costs; who has been told may try once more.
      if (!why_not_.empty()) return sasl_refused(*why, std::string(kInvalidToken));
      why_not_ = *why;
      return sasl_continue(std::string(kInvalidToken));
    }
    JwtClaims& claims = std::get<JwtClaims>(verified);
    if (!shown->authorization_id.empty() && shown->authorization_id != claims.subject) {
      return sasl_refused(
          "another authorization id",
          fmt::format("Authentication failed: Client requested an authorization id ({}) that is "
                      "different from the token's principal name ({})",
                      shown->authorization_id, claims.subject));
    }
    SaslStep accepted;
    accepted.verdict = SaslStep::Verdict::kAccepted;
    accepted.principal.name = std::move(claims.subject);
    accepted.expires_at_ms = claims.expires_at_ms;
    return accepted;
  }

 private:
  const JwtVerifier& verifier_;
  std::string_view why_not_;  // the token that was shown last; empty: none was bad
};

}  // namespace

std::unique_ptr<SaslExchange> make_oauthbearer_exchange(const JwtVerifier& verifier) {
  return std::make_unique<OauthbearerExchange>(verifier);
}

}  // namespace ackord::security
