// The order of a login, as Kafka 4.4 answers it.
#include "broker/security/sasl_authentication.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/unit/broker/security/jwt_maker.h"
#include "tests/unit/broker/security/scram_client.h"

namespace ackord::security {
namespace {

using Admission = SaslAuthentication::Admission;

constexpr int16_t kProduce = 0;
constexpr int16_t kMetadata = 3;
constexpr int16_t kHandshake = 17;
constexpr int16_t kVersions = 18;
constexpr int16_t kAuthenticate = 36;
constexpr std::string_view kAlice("\0alice\0secret", 13);
constexpr std::string_view kBob("\0bob\0secret", 11);
constexpr std::string_view kWrong("\0alice\0wrong", 12);

class SaslOrder : public testing::Test {
 protected:
  SaslOrder() { listen({{"PLAIN", 0}, {"SCRAM-SHA-256", 0}}); }

  void listen(std::vector<SaslSettings::Mechanism> mechanisms) {
    SaslSettings settings;
    settings.mechanisms = std::move(mechanisms);
    settings.plain_users = PlainUsers("key");
    settings.plain_users.add("alice", "secret");
    settings.plain_users.add("bob", "secret");
    settings.decoy_key = "decoy";
    JwtSettings tokens;
    tokens.keys = *Jwks::parse("{\"keys\":[" + key().entry("") + "]}");
    settings.tokens = std::make_shared<const JwtVerifier>(std::move(tokens));
    login_.reset();
    listener_ = std::make_unique<SaslListener>(std::move(settings));
    connect();
  }
  void connect() { login_ = std::make_unique<SaslAuthentication>(*listener_, credentials_); }

  static const JwtKey& key() {
    static const JwtKey made = JwtKey::ec("P-256", 32);
    return made;
  }
  std::string oauth(int64_t expires_at_ms) {
    return "n,,\1auth=Bearer " +
           key().token("ES256", R"({"alg":"ES256"})",
                       fmt::format(R"({{"sub":"carol","iat":1,"exp":{}}})", expires_at_ms / 1000)) +
           "\1\1";
  }

  Admission admit(int16_t key) { return login_->admit(key, now_); }
  SaslAuthentication::Handshake handshake(std::string_view mechanism, int16_t version = 1) {
    EXPECT_EQ(admit(kHandshake), Admission::kServe);
    return login_->handshake(mechanism, version, "nonce");
  }
  SaslAuthentication::Reply authenticate(std::string_view token) {
    EXPECT_EQ(admit(kAuthenticate), Admission::kServe);
    return login_->token(token, now_);
  }
  void log_in(std::string_view mechanism = "PLAIN", std::string_view token = kAlice) {
    connect();
    handshake(mechanism);
    EXPECT_EQ(authenticate(token).error, ErrorCode::NONE);
    EXPECT_EQ(login_->state(), SaslState::kComplete);
  }
  void pass(int64_t ms) {
    now_.wall_ms += ms;
    now_.steady_ms += ms;
  }
  uint64_t succeeded() { return listener_->find("PLAIN")->succeeded; }
  uint64_t failed() { return listener_->find("PLAIN")->failed; }

