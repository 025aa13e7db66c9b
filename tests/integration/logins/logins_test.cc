// Logins (SASL) with the real binary: the order of requests, failures that are held back, sessions,
// librdkafka with every mechanism, and that no secret is said anywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <ctime>
#include <fstream>
#include <memory>

#include "protocol/generated/alter_user_scram_credentials_request.h"
#include "protocol/generated/alter_user_scram_credentials_response.h"
#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/create_delegation_token_request.h"
#include "protocol/generated/create_delegation_token_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/sasl_authenticate_request.h"
#include "protocol/generated/sasl_authenticate_response.h"
#include "protocol/generated/sasl_handshake_request.h"
#include "protocol/generated/sasl_handshake_response.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/http_get.h"
#include "tests/integration/support/raw_client.h"
#include "tests/support/certificates.h"
#include "tests/unit/broker/security/jwt_maker.h"
#include "tests/unit/broker/security/scram_client.h"

namespace ackord::integration {
namespace {

using protocol::SaslAuthenticateResponse;
using std::chrono::steady_clock;

constexpr int64_t kDelayMs = 100;  // connection.failed.authentication.delay.ms
constexpr int kTimeoutMs = 20000;
const std::string kPassword = "alice-hidden";

Settings login_settings(const std::string& mechanisms) {
  return {{"listener.security.protocol.map",
           "PLAINTEXT:PLAINTEXT,PROXIED0:SASL_PLAINTEXT,PROXIED1:SASL_PLAINTEXT"},
          {"sasl.enabled.mechanisms", mechanisms},
          {"listener.name.proxied1.connections.max.reauth.ms", "1500"},
          {"listener.name.proxied0.plain.sasl.jaas.config", ""},
          {"listener.name.proxied1.plain.sasl.jaas.config", ""}};
}

std::string plain_token(const std::string& user, const std::string& password) {
  return std::string(1, '\0') + user + std::string(1, '\0') + password;
}

// A broker with one listener that asks for nothing, and two for logins; sessions on the second have
// an end.
class LoginBroker {
 public:
  explicit LoginBroker(Settings more = {}) {
    const std::string users =
        "org.apache.kafka.common.security.plain.PlainLoginModule required user_alice=\"" +
        kPassword + "\" user_bob=\"bob-hidden\";";
    Settings settings = login_settings("PLAIN,SCRAM-SHA-256,SCRAM-SHA-512");
    for (auto& [name, value] : settings) {
      if (name.ends_with(".jaas.config")) value = users;
    }
    settings.insert(settings.end(), more.begin(), more.end());
    Surroundings surroundings;
    for (uint16_t& port : ports_) {
      port = free_port();
      surroundings.proxied.push_back({port, port});
    }
    broker_ = std::make_unique<BrokerProcess>(settings, surroundings);
  }

  BrokerProcess& process() { return *broker_; }
  uint16_t port() const { return ports_[0]; }
  uint16_t session_port() const { return ports_[1]; }

  void add_user(const std::string& name, const std::string& password, int8_t mechanism) {
    const auto digest = mechanism == 1 ? security::Digest::kSha256 : security::Digest::kSha512;
    protocol::AlterUserScramCredentialsRequest request;
    auto& user = request.upsertions.emplace_back();
    user.name = String(name);
    user.mechanism = mechanism;
    user.iterations = 4096;
    user.salt = Bytes(std::string("salt of ") + name);
    user.salted_password = Bytes(security::pbkdf2(digest, password, "salt of " + name, 4096));
    RawClient client(broker_->port());
    const auto answer = client.call<protocol::AlterUserScramCredentialsResponse>(request, 0);
    require_none(answer.message.results.at(0).error_code, "AlterUserScramCredentials");
  }

 private:
  std::array<uint16_t, 2> ports_{};
  std::unique_ptr<BrokerProcess> broker_;
};

// One connection's requests of a login.
class Peer {
 public:
  explicit Peer(uint16_t port) : client(port) {}

