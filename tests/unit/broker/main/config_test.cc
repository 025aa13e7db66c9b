#include "broker/main/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/main/config_names.h"
#include "broker/main/listeners.h"
#include "broker/main/tls_settings.h"
#include "broker/metadata/config_tables.h"

namespace ackord::main {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Result<Config> make(std::string_view text) {
  return Config::make(parse_properties(text, "server.properties").value());
}

std::string refusal(std::string_view text) {
  const auto config = make(text);
  return config.has_error() ? config.error().message : "accepted";
}

TEST(Config, NeedsNone) {
  const Config config = Config::make({}).value();
  EXPECT_EQ(config.node_id(), 1);
  EXPECT_EQ(config.directory(), "/tmp/kafka-logs");
  EXPECT_EQ(config.number("socket.request.max.bytes"), 104857600);
  EXPECT_THAT(config.list("listeners"), ElementsAre("PLAINTEXT://:9092"));
  EXPECT_EQ(config.find("node.id"), std::nullopt);
  EXPECT_TRUE(config.flag("auto.create.topics.enable"));
  EXPECT_TRUE(config.given().empty());
  EXPECT_TRUE(log_settings(config).sync_on_ack);
}

TEST(Config, TablesAreSortedSoundAndDisjoint) {
  const auto known = metadata::broker_config_defs();
  std::string_view before;
  for (const auto& def : further_config_defs()) {
    EXPECT_LT(before, def.name);
    before = def.name;
    EXPECT_EQ(metadata::find_config(known, def.name), nullptr) << def.name;
    if (def.default_value != nullptr) {
      const auto parsed = metadata::parse_config(def, def.default_value);
      ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    }
  }
}

TEST(Config, DefaultsAgreeWithWhatTheRoomsStartWith) {
  const metadata::BrokerConfig plain;
  const auto config = broker_config(Config::make({}).value());
  EXPECT_EQ(config.num_partitions, plain.num_partitions);
  EXPECT_EQ(config.offsets_topic_num_partitions, plain.offsets_topic_num_partitions);
  EXPECT_EQ(config.offsets_topic_segment_bytes, plain.offsets_topic_segment_bytes);
  EXPECT_EQ(config.transaction_max_timeout_ms, plain.transaction_max_timeout_ms);
  EXPECT_EQ(config.transactional_id_expiration_ms, plain.transactional_id_expiration_ms);
  EXPECT_EQ(config.share_coordinator_snapshot_update_records_per_snapshot,
            plain.share_coordinator_snapshot_update_records_per_snapshot);
  EXPECT_EQ(config.group_share_max_size, plain.group_share_max_size);
  EXPECT_EQ(config.group_share_record_lock_duration_ms, plain.group_share_record_lock_duration_ms);
  EXPECT_EQ(config.group_share_max_partition_max_record_locks,
            plain.group_share_max_partition_max_record_locks);
  EXPECT_EQ(config.fetch_max_bytes, plain.fetch_max_bytes);
  EXPECT_EQ(config.connections_max_idle_ms, plain.connections_max_idle_ms);
}

TEST(Config, TakesWhatIsGiven) {
  const Config config = make(
                            "node.id=7\nlog.dirs=/data/a\nlog.dir=/data/b\nnum.partitions = 3\n"
                            "log.flush.policy=os\ntransaction.two.phase.commit.enable=TRUE\n"
                            "num.partitions=4\nnum.network.threads=8\n")
                            .value();
  EXPECT_EQ(config.node_id(), 7);
  EXPECT_EQ(config.directory(), "/data/a");
  EXPECT_EQ(broker_config(config).num_partitions, 4);  // the later one
  EXPECT_TRUE(broker_config(config).transaction_two_phase_commit_enable);
  EXPECT_FALSE(log_settings(config).sync_on_ack);
  EXPECT_EQ(log_settings(config).broker_id, 7);
  EXPECT_EQ(config.given().at("num.network.threads"), "8");
}

TEST(Config, BrokerIdIsTheOldNameOfNodeId) {
  EXPECT_EQ(make("broker.id=5").value().node_id(), 5);
  EXPECT_EQ(make("broker.id=5\nnode.id=5").value().node_id(), 5);
  EXPECT_THAT(refusal("broker.id=5\nnode.id=6"),
              AllOf(HasSubstr("node.id=6"), HasSubstr("broker.id=5")));
}

TEST(Config, UnknownNamesAreRefusedWithASimilarOne) {
  EXPECT_THAT(refusal("a=1\n"),
              AllOf(HasSubstr("server.properties:1"), HasSubstr("unknown configuration a"),
                    Not(HasSubstr("did you mean"))));
  EXPECT_THAT(refusal("\nnum.partition=3"),
              AllOf(HasSubstr("server.properties:2"), HasSubstr("num.partition;"),
                    HasSubstr("did you mean num.partitions?")));
  EXPECT_THAT(refusal("log.flush.polcy=os"), HasSubstr("did you mean log.flush.policy?"));
  EXPECT_THAT(refusal("listner=PLAINTEXT://:1"), HasSubstr("did you mean listeners?"));
}

TEST(Config, BadValuesAreRefused) {
  EXPECT_THAT(refusal("num.partitions=many"),
              AllOf(HasSubstr("num.partitions"), HasSubstr("many")));
  EXPECT_THAT(refusal("num.partitions="), HasSubstr("num.partitions"));
  EXPECT_THAT(refusal("num.partitions=0"), HasSubstr("at least 1"));
  EXPECT_THAT(refusal("num.partitions=3000000000"), HasSubstr("INT"));
  EXPECT_THAT(refusal("num.io.threads=0"), HasSubstr("num.io.threads"));
  EXPECT_THAT(refusal("auto.create.topics.enable=yes"), HasSubstr("true or false"));
  EXPECT_THAT(refusal("log.flush.policy=never"), HasSubstr("ack, os"));
  EXPECT_THAT(refusal("log.cleaner.min.cleanable.ratio=1.5"), HasSubstr("no more than 1"));
  EXPECT_THAT(refusal("process.roles=king"), HasSubstr("broker, controller"));
  EXPECT_THAT(refusal("process.roles=controller"), HasSubstr("must contain broker"));
  EXPECT_THAT(refusal("cores=-1"), HasSubstr("cores"));
  EXPECT_THAT(refusal("log.dirs=/a,/b"), HasSubstr("exactly one directory"));
  EXPECT_THAT(refusal("log.dirs="), HasSubstr("exactly one directory"));
  EXPECT_THAT(refusal("listeners="), HasSubstr("listeners"));
  EXPECT_THAT(refusal("group.consumer.assignors="), HasSubstr("must not be empty"));
  EXPECT_THAT(refusal("group.consumer.assignors=sticky"), HasSubstr("uniform, range"));
  EXPECT_THAT(refusal("group.consumer.migration.policy=sideways"), HasSubstr("bidirectional"));
}

TEST(Config, NamesOfOneListenerAndOfPlugins) {
  EXPECT_EQ(refusal("listener.name.plaintext.max.connections=3"), "accepted");
  EXPECT_EQ(refusal("listener.name.plaintext.plain.sasl.jaas.config=x"), "accepted");
  EXPECT_EQ(refusal("rsm.config.anything=x"), "accepted");
  EXPECT_THAT(refusal("listener.name.plaintext.max.connections=-3"), HasSubstr("at least 0"));
  EXPECT_THAT(refusal("listener.name.plaintext.nonsense=3"), HasSubstr("unknown"));
}

TEST(Config, AKafkaFileWorksAsItIs) {
  const Config config =
      make(
          "process.roles=broker,controller\nnode.id=1\n"
          "controller.quorum.bootstrap.servers=localhost:9093\n"
          "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\n"
          "inter.broker.listener.name=PLAINTEXT\n"
          "advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\n"
          "controller.listener.names=CONTROLLER\n"
          "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL\n"
          "num.network.threads=3\nnum.io.threads=8\nsocket.send.buffer.bytes=102400\n"
          "log.dirs=/tmp/kraft-combined-logs\noffsets.topic.replication.factor=1\n"
          "log.segment.bytes=1073741824\ngroup.initial.rebalance.delay.ms=0\n")
          .value();
  const auto listeners = listener_configs(config).value();
  ASSERT_EQ(listeners.size(), 1U);
  EXPECT_EQ(listeners[0].settings.port, 9092);
  EXPECT_EQ(listeners[0].settings.send_buffer_bytes, 102400);
  EXPECT_EQ(listeners[0].settings.receive_buffer_bytes, -1);
  EXPECT_EQ(listeners[0].advertised.host, "localhost");
}

TEST(Listeners, Endpoints) {
  const Endpoint plain = parse_endpoint("plaintext://example.org:9092").value();
  EXPECT_EQ(plain.name, "PLAINTEXT");
  EXPECT_EQ(plain.host, "example.org");
  EXPECT_EQ(plain.port, 9092);
  EXPECT_EQ(parse_endpoint("A://:0").value().host, "");
  EXPECT_EQ(parse_endpoint("A://[::1]:9092").value().host, "::1");
  for (const char* text : {"", "9092", "A:9092", "://h:1", "A://h", "A://h:", "A://h:x",
                           "A://h:65536", "A://h:-1", "A://::1:9092", "A://h:1/x"}) {
    EXPECT_TRUE(parse_endpoint(text).has_error()) << text;
  }
}

std::string listener_refusal(std::string_view text) {
  const auto listeners = listener_configs(make(text).value());
  return listeners.has_error() ? listeners.error().message : "accepted";
}

TEST(Listeners, Advertised) {
  const auto both =
      listener_configs(make("listeners=PLAINTEXT://:1,B://127.0.0.1:2\n"
                            "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,B:PLAINTEXT\n"
                            "advertised.listeners=PLAINTEXT://outside:3")
                           .value())
          .value();
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0].advertised.host, "outside");
  EXPECT_EQ(both[0].advertised.port, 3);
  EXPECT_EQ(both[1].advertised.host, "127.0.0.1");
  EXPECT_EQ(both[1].settings.name, "B");
  const auto plain = listener_configs(Config::make({}).value()).value();
  EXPECT_EQ(plain[0].settings.host, "");
  EXPECT_NE(plain[0].advertised.host, "");
}

