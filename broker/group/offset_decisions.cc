// What GroupShard decides about committed offsets (semantics D.3).
#include <algorithm>
#include <iterator>
#include <limits>

#include "broker/group/consumer_records.h"
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

bool reads(const ConsumerGroup& group, std::string_view topic) {
  return group.subscribed_topics().find(topic) != group.subscribed_topics().end();
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

// A group of a kind that has no offsets is none here. A negative generation makes a group of a name
// that is not known.
ErrorCode GroupShard::check_committer(const OffsetsToCommit& commit, bool in_transaction) const {
  if (const ConsumerGroup* group = consumer_group(commit.group.sv()))
    return check_consumer_committer(*group, commit, in_transaction);
  if (find<ClassicGroup>(commit.group.sv()) != nullptr)
    return check_classic_committer(commit, in_transaction);
  if (hard_.groups.contains(commit.group.str())) return ErrorCode::GROUP_ID_NOT_FOUND;
  if (commit.committer.generation_or_member_epoch < 0) return ErrorCode::NONE;
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
  if (error != ErrorCode::NONE) return Outcome<Verdict>::answer({error});
  auto outcome = Outcome<Verdict>::of(offset_records(op.commit, now.wall_ms), Verdict{});
  renew_committers_session(op.commit, now, outcome);
  return outcome;
}

GroupShard::Outcome<DeletedOffsets> GroupShard::decide(const DeleteOffsets& op, io::Now) const {
  const std::string id = op.group.str();
  DeletedOffsets reply;
  const auto keep = [&](const auto& reads) {
    for (const TopicPartition& partition : op.partitions) {
      if (reads(partition.topic.sv())) reply.in_use.insert(partition.topic);
    }
  };
  if (const ClassicGroup* classic = find<ClassicGroup>(id)) {
    with_life(id, *classic, [&](const ClassicLife& life) {
      if (life.members().empty()) return;
      if (life.phase().protocol_type != kConsumerProtocolType)
        reply.error = ErrorCode::NON_EMPTY_GROUP;
      const auto read = life.subscribed_topics();
      keep([&read](std::string_view topic) { return !read || read->contains(topic); });
    });
  } else if (const ConsumerGroup* consumers = consumer_group(id)) {
    keep([consumers](std::string_view topic) { return reads(*consumers, topic); });
  } else {
    reply.error = ErrorCode::GROUP_ID_NOT_FOUND;
  }
  if (reply.error != ErrorCode::NONE) return Outcome<DeletedOffsets>::answer(std::move(reply));
  std::vector<Record> records;
  for (const TopicPartition& partition : op.partitions) {
    if (reply.in_use.contains(partition.topic)) continue;
    if (hard_.offsets.committed(id, partition) || hard_.offsets.staged(id, partition))
      records.emplace_back(offset_tombstone(id, partition));
  }
  return Outcome<DeletedOffsets>::of(std::move(records), std::move(reply));
}

// When a group is empty its offsets age together, from when it became empty; while members read,
// only those of topics that nobody reads; those of a group that has no protocol from their commit.
ExpiryRule GroupShard::expiry_rule(const std::string& id, const Group& group) const {
  ExpiryRule rule;
  if (const auto* consumers = std::get_if<ConsumerGroup>(&group)) {
    auto& kept = rule.kept.emplace();
    for (const auto& [topic, interest] : consumers->subscribed_topics()) kept.insert(topic);
  }
  const auto* classic = std::get_if<ClassicGroup>(&group);
  if (classic == nullptr) return rule;
  with_life(id, *classic, [&rule](const ClassicLife& life) {
    const ClassicPhase& phase = life.phase();
    if (!phase.protocol_type) return;
    if (phase.state == ClassicGroupState::kEmpty) {
      if (phase.since_ms >= 0) rule.since_ms = phase.since_ms;
      return;
    }
    rule.kept = life.subscribed_topics();
    rule.none = phase.state != ClassicGroupState::kStable || !rule.kept;
  });
  return rule;
}

void GroupShard::expire_offsets(io::Now now, Outcome<TickReply>& outcome) const {
  std::vector<Record> records;
  std::optional<std::string> last;
  size_t seen = 0;
  for (auto at = hard_.groups.upper_bound(soft_.expiry.after); at != hard_.groups.end(); ++at) {
    const auto& [id, group] = *at;
    const auto over =
        hard_.offsets.expired(id, expiry_rule(id, group), now.wall_ms, retention_.retention_ms);
    for (const TopicPartition& partition : over)
      records.emplace_back(offset_tombstone(id, partition));
    const size_t held = hard_.offsets.held(id).size();
    // An empty group goes with its last offset. Ids that were given out keep it.
    const auto* classic = std::get_if<ClassicGroup>(&group);
    const auto* consumers = std::get_if<ConsumerGroup>(&group);
    if (over.size() == held && classic != nullptr && classic->value.members.empty() &&
        !soft_.classic.contains(id))
      records.emplace_back(classic_group_tombstone(id));
    if (over.size() == held && consumers != nullptr &&
        consumers->state() == ConsumerGroupState::kEmpty) {
      auto ends = consumer_group_tombstones(id, *consumers);
      std::move(ends.begin(), ends.end(), std::back_inserter(records));
    }
    seen += held + 1;
    if (seen < kExpiryBudget) continue;
    last = id;
    break;
  }
  if (!records.empty()) outcome.batches.push_back({std::move(records), std::nullopt, std::nullopt});
  const int64_t next = last ? now.steady_ms : now.steady_ms + retention_.check_interval_ms;
  outcome.effects.emplace_back(ExpiryChecked{next, last.value_or("")});
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