  ErrorCode handshake(const std::string& mechanism, int16_t version = 1) {
    protocol::SaslHandshakeRequest request;
    request.mechanism = String(mechanism);
    const auto answer = client.call<protocol::SaslHandshakeResponse>(request, version);
    mechanisms.clear();
    for (const auto& one : answer.message.mechanisms) mechanisms.push_back(one.str());
    return answer.message.error_code;
  }
  Answer<SaslAuthenticateResponse> authenticate(const std::string& token, int16_t version = 2) {
    protocol::SaslAuthenticateRequest request;
    request.auth_bytes = Bytes(token);
    return client.call<SaslAuthenticateResponse>(request, version);
  }
  ErrorCode log_in(const std::string& user, const std::string& password) {
    const ErrorCode agreed = handshake("PLAIN");
    if (agreed != ErrorCode::NONE) return agreed;
    return authenticate(plain_token(user, password)).message.error_code;
  }
  bool is_served() {
    protocol::MetadataRequest request;
    request.topics.emplace();
    client.send(request, 9);
    return client.receive_frame().has_value();
  }
  bool is_closed() { return !client.receive_frame().has_value(); }

  RawClient client;
  std::vector<std::string> mechanisms;
};

int64_t ms_since(steady_clock::time_point begin) {
  return std::chrono::duration_cast<Millis>(steady_clock::now() - begin).count();
}

class Logins : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    broker_ = std::make_unique<LoginBroker>(
        Settings{{"http.listener", "127.0.0.1:" + std::to_string(http_port())}});
  }
  static void TearDownTestSuite() { broker_.reset(); }
  static uint16_t http_port() {
    static const uint16_t port = free_port();
    return port;
  }

  static std::unique_ptr<LoginBroker> broker_;
};
std::unique_ptr<LoginBroker> Logins::broker_;

TEST_F(Logins, WhoProvesWhoItIsIsServed) {
  Peer peer(broker_->port());
  const auto versions =
      peer.client.call<protocol::ApiVersionsResponse>(protocol::ApiVersionsRequest(), 2);
  EXPECT_EQ(versions.message.error_code, ErrorCode::NONE);
  EXPECT_EQ(peer.handshake("PLAIN"), ErrorCode::NONE);
  EXPECT_EQ(peer.mechanisms, (std::vector<std::string>{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}));
  const auto answer = peer.authenticate(plain_token("alice", kPassword));
  EXPECT_EQ(answer.message.error_code, ErrorCode::NONE);
  EXPECT_EQ(answer.message.session_lifetime_ms, 0);
  EXPECT_TRUE(peer.is_served());
  EXPECT_EQ(peer.handshake("PLAIN"), ErrorCode::ILLEGAL_SASL_STATE);
  EXPECT_TRUE(peer.is_served());
}

TEST_F(Logins, NothingIsServedBefore) {
  Peer first(broker_->port());
  EXPECT_FALSE(first.is_served());
  Peer within(broker_->port());
  EXPECT_EQ(within.handshake("PLAIN"), ErrorCode::NONE);
  EXPECT_FALSE(within.is_served());
  Peer without(broker_->port());
  EXPECT_THROW(without.authenticate(plain_token("alice", kPassword)), std::runtime_error);
  Peer unknown(broker_->port());
  EXPECT_EQ(unknown.handshake("GSSAPI"), ErrorCode::UNSUPPORTED_SASL_MECHANISM);
  EXPECT_EQ(unknown.mechanisms.size(), 3u);
  EXPECT_TRUE(unknown.is_closed());
  // The other listener asks nobody.
  Peer open(broker_->process().port());
  EXPECT_TRUE(open.is_served());
}

// As Kafka without delegation.token.secret.key.
TEST_F(Logins, ThereAreNoDelegationTokens) {
  const protocol::CreateDelegationTokenRequest request;
  Peer open(broker_->process().port());
  const auto anonymous = open.client.call<protocol::CreateDelegationTokenResponse>(request, 3);
  EXPECT_EQ(anonymous.message.error_code, ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED);
  EXPECT_EQ(anonymous.message.max_timestamp_ms, -1);
  Peer alice(broker_->port());
  EXPECT_EQ(alice.log_in("alice", kPassword), ErrorCode::NONE);
  const auto answer = alice.client.call<protocol::CreateDelegationTokenResponse>(request, 3);
  EXPECT_EQ(answer.message.error_code, ErrorCode::DELEGATION_TOKEN_AUTH_DISABLED);
  EXPECT_EQ(answer.message.principal_name, "alice");
  EXPECT_EQ(answer.message.token_requester_principal_name, "alice");
  EXPECT_EQ(answer.message.max_timestamp_ms, 0);
}

