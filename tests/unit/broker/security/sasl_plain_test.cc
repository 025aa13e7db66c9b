#include "broker/security/sasl_plain.h"

#include <gtest/gtest.h>

namespace ackord::security {
namespace {

using Verdict = SaslStep::Verdict;

class SaslPlain : public testing::Test {
 protected:
  SaslPlain() {
    users_.add("alice", "alice-secret");
    users_.add("bob", "bob=secret, \"x\"");
  }
  SaslStep say(std::string_view message) { return make_plain_exchange(users_)->step(message, 0); }
  std::string told(std::string_view message) {
    const SaslStep step = say(message);
    EXPECT_EQ(step.verdict, Verdict::kRefused);
    return step.told;
  }

  PlainUsers users_{"a key"};
};

constexpr std::string_view kWrong = "Authentication failed: Invalid username or password";

template <size_t kSize>
std::string bytes(const char (&text)[kSize]) {
  return std::string(text, kSize - 1);
}

TEST_F(SaslPlain, NameAndPassword) {
  const SaslStep step = say(bytes("\0alice\0alice-secret"));
  EXPECT_EQ(step.verdict, Verdict::kAccepted);
  EXPECT_EQ(step.principal.str(), "User:alice");
  EXPECT_EQ(step.answer, "");
  EXPECT_FALSE(step.expires_at_ms);
  EXPECT_EQ(say(bytes("\0bob\0bob=secret, \"x\"")).verdict, Verdict::kAccepted);
}

TEST_F(SaslPlain, WrongOnesLookAlike) {
  EXPECT_EQ(told(bytes("\0alice\0alice-secreT")), kWrong);
  EXPECT_EQ(told(bytes("\0alice\0alice-secret ")), kWrong);
  EXPECT_EQ(told(bytes("\0Alice\0alice-secret")), kWrong);
  EXPECT_EQ(told(bytes("\0nobody\0alice-secret")), kWrong);
  EXPECT_EQ(told(bytes("\0\xff\xfe\0\xff")), kWrong);
  EXPECT_EQ(told(bytes("\0nobody\0a key")), kWrong);
}

TEST_F(SaslPlain, AuthorizationIdMustBeTheName) {
  EXPECT_EQ(say(bytes("alice\0alice\0alice-secret")).verdict, Verdict::kAccepted);
  EXPECT_EQ(told(bytes("bob\0alice\0alice-secret")),
            "Authentication failed: Client requested an authorization id that is different from "
            "username");
  EXPECT_EQ(told(bytes("bob\0alice\0wrong")), kWrong);
}

TEST_F(SaslPlain, ThreeTokens) {
  EXPECT_EQ(told(""), "Invalid SASL/PLAIN response: expected 3 tokens, got 1");
  EXPECT_EQ(told(bytes("a\0b")), "Invalid SASL/PLAIN response: expected 3 tokens, got 2");
  EXPECT_EQ(told(bytes("a\0b\0c\0")), "Invalid SASL/PLAIN response: expected 3 tokens, got 4");
  EXPECT_EQ(told(bytes("a\0b\0c\0d\0e")), "Invalid SASL/PLAIN response: expected 3 tokens, got 4");
  EXPECT_EQ(told(bytes("\0\0x")), "Authentication failed: username not specified");
  EXPECT_EQ(told(bytes("\0alice\0")), "Authentication failed: password not specified");
}

}  // namespace
}  // namespace ackord::security
