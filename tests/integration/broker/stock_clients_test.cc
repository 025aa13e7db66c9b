// Stock clients of librdkafka against the broker: kcat with every codec in both directions, and a
// transactional producer with a read_committed consumer.
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

using Strings = std::vector<std::string>;

constexpr int kTimeoutMs = 30000;

struct Output {
  int status = -1;
  std::string text;
};

// A shell command without input; what it writes to standard output.
Output shell(const std::string& command) {
  Output output;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  std::array<char, 4096> part{};
  while (const size_t size = std::fread(part.data(), 1, part.size(), pipe))
    output.text.append(part.data(), size);
  output.status = ::pclose(pipe);
  return output;
}

std::string lines_of(const Strings& values) {
  std::string text;
  for (const std::string& value : values) text += value + "\n";
  return text;
}

struct CodecCase {
  const char* name;
  protocol::Codec codec;
};

class Kcat : public ::testing::TestWithParam<CodecCase> {
 protected:
  static void SetUpTestSuite() { broker_ = std::make_unique<BrokerProcess>(); }
  static void TearDownTestSuite() { broker_.reset(); }
  void SetUp() override {
    if (shell("command -v kcat").text.empty()) GTEST_SKIP() << "kcat is not installed";
    topic_ = create_topic(client_, fresh_name("kcat"));
  }
  std::string kcat(const std::string& options) const {
    return "timeout 30 kcat -q -b " + broker_->bootstrap() + " -t " + topic_.name + " -p 0 " +
           options;
  }
  // Long enough that every codec makes it smaller.
  static Strings values() {
    Strings values;
    for (int i = 0; i < 500; ++i)
      values.push_back("value " + std::to_string(i) + std::string(100, 'x'));
    return values;
  }

  static std::unique_ptr<BrokerProcess> broker_;
  RawClient client_{broker_->port()};
  Topic topic_;
};

std::unique_ptr<BrokerProcess> Kcat::broker_;

TEST_P(Kcat, WhatItProducesIsRead) {
  test::TempDirectory directory;
  std::ofstream(directory / "in") << lines_of(values());
  EXPECT_EQ(shell(kcat("-P -z ") + GetParam().name + " < " + (directory / "in")).status, 0);
  EXPECT_EQ(read_values(client_, topic_, 0, Isolation::kReadUncommitted), values());
}

TEST_P(Kcat, ItReadsWhatWasProduced) {
  produce(client_, topic_, 0, values(), GetParam().codec);
  const Output output = shell(kcat("-C -e -o beginning"));
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, lines_of(values()));
}

INSTANTIATE_TEST_SUITE_P(, Kcat,
                         ::testing::Values(CodecCase{"none", protocol::Codec::kNone},
                                           CodecCase{"gzip", protocol::Codec::kGzip},
                                           CodecCase{"snappy", protocol::Codec::kSnappy},
                                           CodecCase{"lz4", protocol::Codec::kLz4},
                                           CodecCase{"zstd", protocol::Codec::kZstd}),
                         [](const auto& info) { return std::string(info.param.name); });

struct DestroyClient {
  void operator()(rd_kafka_t* client) const { rd_kafka_destroy(client); }
};
using StockClient = std::unique_ptr<rd_kafka_t, DestroyClient>;

StockClient make_client(rd_kafka_type_t type,
                        const std::vector<std::pair<std::string, std::string>>& settings) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  std::array<char, 256> problem{};
  for (const auto& [name, value] : settings) {
    const auto set =
        rd_kafka_conf_set(conf, name.c_str(), value.c_str(), problem.data(), problem.size());
    require(set == RD_KAFKA_CONF_OK, problem.data());
  }
  StockClient client(rd_kafka_new(type, conf, problem.data(), problem.size()));
  require(client != nullptr, problem.data());
  return client;
}

// Null is success.
void require_ok(rd_kafka_error_t* failed) {
  if (failed == nullptr) return;
  const std::string text = rd_kafka_error_string(failed);
  rd_kafka_error_destroy(failed);
  throw std::runtime_error(text);
}

