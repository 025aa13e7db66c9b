// TLS with stock clients: librdkafka (kcat) and openssl s_client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "tests/integration/connections/shell.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"
#include "tests/support/certificates.h"

namespace ackord::integration {
namespace {

using test::Certificate;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "pass-w0rd";

class TlsListener : public ::testing::Test {
 protected:
  void SetUp() override {
    write("ca.pem", authority_.pem());
    write("broker.pem", server_.key_pem(kSecret) + server_.chain_pem());
    write("client.pem", client_.pem());
    write("client.key", client_.key_pem());
    Settings settings{{"listener.name.proxied0.ssl.keystore.type", "PEM"},
                      {"listener.name.proxied0.ssl.keystore.location", files_ / "broker.pem"},
                      {"listener.name.proxied0.ssl.key.password", kSecret},
                      {"ssl.truststore.type", "PEM"},
                      {"ssl.truststore.location", files_ / "ca.pem"},
                      {"listener.name.proxied0.ssl.client.auth", "required"}};
    Surroundings surroundings;
    surroundings.proxied.push_back({port_, port_, "SSL"});
    broker_ = std::make_unique<BrokerProcess>(settings, surroundings);
  }
  void TearDown() override {
    if (!broker_) return;
    EXPECT_EQ(broker_->stop(), 0);
    EXPECT_THAT(broker_->output(), Not(HasSubstr(kSecret)));
  }

  void write(const std::string& name, const std::string& content) {
    std::ofstream(files_ / name, std::ios::binary) << content;
  }
  std::string kcat(const std::string& options, bool with_certificate = true) const {
    std::string command = "timeout 30 kcat -q -b 127.0.0.1:" + std::to_string(port_) +
                          " -X security.protocol=ssl -X ssl.ca.location=" + (files_ / "ca.pem") +
                          " -X ssl.endpoint.identification.algorithm=https";
    if (with_certificate) {
      command += " -X ssl.certificate.location=" + (files_ / "client.pem") +
                 " -X ssl.key.location=" + (files_ / "client.key");
    }
    return command + " " + options;
  }

