// A transaction that hangs on a partition: a batch in the log that no coordinator knows of (the
// broker must run with transaction.partition.verification.enable=false). It is found and aborted
// with ackordctl. The same on Ackord and on Kafka.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/generated/produce_response.h"
#include "tests/integration/ackordctl/ctl.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {

// One batch of a transaction that was never begun; its base offset.
inline Offset produce_hanging(RawClient& client, const Topic& topic, int64_t producer_id) {
  protocol::BatchOptions options;
  options.producer_id = ProducerId(producer_id);
  options.producer_epoch = 0;
  options.base_sequence = 0;
  options.transactional = true;
  const std::vector<std::byte> batch = batch_of({"hangs"}, options);
  protocol::ProduceRequest request = produce_request(topic, 0, batch);
  request.transactional_id = TransactionalId("forgotten");
  auto answer = client.call<protocol::ProduceResponse>(request, 11);
  const auto& result = answer.message.responses.at(0).partition_responses.at(0);
  require_none(result.error_code, "Produce");
  return result.base_offset;
}

inline void free_hanging_transaction(uint16_t port, const Topic& topic) {
  RawClient client(port);
  const auto last_stable = [&] { return end_offset(client, topic, 0, Isolation::kReadCommitted); };
  const std::vector<std::string> place{"--topic", topic.name, "--partition", "0"};
  const auto with = [&](const char* command, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"txn", command};
    arguments.insert(arguments.end(), place.begin(), place.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };

  const Offset first = produce_hanging(client, topic, 880001);
  EXPECT_EQ(last_stable(), first);
  const boost::json::value producers = ctl_json(port, with("producers", {}));
  ASSERT_EQ(producers.as_array().size(), 1u) << producers;
  EXPECT_EQ(producers.at(0).at("producerId"), 880001);
  EXPECT_EQ(producers.at(0).at("transactionStartOffset"), first);
  EXPECT_THAT(ctl(port, with("producers", {})).output,
              ::testing::ContainsRegex("880001 +0 +- +0 +.*Z +" + std::to_string(first) + "\n"));
  EXPECT_EQ(ctl_json(port, with("abort", {"--start-offset", std::to_string(first)})),
            json(R"({"topic": ")" + topic.name + R"(", "partition": 0, "producerId": 880001,
                     "producerEpoch": 0, "coordinatorEpoch": 0, "outcome": "aborted"})"));
  EXPECT_EQ(last_stable(), first + 2);
  EXPECT_EQ(read_values(client, topic, 0, Isolation::kReadCommitted), std::vector<std::string>());

  const Offset second = produce_hanging(client, topic, 880002);
  EXPECT_EQ(last_stable(), second);
  const Ended ended = ctl(port, with("abort", {"--producer-id", "880002", "--producer-epoch", "0",
                                               "--coordinator-epoch", "0"}));
  EXPECT_EQ(ended.status, 0) << ended.output;
  EXPECT_EQ(last_stable(), second + 2);
}

}  // namespace ackord::integration
