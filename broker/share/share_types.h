// What the share room's state machines take and give. Plain data; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "broker/share/record_state.h"
#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::share {

// One partition of a topic as one group consumes it.
struct SharePartitionKey {
  GroupId group_id;
  Uuid topic_id;
  int32_t partition = 0;

  // "group:topicId:partition": what FindCoordinator and the state topic's partitioner take.
  std::string to_string() const;
  friend bool operator==(const SharePartitionKey&, const SharePartitionKey&) = default;
  friend std::strong_ordering operator<=>(const SharePartitionKey& a, const SharePartitionKey& b) {
    if (auto c = a.group_id.sv() <=> b.group_id.sv(); c != 0) return c;
    if (auto c = a.topic_id <=> b.topic_id; c != 0) return c;
    return a.partition <=> b.partition;
  }
};

// Which partition of `__share_group_state` holds the key: abs(javaHash(to_string())) % partitions
// (Kafka's).
int32_t state_partition_of(const SharePartitionKey& key, int32_t partitions);

// NONE, or what a request's entry for one partition is answered.
struct PartitionError {
  ErrorCode error_code = ErrorCode::NONE;
  std::string error_message;

  bool ok() const { return error_code == ErrorCode::NONE; }
  friend bool operator==(const PartitionError&, const PartitionError&) = default;
};

// As on the wire: one type for the whole range, or one per offset.
struct AcknowledgementBatch {
  Offset first_offset = 0;
  Offset last_offset = 0;
  std::vector<int8_t> acknowledge_types;
};

// The shape rules of share acknowledgements (semantics A.11): ordered ranges, types present, their
// number and values. `max_type`: 4 where RENEW is allowed, else 3. INVALID_REQUEST when broken.
PartitionError check_acknowledgement_batches(const std::vector<AcknowledgementBatch>& batches,
                                             int8_t max_type);
// The same for a transaction: ACCEPT, REJECT and gap only, and no two ranges touch (protocol,
// section 0).
PartitionError check_staged_batches(const std::vector<AcknowledgementBatch>& batches);

// Who holds a staged record: a producer's transaction, or a batch transaction (producer_id -1),
// whose id is scoped by the group of the share partition.
struct Owner {
  ProducerId producer_id;
  int16_t producer_epoch = -1;
  std::optional<TransactionalId> transaction_id;
  TimeMs staged_timestamp_ms = 0;  // of its first record in this share partition

  bool is_batch() const { return producer_id.value < 0; }
  // "producer 7 epoch 3 (tx)", "batch transaction b": for messages.
  std::string to_string() const;
  friend bool operator==(const Owner&, const Owner&) = default;
};

// Promise that a stage under way may still come (protocol 1.3): made by TakeGuard, used up by its
// Stage.
struct Guard {
  uint64_t token = 0;
  uint64_t incarnation = 0;  // of the shard that gave it
  friend bool operator==(const Guard&, const Guard&) = default;
};

// Share sessions of a broker, in the order in which they were opened. What is acquired in a session
// has its number, so that the end of one session never frees what a later one holds, however late
// it is learnt.
using SessionNumber = int64_t;
constexpr SessionNumber kEverySession = INT64_MAX;

// AcquiredRecords of a ShareFetch response.
struct AcquiredRecords {
  Offset first_offset = 0;
  Offset last_offset = 0;
  int16_t delivery_count = 0;
  friend bool operator==(const AcquiredRecords&, const AcquiredRecords&) = default;
};

enum class ShareAcquireMode : int8_t { BATCH_OPTIMIZED = 0, RECORD_LIMIT = 1 };

// One log batch that a fetch returned.
struct FetchedBatch {
  Offset base_offset = 0;
  Offset last_offset = 0;
};

struct OffsetRange {
  Offset first_offset = 0;
  Offset last_offset = 0;
  friend bool operator==(const OffsetRange&, const OffsetRange&) = default;
};

// InFlightRange of DescribeSharePartitions.
struct InFlightRange {
  Offset first_offset = 0;
  Offset last_offset = 0;
  RecordState state = RecordState::AVAILABLE;
  int16_t delivery_count = 0;
  std::optional<std::string> member_id;  // of an ACQUIRED range
  int64_t lock_expires_in_ms = -1;       // of an ACQUIRED range
  std::optional<Owner> owner;            // of a TX_PENDING range
  int64_t staged_for_ms = -1;
  int8_t acknowledge_type = -1;
  int64_t available_in_ms = -1;  // of an AVAILABLE range that waits for its next delivery
  friend bool operator==(const InFlightRange&, const InFlightRange&) = default;
};

// StateBatch of the share state RPCs and records.
struct StateBatch {
  Offset first_offset = 0;
  Offset last_offset = 0;
  RecordState delivery_state = RecordState::AVAILABLE;
  int16_t delivery_count = 0;
  int16_t owner_index = -1;  // into the owners beside it; -1 unless TX_PENDING
  int8_t staged_ack_type = -1;
  int8_t staged_delivery_state = -1;  // the state that a commit brings
  friend bool operator==(const StateBatch&, const StateBatch&) = default;
};

}  // namespace ackord::share

template <>
struct std::hash<ackord::share::SharePartitionKey> {
  size_t operator()(const ackord::share::SharePartitionKey& key) const {
    return (std::hash<ackord::GroupId>()(key.group_id) * 31 +
            std::hash<ackord::Uuid>()(key.topic_id)) *
               31 +
           static_cast<size_t>(key.partition);
  }
};
