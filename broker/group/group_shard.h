// GroupShard: the groups of one partition of `__consumer_offsets`; see coordinator/shard.h for what
// a shard is.
//
// Hard: groups and offsets, from records alone. Soft: sessions of members, the life of classic
// groups between their records, share-partitions that are being initialised, guards of
// transactional commits. Pure.
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
#include "broker/group/classic_decision.h"
#include "broker/group/classic_group.h"
#include "broker/group/committed_offsets.h"
#include "broker/group/consumer_group.h"
#include "broker/group/consumer_operations.h"
#include "broker/group/deadlines.h"
#include "broker/group/group_effects.h"
#include "broker/group/group_operations.h"
#include "broker/group/group_records.h"
#include "broker/group/share_membership.h"

namespace ackord::group {

// offsets.retention.minutes, offsets.retention.check.interval.ms
struct OffsetRetention {
  int64_t retention_ms = int64_t{10080} * 60000;
  int64_t check_interval_ms = 600000;
};

// One kind per name.
using Group = std::variant<ShareGroup, ClassicGroup, ConsumerGroup>;

class GroupShard {
 public:
  using Record = GroupRecord;
  using Effect = GroupEffect;
  struct TickReply {
    // By group: members of consumer groups whose time is over, for FenceConsumers.
    std::map<std::string, std::set<std::string>> fence_consumers;
    ClassicAnswers answers;
  };
  template <class Reply>
  using Outcome = coordinator::Outcome<GroupShard, Reply>;

  // How long a guard lives that no commit brings back.
  static constexpr int64_t kGuardLifetimeMs = 60000;
  // How many offsets one look for expired ones sees; the rest follow at once, in their turn.
  static constexpr size_t kExpiryBudget = 10000;

  explicit GroupShard(OffsetRetention retention = {}, ClassicGroupLimits classic_limits = {})
      : retention_(retention), classic_limits_(classic_limits) {}

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
  Outcome<DescribedShareGroup> decide(const DescribeShareMembers& op, io::Now now) const;
  Outcome<BeginAlterShareOffsets::Reply> decide(const BeginAlterShareOffsets& op,
                                                io::Now now) const;
  Outcome<EndAlterShareOffsets::Reply> decide(const EndAlterShareOffsets& op, io::Now now) const;
  Outcome<BeginDeleteShareOffsets::Reply> decide(const BeginDeleteShareOffsets& op,
                                                 io::Now now) const;
  Outcome<EndDeleteShareOffsets::Reply> decide(const EndDeleteShareOffsets& op, io::Now now) const;
  Outcome<ConsumerHeartbeatDecision> decide(const ConsumerHeartbeatOp& op, io::Now now) const;
  Outcome<PatternsResolved::Reply> decide(const PatternsResolved& op, io::Now now) const;
  Outcome<FenceConsumers::Reply> decide(const FenceConsumers& op, io::Now now) const;
  Outcome<DescribedConsumerGroup> decide(const DescribeConsumerGroup& op, io::Now now) const;
  Outcome<ClassicAnswers> decide(const JoinClassicGroup& op, io::Now now) const;
  Outcome<ClassicAnswers> decide(const SyncClassicGroup& op, io::Now now) const;
  Outcome<LeaveClassicGroup::Reply> decide(const LeaveClassicGroup& op, io::Now now) const;
  Outcome<Verdict> decide(const BeatClassicMember& op, io::Now now) const;
  Outcome<std::optional<uint64_t>> decide(const BeginTxnOffsetCommit& op, io::Now now) const;
  Outcome<Verdict> decide(const TxnOffsetCommitOp& op, io::Now now) const;
  Outcome<Verdict> decide(const CommitOffsets& op, io::Now now) const;
  Outcome<FetchOffsets::Reply> decide(const FetchOffsets& op, io::Now now) const;
  Outcome<DeletedOffsets> decide(const DeleteOffsets& op, io::Now now) const;
  Outcome<Verdict> decide(const WriteMarker& op, io::Now now) const;
  Outcome<std::vector<ListedGroup>> decide(const ListGroups& op, io::Now now) const;
  Outcome<DescribedClassicGroup> decide(const DescribeClassicGroup& op, io::Now now) const;
  Outcome<BeginDeletion::Reply> decide(const BeginDeletion& op, io::Now now) const;
  Outcome<EndDeletion::Reply> decide(const EndDeletion& op, io::Now now) const;
  // Members whose session is over and offsets whose time is over are removed, classic groups whose
  // time to gather is over go on; drops guards that nobody brought back.
  Outcome<TickReply> decide(const coordinator::Tick& tick, io::Now now) const;

