#include "broker/security/sasl_plain.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "broker/security/crypto.h"

namespace ackord::security {
namespace {

constexpr size_t kTokens = 3;

class PlainExchange final : public SaslExchange {
 public:
  explicit PlainExchange(const PlainUsers& users) : users_(users) {}

  // [authorization id] NUL name NUL password. Texts and the order of the checks are Kafka's.
  SaslStep step(std::string_view message, TimeMs) override {
    std::array<std::string_view, kTokens + 1> tokens;  // one more, to see that there are too many
    size_t count = 0;
    while (count < tokens.size()) {
      const size_t end = message.find('\0');
      tokens[count++] = message.substr(0, end);
      if (end == std::string_view::npos) break;
      message.remove_prefix(end + 1);
    }
    if (count != kTokens) {
      return sasl_refused(
          "malformed",
          fmt::format("Invalid SASL/PLAIN response: expected 3 tokens, got {}", count));
    }
    const auto [authorization_id, user, password, unused] = tokens;
    if (user.empty())
      return sasl_refused("no user", "Authentication failed: username not specified");
    if (password.empty())
      return sasl_refused("no password", "Authentication failed: password not specified");
    if (!users_.verify(user, password)) {
      return sasl_refused("wrong user or password",
                          "Authentication failed: Invalid username or password");
    }
    if (!authorization_id.empty() && authorization_id != user) {
      return sasl_refused("another authorization id",
                          "Authentication failed: Client requested an authorization id that is "
                          "different from username");
    }
    SaslStep accepted;
    accepted.verdict = SaslStep::Verdict::kAccepted;
    accepted.principal.name = std::string(user);
    return accepted;
  }

 private:
  const PlainUsers& users_;
};

}  // namespace

void PlainUsers::add(std::string user, std::string_view password) {
  digests_.insert_or_assign(std::move(user), hmac(Digest::kSha256, key_, password));
}

bool PlainUsers::verify(std::string_view user, std::string_view password) const {
  const std::string digest = hmac(Digest::kSha256, key_, password);
  const auto found = digests_.find(user);
  const bool known = found != digests_.end();
  const std::string_view expected = known ? std::string_view(found->second) : key_;
  return equal_secrets(digest, expected) && known;
}

std::unique_ptr<SaslExchange> make_plain_exchange(const PlainUsers& users) {
  return std::make_unique<PlainExchange>(users);
}

}  // namespace ackord::security
