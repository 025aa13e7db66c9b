// The operations of GroupShard, each with its reply. What they do is in the contract of
// group_service.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/group/classic_types.h"
#include "broker/group/consumer_operations.h"
#include "broker/group/group_service.h"
#include "broker/group/share_heartbeat.h"
#include "broker/log/partition.h"
#include "broker/log/types.h"

namespace ackord::group {

struct Verdict {
  ErrorCode error = ErrorCode::NONE;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct ShareHeartbeatOp {
  using Reply = ShareHeartbeatDecision;  // its records have been taken out
  ShareHeartbeat heartbeat;
  // Those that exist of subscribed_topics(group) and of the heartbeat; not looked at when
  // only_renews() says so.
  std::vector<SubscribedTopic> topics;
  ShareGroupLimits limits;
  uint64_t topics_version = 0;  // of the image that `topics` come from
};
// The answers to InitializeShareGroupState.
struct ShareInitializationEnded {
  struct Reply {};
  GroupId group;
  std::vector<std::pair<TopicIdPartition, bool>> results;  // true: it has state now
};
// After loading: members that have no session get one.
struct StartSessions {
  struct Reply {};
  std::map<std::string, int32_t, std::less<>> timeouts_ms;  // by share or consumer group
};
struct RemovedTopic {
  TopicName name;
  Uuid id;
  friend bool operator==(const RemovedTopic&, const RemovedTopic&) = default;
  friend auto operator<=>(const RemovedTopic&, const RemovedTopic&) = default;
};
struct TopicsRemoved {
  struct Reply {};
  std::vector<RemovedTopic> topics;
};
struct CheckShareMember {
  using Reply = Verdict;
  GroupId group;
  std::string member;
  int32_t epoch = 0;
};
struct DescribeShareGroup {
  using Reply = ShareGroupPartitions;
  GroupId group;
};

// ---- classic groups

// The answers are those that are decided now, of this request or of others; the request's own
// comes with a later decision if it is not among them.
struct JoinClassicGroup {
  using Reply = ClassicAnswers;
  ClassicJoin join;
  Ticket ticket = 0;
  std::string new_id_suffix;                      // random, for a member without an id
  std::optional<ConsumerContext> consumers = {};  // where the group may be a consumer group
};
struct SyncClassicGroup {
  using Reply = ClassicAnswers;
  ClassicSync sync;
  Ticket ticket = 0;
  std::optional<ConsumerContext> consumers = {};
};
struct LeaveClassicGroup {
  struct Reply {
    std::vector<ErrorCode> errors;  // in the order of the members
    ClassicAnswers answers;
  };
  ClassicLeave leave;
  std::optional<ConsumerContext> consumers = {};
};
struct BeatClassicMember {
  using Reply = Verdict;
  ClassicMemberName who;
};

// ---- offsets

struct BeginTxnOffsetCommit {
  using Reply = std::optional<uint64_t>;  // the guard; absent when the transaction is open here
  log::ProducerStamp producer;
  uint64_t token = 0;  // random
};
struct TxnOffsetCommitOp {
  using Reply = Verdict;
  TxnOffsetCommit commit;
  std::optional<uint64_t> guard;
  std::optional<log::ProducerView> known;  // the log's view of the producer
};
struct CommitOffsets {
  using Reply = Verdict;
  OffsetsToCommit commit;
};
struct FetchOffsets {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    FetchedOffsets offsets;
  };
  OffsetsToFetch fetch;
};
struct DeleteOffsets {
  using Reply = DeletedOffsets;
  GroupId group;
  std::vector<TopicPartition> partitions;
};
struct WriteMarker {
  using Reply = Verdict;
  log::EndMarker marker;
  std::optional<log::ProducerView> known;
};

// ---- groups of any kind

struct ListGroups {
  using Reply = std::vector<ListedGroup>;
};
struct DescribeClassicGroup {
  using Reply = DescribedClassicGroup;
  GroupId group;
};
// A group that has only offsets is gone with this one. A share group keeps its name until
// EndDeletion says that the delivery state of `states` has been removed, and takes no heartbeat
// meanwhile.
struct BeginDeletion {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    bool ended = false;
    std::vector<ShareGroupTopic> states;
  };
  GroupId group;
};
struct EndDeletion {
  struct Reply {};
  GroupId group;
  std::vector<ShareGroupTopic> kept;  // whose state could not be removed: then the group stays
};

}  // namespace ackord::group