  test::TempDirectory files_;
  const Certificate authority_ = Certificate::authority("authority");
  const Certificate server_ = authority_.issue({{"CN", "broker"}});
  const Certificate client_ = authority_.issue({{"O", "Acme"}, {"CN", "client"}});
  const uint16_t port_ = free_port();
  std::unique_ptr<BrokerProcess> broker_;
};

TEST_F(TlsListener, LibrdkafkaProducesAndReads) {
  RawClient plain(broker_->port());
  const Topic topic = create_topic(plain, fresh_name("tls"));
  std::string lines;
  for (int i = 0; i < 30000; ++i)
    lines += "value " + std::to_string(i) + std::string(static_cast<size_t>(i % 700), 'x') + "\n";
  write("in", lines);
  const std::string topic_options = "-t " + topic.name + " -p 0 ";
  const Output produced = shell(kcat("-P " + topic_options + "-l " + (files_ / "in")));
  EXPECT_EQ(produced.status, 0) << produced.text;
  const Output read = shell(kcat("-C -e -o beginning " + topic_options));
  EXPECT_EQ(read.status, 0);
  EXPECT_TRUE(read.text == lines) << read.text.size() << " of " << lines.size();
  // The same without encryption.
  EXPECT_EQ(read_values(plain, topic, 0, Isolation::kReadUncommitted).size(), 30000U);
}

TEST_F(TlsListener, AClientWithoutACertificateIsNotServed) {
  const Output listed = shell(kcat("-L -m 3", false));
  EXPECT_NE(listed.status, 0) << listed.text;
  EXPECT_THAT(broker_->output(), HasSubstr("TLS handshake failed: peer did not return a certi"));
  EXPECT_EQ(shell(kcat("-L -m 10")).status, 0);
}

TEST_F(TlsListener, TheChainIsGoodForOpenssl) {
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    const Output output =
        shell("timeout 10 openssl s_client -connect 127.0.0.1:" + std::to_string(port_) + " " +
              version + " -CAfile " + (files_ / "ca.pem") + " -cert " + (files_ / "client.pem") +
              " -key " + (files_ / "client.key") + " -verify_return_error -verify_ip 127.0.0.1");
    EXPECT_THAT(output.text, HasSubstr("Verify return code: 0 (ok)")) << output.text;
  }
  const Output old =
      shell("timeout 10 openssl s_client -connect 127.0.0.1:" + std::to_string(port_) +
            " -tls1_1 -cipher ALL:@SECLEVEL=0");
  EXPECT_THAT(old.text, HasSubstr("alert protocol version"));
}

TEST_F(TlsListener, AKeyStoreThatCannotBeReadStopsTheStart) {
  const auto start = [&](const std::string& type, const std::string& location) {
    const Ended ended = run_ackord(
        {"--set", "listeners=SSL://127.0.0.1:0", "--set", "log.dirs=" + (files_ / "data"), "--set",
         "http.listener=", "--set", "ssl.keystore.type=" + type, "--set",
         "ssl.keystore.location=" + location, "--set", std::string("ssl.key.password=") + "wr0ng"});
    EXPECT_NE(ended.status, 0);
    EXPECT_THAT(ended.output, Not(HasSubstr("wr0ng")));
    return ended.output;
  };
  EXPECT_THAT(start("PEM", files_ / "broker.pem"), HasSubstr("no private key could be read"));
  EXPECT_THAT(start("PEM", "/nowhere.pem"), HasSubstr("cannot read /nowhere.pem"));
  write("store.jks", "\xfe\xed\xfe\xed....");
  EXPECT_THAT(start("JKS", files_ / "store.jks"),
              AllOf(HasSubstr("is a JKS store"), HasSubstr("keytool -importkeystore")));
}

// The outcome of IncrementalAlterConfigs of the broker: its error's text, or nothing.
std::string alter(RawClient& client, const std::string& name, const std::string& value) {
  protocol::IncrementalAlterConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  constexpr int8_t kBroker = 4;
  resource.resource_type = kBroker;
  resource.resource_name = String("1");
  auto& config = resource.configs.emplace_back();
  config.name = String(name);
  config.value = String(value);
  const auto answer = client.call<protocol::IncrementalAlterConfigsResponse>(request, 1);
  const auto& result = answer.message.responses.at(0);
  if (result.error_code == ErrorCode::NONE) return "";
  return std::string(name_of(result.error_code)) + ": " + result.error_message.value().str();
}

class TlsReload : public TlsListener {
 protected:
  std::string serial() const {
    const Output output =
        shell("timeout 10 openssl s_client -connect 127.0.0.1:" + std::to_string(port_) +
              " -cert " + (files_ / "client.pem") + " -key " + (files_ / "client.key") +
              " | openssl x509 -noout -serial");
    const size_t at = output.text.find("serial=");
    return at == std::string::npos ? "" : output.text.substr(at, output.text.find('\n', at) - at);
  }
  void write_server(const Certificate& server) {
    write("broker.pem", server.key_pem(kSecret) + server.chain_pem());
  }
};

constexpr const char* kLocation = "listener.name.proxied0.ssl.keystore.location";

TEST_F(TlsReload, ANewCertificateWithoutARestart) {
  RawClient plain(broker_->port());
  const std::string before = serial();
  ASSERT_THAT(before, HasSubstr("serial="));
  const auto shows_another_than = [&](const std::string& old) {
    const std::string now = serial();
    return !now.empty() && now != old;
  };
  write_server(authority_.issue({{"CN", "broker"}}));
  EXPECT_EQ(serial(), before);
  // The same name: its file is read again.
  EXPECT_EQ(alter(plain, kLocation, files_ / "broker.pem"), "");
  poll_until("the new certificate is shown", [&] { return shows_another_than(before); });
  const std::string renewed = serial();

  write("broker.pem", "nonsense");
  EXPECT_THAT(alter(plain, kLocation, files_ / "broker.pem"),
              AllOf(HasSubstr("INVALID_REQUEST"), HasSubstr("no private key could be read")));
  EXPECT_THAT(alter(plain, kLocation, "/nowhere.pem"), HasSubstr("cannot read /nowhere.pem"));
  write_server(authority_.issue({{"CN", "somebody else"}}));
  EXPECT_THAT(alter(plain, kLocation, files_ / "broker.pem"),
              HasSubstr("distinguished name may not change"));
  write_server(authority_.issue({{"CN", "broker"}}, "DNS:localhost"));
  EXPECT_THAT(alter(plain, kLocation, files_ / "broker.pem"),
              HasSubstr("lacks subject alternative names"));
  EXPECT_EQ(serial(), renewed);
  EXPECT_THAT(alter(plain, "ssl.keystore.location", files_ / "broker.pem"),
              HasSubstr("only per-listener"));

  // What was set counts at the next start, too.
  write_server(authority_.issue({{"CN", "broker"}}));
  std::filesystem::copy(files_ / "broker.pem", files_ / "other.pem");
  EXPECT_EQ(alter(plain, kLocation, files_ / "other.pem"), "");
  poll_until("the other file is used", [&] { return shows_another_than(renewed); });
  const std::string other = serial();
  write_server(server_);
  broker_->crash();
  poll_until("the other file is used again", [&] { return serial() == other; });
}

TEST_F(TlsReload, LimitsOfConnectionsChange) {
  RawClient first(broker_->port());
  EXPECT_EQ(alter(first, "max.connections.per.ip", "1"), "");
  EXPECT_THROW(RawClient(broker_->port())
                   .call<protocol::IncrementalAlterConfigsResponse>(
                       protocol::IncrementalAlterConfigsRequest(), 1),
               std::runtime_error);
  EXPECT_EQ(alter(first, "max.connections.per.ip.overrides", "127.0.0.1:2"), "");
  poll_until("a second one is served", [&] {
    try {
      RawClient second(broker_->port());
      return create_topic(second, fresh_name("t")).partitions == 1;
    } catch (const std::exception&) {
      return false;
    }
  });
  EXPECT_THAT(alter(first, "max.connections.per.ip.overrides", "nonsense"),
              HasSubstr("nonsense is not host:number"));
  EXPECT_EQ(alter(first, "max.connections.per.ip", "100"), "");
}

}  // namespace
}  // namespace ackord::integration
