#include "broker/main/sasl_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "broker/security/sasl_authentication.h"

namespace ackord::main {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kListener =
    "listeners=SASL_PLAINTEXT://localhost:9092\n"
    "sasl.enabled.mechanisms=PLAIN\n";
const std::string kUsers =
    "listener.name.sasl_plaintext.plain.sasl.jaas.config="
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    "username=\"broker\" password=\"b-secret\" user_alice=\"a-secret\";\n";

Result<security::SaslListeners> read(const std::string& text) {
  const auto properties = parse_properties(text, "server.properties");
  const auto config = Config::make(properties.value());
  if (config.has_error()) return config.error();
  const auto listeners = listener_configs(config.value());
  if (listeners.has_error()) return listeners.error();
  return sasl_listeners(config.value(), listeners.value());
}
std::string refusal(const std::string& text) {
  const auto logins = read(text);
  return logins ? "accepted" : logins.error().message;
}

class NoUsers final : public security::SaslCredentials {
 public:
  std::optional<metadata::ScramCredential> scram(metadata::ScramMechanism,
                                                 std::string_view) const override {
    return std::nullopt;
  }
};

ErrorCode log_in(const security::SaslListener& listener, const std::string& token) {
  const NoUsers none;
  security::SaslAuthentication login(listener, none);
  login.admit(17, {});
  login.handshake("PLAIN", 1, "nonce");
  return login.token(token, {}).error;
}

std::vector<std::string> names(const security::SaslListener& listener) {
  std::vector<std::string> out;
  for (const auto& one : listener.mechanisms()) out.push_back(one->name);
  return out;
}

TEST(SaslConfig, OnlyListenersThatAskForIt) {
  EXPECT_TRUE(read("").value().empty());
  EXPECT_TRUE(read("sasl.enabled.mechanisms=GSSAPI\n").value().empty());
  const auto logins = read(kListener + kUsers);
  ASSERT_TRUE(logins) << logins.error().message;
  ASSERT_EQ(logins->size(), 1u);
  EXPECT_THAT(names(*logins->at("SASL_PLAINTEXT")), ElementsAre("PLAIN"));
}

TEST(SaslConfig, UsersOfPlain) {
  const auto logins = read(kListener + kUsers);
  const auto& listener = *logins->at("SASL_PLAINTEXT");
  EXPECT_EQ(log_in(listener, std::string("\0alice\0a-secret", 15)), ErrorCode::NONE);
  // What the broker itself would log in with elsewhere is no user.
  EXPECT_NE(log_in(listener, std::string("\0broker\0b-secret", 16)), ErrorCode::NONE);
}

TEST(SaslConfig, TheNearestSettingCounts) {
  const std::string two =
      "listeners=A://localhost:1,B://localhost:2\n"
      "listener.security.protocol.map=A:SASL_PLAINTEXT,B:SASL_PLAINTEXT\n"
      "sasl.enabled.mechanisms=SCRAM-SHA-512,SCRAM-SHA-256,SCRAM-SHA-512\n"
      "listener.name.b.sasl.enabled.mechanisms=SCRAM-SHA-256\n"
      "connections.max.reauth.ms=1000\n"
      "listener.name.a.connections.max.reauth.ms=2000\n"
      "listener.name.a.scram-sha-256.connections.max.reauth.ms=3000\n"
      "connection.failed.authentication.delay.ms=7\n";
  const auto logins = read(two);
  ASSERT_TRUE(logins) << logins.error().message;
  const auto& a = *logins->at("A");
  EXPECT_THAT(names(a), ElementsAre("SCRAM-SHA-512", "SCRAM-SHA-256"));
  EXPECT_EQ(a.find("SCRAM-SHA-512")->max_reauth_ms, 2000);
  EXPECT_EQ(a.find("SCRAM-SHA-256")->max_reauth_ms, 3000);
  EXPECT_EQ(a.failure_delay_ms(), 7);
  const auto& b = *logins->at("B");
  EXPECT_THAT(names(b), ElementsAre("SCRAM-SHA-256"));
  EXPECT_EQ(b.find("SCRAM-SHA-256")->max_reauth_ms, 1000);
}

TEST(SaslConfig, IncompleteOnesAreRefused) {
  EXPECT_THAT(refusal("listeners=SASL_PLAINTEXT://localhost:9092\n"),
              AllOf(HasSubstr("GSSAPI is not served"), HasSubstr("PLAIN, SCRAM-SHA-256")));
  EXPECT_THAT(refusal(kListener + "sasl.enabled.mechanisms=\n"), HasSubstr("is empty"));
  EXPECT_THAT(refusal(kListener + "sasl.enabled.mechanisms=plain\n"), HasSubstr("plain"));
  EXPECT_THAT(refusal(kListener),
              HasSubstr("listener.name.sasl_plaintext.plain.sasl.jaas.config is not set"));
  // As in Kafka, it must say which listener and mechanism it is for.
  EXPECT_THAT(refusal(kListener + "sasl.jaas.config=M required;\n"), HasSubstr("is not set"));
}

TEST(SaslConfig, WrongEntriesAreRefusedWithoutTheirSecrets) {
  const std::string entry = "listener.name.sasl_plaintext.plain.sasl.jaas.config=";
  const std::string module = "org.apache.kafka.common.security.plain.PlainLoginModule required ";
  const auto jaas = [&](const std::string& text) { return refusal(kListener + entry + text); };
  EXPECT_THAT(jaas("x"), HasSubstr("plain.sasl.jaas.config: "));
  EXPECT_THAT(jaas(module + "user_a=\"hidden\"\n"),
              AllOf(HasSubstr("semicolon"), Not(HasSubstr("hidden"))));
  EXPECT_THAT(jaas(module + "username=\"u\" password=\"hidden\";\n"),
              AllOf(HasSubstr("no user"), Not(HasSubstr("hidden"))));
  EXPECT_THAT(jaas(module + "user_=\"x\";\n"), HasSubstr("a name and a password"));
  EXPECT_THAT(jaas(module + "user_a=\"\";\n"), HasSubstr("a name and a password"));
  EXPECT_THAT(jaas("org.example.Mine required user_a=\"hidden\";\n"),
              AllOf(HasSubstr("PlainLoginModule"), Not(HasSubstr("hidden"))));
}

class OauthConfig : public testing::Test {
 protected:
  OauthConfig()
      : path_(std::filesystem::temp_directory_path() /
              ("ackord-jwks-" + std::to_string(::getpid()) + ".json")) {}
  ~OauthConfig() override { std::filesystem::remove(path_); }