// The connection waits, the broker does not.
TEST_F(Logins, FailuresAreHeldBackWithoutHoldingUpOthers) {
  constexpr int kPeers = 60;
  std::vector<std::unique_ptr<Peer>> peers;
  for (int i = 0; i < kPeers; ++i) {
    peers.push_back(std::make_unique<Peer>(broker_->port()));
    EXPECT_EQ(peers.back()->handshake("PLAIN"), ErrorCode::NONE);
  }
  const auto begin = steady_clock::now();
  protocol::SaslAuthenticateRequest request;
  const std::string token = plain_token("alice", "wrong-hidden");
  request.auth_bytes = Bytes(token);
  std::vector<Pending> pending;
  for (const auto& peer : peers) pending.push_back(peer->client.send(request, 2));
  for (int i = 0; i < kPeers; ++i) {
    const auto answer = peers[i]->client.receive<SaslAuthenticateResponse>(pending[i]);
    EXPECT_EQ(answer.message.error_code, ErrorCode::SASL_AUTHENTICATION_FAILED);
    EXPECT_EQ(answer.message.error_message->sv(),
              "Authentication failed: Invalid username or password");
    EXPECT_TRUE(peers[i]->is_closed());
  }
  EXPECT_GE(ms_since(begin), kDelayMs);
  EXPECT_LT(ms_since(begin), kDelayMs * kPeers / 2) << "one after the other";
}

TEST_F(Logins, RawTokensOfAnOldClient) {
  Peer peer(broker_->port());
  EXPECT_EQ(peer.handshake("PLAIN", 0), ErrorCode::NONE);
  const auto raw = [](const std::string& token) {
    std::vector<std::byte> frame{std::byte{0}, std::byte{0}, std::byte{0},
                                 static_cast<std::byte>(token.size())};
    const auto* bytes = reinterpret_cast<const std::byte*>(token.data());
    frame.insert(frame.end(), bytes, bytes + token.size());
    return frame;
  };
  peer.client.send_bytes(raw(plain_token("alice", kPassword)));
  EXPECT_EQ(peer.client.receive_frame()->size(), 0u);
  EXPECT_TRUE(peer.is_served());
  Peer other(broker_->port());
  EXPECT_EQ(other.handshake("PLAIN", 0), ErrorCode::NONE);
  other.client.send_bytes(raw(plain_token("alice", "wrong-hidden")));
  EXPECT_TRUE(other.is_closed());
}

// sasl.server.max.receive.size: until somebody is known nothing large is read.
TEST_F(Logins, NoLargeFrameBefore) {
  const auto announce = [](Peer& peer, uint32_t size) {
    const std::array<std::byte, 4> prefix{
        static_cast<std::byte>(size >> 24), static_cast<std::byte>(size >> 16 & 255),
        static_cast<std::byte>(size >> 8 & 255), static_cast<std::byte>(size & 255)};
    peer.client.send_bytes(prefix);
  };
  Peer peer(broker_->port());
  announce(peer, 524289);
  EXPECT_TRUE(peer.is_closed());
  Peer within(broker_->port());
  EXPECT_EQ(within.handshake("PLAIN"), ErrorCode::NONE);
  announce(within, 524289);
  EXPECT_TRUE(within.is_closed());
}