TEST(Listeners, Refusals) {
  EXPECT_THAT(listener_refusal("listeners=PLAINTEXT://:1,PLAINTEXT://:2"),
              HasSubstr("PLAINTEXT comes twice"));
  EXPECT_THAT(listener_refusal("listeners=A://:1\nlistener.security.protocol.map=A:TLS"),
              HasSubstr("TLS is no security protocol"));
  EXPECT_THAT(listener_refusal("listeners=PLAINTEXT://:1,SSL://:1"),
              HasSubstr("PLAINTEXT and SSL have 1"));
  EXPECT_THAT(listener_refusal("listeners=PLAINTEXT://127.0.0.1:1,SSL://127.0.0.2:1"),
              HasSubstr("must have a different port"));
  EXPECT_EQ(listener_refusal("listeners=PLAINTEXT://127.0.0.1:1,SSL://[::1]:1"), "accepted");
  EXPECT_EQ(listener_refusal("listeners=PLAINTEXT://:0,SSL://:0"), "accepted");
  EXPECT_THAT(listener_refusal("listeners=SSL://:1\nssl.principal.mapping.rules=nonsense"),
              HasSubstr("ssl.principal.mapping.rules: nonsense"));
  EXPECT_THAT(listener_refusal("max.connections.per.ip.overrides=localhost"),
              HasSubstr("localhost is not host:number"));
  EXPECT_THAT(listener_refusal("max.connections.per.ip.overrides=localhost:x"),
              HasSubstr("localhost:x is not host:number"));
  EXPECT_THAT(listener_refusal("listeners=B://:1"), HasSubstr("no protocol for B"));
  EXPECT_THAT(listener_refusal("listeners=PLAINTEXT:1"), HasSubstr("listeners: PLAINTEXT:1"));
  EXPECT_THAT(listener_refusal("advertised.listeners=PLAINTEXT://0.0.0.0:1"), HasSubstr("0.0.0.0"));
  EXPECT_THAT(listener_refusal("advertised.listeners=B://h:1"),
              HasSubstr("no listener is named B"));
  EXPECT_THAT(listener_refusal("controller.listener.names=PLAINTEXT"), HasSubstr("none is left"));
}

