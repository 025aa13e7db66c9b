#include "tests/integration/client/stock_producer.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "client/admin.h"

namespace ackord::client::testing {
namespace {

void set(rd_kafka_conf_t* conf, const char* name, const std::string& value) {
  char problem[256];
  ASSERT_EQ(rd_kafka_conf_set(conf, name, value.c_str(), problem, sizeof problem), RD_KAFKA_CONF_OK)
      << problem;
}

}  // namespace

std::string test_bootstrap() {
  const char* value = std::getenv("ACKORD_TEST_BOOTSTRAP");
  return value == nullptr ? "" : value;
}

std::string fresh_name(const std::string& prefix) {
  static std::atomic<int> counter{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return prefix + "-" +
         std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count()) + "-" +
         std::to_string(counter++);
}

StockProducer make_producer(const std::string& transactional_id, const std::string& codec) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", test_bootstrap());
  set(conf, "compression.codec", codec);
  set(conf, "linger.ms", "20");
  if (!transactional_id.empty()) set(conf, "transactional.id", transactional_id);
  char problem[256];
  StockProducer producer(rd_kafka_new(RD_KAFKA_PRODUCER, conf, problem, sizeof problem));
  EXPECT_TRUE(producer) << problem;
  if (!transactional_id.empty()) {
    rd_kafka_error_t* failed = rd_kafka_init_transactions(producer.get(), 30000);
    EXPECT_EQ(failed, nullptr) << rd_kafka_error_string(failed);
  }
  return producer;
}

void produce(rd_kafka_t* producer, const std::string& topic, int32_t partition,
             const std::string& key, const std::string& value) {
  const rd_kafka_resp_err_t code = rd_kafka_producev(
      producer, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(partition),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK),
      RD_KAFKA_V_KEY(key.data(), key.size()),
      RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()), RD_KAFKA_V_END);
  ASSERT_EQ(code, RD_KAFKA_RESP_ERR_NO_ERROR) << rd_kafka_err2str(code);
}

void flush(rd_kafka_t* producer) {
  ASSERT_EQ(rd_kafka_flush(producer, 30000), RD_KAFKA_RESP_ERR_NO_ERROR);
}

std::vector<std::string> read_committed(const std::string& topic) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  set(conf, "bootstrap.servers", test_bootstrap());
  set(conf, "group.id", fresh_name("reader"));
  set(conf, "isolation.level", "read_committed");
  set(conf, "enable.partition.eof", "true");
  set(conf, "enable.auto.commit", "false");
  char problem[256];
  StockProducer consumer(rd_kafka_new(RD_KAFKA_CONSUMER, conf, problem, sizeof problem));
  rd_kafka_poll_set_consumer(consumer.get());
  rd_kafka_topic_partition_list_t* partitions = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(partitions, topic.c_str(), 0)->offset = 0;
  rd_kafka_assign(consumer.get(), partitions);
  rd_kafka_topic_partition_list_destroy(partitions);
  std::vector<std::string> values;
  const Deadline deadline = Deadline::in(Millis(30000));
  bool at_end = false;
  while (!at_end && !deadline.passed()) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(consumer.get(), 500);
    if (message == nullptr) continue;
    at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (!message->err)
      values.emplace_back(static_cast<const char*>(message->payload), message->len);
    rd_kafka_message_destroy(message);
  }
  EXPECT_TRUE(at_end);
  rd_kafka_consumer_close(consumer.get());
  return values;
}

Fixture make_fixture(int32_t partitions) {
  ClientConfig config;
  config.bootstrap_servers = test_bootstrap();
  Fixture fixture{*Cluster::create(config), fresh_name("topic"), fresh_name("group")};
  const Deadline deadline = Deadline::in(Millis(30000));
  Result<void> created =
      create_topic(*fixture.cluster, TopicName(fixture.topic), partitions, 1, deadline);
  EXPECT_TRUE(created) << created.error().message;
  Result<void> configured = set_group_configs(*fixture.cluster, GroupId(fixture.group),
                                              {{"share.auto.offset.reset", "earliest"}}, deadline);
  EXPECT_TRUE(configured) << configured.error().message;
  return fixture;
}

}  // namespace ackord::client::testing