// A user that was never there is asked for a proof, too.
TEST_F(Logins, ScramTellsNobodyWhoIsThere) {
  broker_->add_user("sue", "sue-hidden", 1);
  for (const char* user : {"sue", "nobody"}) {
    Peer peer(broker_->port());
    EXPECT_EQ(peer.handshake("SCRAM-SHA-256"), ErrorCode::NONE);
    security::ScramClient scram(metadata::ScramMechanism::kSha256, user, "wrong-hidden");
    const auto challenge = peer.authenticate(scram.first());
    ASSERT_EQ(challenge.message.error_code, ErrorCode::NONE);
    const auto answer =
        peer.authenticate(scram.last(std::string(challenge.message.auth_bytes.sv())));
    EXPECT_EQ(answer.message.error_code, ErrorCode::SASL_AUTHENTICATION_FAILED);
    EXPECT_EQ(answer.message.error_message->sv(),
              "Authentication failed during authentication due to invalid credentials with SASL "
              "mechanism SCRAM-SHA-256");
  }
}

TEST_F(Logins, AreCountedAndLoggedWithoutSecrets) {
  const std::string line =
      "login refused mechanism=PLAIN client=/127.0.0.1 listener=PROXIED0: wrong user or password";
  // There is one line a second, and what else was refused may have had it.
  poll_until("a line", [&line] {
    Peer peer(broker_->port());
    EXPECT_EQ(peer.log_in("alice", "wrong-hidden"), ErrorCode::SASL_AUTHENTICATION_FAILED);
    EXPECT_TRUE(peer.is_closed());
    return broker_->process().output().find(line) != std::string::npos;
  });
  const std::string metrics = http_get(http_port(), "/metrics");
  const std::string failed =
      "ackord_sasl_failed_logins_total{listener=\"PROXIED0\",mechanism=\"PLAIN\"} ";
  const size_t at = metrics.find(failed);
  ASSERT_NE(at, std::string::npos) << metrics;
  EXPECT_GE(std::stod(metrics.substr(at + failed.size())), 1);
  EXPECT_EQ(broker_->process().output().find("hidden"), std::string::npos);
  EXPECT_EQ(metrics.find("hidden"), std::string::npos);
}

class Sessions : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { broker_ = std::make_unique<LoginBroker>(); }
  static void TearDownTestSuite() { broker_.reset(); }
  static std::unique_ptr<LoginBroker> broker_;
};
std::unique_ptr<LoginBroker> Sessions::broker_;

TEST_F(Sessions, EndAndAreProlongedByTheSameUser) {
  Peer kept(broker_->session_port());
  Peer left(broker_->session_port());
  const auto begin = steady_clock::now();
  for (Peer* peer : {&kept, &left}) {
    EXPECT_EQ(peer->handshake("PLAIN"), ErrorCode::NONE);
    EXPECT_EQ(peer->authenticate(plain_token("alice", kPassword)).message.session_lifetime_ms,
              1500);
    EXPECT_TRUE(peer->is_served());
  }
  // Long before the end; a machine that is slower than that has shown nothing.
  EXPECT_EQ(kept.log_in("alice", kPassword), ErrorCode::NONE);
  if (ms_since(begin) > 1000) GTEST_SKIP() << "too slow a machine";
  poll_until("the end of a session", [&] { return ms_since(begin) > 1700; });
  EXPECT_FALSE(left.is_served());
  EXPECT_EQ(kept.log_in("alice", kPassword), ErrorCode::NONE);
  EXPECT_TRUE(kept.is_served());
}

TEST_F(Sessions, KeepTheirUserAndMechanism) {
  Peer other(broker_->session_port());
  EXPECT_EQ(other.log_in("alice", kPassword), ErrorCode::NONE);
  EXPECT_EQ(other.handshake("PLAIN"), ErrorCode::NONE);
  const auto answer = other.authenticate(plain_token("bob", "bob-hidden"));
  EXPECT_EQ(answer.message.error_code, ErrorCode::SASL_AUTHENTICATION_FAILED);
  EXPECT_EQ(answer.message.error_message->sv(),
            "Cannot change principals during re-authentication from User.alice: User.bob");
  EXPECT_TRUE(other.is_closed());
}

// ---- librdkafka

