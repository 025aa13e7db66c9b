// What GroupShard decides about committed offsets (semantics D.3).
#include <algorithm>
#include <limits>

#include "broker/group/group_shard.h"

namespace ackord::group {
namespace {

constexpr TimeMs kNoExpiry = -1;

// A time to live so long that its end cannot be written has none.
TimeMs expiry(const OffsetsToCommit& commit, TimeMs now_ms) {
  if (!commit.retention_ms) return kNoExpiry;
  if (*commit.retention_ms > std::numeric_limits<TimeMs>::max() - now_ms) return kNoExpiry;
  return std::max<TimeMs>(now_ms + *commit.retention_ms, 0);
}

OffsetCommit offset_record(std::string_view group, const OffsetToCommit& offset, TimeMs now_ms,
                           TimeMs expires_ms) {
  OffsetCommit record;
  record.key.group = String(group);
  record.key.topic = String(offset.topic.sv());
  record.key.partition = offset.partition;
  auto& value = record.value.emplace();
  value.offset = offset.offset;
  value.leader_epoch = offset.leader_epoch;
  value.metadata = offset.metadata;
  value.commit_timestamp = now_ms;
  value.expire_timestamp = expires_ms;
  value.topic_id = offset.topic_id;
  return record;
}

std::vector<GroupRecord> offset_records(const OffsetsToCommit& commit, TimeMs now_ms) {
  std::vector<GroupRecord> records;
  const TimeMs expires_ms = expiry(commit, now_ms);
  for (const OffsetToCommit& offset : commit.offsets)
    records.emplace_back(offset_record(commit.group.sv(), offset, now_ms, expires_ms));
  return records;
}

}  // namespace

GroupShard::Outcome<std::optional<uint64_t>> GroupShard::decide(const BeginTxnOffsetCommit& op,
                                                                io::Now now) const {
  using Reply = Outcome<std::optional<uint64_t>>;
  if (hard_.offsets.open_epoch(op.producer.id) == op.producer.epoch)
    return Reply::answer(std::nullopt);
  const auto given = soft_.guards.find(op.producer.id);
  // Requests of one transaction share the guard; an older epoch does not take it away from a newer
  // one.
  const bool share =
      given != soft_.guards.end() && given->second.producer.epoch >= op.producer.epoch;
  const uint64_t token = share ? given->second.token : op.token;
  auto outcome = Reply::answer(token);
  if (!share)
    outcome.effects.emplace_back(GuardGiven{op.producer, token, now.steady_ms + kGuardLifetimeMs});
  return outcome;
}

bool GroupShard::guard_holds(const TxnOffsetCommitOp& op) const {
  const log::ProducerStamp& producer = op.commit.producer;
  if (hard_.offsets.open_epoch(producer.id) == producer.epoch) return true;
  const auto given = soft_.guards.find(producer.id);
  return given != soft_.guards.end() && given->second.producer == producer &&
         given->second.token == op.guard;
}

// A group that only holds offsets has no members, and none can speak for it.
ErrorCode GroupShard::check_committer(const OffsetsToCommit& commit, bool in_transaction) const {
  if (const ConsumerGroup* group = consumer_group(commit.group.sv()))
    return check_consumer_committer(*group, commit, in_transaction);
  if (share_group(commit.group.sv()) != nullptr) return ErrorCode::GROUP_ID_NOT_FOUND;
  const OffsetCommitter& committer = commit.committer;
  // Outside a transaction a negative generation is enough to speak for a group without members.
  if (in_transaction ? committer.is_nobody() : committer.generation_or_member_epoch < 0)
    return ErrorCode::NONE;
  // A negative generation makes a group of a name that is not known.
  if (committer.generation_or_member_epoch < 0 || hard_.offsets.holds(commit.group.sv()))
    return ErrorCode::UNKNOWN_MEMBER_ID;
  return commit.knows_group_id_not_found ? ErrorCode::GROUP_ID_NOT_FOUND
                                         : ErrorCode::ILLEGAL_GENERATION;
}

ErrorCode GroupShard::check_commit(const TxnOffsetCommitOp& op) const {
  const log::ProducerStamp& producer = op.commit.producer;
  if (producer.id.value < 0 || producer.epoch < 0) return ErrorCode::INVALID_PRODUCER_ID_MAPPING;
  if (op.known && producer.epoch < op.known->producer.epoch)
    return ErrorCode::INVALID_PRODUCER_EPOCH;
  if (!guard_holds(op)) return ErrorCode::INVALID_TXN_STATE;
  return check_committer(op.commit.commit, true);
}

GroupShard::Outcome<Verdict> GroupShard::decide(const TxnOffsetCommitOp& op, io::Now now) const {
  const ErrorCode error = check_commit(op);
  const OffsetsToCommit& commit = op.commit.commit;
  if (error != ErrorCode::NONE || commit.offsets.empty()) return Outcome<Verdict>::answer({error});
  Outcome<Verdict> outcome;
  outcome.batches.push_back(
      {offset_records(commit, now.wall_ms), op.commit.producer, std::nullopt});
  // The open transaction stands for the guard from now on.
  if (soft_.guards.contains(op.commit.producer.id))
    outcome.effects.emplace_back(GuardDropped{op.commit.producer.id});
  return outcome;
}

GroupShard::Outcome<Verdict> GroupShard::decide(const CommitOffsets& op, io::Now now) const {
  const ErrorCode error = check_committer(op.commit, false);
  if (error != ErrorCode::NONE || op.commit.offsets.empty())
    return Outcome<Verdict>::answer({error});
  return Outcome<Verdict>::of(offset_records(op.commit, now.wall_ms), Verdict{});
}

GroupShard::Outcome<Verdict> GroupShard::decide(const DeleteOffsets& op, io::Now) const {
  const std::string_view group = op.group.sv();
  if (!hard_.offsets.holds(group)) return Outcome<Verdict>::answer({ErrorCode::GROUP_ID_NOT_FOUND});
  std::vector<Record> records;
  for (const TopicPartition& partition : op.partitions) {
    if (hard_.offsets.committed(group, partition) || hard_.offsets.staged(group, partition))
      records.emplace_back(offset_tombstone(group, partition));
  }
  return Outcome<Verdict>::of(std::move(records), {});
}

void GroupShard::expire_offsets(io::Now now, Outcome<TickReply>& outcome) const {
  CommittedOffsets::Expired found = hard_.offsets.expired(now.wall_ms, retention_.retention_ms,
                                                          soft_.expiry.after, kExpiryBudget);
  std::vector<Record> records;
  for (const auto& [group, partition] : found.offsets)
    records.emplace_back(offset_tombstone(group, partition));
  if (!records.empty()) outcome.batches.push_back({std::move(records), std::nullopt, std::nullopt});
  const int64_t next = found.last ? now.steady_ms : now.steady_ms + retention_.check_interval_ms;
  outcome.effects.emplace_back(ExpiryChecked{next, found.last.value_or("")});
}

CommittedOffset GroupShard::committed_offset(std::string_view group,
                                             const TopicPartition& partition) const {
  CommittedOffset answer;
  if (const StoredOffset* stored = hard_.offsets.committed(group, partition)) {
    answer.offset = stored->value.offset;
    answer.leader_epoch = stored->value.leader_epoch;
    answer.metadata = stored->value.metadata.str();
    answer.commit_timestamp_ms = stored->value.commit_timestamp;
    answer.topic_id = stored->value.topic_id;
  }
  answer.unstable = hard_.offsets.staged(group, partition);
  return answer;
}

GroupShard::Outcome<FetchOffsets::Reply> GroupShard::decide(const FetchOffsets& op, io::Now) const {
  const std::string_view group = op.fetch.group.sv();
  FetchOffsets::Reply answer;
  answer.error = check_consumer_fetcher(op.fetch);
  if (answer.error != ErrorCode::NONE)
    return Outcome<FetchOffsets::Reply>::answer(std::move(answer));
  const std::vector<TopicPartition> asked =
      op.fetch.partitions ? *op.fetch.partitions : hard_.offsets.partitions(group);
  for (const TopicPartition& partition : asked)
    answer.offsets.emplace_back(partition, committed_offset(group, partition));
  return Outcome<FetchOffsets::Reply>::answer(std::move(answer));
}

}  // namespace ackord::group