  // ---- looking
  // Null when there is none of that name, or of another kind.
  const ShareGroup* share_group(std::string_view group) const { return find<ShareGroup>(group); }
  std::vector<std::string> share_groups() const;
  const ConsumerGroup* consumer_group(std::string_view group) const {
    return find<ConsumerGroup>(group);
  }
  std::vector<std::string> consumer_groups() const;
  std::set<std::string, std::less<>> subscribed_topics(std::string_view group) const;
  // Whether all that comes of this heartbeat is a longer session, as of this version of the topics.
  bool only_renews(const ShareHeartbeat& heartbeat, uint64_t topics_version) const;
  // Topics that groups hold state or offsets for. An id is zero where the record has none.
  std::set<RemovedTopic> held_topics() const;

 private:
  struct HardState {
    std::map<std::string, Group, std::less<>> groups;
    size_t ageing = 0;  // groups that expire_offsets() looks at: those that may have offsets
    CommittedOffsets offsets;
  };
  struct Guard {
    log::ProducerStamp producer;
    uint64_t token = 0;
  };
  struct SoftState {
    Deadlines<MemberKey> sessions;  // of members of all kinds of groups
    std::map<std::string, ClassicLife, std::less<>>
        classic;  // those with members, or ids given out
    Deadlines<std::string> classic_deadlines;
    // Of consumer groups: who must give up partitions, and who is about to be fenced.
    Deadlines<MemberKey> revocations;
    std::map<MemberKey, FencingBegun::Why> fencing;
    Deadlines<MemberKey> expected_joins;  // of their classic members
    Deadlines<MemberKey> expected_syncs;
    std::map<std::string, ConsumerGroupSoftState, std::less<>> consumer_groups;
    std::map<std::string, std::map<TopicIdPartition, int64_t>, std::less<>> initializations;
    std::map<ProducerId, Guard> guards;
    Deadlines<ProducerId> guard_deadlines;
    std::map<std::string, uint64_t, std::less<>> settled_share_groups;  // by version of the topics
    // Share groups whose stored state is being altered or removed.
    std::set<std::string, std::less<>> state_changes;
    ExpiryChecked expiry;  // the next look, and where it goes on
  };