// One client that asks for metadata.
class StockClient {
 public:
  StockClient(uint16_t port, const std::vector<std::pair<std::string, std::string>>& settings) {
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char text[512];
    auto set = [&](const std::string& name, const std::string& value) {
      require(rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof text) ==
                  RD_KAFKA_CONF_OK,
              text);
    };
    set("bootstrap.servers", "127.0.0.1:" + std::to_string(port));
    set("security.protocol", "SASL_PLAINTEXT");
    for (const auto& [name, value] : settings) set(name, value);
    rd_kafka_conf_set_opaque(conf, this);
    rd_kafka_conf_set_error_cb(conf, [](rd_kafka_t*, int code, const char* why, void* self) {
      if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION) static_cast<StockClient*>(self)->error_ = why;
    });
    rd_kafka_conf_set_log_cb(conf, nullptr);
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    require(handle_ != nullptr, text);
  }
  ~StockClient() { rd_kafka_destroy(handle_); }
  StockClient(const StockClient&) = delete;

  rd_kafka_t* handle() { return handle_; }
  bool gets_metadata() {
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto code = rd_kafka_metadata(handle_, 0, nullptr, &metadata, kTimeoutMs);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return false;
    const bool listed = metadata->broker_cnt == 1;
    rd_kafka_metadata_destroy(metadata);
    return listed;
  }
  // What it was told when it could not log in.
  std::string refusal() {
    poll_until("a refusal", [this] {
      rd_kafka_poll(handle_, 10);
      return !error_.empty();
    });
    return error_;
  }

 private:
  rd_kafka_t* handle_ = nullptr;
  std::string error_;
};

class LoginClients : public Sessions {};

TEST_F(LoginClients, PlainAndScram) {
  broker_->add_user("sue", "sue-hidden", 1);
  broker_->add_user("sam", "sam-hidden", 2);
  struct Login {
    const char* mechanism;
    const char* user;
    std::string password;
  };
  for (const Login& one :
       {Login{"PLAIN", "alice", kPassword}, Login{"SCRAM-SHA-256", "sue", "sue-hidden"},
        Login{"SCRAM-SHA-512", "sam", "sam-hidden"}}) {
    StockClient good(broker_->port(), {{"sasl.mechanisms", one.mechanism},
                                       {"sasl.username", one.user},
                                       {"sasl.password", one.password}});
    EXPECT_TRUE(good.gets_metadata()) << one.mechanism;
    StockClient bad(broker_->port(), {{"sasl.mechanisms", one.mechanism},
                                      {"sasl.username", one.user},
                                      {"sasl.password", "wrong-hidden"}});
    EXPECT_NE(bad.refusal().find("Authentication failed"), std::string::npos) << one.mechanism;
  }
  broker_->process().crash();
  StockClient again(broker_->port(), {{"sasl.mechanisms", "SCRAM-SHA-512"},
                                      {"sasl.username", "sam"},
                                      {"sasl.password", "sam-hidden"}});
  EXPECT_TRUE(again.gets_metadata()) << "after a crash";
}

TEST(TokenClients, Oauthbearer) {
  test::TempDirectory directory;
  const auto key = security::JwtKey::ec("P-256", 32);
  std::ofstream(directory / "jwks.json") << "{\"keys\":[" << key.entry("\"kid\":\"k\",") << "]}";
  Settings settings = login_settings("OAUTHBEARER");
  settings.resize(3);
  settings.push_back({"sasl.oauthbearer.jwks.endpoint.url", "file:" + (directory / "jwks.json")});
  settings.push_back({"sasl.oauthbearer.expected.issuer", "https://issuer"});
  settings.push_back({"sasl.oauthbearer.expected.audience", "ackord"});
  Surroundings surroundings;
  const uint16_t port = free_port();
  surroundings.proxied = {{port, port}};
  settings[0].second = "PLAINTEXT:PLAINTEXT,PROXIED0:SASL_PLAINTEXT";
  BrokerProcess broker(settings, surroundings);

  const int64_t now = std::time(nullptr);
  const auto client_with = [&](const std::string& audience) {
    auto client = std::make_unique<StockClient>(
        port, std::vector<std::pair<std::string, std::string>>{{"sasl.mechanisms", "OAUTHBEARER"}});
    const std::string token = key.token(
        "ES256", R"({"alg":"ES256","kid":"k"})",
        fmt::format(R"({{"sub":"carol","iss":"https://issuer","aud":"{}","iat":{},"exp":{}}})",
                    audience, now, now + 300));
    char text[512];
    require(
        rd_kafka_oauthbearer_set_token(client->handle(), token.c_str(), (now + 300) * 1000, "carol",
                                       nullptr, 0, text, sizeof text) == RD_KAFKA_RESP_ERR_NO_ERROR,
        text);
    return client;
  };
  EXPECT_TRUE(client_with("ackord")->gets_metadata());
  EXPECT_NE(client_with("another")->refusal().find("invalid_token"), std::string::npos);
  EXPECT_NE(broker.output().find("another audience"), std::string::npos) << broker.output();
}

