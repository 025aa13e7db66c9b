#include "broker/main/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/main/config_names.h"
#include "broker/main/listeners.h"
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
  EXPECT_THAT(listener_refusal("listeners=SSL://:1"),
              HasSubstr("only PLAINTEXT and SASL_PLAINTEXT are served"));
  EXPECT_THAT(listener_refusal("listeners=B://:1"), HasSubstr("no protocol for B"));
  EXPECT_THAT(listener_refusal("listeners=PLAINTEXT:1"), HasSubstr("listeners: PLAINTEXT:1"));
  EXPECT_THAT(listener_refusal("advertised.listeners=PLAINTEXT://0.0.0.0:1"), HasSubstr("0.0.0.0"));
  EXPECT_THAT(listener_refusal("advertised.listeners=B://h:1"),
              HasSubstr("no listener is named B"));
  EXPECT_THAT(listener_refusal("controller.listener.names=PLAINTEXT"), HasSubstr("none is left"));
}

}  // namespace
}  // namespace ackord::main