class StockTransactions : public ::testing::Test {
 protected:
  StockClient producer(const std::string& transactional_id) {
    StockClient made = make_client(RD_KAFKA_PRODUCER, {{"bootstrap.servers", broker_.bootstrap()},
                                                       {"transactional.id", transactional_id}});
    require_ok(rd_kafka_init_transactions(made.get(), kTimeoutMs));
    return made;
  }
  void write(rd_kafka_t* producer, const Strings& values) {
    for (const std::string& value : values) {
      const rd_kafka_resp_err_t code = rd_kafka_producev(
          producer, RD_KAFKA_V_TOPIC(topic_.name.c_str()), RD_KAFKA_V_PARTITION(0),
          RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
          RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()), RD_KAFKA_V_END);
      require(code == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_err2str(code));
    }
  }
  Strings read(const std::string& isolation_level);

  BrokerProcess broker_;
  RawClient client_{broker_.port()};
  Topic topic_ = create_topic(client_, "stock");
};

Strings StockTransactions::read(const std::string& isolation_level) {
  StockClient consumer = make_client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", broker_.bootstrap()},
                                                         {"group.id", "reader"},
                                                         {"isolation.level", isolation_level},
                                                         {"enable.partition.eof", "true"},
                                                         {"enable.auto.commit", "false"}});
  rd_kafka_poll_set_consumer(consumer.get());
  rd_kafka_topic_partition_list_t* partitions = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(partitions, topic_.name.c_str(), 0)->offset = 0;
  rd_kafka_assign(consumer.get(), partitions);
  rd_kafka_topic_partition_list_destroy(partitions);
  Strings values;
  poll_until(
      "the end of the partition",
      [&] {
        rd_kafka_message_t* message = rd_kafka_consumer_poll(consumer.get(), 500);
        if (message == nullptr) return false;
        const bool at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
          values.emplace_back(static_cast<const char*>(message->payload), message->len);
        }
        rd_kafka_message_destroy(message);
        return at_end;
      },
      Millis(kTimeoutMs));
  return values;
}

TEST_F(StockTransactions, CommitAndAbort) {
  StockClient producer = this->producer("stock-txn");
  require_ok(rd_kafka_begin_transaction(producer.get()));
  write(producer.get(), {"a", "b"});
  require_ok(rd_kafka_commit_transaction(producer.get(), kTimeoutMs));
  require_ok(rd_kafka_begin_transaction(producer.get()));
  write(producer.get(), {"gone"});
  require_ok(rd_kafka_abort_transaction(producer.get(), kTimeoutMs));
  require_ok(rd_kafka_begin_transaction(producer.get()));
  write(producer.get(), {"c"});
  require_ok(rd_kafka_commit_transaction(producer.get(), kTimeoutMs));
  await_transaction_state(client_, "stock-txn", "CompleteCommit");
  EXPECT_EQ(read("read_committed"), (Strings{"a", "b", "c"}));
  EXPECT_EQ(read_values(client_, topic_, 0, Isolation::kReadCommitted), (Strings{"a", "b", "c"}));
}

TEST_F(StockTransactions, ASecondProducerFencesTheFirst) {
  StockClient first = producer("stock-txn");
  require_ok(rd_kafka_begin_transaction(first.get()));
  write(first.get(), {"zombie"});
  require(rd_kafka_flush(first.get(), kTimeoutMs) == RD_KAFKA_RESP_ERR_NO_ERROR, "flush");
  StockClient second = producer("stock-txn");
  rd_kafka_error_t* fenced = rd_kafka_commit_transaction(first.get(), kTimeoutMs);
  ASSERT_NE(fenced, nullptr);
  EXPECT_TRUE(rd_kafka_error_is_fatal(fenced)) << rd_kafka_error_string(fenced);
  rd_kafka_error_destroy(fenced);
  require_ok(rd_kafka_begin_transaction(second.get()));
  write(second.get(), {"successor"});
  require_ok(rd_kafka_commit_transaction(second.get(), kTimeoutMs));
  await_transaction_state(client_, "stock-txn", "CompleteCommit");
  EXPECT_EQ(read("read_committed"), Strings{"successor"});
}

TEST_F(StockTransactions, TheBrokerIsKilledBetweenTransactions) {
  StockClient producer = this->producer("stock-txn");
  Strings written;
  for (int round = 0; round < 3; ++round) {
    require_ok(rd_kafka_begin_transaction(producer.get()));
    write(producer.get(), {"round" + std::to_string(round)});
    require_ok(rd_kafka_commit_transaction(producer.get(), kTimeoutMs));
    written.push_back("round" + std::to_string(round));
    broker_.crash();
  }
  client_ = RawClient(broker_.port());
  await_transaction_state(client_, "stock-txn", "CompleteCommit");
  EXPECT_EQ(read("read_committed"), written);
}

}  // namespace
}  // namespace ackord::integration