TEST(TlsLogins, PlainOverTls) {
  test::TempDirectory files;
  const auto authority = test::Certificate::authority("authority");
  const auto server = authority.issue({{"CN", "localhost"}});
  std::ofstream(files / "ca.pem") << authority.pem();
  std::ofstream(files / "broker.pem") << server.key_pem() << server.chain_pem();
  Surroundings surroundings;
  const uint16_t port = free_port();
  surroundings.proxied.push_back({port, port, "SASL_SSL"});
  BrokerProcess broker({{"sasl.enabled.mechanisms", "PLAIN"},
                        {"listener.name.proxied0.plain.sasl.jaas.config",
                         "org.apache.kafka.common.security.plain.PlainLoginModule required "
                         "user_alice=\"alice-hidden\";"},
                        {"ssl.keystore.type", "PEM"},
                        {"ssl.keystore.location", files / "broker.pem"}},
                       surroundings);
  std::vector<std::pair<std::string, std::string>> settings{{"security.protocol", "SASL_SSL"},
                                                            {"ssl.ca.location", files / "ca.pem"},
                                                            {"sasl.mechanisms", "PLAIN"},
                                                            {"sasl.username", "alice"},
                                                            {"sasl.password", kPassword}};
  EXPECT_TRUE(StockClient(port, settings).gets_metadata());
  settings.back().second = "wrong-hidden";
  EXPECT_NE(StockClient(port, settings).refusal().find("Invalid username or password"),
            std::string::npos);
  EXPECT_EQ(broker.output().find("hidden"), std::string::npos);
}

// ---- how there comes to be a first user

TEST(FirstUser, IsMadeAtTheStartAndStays) {
  const uint16_t port = free_port();
  Surroundings surroundings;
  surroundings.proxied = {{port, port}};
  surroundings.arguments = {"--add-scram", "SCRAM-SHA-256=[name=root,password=root-hidden]"};
  BrokerProcess broker(
      {{"listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,PROXIED0:SASL_PLAINTEXT"},
       {"sasl.enabled.mechanisms", "SCRAM-SHA-256"}},
      surroundings);
  for (int starts = 0; starts < 2; ++starts) {
    StockClient client(port, {{"sasl.mechanisms", "SCRAM-SHA-256"},
                              {"sasl.username", "root"},
                              {"sasl.password", "root-hidden"}});
    EXPECT_TRUE(client.gets_metadata()) << starts;
    broker.crash();
  }
  EXPECT_NE(broker.output().find("a user was made user=root"), std::string::npos);
  EXPECT_NE(broker.output().find("the user is there already"), std::string::npos);
  EXPECT_EQ(broker.output().find("hidden"), std::string::npos);
}

TEST(FirstUser, WithoutALoginThereIsNoStart) {
  const Ended bad = run_ackord({"--check-config", "--add-scram", "SCRAM-SHA-256=[name=root]"});
  EXPECT_EQ(bad.status, 2) << bad.output;
  const Ended nobody =
      run_ackord({"--check-config", "--set", "listeners=SASL_PLAINTEXT://127.0.0.1:1", "--set",
                  "sasl.enabled.mechanisms=PLAIN"});
  EXPECT_EQ(nobody.status, 2);
  EXPECT_NE(nobody.output.find("plain.sasl.jaas.config is not set"), std::string::npos)
      << nobody.output;
}

}  // namespace
}  // namespace ackord::integration
