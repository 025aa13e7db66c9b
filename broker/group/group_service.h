// GroupService: the door to groups: share group membership, committed offsets, and the transactions
// on them.
//
// Owns: one shard per partition of `__consumer_offsets`; a group lives in the shard of
// metadata::coordinator_partition(group id, partitions). Threads: every member from any core; the
// service hops to the shard's core and back. Everything that it answers is durable. Errors of all
// group operations: COORDINATOR_LOAD_IN_PROGRESS before load() has ended, COORDINATOR_NOT_AVAILABLE
// after a storage failure.
// Source: KIP-932 (share groups), KIP-98 and KIP-890 (transactional offsets).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/group/classic_types.h"
#include "broker/group/share_admin.h"
#include "broker/group/share_types.h"
#include "broker/io/core.h"
#include "broker/io/signal.h"
#include "broker/io/task.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/types/ids.h"

namespace ackord::group {

// ---- share groups

struct ShareHeartbeat {
  GroupId group;
  std::string member;
  int32_t epoch = 0;  // 0 joins, -1 leaves
  std::optional<std::string> rack;
  std::optional<std::vector<TopicName>> topics;  // absent: as before
  std::string client_id;
  std::string client_host;
};
struct ShareHeartbeatReply {
  ErrorCode error = ErrorCode::NONE;
  std::string message;
  std::string member;
  int32_t member_epoch = 0;
  int32_t heartbeat_interval_ms = 0;
  std::optional<std::vector<TopicPartitions>> assignment;  // absent: as before
};

struct ShareGroupPartitions {
  ErrorCode error = ErrorCode::NONE;  // GROUP_ID_NOT_FOUND
  std::string message;
  std::string state;                         // "Empty", "Stable"
  std::vector<ShareGroupTopic> initialized;  // in the order of the topic ids
  std::vector<ShareGroupTopic> initializing;
};

// What the group service needs of whoever keeps delivery states: InitializeShareGroupState and
// DeleteShareGroupState. Any core may call.
class ShareStateKeeper {
 public:
  virtual ~ShareStateKeeper() = default;
  // Durable when it ends; state that is there already is kept. `start_offset` -1: found by
  // share.auto.offset.reset at the first fetch.
  virtual io::Task<ErrorCode> initialize(GroupId group, Uuid topic_id, int32_t partition,
                                         int32_t state_epoch, Offset start_offset) = 0;
  // The same, in place of a state that is there already. NON_EMPTY_GROUP while records are staged.
  virtual io::Task<ErrorCode> replace(GroupId group, Uuid topic_id, int32_t partition,
                                      int32_t state_epoch, Offset start_offset) = 0;
  // Durable when it ends; no state is no error. NON_EMPTY_GROUP while records are staged.
  virtual io::Task<ErrorCode> remove(GroupId group, Uuid topic_id, int32_t partition) = 0;
};

// ---- consumer groups

// The topics that a client may know of, asked on the group's core with its image. Empty: all.
using TopicFilter =
    std::function<bool(const metadata::MetadataImage& image, std::string_view topic)>;

struct ConsumerHeartbeat {
  GroupId group;
  std::string member;
  int32_t epoch = 0;  // 0 joins, -1 leaves, -2 leaves for a while (a static member)
  std::optional<std::string> instance;
  std::optional<std::string> rack;
  int32_t rebalance_timeout_ms = -1;                  // -1: as before
  std::optional<std::vector<TopicName>> topics;       // absent: as before
  std::optional<std::string> regex;                   // absent: as before; "" takes it away
  std::optional<std::string> assignor;                // absent: as before
  std::optional<std::vector<TopicPartitions>> owned;  // absent: not said
  std::string client_id;
  std::string client_host;
  TopicFilter may_see;  // of the topics that the pattern matches
};
using ConsumerHeartbeatReply = ShareHeartbeatReply;

struct DescribedConsumerMember {
  std::string id;
  std::optional<std::string> instance;
  std::optional<std::string> rack;
  int32_t epoch = 0;
  std::string client_id;
  std::string client_host;
  std::vector<std::string> topics;
  std::string regex;
  std::vector<TopicPartitions> assigned;  // also what it is to give up
  std::vector<TopicPartitions> target;
  bool classic = false;  // it speaks the classic protocol
};
struct DescribedConsumerGroup {
  ErrorCode error = ErrorCode::NONE;  // GROUP_ID_NOT_FOUND
  std::string message;
  std::string state;
  int32_t epoch = 0;
  int32_t assignment_epoch = 0;
  std::string assignor;
  std::vector<DescribedConsumerMember> members;
};

// ---- offsets

struct OffsetToCommit {
  TopicName topic;
  Uuid topic_id;  // zero: not known
  int32_t partition = 0;
  Offset offset = 0;
  int32_t leader_epoch = -1;
  std::string metadata;
};
// On whose behalf offsets are committed. With nothing set: on nobody's, for a group without
// members.
struct OffsetCommitter {
  int32_t generation_or_member_epoch = -1;
  std::string member;
  std::optional<std::string> instance;
  bool is_nobody() const {
    return generation_or_member_epoch < 0 && member.empty() && !instance.has_value();
  }
};
struct OffsetsToCommit {
  GroupId group;
  OffsetCommitter committer;
  std::vector<OffsetToCommit> offsets;  // none: only the committer is checked
  // False below version 9 of OffsetCommit and below version 6 of TxnOffsetCommit: where the group
  // is not known, ILLEGAL_GENERATION stands for GROUP_ID_NOT_FOUND.
  bool knows_group_id_not_found = true;
  // Versions 2-4 of OffsetCommit may set a time to live; absent: the broker's retention.
  std::optional<int64_t> retention_ms;
};
struct TxnOffsetCommit {
  TransactionalId transactional_id;
  log::ProducerStamp producer;
  OffsetsToCommit commit;
};
struct CommittedOffset {
  Offset offset = -1;  // -1: nothing is committed
  int32_t leader_epoch = -1;
  std::string metadata;
  TimeMs commit_timestamp_ms = -1;
  Uuid topic_id;
  bool unstable = false;  // an open transaction has an offset staged here
  friend bool operator==(const CommittedOffset&, const CommittedOffset&) = default;
};
struct OffsetsToFetch {
  GroupId group;
  // Absent: all that are committed.
  std::optional<std::vector<TopicPartition>> partitions;
  // On whose behalf; absent, with a negative epoch: on nobody's. Of consumer groups alone.
  std::optional<std::string> member;
  int32_t member_epoch = -1;
};
// In the order asked for; by topic and partition where all were.
using FetchedOffsets = std::vector<std::pair<TopicPartition, CommittedOffset>>;

struct DeletedOffsets {
  ErrorCode error = ErrorCode::NONE;
  std::set<TopicName> in_use;  // topics whose offsets stay: GROUP_SUBSCRIBED_TO_TOPIC
};

// ---- groups of any kind

// Texts are Kafka's, as tools show them.
struct ListedGroup {
  GroupId group;
  std::string protocol_type;  // "consumer", "share", …; "" for a group that has only offsets
  std::string state;          // "Empty", "Stable", …
  std::string type;           // "classic", "consumer", "share"
  friend bool operator==(const ListedGroup&, const ListedGroup&) = default;
};
// As DescribeGroups shows it, which knows classic groups alone.
struct DescribedClassicGroup {
  ErrorCode error = ErrorCode::NONE;  // GROUP_ID_NOT_FOUND: none of that name, or of another kind
  std::string message;
  std::string state;
  std::string protocol_type;
  std::string protocol;  // "" while none is in force
  struct Member {
    std::string id;
    std::optional<std::string> instance;
    std::string client_id;
    std::string client_host;
    // Only of a stable group.
    SharedBytes metadata;
    SharedBytes assignment;
  };
  std::vector<Member> members;
};

// The connection of a request that may wait; on its core, and alive as long as the request.
struct Caller {
  const bool* gone = nullptr;
  io::Signal* on_gone = nullptr;
};

using CommitCheck = std::function<ErrorCode()>;

class GroupService {
 public:
  virtual ~GroupService() = default;