  void keys(const std::string& text) { std::ofstream(path_) << text; }
  std::string with(const std::string& more) const {
    return "listeners=SASL_PLAINTEXT://localhost:9092\n"
           "sasl.enabled.mechanisms=OAUTHBEARER\n" +
           more;
  }
  std::string url() const {
    return "sasl.oauthbearer.jwks.endpoint.url=file:" + path_.string() + "\n";
  }

  const std::filesystem::path path_;
  // The example of RFC 7517, appendix A.1.
  const std::string good_ =
      R"({"keys":[{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",)"
      R"("y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","use":"sig","kid":"1"}]})";
  const std::string expected_ =
      "sasl.oauthbearer.expected.issuer=i\nsasl.oauthbearer.expected.audience=a,b\n";
};

TEST_F(OauthConfig, NeedsKeysIssuerAndAudience) {
  keys(good_);
  EXPECT_EQ(refusal(with(url() + expected_)), "accepted");
  EXPECT_THAT(refusal(with(expected_)), HasSubstr("jwks.endpoint.url is not set"));
  EXPECT_THAT(refusal(with(url() + "sasl.oauthbearer.expected.issuer=i\n")),
              HasSubstr("expected.audience is not set"));
  EXPECT_THAT(refusal(with(url() + "sasl.oauthbearer.expected.audience=a\n")),
              HasSubstr("expected.issuer is not set"));
  EXPECT_EQ(refusal(with(url() + "sasl.oauthbearer.allow.unverified.audience=true\n"
                                 "sasl.oauthbearer.allow.unverified.issuer=true\n")),
            "accepted");
}

TEST_F(OauthConfig, ReadsNothingButAKeySet) {
  EXPECT_THAT(refusal(with(url() + expected_)), HasSubstr("cannot read"));
  keys("{}");
  EXPECT_THAT(refusal(with(url() + expected_)), HasSubstr("keys"));
  EXPECT_THAT(refusal(with("sasl.oauthbearer.jwks.endpoint.url=https://x/jwks\n" + expected_)),
              HasSubstr("only file:"));
  keys(good_);
  const std::string three = "sasl.oauthbearer.jwks.endpoint.url=file://" + path_.string() + "\n";
  EXPECT_EQ(refusal(with(three + expected_)), "accepted");
}

TEST_F(OauthConfig, NoClassOfSomebodyElse) {
  keys(good_);
  const std::string name =
      "listener.name.sasl_plaintext.oauthbearer.sasl.server.callback.handler.class=";
  EXPECT_EQ(refusal(with(url() + expected_ + name +
                         "org.apache.kafka.common.security.oauthbearer."
                         "OAuthBearerValidatorCallbackHandler\n")),
            "accepted");
  EXPECT_THAT(refusal(with(url() + expected_ + name + "org.example.Mine\n")),
              HasSubstr("no other class"));
}

}  // namespace
}  // namespace ackord::main
