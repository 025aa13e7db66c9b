#include "tools/ackordctl/batch_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace ackord::ctl {
namespace {

using client::BatchTransactionState;

Uuid topic_id(uint8_t last) {
  Uuid id;
  id.bytes.back() = last;
  return id;
}

ListedBatch prepared() {
  ListedBatch batch{"workers", {}};
  batch.transaction.id = "w-1";
  batch.transaction.state = BatchTransactionState::kPrepare;
  batch.transaction.create_time_ms = 1000;
  batch.transaction.prepare_time_ms = 2000;
  batch.transaction.timeout = client::Millis(60000);
  // Of the second topic there is no name any more.
  batch.transaction.pending[{topic_id(1), 3}] = {{0, 4, {1}}, {5, 5, {3}}};
  batch.transaction.pending[{topic_id(2), 0}] = {{7, 8, {1}}};
  batch.transaction.topics[topic_id(1)] = TopicName("orders");
  return batch;
}

TEST(BatchText, Lists) {
  ListedBatch done{"workers", {}};
  done.transaction.id = "w-0";
  done.transaction.state = BatchTransactionState::kCommitted;
  const std::vector<ListedBatch> all{prepared(), done};
  EXPECT_EQ(table_of(all),
            "GROUP    TRANSACTION  STATE      BEGUN                 PREPARED              TIMEOUT  "
            "STAGED\n"
            "workers  w-1          PREPARE    1970-01-01T00:00:01Z  1970-01-01T00:00:02Z  60.0 s   "
            "8\n"
            "workers  w-0          COMMITTED  1970-01-01T00:00:00Z  -                     0.0 s    "
            "-\n");
  EXPECT_EQ(json_of(all), boost::json::parse(R"([
    {"groupId": "workers", "transactionId": "w-1", "state": "PREPARE", "createTimeMs": 1000,
     "prepareTimeMs": 2000, "timeoutMs": 60000, "stagedRecords": 8},
    {"groupId": "workers", "transactionId": "w-0", "state": "COMMITTED", "createTimeMs": 0,
     "prepareTimeMs": -1, "timeoutMs": 0}])"));
  EXPECT_EQ(table_of(std::vector<ListedBatch>()), "no such batch transactions\n");
}

TEST(BatchText, DescribesRanges) {
  const std::string unnamed = topic_id(2).to_string();
  EXPECT_TRUE(table_of(prepared())
                  .ends_with("PARTITION                 OFFSETS  ACKNOWLEDGE\n"
                             "orders:3                  0-4      accept\n"
                             "orders:3                  5        reject\n" +
                             unnamed + ":0  7-8      accept\n"))
      << table_of(prepared());
  const boost::json::value json = json_of(prepared());
  EXPECT_EQ(json.at("stagedAcknowledgements").at(1), boost::json::parse(R"(
    {"topic": "orders", "partition": 3, "firstOffset": 5, "lastOffset": 5,
     "acknowledgeType": "reject"})"));
  EXPECT_EQ(json.at("stagedAcknowledgements").at(2).at("topic").as_string(), unnamed);
}

TEST(BatchText, Ends) {
  EXPECT_EQ(table_of(EndedBatch{"workers", "w-1", true}), "workers w-1: committed\n");
  EXPECT_EQ(table_of(EndedBatch{"workers", "w-1", false}),
            "workers w-1: aborted, its records are delivered again\n");
}

}  // namespace
}  // namespace ackord::ctl
