#include "broker/security/sasl_scram.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "broker/security/base64.h"

namespace ackord::security {
namespace {

using metadata::ScramCredential;

constexpr int32_t kFewestIterations = 4096;
constexpr std::string_view kTokenAuth = "tokenauth";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
// RFC 5802's value-char, in ASCII, as Kafka has it.
bool is_value(char c) { return c != '\0' && static_cast<unsigned char>(c) < 0x80 && c != ','; }
bool is_printable(char c) { return c > ' ' && c < 0x7f && c != ','; }

template <class Predicate>
bool all_of(std::string_view text, Predicate predicate) {
  return !text.empty() && std::all_of(text.begin(), text.end(), predicate);
}

// Up to the next comma, which is taken too.
std::string_view take_field(std::string_view& rest) {
  const size_t end = rest.find(',');
  const std::string_view field = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return field;
}

// saslname: "=2C" is a comma, "=3D" an equals sign, no other "=" may be there.
std::optional<std::string> decode_name(std::string_view name) {
  if (!all_of(name, is_value)) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '=') {
      out += name[i];
      continue;
    }
    const std::string_view escape = name.substr(i, 3);
    if (escape != "=2C" && escape != "=3D") return std::nullopt;
    out += escape == "=2C" ? ',' : '=';
    i += 2;
  }
  return out;
}

// name "=" value, separated by commas.
bool are_extensions(std::string_view rest) {
  while (!rest.empty()) {
    const bool last = rest.find(',') == std::string_view::npos;
    const std::string_view field = take_field(rest);
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos || !all_of(field.substr(0, equals), is_letter) ||
        !all_of(field.substr(equals + 1), is_value))
      return false;
    if (!last && rest.empty()) return false;
  }
  return true;
}

std::optional<std::string_view> extension(std::string_view rest, std::string_view name) {
  while (!rest.empty()) {
    const std::string_view field = take_field(rest);
    const size_t equals = field.find('=');
    if (field.substr(0, equals) == name) return field.substr(equals + 1);
  }
  return std::nullopt;
}