  // Makes `__consumer_offsets` ready if it exists and replays all its partitions. Start-up, after
  // MetadataService::load(). The error names partition and record.
  virtual io::Task<Result<void>> load() = 0;
  // Creates `__consumer_offsets` and its (empty) shards when there are none yet; then, and ever
  // after, at once. All operations below do it by themselves.
  virtual io::Task<Result<void>> ensure_ready() = 0;
  // The partition of `__consumer_offsets` that the group belongs to, for AddOffsetsToTxn and
  // FindCoordinator.
  virtual io::Task<Result<int32_t>> partition_of(GroupId group) = 0;

  // One ShareGroupHeartbeat whose fields are well-formed. GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID,
  // FENCED_MEMBER_EPOCH, GROUP_MAX_SIZE_REACHED.
  virtual io::Task<ShareHeartbeatReply> share_heartbeat(ShareHeartbeat heartbeat) = 0;
  // NONE when the group knows the member and 0 < epoch <= its current one; STALE_MEMBER_EPOCH for a
  // greater epoch; else UNKNOWN_MEMBER_ID.
  virtual io::Task<ErrorCode> check_share_member(GroupId group, std::string member,
                                                 int32_t epoch) = 0;
  virtual io::Task<ShareGroupPartitions> share_group_partitions(GroupId group) = 0;
  virtual io::Task<DescribedShareGroup> describe_share_group(GroupId group) = 0;
  // Where the group begins from now on, in partitions that exist; makes the group if need be. What
  // was in flight is void.
  virtual io::Task<AlteredShareOffsets> alter_share_offsets(GroupId group,
                                                            std::vector<ShareOffset> offsets) = 0;
  // The group holds no state of these topics any more.
  virtual io::Task<DeletedShareOffsets> delete_share_offsets(GroupId group,
                                                             std::vector<Uuid> topics) = 0;