  FixedCredentials credentials_;
  std::unique_ptr<SaslListener> listener_;
  std::unique_ptr<SaslAuthentication> login_;
  io::Now now_{1'700'000'000'000, 5000};
};

TEST_F(SaslOrder, VersionsHandshakeToken) {
  EXPECT_EQ(admit(kVersions), Admission::kServe);
  EXPECT_EQ(login_->versions_told(), ErrorCode::NONE);
  const auto agreed = handshake("PLAIN");
  EXPECT_EQ(agreed.error, ErrorCode::NONE);
  EXPECT_TRUE(agreed.lists_mechanisms);
  const auto reply = authenticate(kAlice);
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  EXPECT_EQ(reply.session_lifetime_ms, 0);
  EXPECT_EQ(login_->principal().str(), "User:alice");
  EXPECT_EQ(admit(kMetadata), Admission::kServe);
  EXPECT_EQ(succeeded(), 1u);
  EXPECT_EQ(failed(), 0u);
}

TEST_F(SaslOrder, VersionsMayBeLeftOutAndComeOnlyOnce) {
  log_in();
  connect();
  admit(kVersions);
  login_->versions_told();
  EXPECT_EQ(admit(kVersions), Admission::kClose);
  EXPECT_TRUE(login_->failed());
}

// One that was answered with an error has not been told.
TEST_F(SaslOrder, VersionsAgainAfterAnError) {
  EXPECT_EQ(admit(kVersions), Admission::kServe);
  EXPECT_EQ(admit(kVersions), Admission::kServe);
  EXPECT_EQ(handshake("PLAIN").error, ErrorCode::NONE);
}

TEST_F(SaslOrder, NothingElseBeforeTheHandshake) {
  for (const int16_t key : {kProduce, kMetadata, kAuthenticate, int16_t{-1}, int16_t{20000}}) {
    connect();
    EXPECT_EQ(admit(key), Admission::kClose) << key;
    EXPECT_EQ(admit(kHandshake), Admission::kClose) << key;
    connect();
    admit(kVersions);
    login_->versions_told();
    EXPECT_EQ(admit(key), Admission::kClose) << key;
  }
  EXPECT_EQ(listener_->out_of_order, 10u);
}

TEST_F(SaslOrder, AMechanismThatIsNotEnabled) {
  for (const char* name : {"GSSAPI", "plain", "", "SCRAM-SHA-512"}) {
    connect();
    const auto agreed = handshake(name);
    EXPECT_EQ(agreed.error, ErrorCode::UNSUPPORTED_SASL_MECHANISM);
    EXPECT_TRUE(agreed.lists_mechanisms);
    EXPECT_TRUE(agreed.answered);
    EXPECT_TRUE(login_->failed());
  }
}

TEST_F(SaslOrder, NothingElseWithinALogin) {
  for (const int16_t key : {kProduce, kMetadata}) {
    connect();
    handshake("PLAIN");
    EXPECT_EQ(admit(key), Admission::kCloseLater);
    EXPECT_TRUE(login_->failed());
  }
  connect();
  handshake("PLAIN");
  EXPECT_EQ(handshake("PLAIN").error, ErrorCode::ILLEGAL_SASL_STATE);
  EXPECT_TRUE(login_->failed());
  connect();
  handshake("PLAIN");
  EXPECT_EQ(admit(kVersions), Admission::kServe);
  EXPECT_EQ(login_->versions_told(), ErrorCode::ILLEGAL_SASL_STATE);
  EXPECT_TRUE(login_->failed());
}

TEST_F(SaslOrder, AWrongPassword) {
  handshake("PLAIN");
  const auto reply = authenticate(kWrong);
  EXPECT_EQ(reply.error, ErrorCode::SASL_AUTHENTICATION_FAILED);
  EXPECT_EQ(reply.message, "Authentication failed: Invalid username or password");
  EXPECT_TRUE(login_->failed());
  EXPECT_EQ(admit(kAuthenticate), Admission::kClose);
  EXPECT_EQ(failed(), 1u);
  connect();
  handshake("SCRAM-SHA-256");
  EXPECT_EQ(authenticate("nonsense").message,
            "Authentication failed during authentication due to invalid credentials with SASL "
            "mechanism SCRAM-SHA-256");
}

TEST_F(SaslOrder, ManyTokens) {
  credentials_.users[{metadata::ScramMechanism::kSha256, "sue"}] =
      credential_of(metadata::ScramMechanism::kSha256, "secret", "salt", 4096);
  handshake("SCRAM-SHA-256");
  ScramClient client(metadata::ScramMechanism::kSha256, "sue", "secret");
  const auto challenge = authenticate(client.first());
  EXPECT_EQ(challenge.error, ErrorCode::NONE);
  EXPECT_EQ(login_->state(), SaslState::kRequests);
  const std::string last = client.last(challenge.bytes);
  EXPECT_EQ(authenticate(last).bytes, client.expected());
  EXPECT_EQ(login_->principal().str(), "User:sue");
}

// Handshake version 0: whatever comes is a token, also what looks like a request.
TEST_F(SaslOrder, RawTokens) {
  handshake("PLAIN", 0);
  EXPECT_EQ(admit(kMetadata), Admission::kRawToken);
  EXPECT_EQ(login_->token(kAlice, now_).error, ErrorCode::NONE);
  EXPECT_EQ(admit(kMetadata), Admission::kServe);
  connect();
  handshake("PLAIN", 0);
  EXPECT_EQ(admit(-1), Admission::kRawToken);
  EXPECT_EQ(login_->token(kWrong, now_).error, ErrorCode::SASL_AUTHENTICATION_FAILED);
  EXPECT_TRUE(login_->failed());
}

TEST_F(SaslOrder, WithoutASessionsEndNobodyLogsInAgain) {
  log_in();
  EXPECT_EQ(handshake("PLAIN").error, ErrorCode::ILLEGAL_SASL_STATE);
  const auto reply = authenticate(kAlice);
  EXPECT_EQ(reply.error, ErrorCode::ILLEGAL_SASL_STATE);
  EXPECT_EQ(reply.message, "SaslAuthenticate request received after successful authentication");
  EXPECT_EQ(admit(kVersions), Admission::kServe);
  EXPECT_EQ(login_->versions_told(), ErrorCode::NONE);
  pass(1'000'000'000);
  EXPECT_EQ(admit(kProduce), Admission::kServe);
  EXPECT_EQ(login_->state(), SaslState::kComplete);
}

class SaslSession : public SaslOrder {
 protected:
  SaslSession() { listen({{"PLAIN", 3000}, {"SCRAM-SHA-256", 0}, {"OAUTHBEARER", 3000}}); }
};

TEST_F(SaslSession, EndsUnlessTheClientLogsInAgain) {
  handshake("PLAIN");
  EXPECT_EQ(authenticate(kAlice).session_lifetime_ms, 3000);
  pass(3000);
  EXPECT_EQ(admit(kProduce), Admission::kServe);
  EXPECT_EQ(handshake("PLAIN").error, ErrorCode::NONE);
  EXPECT_EQ(authenticate(kAlice).session_lifetime_ms, 3000);
  pass(3000);
  EXPECT_EQ(admit(kProduce), Admission::kServe);
  pass(1);
  EXPECT_EQ(admit(kProduce), Admission::kClose);
  EXPECT_TRUE(login_->failed());
  EXPECT_EQ(listener_->expired, 1u);
}

TEST_F(SaslSession, ALoginIsNotTooLateAfterTheEnd) {
  log_in();
  pass(100000);
  EXPECT_EQ(handshake("PLAIN").error, ErrorCode::NONE);
  EXPECT_EQ(authenticate(kAlice).error, ErrorCode::NONE);
  EXPECT_EQ(admit(kProduce), Admission::kServe);
}

TEST_F(SaslSession, NotMoreOftenThanEverySecond) {
  log_in();
  handshake("PLAIN");
  authenticate(kAlice);
  pass(999);
  EXPECT_EQ(handshake("PLAIN").error, ErrorCode::ILLEGAL_SASL_STATE);
  EXPECT_EQ(admit(kProduce), Admission::kServe);
  pass(1);
  EXPECT_EQ(handshake("PLAIN").error, ErrorCode::NONE);
}

TEST_F(SaslSession, TheSameUserByTheSameMechanism) {
  log_in();
  handshake("PLAIN");
  EXPECT_EQ(authenticate(kBob).message,
            "Cannot change principals during re-authentication from User.alice: User.bob");
  EXPECT_TRUE(login_->failed());
  log_in();
  EXPECT_EQ(handshake("SCRAM-SHA-256").error, ErrorCode::NONE);
  EXPECT_EQ(admit(kAuthenticate), Admission::kCloseLater);
  EXPECT_TRUE(login_->failed());
  log_in();
  EXPECT_FALSE(handshake("GSSAPI").answered);
  EXPECT_TRUE(login_->failed());
}

TEST_F(SaslSession, NothingElseWithinTheSecondLogin) {
  log_in();
  handshake("PLAIN");
  EXPECT_EQ(admit(kProduce), Admission::kCloseLater);
  log_in();
  handshake("PLAIN");
  EXPECT_EQ(authenticate(kWrong).error, ErrorCode::SASL_AUTHENTICATION_FAILED);
  log_in();
  handshake("PLAIN", 0);
  EXPECT_EQ(admit(kProduce), Admission::kRawToken);
  EXPECT_EQ(login_->token(kAlice, now_).error, ErrorCode::NONE);
  EXPECT_EQ(admit(kProduce), Admission::kServe);
}

TEST_F(SaslSession, ATokensExpiryEndsItEarlier) {
  handshake("OAUTHBEARER");
  EXPECT_EQ(authenticate(oauth(now_.wall_ms + 2000)).session_lifetime_ms, 2000);
  pass(2001);
  EXPECT_EQ(admit(kProduce), Admission::kClose);
  connect();
  handshake("OAUTHBEARER");
  EXPECT_EQ(authenticate(oauth(now_.wall_ms + 60000)).session_lifetime_ms, 3000);
  // It was good by the clock skew alone.
  connect();
  handshake("OAUTHBEARER");
  EXPECT_EQ(authenticate(oauth(now_.wall_ms - 5000)).session_lifetime_ms, 0);
  pass(1);
  EXPECT_EQ(admit(kProduce), Admission::kClose);
}

}  // namespace
}  // namespace ackord::security