  template <class Kind>
  const Kind* find(std::string_view id) const {
    const auto at = hard_.groups.find(id);
    return at == hard_.groups.end() ? nullptr : std::get_if<Kind>(&at->second);
  }
  // visit(id, group) for the groups of one kind.
  template <class Kind, class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [id, group] : hard_.groups) {
      if (const Kind* one = std::get_if<Kind>(&group)) visit(id, *one);
    }
  }
  static bool ages(const Group& group) { return !std::holds_alternative<ShareGroup>(group); }
  void drop_group(const std::string& id);
  // To apply a record of this kind to. A value makes the group, also in place of one of another
  // kind; a tombstone finds null where there is none.
  template <class Kind>
  Kind* to_apply(const std::string& id, bool has_value) {
    const auto at = hard_.groups.find(id);
    Kind* group = at == hard_.groups.end() ? nullptr : std::get_if<Kind>(&at->second);
    if (group != nullptr || !has_value) return group;
    drop_group(id);
    Group& made = hard_.groups.emplace(id, Kind()).first->second;
    if (ages(made)) ++hard_.ageing;
    return &std::get<Kind>(made);
  }

  // Whether a group of any kind has the name.
  bool is_taken(std::string_view id) const { return hard_.groups.find(id) != hard_.groups.end(); }

  // ---- classic groups
  // visit(life): as it is, or as the record says.
  template <class Visit>
  auto with_life(const std::string& id, const ClassicGroup& group, Visit&& visit) const {
    const auto at = soft_.classic.find(id);
    return at == soft_.classic.end() ? visit(ClassicLife(group)) : visit(at->second);
  }
  // act(decision) says what has happened to the group; `answers` takes what is answered.
  template <class Reply, class Act>
  void on_classic(const std::string& id, const ClassicGroup& group, io::Now now, Act&& act,
                  Outcome<Reply>& outcome, ClassicAnswers& answers) const;
  bool has_members(const std::string& id, const ClassicGroup& group) const {
    return with_life(id, group, [](const ClassicLife& life) { return !life.members().empty(); });
  }
  void apply_to_classic_group(const ClassicGroupMetadata& record);
  void drop_classic_life(const std::string& id);
  void start_classic_groups(io::Now now, Outcome<StartSessions::Reply>& outcome) const;
  void tick_classic_groups(const std::vector<MemberKey>& ended, io::Now now,
                           Outcome<TickReply>& outcome) const;
  ErrorCode check_classic_committer(const OffsetsToCommit& commit, bool in_transaction) const;
  void renew_committers_session(const OffsetsToCommit& commit, io::Now now,
                                Outcome<Verdict>& outcome) const;
  // ---- consumer groups
  template <class ConsumerRecord>
  void apply_to_consumer_group(const ConsumerRecord& record);
  void drop_revocation(const MemberKey& member);
  void drop_consumer(const MemberKey& member);
  void expect(Deadlines<MemberKey>& of, const MemberKey& member, std::optional<int64_t> by);
  const ConsumerGroupSoftState& soft_of_consumers(const std::string& id) const;
  void begin_fencing(io::Now now, Outcome<TickReply>& outcome) const;
  // Those who leave, or whose time is over. Where only classic members stay the group turns into a
  // classic one.
  template <class Reply>
  void remove_from_consumer_group(const std::string& id, const ConsumerGroup& group,
                                  const std::vector<std::string>& members,
                                  const ConsumerContext& context, io::Now now,
                                  Outcome<Reply>& outcome) const;
  // `records` come first, and `group` is what they make of it.
  template <class Reply>
  void convert_to_classic(const std::string& id, const ConsumerGroup& group,
                          const std::set<std::string>& leaving, std::vector<Record> records,
                          const metadata::MetadataImage& image, io::Now now,
                          Outcome<Reply>& outcome) const;
  // A classic group, with members or without, turns into a consumer group.
  ConsumerHeartbeatDecision join_as_consumer(const ClassicGroup& group,
                                             const ConsumerHeartbeatInput& input, io::Now now,
                                             std::vector<GroupEffect>& effects) const;
  // Classic members of consumer groups.
  Outcome<ClassicAnswers> join_consumer_group(const ConsumerGroup& group,
                                              const JoinClassicGroup& op, io::Now now) const;
  Outcome<ClassicAnswers> sync_consumer_group(const ConsumerGroup& group,
                                              const SyncClassicGroup& op, io::Now now) const;
  Outcome<Verdict> beat_in_consumer_group(const ConsumerGroup& group, const BeatClassicMember& op,
                                          io::Now now) const;
  Outcome<LeaveClassicGroup::Reply> leave_consumer_group(const ConsumerGroup& group,
                                                         const LeaveClassicGroup& op,
                                                         io::Now now) const;
  template <class Reply>
  void expect_join(const MemberKey& key, const ConsumerMember& member, io::Now now,
                   Outcome<Reply>& outcome) const;
  void start_consumer_sessions(const StartSessions& op, io::Now now,
                               Outcome<StartSessions::Reply>& outcome) const;
  ErrorCode check_consumer_committer(const ConsumerGroup& group, const OffsetsToCommit& commit,
                                     bool in_transaction) const;
  ErrorCode check_consumer_fetcher(const OffsetsToFetch& fetch) const;

  template <class ShareRecord>
  void apply_to_share_group(const ShareRecord& record);
  void drop_soft(const std::string& group, const ShareGroup& now);
  void apply_soft_to(const SessionRenewed& effect);
  void apply_soft_to(const SessionEnded& effect);
  void apply_soft_to(const ClassicChange& change);
  void apply_soft_to(const InitializationBegun& effect);
  void apply_soft_to(const ShareGroupSettled& effect);
  void apply_soft_to(const GuardGiven& effect);
  void apply_soft_to(const GuardDropped& effect);
  void apply_soft_to(const StateChangeBegun& effect);
  void apply_soft_to(const StateChangeEnded& effect);
  void apply_soft_to(const ExpiryChecked& effect);
  void apply_soft_to(const ConsumerEffect& effect);

  void drop_guard(ProducerId producer);
  ErrorCode check_state_change(const std::string& id, std::string& message) const;
  void tick_share_groups(const std::vector<MemberKey>& ended, Outcome<TickReply>& outcome) const;
  ErrorCode check_committer(const OffsetsToCommit& commit, bool in_transaction) const;
  ErrorCode check_commit(const TxnOffsetCommitOp& op) const;
  CommittedOffset committed_offset(std::string_view group, const TopicPartition& partition) const;
  bool guard_holds(const TxnOffsetCommitOp& op) const;
  // How the offsets of a group age.
  ExpiryRule expiry_rule(const std::string& id, const Group& group) const;
  void expire_offsets(io::Now now, Outcome<TickReply>& outcome) const;

  OffsetRetention retention_;
  ClassicGroupLimits classic_limits_;
  HardState hard_;
  SoftState soft_;
};

}  // namespace ackord::group
