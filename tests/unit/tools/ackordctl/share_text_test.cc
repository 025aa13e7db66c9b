#include "tools/ackordctl/share_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace ackord::ctl {
namespace {

TEST(ShareText, ReadsTargets) {
  EXPECT_EQ(parse_target("orders"), (Target{"orders", std::nullopt}));
  EXPECT_EQ(parse_target("orders:3"), (Target{"orders", 3}));
  for (const char* bad :
       {"", ":3", "orders:", "orders:x", "orders:-1", "orders:1x", "orders:99999999999"})
    EXPECT_EQ(parse_target(bad), std::nullopt) << bad;
}

TEST(ShareText, ReadsOffsets) {
  EXPECT_EQ(parse_offsets("7"), (Offsets{7, 7}));
  EXPECT_EQ(parse_offsets("7-9"), (Offsets{7, 9}));
  for (const char* bad : {"", "-", "7-", "-7", "9-7", "a", "7-8-9", "7 "})
    EXPECT_EQ(parse_offsets(bad), std::nullopt) << bad;
}

std::vector<SharePartition> example() {
  InFlight held{{0, 4}, State::kAcquired, 1, "m1", 12345};
  InFlight staged{{5, 5}, State::kStaged, 2};
  staged.producer_id = 7;
  staged.producer_epoch = 3;
  staged.transaction = "tx";
  staged.staged_for_ms = 1500;
  staged.acknowledge_type = 1;
  InFlight waiting{{6, 6}, State::kAvailable, 1};
  waiting.available_in_ms = 2000;
  return {{"orders", 0, 0, 6, {held, staged, waiting}, true}, {"orders", 1, 3, 3, {}, false}};
}

TEST(ShareText, PrintsATable) {
  EXPECT_EQ(table_of(example()),
            "PARTITION  OFFSETS  STATE      DELIVERIES  HELD BY\n"
            "orders:0   0-4      acquired   1           member m1, lock for 12.3 s\n"
            "orders:0   5        staged     2           producer 7 epoch 3 transaction tx, accept "
            "for 1.5 s\n"
            "orders:0   6        available  1           again in 2.0 s\n"
            "there are more ranges: see --max-ranges\n");
  EXPECT_EQ(table_of(std::vector<SharePartition>()), "nothing is in flight\n");
  EXPECT_EQ(table_of({Released{"orders", 2, 5}}), "orders:2  5 records released\n");
  EXPECT_EQ(table_of(std::vector<Released>()), "nothing to release\n");
}

TEST(ShareText, PrintsJson) {
  EXPECT_EQ(json_of(example()), boost::json::parse(R"([
    {"topic": "orders", "partition": 0, "startOffset": 0, "endOffset": 6, "more": true, "ranges": [
      {"firstOffset": 0, "lastOffset": 4, "state": "acquired", "deliveryCount": 1,
       "memberId": "m1", "lockExpiresInMs": 12345},
      {"firstOffset": 5, "lastOffset": 5, "state": "staged", "deliveryCount": 2,
       "owner": {"producerId": 7, "producerEpoch": 3, "transactionId": "tx"},
       "stagedForMs": 1500, "acknowledgeType": "accept"},
      {"firstOffset": 6, "lastOffset": 6, "state": "available", "deliveryCount": 1,
       "availableInMs": 2000}]},
    {"topic": "orders", "partition": 1, "startOffset": 3, "endOffset": 3, "more": false,
     "ranges": []}])"));
  EXPECT_EQ(json_of({Released{"orders", 2, 5}}),
            boost::json::parse(R"([{"topic": "orders", "partition": 2, "releasedRecords": 5}])"));
}

}  // namespace
}  // namespace ackord::ctl