  // One ConsumerGroupHeartbeat whose fields are well-formed. GROUP_ID_NOT_FOUND,
  // UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID,
  // GROUP_MAX_SIZE_REACHED, INVALID_REGULAR_EXPRESSION.
  virtual io::Task<ConsumerHeartbeatReply> consumer_heartbeat(ConsumerHeartbeat heartbeat) = 0;
  virtual io::Task<DescribedConsumerGroup> describe_consumer_group(GroupId group) = 0;

  // ---- classic groups. What is asked is well-formed: a name, timeouts within their bounds.
  // Joins and syncs wait for other members, at the longest for a rebalance timeout; a caller that
  // has gone ends the wait, but what it asked for stays. Source: KIP-62; semantics D.1.
  // INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, MEMBER_ID_REQUIRED (with
  // the id), GROUP_MAX_SIZE_REACHED.
  virtual io::Task<ClassicJoinReply> join_classic_group(ClassicJoin join, Caller caller) = 0;
  // UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL,
  // REBALANCE_IN_PROGRESS: join again.
  virtual io::Task<ClassicSyncReply> sync_classic_group(ClassicSync sync, Caller caller) = 0;
  // UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS: join again.
  virtual io::Task<ErrorCode> classic_heartbeat(ClassicMemberName who) = 0;
  // One answer for each member, in their order: NONE, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
  virtual io::Task<Result<std::vector<ErrorCode>>> leave_classic_group(ClassicLeave leave) = 0;

  // Stages offsets in the producer's transaction; all or none. The partition must be in the
  // transaction already (the caller has enlisted or verified it, and hands in the guard of
  // begin_txn_offset_commit()). GROUP_ID_NOT_FOUND (ILLEGAL_GENERATION), UNKNOWN_MEMBER_ID,
  // INVALID_PRODUCER_ID_MAPPING, INVALID_PRODUCER_EPOCH; INVALID_TXN_STATE when the guard does not
  // hold any more; for members of consumer groups STALE_MEMBER_EPOCH (ILLEGAL_GENERATION). `check`
  // is asked on the group's core at the moment of the decision; what it answers but NONE refuses
  // the commit (a transaction that was kept for a successor meanwhile).
  virtual io::Task<ErrorCode> txn_offset_commit(TxnOffsetCommit commit,
                                                std::optional<uint64_t> guard,
                                                CommitCheck check) = 0;
  // A token that txn_offset_commit() must bring when the producer has no transaction open on the
  // group's partition; absent when it has one. A marker of that producer voids it, so no late
  // commit joins the next transaction (KIP-890).
  virtual io::Task<Result<std::optional<uint64_t>>> begin_txn_offset_commit(
      GroupId group, log::ProducerStamp producer) = 0;
  // Commits outside any transaction. All or none. GROUP_ID_NOT_FOUND (ILLEGAL_GENERATION),
  // UNKNOWN_MEMBER_ID; for members of consumer groups STALE_MEMBER_EPOCH, UNSUPPORTED_VERSION.
  virtual io::Task<ErrorCode> commit_offsets(OffsetsToCommit commit) = 0;
  // A group that is not known has nothing committed. Of consumer groups: UNKNOWN_MEMBER_ID,
  // STALE_MEMBER_EPOCH (ILLEGAL_GENERATION).
  virtual io::Task<Result<FetchedOffsets>> fetch_offsets(OffsetsToFetch fetch) = 0;

  // ---- groups of any kind
  // Without `__consumer_offsets` there are none; the topic is not made.
  virtual io::Task<Result<std::vector<ListedGroup>>> list_groups() = 0;
  virtual io::Task<Result<DescribedClassicGroup>> describe_classic_group(GroupId group) = 0;
  // With all that it holds: offsets, or share-partitions' delivery state. GROUP_ID_NOT_FOUND;
  // NON_EMPTY_GROUP with members or staged records; GROUP_DELETION_FAILED when delivery state could
  // not be removed: then the group is still there.
  virtual io::Task<Result<void>> delete_group(GroupId group) = 0;
  // Partitions without an offset are no error; those of topics that members of the group read stay.
  // GROUP_ID_NOT_FOUND; NON_EMPTY_GROUP for members that may read any; INVALID_GROUP_ID for the
  // empty name, which is a group to all other operations on offsets.
  virtual io::Task<DeletedOffsets> delete_offsets(GroupId group,
                                                  std::vector<TopicPartition> partitions) = 0;

  // The end of a transaction on one partition of `__consumer_offsets`: appended and in force when
  // it ends. NOT_LEADER_OR_FOLLOWER where the coordinator is not ready, UNKNOWN_TOPIC_OR_PARTITION,
  // INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
  virtual io::Task<ErrorCode> write_marker(int32_t offsets_partition, log::EndMarker marker) = 0;
};

// All references must outlive the service, and the service all cores' work. To be made before
// MetadataService::load(): it asks to be told of removed topics.
std::unique_ptr<GroupService> make_group_service(io::Environment& environment, log::LogService& log,
                                                 metadata::MetadataService& metadata,
                                                 ShareStateKeeper& states);

}  // namespace ackord::group
