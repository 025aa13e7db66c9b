// GroupShard: the groups of one partition of `__consumer_offsets`; see coordinator/shard.h for what
// a shard is.
//
// Hard: share groups and offsets, from records alone. Soft: sessions of share members,
// share-partitions that are being initialised, guards of transactional commits. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/group/committed_offsets.h"
#include "broker/group/deadlines.h"
#include "broker/group/group_records.h"
#include "broker/group/group_service.h"
#include "broker/group/share_heartbeat.h"
#include "broker/group/share_membership.h"
#include "broker/log/partition.h"

namespace ackord::group {

// ---- operations

struct Verdict {
  ErrorCode error = ErrorCode::NONE;
  friend bool operator==(const Verdict&, const Verdict&) = default;
};

struct ShareHeartbeatOp {
  using Reply = ShareHeartbeatDecision;  // its records have been taken out
  ShareHeartbeat heartbeat;
  std::vector<SubscribedTopic>
      topics;  // those that exist of subscribed_topics(group) and of the heartbeat
  ShareGroupLimits limits;
};
// The answers to InitializeShareGroupState.
struct ShareInitializationEnded {
  struct Reply {};
  GroupId group;
  std::vector<std::pair<TopicIdPartition, bool>> results;  // true: it has state now
};
// Members that have no session (after loading) get one.
struct StartSessions {
  struct Reply {};
  std::map<std::string, int32_t, std::less<>> timeouts_ms;  // by group
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
  using Reply = FetchedOffsets;
  OffsetsToFetch fetch;
};
struct DeleteOffsets {
  using Reply = Verdict;
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

// ---- soft changes

struct MemberKey {
  std::string group;
  std::string member;
  friend bool operator==(const MemberKey&, const MemberKey&) = default;
  friend auto operator<=>(const MemberKey&, const MemberKey&) = default;
};
struct SessionRenewed {
  MemberKey member;
  int64_t deadline_ms = 0;
};
struct InitializationBegun {
  std::string group;
  TopicIdPartition partition;
  int64_t deadline_ms = 0;  // no answer by then: begun again by the next heartbeat
};
struct GuardGiven {
  log::ProducerStamp producer;
  uint64_t token = 0;
  int64_t deadline_ms = 0;
};
struct GuardDropped {
  ProducerId producer;
};
struct DeletionBegun {
  std::string group;
};
struct DeletionEnded {
  std::string group;
};
struct ExpiryChecked {
  int64_t next_ms = 0;
  std::string after;  // the groups up to this one have been seen
};

// offsets.retention.minutes, offsets.retention.check.interval.ms
struct OffsetRetention {
  int64_t retention_ms = int64_t{10080} * 60000;
  int64_t check_interval_ms = 600000;
};

class GroupShard {
 public:
  using Record = GroupRecord;
  using Effect = std::variant<SessionRenewed, InitializationBegun, GuardGiven, GuardDropped,
                              DeletionBegun, DeletionEnded, ExpiryChecked>;
  struct TickReply {};
  template <class Reply>
  using Outcome = coordinator::Outcome<GroupShard, Reply>;

  // How long a guard lives that no commit brings back.
  static constexpr int64_t kGuardLifetimeMs = 60000;
  // How many offsets one look for expired ones sees; the rest follow at once, in their turn.
  static constexpr size_t kExpiryBudget = 10000;

  explicit GroupShard(OffsetRetention retention = {}) : retention_(retention) {}

  static log::EncodedRecord encode(const Record& record) { return group::encode(record); }
  static Result<std::optional<Record>> decode(std::span<const std::byte> key,
                                              std::optional<std::span<const std::byte>> value) {
    return group::decode(key, value);
  }
  static std::string unserved_name(std::span<const std::byte> key,
                                   std::optional<std::span<const std::byte>> value) {
    return group::unserved_name(key, value);
  }

  void apply(const Record& record, const coordinator::RecordContext& context);
  void apply_end_marker(const log::EndMarker& marker, const coordinator::RecordContext& context);
  void apply_soft(const Effect& effect);
  std::optional<int64_t> next_deadline() const;

  Outcome<ShareHeartbeatDecision> decide(const ShareHeartbeatOp& op, io::Now now) const;
  Outcome<ShareInitializationEnded::Reply> decide(const ShareInitializationEnded& op,
                                                  io::Now now) const;
  Outcome<StartSessions::Reply> decide(const StartSessions& op, io::Now now) const;
  Outcome<TopicsRemoved::Reply> decide(const TopicsRemoved& op, io::Now now) const;
  Outcome<Verdict> decide(const CheckShareMember& op, io::Now now) const;
  Outcome<ShareGroupPartitions> decide(const DescribeShareGroup& op, io::Now now) const;
  Outcome<std::optional<uint64_t>> decide(const BeginTxnOffsetCommit& op, io::Now now) const;
  Outcome<Verdict> decide(const TxnOffsetCommitOp& op, io::Now now) const;
  Outcome<Verdict> decide(const CommitOffsets& op, io::Now now) const;
  Outcome<FetchedOffsets> decide(const FetchOffsets& op, io::Now now) const;
  Outcome<Verdict> decide(const DeleteOffsets& op, io::Now now) const;
  Outcome<Verdict> decide(const WriteMarker& op, io::Now now) const;
  Outcome<std::vector<ListedGroup>> decide(const ListGroups& op, io::Now now) const;
  Outcome<DescribedClassicGroup> decide(const DescribeClassicGroup& op, io::Now now) const;
  Outcome<BeginDeletion::Reply> decide(const BeginDeletion& op, io::Now now) const;
  Outcome<EndDeletion::Reply> decide(const EndDeletion& op, io::Now now) const;
  // Members whose session is over and offsets whose time is over are removed; drops guards that
  // nobody brought back.
  Outcome<TickReply> decide(const coordinator::Tick& tick, io::Now now) const;

  // ---- looking
  // Null when there is none.
  const ShareGroup* share_group(std::string_view group) const;
  std::vector<std::string> share_groups() const;
  std::set<std::string, std::less<>> subscribed_topics(std::string_view group) const;
  // Topics that groups hold state or offsets for. An id is zero where the record has none.
  std::set<RemovedTopic> held_topics() const;

 private:
  struct HardState {
    std::map<std::string, ShareGroup, std::less<>> share_groups;
    CommittedOffsets offsets;
  };
  struct Guard {
    log::ProducerStamp producer;
    uint64_t token = 0;
  };
  struct SoftState {
    Deadlines<MemberKey> sessions;
    std::map<std::string, std::map<TopicIdPartition, int64_t>, std::less<>> initializations;
    std::map<ProducerId, Guard> guards;
    Deadlines<ProducerId> guard_deadlines;
    std::set<std::string, std::less<>> deletions;  // share groups whose state is being removed
    ExpiryChecked expiry;                          // the next look, and where it goes on
  };

  template <class ShareRecord>
  void apply_to_share_group(const ShareRecord& record);
  void drop_soft(const std::string& group, const ShareGroup& now);
  void drop_guard(ProducerId producer);
  ErrorCode check_committer(const OffsetsToCommit& commit) const;
  ErrorCode check_commit(const TxnOffsetCommitOp& op) const;
  CommittedOffset committed_offset(std::string_view group, const TopicPartition& partition) const;
  bool guard_holds(const TxnOffsetCommitOp& op) const;
  void expire_offsets(io::Now now, Outcome<TickReply>& outcome) const;

  OffsetRetention retention_;
  HardState hard_;
  SoftState soft_;
};

}  // namespace ackord::group
