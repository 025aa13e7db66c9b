#include "tools/ackordctl/txn_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace ackord::ctl {
namespace {

Transaction transaction() {
  Transaction one;
  one.id = "pay-1";
  one.coordinator = BrokerId(1);
  one.producer_id = 7;
  one.producer_epoch = 3;
  one.state = "Ongoing";
  one.timeout_ms = 60000;
  one.start_time_ms = 1000;
  one.partitions = {{"__share_group_state", {4}}, {"out", {0, 2}}};
  return one;
}

DescribedTransaction described() {
  InFlight range{{5, 8}, State::kStaged, 2};
  range.producer_id = 7;
  range.staged_for_ms = 1500;
  range.acknowledge_type = 1;
  return {transaction(), {{"workers", "orders", 3, range}}, 13345};
}

TEST(TxnText, Lists) {
  const std::vector<ListedTransaction> listed{{"a", BrokerId(1), 7, "Ongoing"}};
  EXPECT_EQ(table_of(listed),
            "TRANSACTIONAL ID  STATE    PRODUCER  COORDINATOR\n"
            "a                 Ongoing  7         1\n");
  EXPECT_EQ(json_of(listed), boost::json::parse(R"([{"transactionalId": "a", "state": "Ongoing",
                                                     "producerId": 7, "coordinatorId": 1}])"));
  EXPECT_EQ(table_of(std::vector<ListedTransaction>()), "no transactions\n");
}

TEST(TxnText, DescribesWithWhatIsStaged) {
  EXPECT_EQ(table_of(described()),
            "transactional id  pay-1\n"
            "state             Ongoing\n"
            "producer          7 epoch 3\n"
            "coordinator       1\n"
            "timeout           60.0 s\n"
            "started           1970-01-01T00:00:01Z, 12.3 s ago\n"
            "partitions        __share_group_state:4, out:0, out:2\n"
            "GROUP    PARTITION  OFFSETS  ACKNOWLEDGE  DELIVERIES  STAGED FOR\n"
            "workers  orders:3   5-8      accept       2           1.5 s\n");
  EXPECT_EQ(json_of(described()), boost::json::parse(R"(
    {"transactionalId": "pay-1", "state": "Ongoing", "producerId": 7, "producerEpoch": 3,
     "coordinatorId": 1, "timeoutMs": 60000, "startTimeMs": 1000,
     "partitions": [{"topic": "__share_group_state", "partition": 4},
                    {"topic": "out", "partition": 0}, {"topic": "out", "partition": 2}],
     "stagedAcknowledgements": [
       {"group": "workers", "topic": "orders", "partition": 3, "firstOffset": 5, "lastOffset": 8,
        "acknowledgeType": "accept", "deliveryCount": 2, "stagedForMs": 1500}]})"));
}

TEST(TxnText, SaysWhatIsNotThere) {
  DescribedTransaction idle{transaction(), {}, 2000};
  idle.transaction.state = "Empty";
  idle.transaction.start_time_ms = -1;
  idle.transaction.timeout_ms = INT32_MAX;
  idle.transaction.partitions.clear();
  EXPECT_EQ(table_of(idle),
            "transactional id  pay-1\n"
            "state             Empty\n"
            "producer          7 epoch 3\n"
            "coordinator       1\n"
            "timeout           none: two-phase, its owner decides\n"
            "started           -\n"
            "partitions        none\n"
            "no share acknowledgements are staged in it\n");
}

TEST(TxnText, Producers) {
  const std::vector<PartitionProducer> two{{7, 3, -1, 9, 1000, 120}, {8, 0, 2, -1, -1, -1}};
  EXPECT_EQ(table_of(two),
            "PRODUCER  EPOCH  COORDINATOR EPOCH  LAST SEQUENCE  LAST WRITE            "
            "TRANSACTION FROM\n"
            "7         3      -                  9              1970-01-01T00:00:01Z  120\n"
            "8         0      2                  -              -                     -\n");
  EXPECT_EQ(json_of(two), boost::json::parse(R"([
    {"producerId": 7, "producerEpoch": 3, "coordinatorEpoch": -1, "lastSequence": 9,
     "lastTimestamp": 1000, "transactionStartOffset": 120},
    {"producerId": 8, "producerEpoch": 0, "coordinatorEpoch": 2, "lastSequence": -1,
     "lastTimestamp": -1}])"));
}

TEST(TxnText, Ends) {
  EXPECT_EQ(table_of(EndedTransaction{"a", "fenced", "Empty"}),
            "a: fenced, and what was open is aborted (Empty)\n");
  EXPECT_EQ(table_of(EndedTransaction{"a", "nothing open", "CompleteCommit"}),
            "a: nothing open (CompleteCommit)\n");
  EXPECT_EQ(table_of(PartitionAbort{"out", 2, 7, 3, 0}),
            "out:2: the transaction of producer 7 epoch 3 is aborted\n");
}

}  // namespace
}  // namespace ackord::ctl