TEST(Listeners, ProtocolsAndWhatBelongsToOne) {
  const Config config =
      make(
          "listeners=PLAINTEXT://:1,OUT://:2,SSL://:3\n"
          "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,OUT:SSL,SSL:SSL\n"
          "ssl.keystore.type=PEM\nssl.keystore.location=/all.pem\nssl.client.auth=requested\n"
          "listener.name.out.ssl.keystore.location=/out.pem\n"
          "listener.name.out.ssl.client.auth=required\n"
          "listener.name.out.max.connections=7\nmax.connections=100\n"
          "sasl.server.max.receive.size=1000\n")
          .value();
  const auto listeners = listener_configs(config).value();
  ASSERT_EQ(listeners.size(), 3U);
  using enum security::SecurityProtocol;
  EXPECT_EQ(listeners[0].settings.protocol, kPlaintext);
  EXPECT_EQ(listeners[1].settings.protocol, kSsl);
  EXPECT_EQ(listeners[2].settings.protocol, kSsl);
  EXPECT_EQ(listeners[1].settings.bounds.max_connections, 7);
  // The broker's own limit is that of all together.
  EXPECT_EQ(listeners[2].settings.bounds.max_connections, INT32_MAX);
  EXPECT_EQ(connection_bounds(config)->max_connections, 100);
  EXPECT_EQ(listeners[2].settings.limits.max_unauthenticated_frame_bytes, 1000);
  const net::TlsSettings out = tls_settings(config, "OUT", kSsl);
  EXPECT_EQ(out.key_store.type, "PEM");
  EXPECT_EQ(out.key_store.location, "/out.pem");
  EXPECT_EQ(out.client_auth, net::TlsClientAuth::kRequired);
  EXPECT_THAT(out.protocols, ElementsAre("TLSv1.2", "TLSv1.3"));
  const net::TlsSettings other = tls_settings(config, "SSL", kSsl);
  EXPECT_EQ(other.key_store.location, "/all.pem");
  EXPECT_EQ(other.client_auth, net::TlsClientAuth::kRequested);
  // KIP-684: SASL says who the client is.
  EXPECT_EQ(tls_settings(config, "SSL", kSaslSsl).client_auth, net::TlsClientAuth::kNone);
  EXPECT_EQ(tls_settings(config, "OUT", kSaslSsl).client_auth, net::TlsClientAuth::kRequired);
}

TEST(Listeners, LimitsOfTheBroker) {
  const auto bounds =
      connection_bounds(make("max.connections.per.ip=3\nmax.connection.creation.rate=9\n"
                             "max.connections.per.ip.overrides=127.0.0.1:5,[::1]:6\n")
                            .value())
          .value();
  EXPECT_EQ(bounds.max_per_ip, 3);
  EXPECT_EQ(bounds.max_creation_rate, 9);
  EXPECT_EQ(bounds.per_ip_overrides.at("127.0.0.1"), 5);
  EXPECT_EQ(bounds.per_ip_overrides.at("::1"), 6);
  EXPECT_THAT(refusal("queued.max.request.bytes=1000"),
              HasSubstr("must be larger or equal to socket.request.max.bytes"));
  EXPECT_EQ(refusal("queued.max.request.bytes=1000\nsocket.request.max.bytes=1000"), "accepted");
  const QueueBounds plain = queue_bounds(Config::make({}).value());
  EXPECT_GE(plain.max_bytes, 104857600);
  EXPECT_EQ(plain.max_requests, 500);
}

}  // namespace
}  // namespace ackord::main
