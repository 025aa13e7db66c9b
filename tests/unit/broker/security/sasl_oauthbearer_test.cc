#include "broker/security/sasl_oauthbearer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/broker/security/jwt_maker.h"

namespace ackord::security {
namespace {

using Verdict = SaslStep::Verdict;

constexpr int64_t kNowMs = 1'700'000'000'000;
constexpr const char* kInvalid = R"({"status":"invalid_token"})";

class SaslOauthbearer : public testing::Test {
 protected:
  static JwtSettings settings(const JwtKey& key) {
    JwtSettings settings;
    settings.keys = *Jwks::parse("{\"keys\":[" + key.entry("") + "]}");
    return settings;
  }
  std::string token(std::string_view subject) {
    return key_.token("ES256", R"({"alg":"ES256"})",
                      fmt::format(R"({{"sub":"{}","iat":1699999990,"exp":1700000060}})", subject));
  }
  std::unique_ptr<SaslExchange> begin() { return make_oauthbearer_exchange(verifier_); }
  SaslStep say(const std::string& message) { return begin()->step(message, kNowMs); }

  JwtKey key_ = JwtKey::ec("P-256", 32);
  JwtVerifier verifier_{settings(key_)};
};

TEST_F(SaslOauthbearer, TheTokenSaysWhoItIsAndForHowLong) {
  for (const char* form : {"n,,\1auth=Bearer {}\1\1", "n,a=carol,\1auth=Bearer {}\1\1",
                           "n,,\1auth=bearer   {}\1\1", "n,,\1auth=Bearer {}\1foo=bar x\1\1"}) {
    const SaslStep step = say(fmt::format(fmt::runtime(form), token("carol")));
    EXPECT_EQ(step.verdict, Verdict::kAccepted) << form;
    EXPECT_EQ(step.principal.str(), "User:carol");
    EXPECT_EQ(step.expires_at_ms, 1700000060000);
    EXPECT_EQ(step.answer, "");
  }
}

TEST_F(SaslOauthbearer, ABadTokenIsToldFirst) {
  auto exchange = begin();
  const SaslStep told = exchange->step("n,,\1auth=Bearer a.b.c\1\1", kNowMs);
  EXPECT_EQ(told.verdict, Verdict::kContinue);
  EXPECT_EQ(told.answer, kInvalid);
  const SaslStep refused = exchange->step("\1", kNowMs);
  EXPECT_EQ(refused.verdict, Verdict::kRefused);
  EXPECT_EQ(refused.told, kInvalid);
  EXPECT_EQ(refused.reason, "malformed");
}

TEST_F(SaslOauthbearer, OnceMoreAndNotMoreOften) {
  auto exchange = begin();
  exchange->step("n,,\1auth=Bearer a.b.c\1\1", kNowMs);
  EXPECT_EQ(exchange->step("n,,\1auth=Bearer " + token("carol") + "\1\1", kNowMs).verdict,
            Verdict::kAccepted);
  exchange = begin();
  exchange->step("n,,\1auth=Bearer a.b.c\1\1", kNowMs);
  EXPECT_EQ(exchange->step("n,,\1auth=Bearer a.b.c\1\1", kNowMs).verdict, Verdict::kRefused);
}

TEST_F(SaslOauthbearer, AuthorizationIdMustBeTheTokens) {
  const SaslStep step = say("n,a=bob,\1auth=Bearer " + token("carol") + "\1\1");
  EXPECT_EQ(step.verdict, Verdict::kRefused);
  EXPECT_EQ(step.told,
            "Authentication failed: Client requested an authorization id (bob) that is different "
            "from the token's principal name (carol)");
}

TEST_F(SaslOauthbearer, MessagesThatAreNone) {
  const std::string good = token("carol");
  for (const char* form : {"",
                           "\1",
                           "n",
                           "n,",
                           "n,,",
                           "n,,\1",
                           "n,,\1\1",
                           "y,,\1auth=Bearer {}\1\1",
                           "n,,auth=Bearer {}\1\1",
                           "n,,\1auth=Bearer {}\1",
                           "n,,\1auth=Bearer {}\1\1x",
                           "n,,\1auth=Basic {}\1\1",
                           "n,,\1auth=Bearer{}\1\1",
                           "n,,\1auth=Bearer\1\1",
                           "n,,\1auth=Bearer \1\1",
                           "n,,\1auth=Bearer =\1\1",
                           "n,,\1auth=Bearer a b\1\1",
                           "n,,\1auth=\1\1",
                           "n,,\1foo=bar\1\1",
                           "n,,\1auth=Bearer {}\1foo1=bar\1\1",
                           "n,,\1auth=Bearer {}\1=bar\1\1",
                           "n,,\1auth=Bearer {}\1foo\1\1",
                           "n,,\1auth=Bearer {}\1foo=\xc3\xbc\1\1",
                           "n,a=,\1auth=Bearer {}\1\1",
                           "n,b=x,\1auth=Bearer {}\1\1"}) {
    const SaslStep step = say(fmt::format(fmt::runtime(form), good));
    EXPECT_EQ(step.verdict, Verdict::kRefused) << form;
    EXPECT_EQ(step.told, "") << form;
  }
}

}  // namespace
}  // namespace ackord::security