bool says_true(std::string_view text) {
  const std::string_view word = "true";
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

struct ClientFirst {
  std::string header;  // gs2-header: it comes again in the final message
  std::string bare;
  std::string authorization_id;
  std::string user;
  std::string nonce;
  bool by_token = false;
};

// gs2-header "n=" name ",r=" nonce *("," extension); gs2-header is "n," ["a=" name] ",".
std::optional<ClientFirst> parse_first(std::string_view message) {
  ClientFirst first;
  std::string_view rest = message;
  if (take_field(rest) != "n") return std::nullopt;
  if (rest.find(',') == std::string_view::npos) return std::nullopt;
  const std::string_view authorization = take_field(rest);
  if (!authorization.empty()) {
    if (!authorization.starts_with("a=")) return std::nullopt;
    auto name = decode_name(authorization.substr(2));
    if (!name) return std::nullopt;
    first.authorization_id = std::move(*name);
  }
  first.header = std::string(message.substr(0, message.size() - rest.size()));
  first.bare = std::string(rest);
  const std::string_view user = take_field(rest);
  if (!user.starts_with("n=")) return std::nullopt;
  auto name = decode_name(user.substr(2));
  if (!name) return std::nullopt;
  first.user = std::move(*name);
  const bool extended = rest.find(',') != std::string_view::npos;
  const std::string_view nonce = take_field(rest);
  if (!nonce.starts_with("r=") || !all_of(nonce.substr(2), is_printable)) return std::nullopt;
  first.nonce = std::string(nonce.substr(2));
  if (extended && (rest.empty() || !are_extensions(rest))) return std::nullopt;
  first.by_token = says_true(extension(rest, kTokenAuth).value_or(""));
  return first;
}

struct ClientFinal {
  std::string_view without_proof;
  std::string channel_binding;
  std::string_view nonce;
  std::string proof;
};

// "c=" base64 ",r=" nonce *("," extension) ",p=" base64.
std::optional<ClientFinal> parse_final(std::string_view message) {
  constexpr std::string_view kProof = ",p=";
  const size_t at = message.rfind(kProof);
  if (at == std::string_view::npos) return std::nullopt;
  ClientFinal last;
  last.without_proof = message.substr(0, at);
  auto proof = from_base64(message.substr(at + kProof.size()));
  std::string_view rest = last.without_proof;
  const std::string_view channel = take_field(rest);
  if (!proof || !channel.starts_with("c=")) return std::nullopt;
  last.proof = std::move(*proof);
  auto binding = from_base64(channel.substr(2));
  if (!binding) return std::nullopt;
  last.channel_binding = std::move(*binding);
  const std::string_view nonce = take_field(rest);
  if (!nonce.starts_with("r=") || !are_extensions(rest)) return std::nullopt;
  last.nonce = nonce.substr(2);
  return last;
}

std::string exclusive_or(std::string_view a, std::string_view b) {
  std::string out(a);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(out[i] ^ b[i]);
  return out;
}

class ScramExchange final : public SaslExchange {
 public:
  ScramExchange(const SaslCredentials& credentials, ScramSettings settings)
      : credentials_(credentials),
        settings_(std::move(settings)),
        digest_(digest_of(settings_.mechanism)) {}

  SaslStep step(std::string_view message, TimeMs) override {
    return first_ ? verify(message) : challenge(message);
  }

 private:
  // What stands in for a user that is not there. Salt and iterations look like those that Kafka's
  // tools make.
  ScramCredential decoy(const std::string& user) const {
    constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyz";
    constexpr size_t kSaltSize = 26;
    ScramCredential credential;
    const std::string seed = hmac(digest_, settings_.decoy_key, user);
    for (size_t i = 0; i < kSaltSize; ++i)
      credential.salt += kAlphabet[static_cast<uint8_t>(seed[i]) % kAlphabet.size()];
    credential.iterations = kFewestIterations;
    credential.stored_key = hash(digest_, seed);
    credential.server_key = seed;
    return credential;
  }

  SaslStep challenge(std::string_view message) {
    auto first = parse_first(message);
    if (!first) return sasl_refused("malformed first message");
    if (!first->authorization_id.empty() && first->authorization_id != first->user) {
      return sasl_refused("another authorization id",
                          "Authentication failed: Client requested an authorization id that is "
                          "different from username");
    }
    first_ = std::move(first);
    auto found =
        first_->by_token ? std::nullopt : credentials_.scram(settings_.mechanism, first_->user);
    known_ = found && found->iterations >= kFewestIterations &&
             found->stored_key.size() == digest_size(digest_);
    credential_ = known_ ? std::move(*found) : decoy(first_->user);
    nonce_ = first_->nonce + settings_.nonce;
    server_first_ =
        fmt::format("r={},s={},i={}", nonce_, to_base64(credential_.salt), credential_.iterations);
    return sasl_continue(server_first_);
  }

  SaslStep verify(std::string_view message) {
    const auto last = parse_final(message);
    if (!last || last->proof.size() != digest_size(digest_))
      return sasl_refused("malformed final message");
    if (last->channel_binding != first_->header) return sasl_refused("channel binding");
    // Some clients (librdkafka 2.0) put their own nonce before it once more, and Kafka lets them.
    if (!last->nonce.ends_with(nonce_)) return sasl_refused("nonce");
    const std::string spoken =
        fmt::format("{},{},{}", first_->bare, server_first_, last->without_proof);
    const std::string signature = hmac(digest_, credential_.stored_key, spoken);
    const std::string client_key = exclusive_or(last->proof, signature);
    const bool proved = equal_secrets(hash(digest_, client_key), credential_.stored_key);
    if (!proved || !known_) return sasl_refused("wrong user or password");
    SaslStep accepted;
    accepted.verdict = SaslStep::Verdict::kAccepted;
    accepted.answer = "v=" + to_base64(hmac(digest_, credential_.server_key, spoken));
    accepted.principal.name = first_->user;
    return accepted;
  }

  const SaslCredentials& credentials_;
  const ScramSettings settings_;
  const Digest digest_;
  std::optional<ClientFirst> first_;
  ScramCredential credential_;
  bool known_ = false;
  std::string nonce_;
  std::string server_first_;
};

}  // namespace

std::unique_ptr<SaslExchange> make_scram_exchange(const SaslCredentials& credentials,
                                                  ScramSettings settings) {
  return std::make_unique<ScramExchange>(credentials, std::move(settings));
}

}  // namespace ackord::security
