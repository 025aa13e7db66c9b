// Topics and their records, and what a share group has of them: short forms of the usual requests.
// Errors: std::runtime_error for everything that a test does not expect.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/compression/compression.h"
#include "protocol/generated/produce_request.h"
#include "protocol/record_batch/batch_builder.h"
#include "tests/integration/support/raw_client.h"

namespace ackord::integration {

struct Topic {
  std::string name;
  Uuid id;
  int32_t partitions = 1;
};

Topic create_topic(RawClient& client, const std::string& name, int32_t partitions = 1,
                   const std::vector<std::pair<std::string, std::string>>& configs = {});
// By name, from Metadata; the zero id when there is none.
Topic find_topic(RawClient& client, const std::string& name);

// One batch of these values, without keys; `options`: what else its header says.
std::vector<std::byte> batch_of(const std::vector<std::string>& values,
                                protocol::BatchOptions options = {});
// A Produce of one batch to one partition, acks=all. Borrows the batch.
protocol::ProduceRequest produce_request(const Topic& topic, int32_t partition,
                                         const std::vector<std::byte>& batch);
// One batch to one partition, acks=all; its base offset.
Offset produce(RawClient& client, const Topic& topic, int32_t partition,
               const std::vector<std::string>& values,
               protocol::Codec codec = protocol::Codec::kNone);
// "v0" … "v<count - 1>".
std::vector<std::string> numbered_values(int count, const std::string& prefix = "v");

enum class Isolation : int8_t { kReadUncommitted = 0, kReadCommitted = 1 };
struct ReadRecord {
  Offset offset = 0;
  TimeMs timestamp = 0;
  bool log_append_time = false;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;
};
// The records that a consumer sees from `from` up to the end: aborted and control records left out
// as clients do. read_committed stops at the last stable offset.
std::vector<ReadRecord> read_records(RawClient& client, const Topic& topic, int32_t partition,
                                     Isolation isolation, Offset from = 0);
// The same, their values alone; null is empty.
std::vector<std::string> read_values(RawClient& client, const Topic& topic, int32_t partition,
                                     Isolation isolation, Offset from = 0);
// ListOffsets of a timestamp; offset -1 when there is none.
constexpr int64_t kLatest = -1;
constexpr int64_t kEarliest = -2;
constexpr int64_t kMaxTimestamp = -3;
struct ListedOffset {
  Offset offset = -1;
  TimeMs timestamp = -1;
};
ListedOffset list_offset(RawClient& client, const std::string& topic, int32_t partition,
                         int64_t timestamp, Isolation isolation = Isolation::kReadUncommitted);
Offset end_offset(RawClient& client, const Topic& topic, int32_t partition, Isolation isolation);

// IncrementalAlterConfigs of a topic, of a group.
void set_topic_configs(RawClient& client, const std::string& topic,
                       const std::vector<std::pair<std::string, std::string>>& configs);
void set_group_configs(RawClient& client, const std::string& group,
                       const std::vector<std::pair<std::string, std::string>>& configs);

// DescribeSharePartitions of one partition in one line:
//   "0..9: 0-4 TX_PENDING ACCEPT x1, 5-9 ACQUIRED x1"
// = first..last offset in flight ("10..10:" when there is none below 10), then the ranges with
// state, staged type and delivery count. Waits while the coordinator loads.
std::string share_state(RawClient& client, const std::string& group, const Topic& topic,
                        int32_t partition = 0);
// Until it is `expected`.
void await_share_state(RawClient& client, const std::string& group, const Topic& topic,
                       int32_t partition, const std::string& expected);

// DescribeTransactions: "Empty", "Ongoing", …; waits while the coordinator loads.
std::string transaction_state(RawClient& client, const std::string& transactional_id);
void await_transaction_state(RawClient& client, const std::string& transactional_id,
                             const std::string& expected);

}  // namespace ackord::integration
