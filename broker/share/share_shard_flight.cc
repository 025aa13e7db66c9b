// ShareShard: records in flight: what Kafka's SharePartition decides (semantics A.9-A.11).
#include <algorithm>
#include <set>

#include "broker/share/share_shard.h"

namespace ackord::share {

namespace {

PartitionError failure(ErrorCode code, std::string why) { return {code, std::move(why)}; }

PartitionError not_active() {
  return failure(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "The share partition is not loaded.");
}

// What was acquired is void since another state was written; as a leader that is fenced (A.11).
PartitionError fenced() {
  return failure(ErrorCode::NOT_LEADER_OR_FOLLOWER, "The state of the partition was replaced.");
}

PartitionError named_twice() {
  return failure(ErrorCode::INVALID_REQUEST, "The partition is named twice.");
}

// The partition as it is once a new log start is taken in. A copy only when there is one, which
// retention makes rare.
class AtLogStart {
 public:
  AtLogStart(const SharePartition& partition, Offset log_start_offset) : seen_(&partition) {
    if (log_start_offset <= partition.soft()->log_start_offset) return;
    moved_ = partition;
    moved_->apply_log_start(log_start_offset);
    seen_ = &*moved_;
  }
  AtLogStart(const AtLogStart&) = delete;
  bool moved() const { return moved_.has_value(); }
  const SharePartition& operator*() const { return *seen_; }
  const SharePartition* operator->() const { return seen_; }

 private:
  const SharePartition* seen_;
  std::optional<SharePartition> moved_;
};

}  // namespace

ShareShard::Outcome<Activate::Reply> ShareShard::decide(const Activate& op, io::Now now) const {
  using Answer = Outcome<Activate::Reply>;
  const SharePartition* partition = find(op.key);
  if (partition == nullptr) {
    return Answer::answer(
        {failure(ErrorCode::INVALID_REQUEST, "The share partition was never initialized."), -1});
  }
  const SharePartition::HardState& hard = partition->hard();
  if (op.leader_epoch != -1 && op.leader_epoch < hard.leader_epoch) {
    return Answer::answer(
        {failure(ErrorCode::FENCED_LEADER_EPOCH, "The leader epoch is older than the stored one."),
         -1});
  }
  if (partition->active()) return Answer::answer({{}, partition->start_offset()});
  const Offset start = hard.start_offset >= 0 ? hard.start_offset : op.resolved_start_offset;
  if (start < 0) {
    return Answer::answer(
        {failure(ErrorCode::INVALID_REQUEST, "The start offset is not resolved."), -1});
  }
  std::vector<Record> records;
  if (op.leader_epoch > hard.leader_epoch)
    records.push_back(with_leader_epoch(op.key, op.leader_epoch, now));
  auto outcome = Answer::of(std::move(records), {{}, start});
  outcome.effects.push_back(ActivateEffect{op.key, start});
  std::vector<ArchivedRange> waiting = partition->archiving();
  if (!waiting.empty()) outcome.effects.push_back(ArchivedEffect{{op.key, std::move(waiting)}});
  return outcome;
}

ShareShard::Outcome<NextFetch::Reply> ShareShard::decide(const NextFetch& op, io::Now) const {
  NextFetch::Reply reply;
  const SharePartition* partition = find_active(op.key);
  if (partition == nullptr) {
    reply.inactive = true;
    return Outcome<NextFetch::Reply>::answer(std::move(reply));
  }
  const AtLogStart at(*partition, op.log_start_offset);
  reply.offset = at->next_fetch(op.max_record_locks);
  auto outcome = Outcome<NextFetch::Reply>::answer(std::move(reply));
  if (at.moved()) outcome.effects.push_back(LogStartEffect{op.key, op.log_start_offset});
  return outcome;
}

ShareShard::Outcome<Acquire::Reply> ShareShard::decide(const Acquire& op, io::Now now) const {
  Acquire::Reply reply;
  const SharePartition* partition = find_active(op.key);
  if (partition == nullptr) {
    reply.inactive = true;
    return Outcome<Acquire::Reply>::answer(std::move(reply));
  }
  const AcquireRequest& request = op.request;
  const AtLogStart at(*partition, request.log_start_offset);
  PartitionChange change;
  AcquireDecision decision = at->acquire(request, change);
  std::vector<Record> records;
  if (!change.empty()) records.push_back(record_of(op.key, *at, change, now));
  reply.acquired = decision.acquired;
  for (const AcquiredRecords& range : reply.acquired) {
    reply.record_count += range.last_offset - range.first_offset + 1;
  }
  auto outcome = Outcome<Acquire::Reply>::of(std::move(records), std::move(reply));
  if (at.moved()) outcome.effects.push_back(LogStartEffect{op.key, request.log_start_offset});
  add_archived(outcome.effects, op.key, change);
  if (!decision.acquired.empty()) {
    outcome.effects.push_back(AcquireEffect{op.key, op.holder, std::move(decision), request.limit,
                                            now.steady_ms + request.lock_duration_ms});
  }
  return outcome;
}

ShareShard::Outcome<Acknowledge::Reply> ShareShard::decide(const Acknowledge& op,
                                                           io::Now now) const {
  Acknowledge::Reply reply;
  std::vector<Record> records;
  std::vector<Effect> effects;
  std::set<SharePartitionKey> seen;
  for (const Acknowledge::Partition& asked : op.partitions) {
    const SharePartition* partition = find_active(asked.key);
    if (partition == nullptr) {
      const SharePartition* inactive = find(asked.key);
      reply.push_back(inactive != nullptr && inactive->fenced() ? fenced() : not_active());
      continue;
    }
    if (!seen.insert(asked.key).second) {
      reply.push_back(named_twice());
      continue;
    }
    PartitionChange change;
    std::vector<OffsetRange> renewed;
    const AcknowledgeRules rules{asked.limit, asked.renew_enabled, op.max_type,
                                 asked.tolerate_repeats};
    PartitionError error =
        partition->acknowledge(op.member_id, asked.batches, rules, change, renewed);
    if (error.ok()) {
      if (!change.empty()) records.push_back(record_of(asked.key, *partition, change, now));
      if (!renewed.empty()) {
        effects.push_back(
            RenewEffect{asked.key, std::move(renewed), now.steady_ms + asked.lock_duration_ms});
      }
      add_archived(effects, asked.key, change);
      add_waits(effects, asked.key, change, asked.limit, now);
      if (asked.tolerate_repeats)
        effects.push_back(RememberEffect{asked.key, op.member_id, asked.batches});
    }
    reply.push_back(std::move(error));
  }
  auto outcome = Outcome<Acknowledge::Reply>::of(std::move(records), std::move(reply));
  outcome.effects = std::move(effects);
  return outcome;
}

ShareShard::Outcome<ReleaseMember::Reply> ShareShard::decide(const ReleaseMember& op,
                                                             io::Now now) const {
  ReleaseMember::Reply reply;
  std::vector<Record> records;
  std::vector<Effect> effects;
  for (const SharePartitionKey& key : std::set<SharePartitionKey>(op.keys.begin(), op.keys.end())) {
    const SharePartition* partition = find_active(key);
    if (partition == nullptr) continue;
    PartitionChange change;
    reply.released_records += partition->release(&op.holder, 0, INT64_MAX - 1, op.limit, change);
    if (!change.empty()) records.push_back(record_of(key, *partition, change, now));
    add_archived(effects, key, change);
    add_waits(effects, key, change, op.limit, now);
    if (op.closed) effects.push_back(ForgetMemberEffect{key, op.holder.member_id});
  }
  auto outcome = Outcome<ReleaseMember::Reply>::of(std::move(records), reply);
  outcome.effects = std::move(effects);
  return outcome;
}

ShareShard::Outcome<ReleaseRanges::Reply> ShareShard::decide(const ReleaseRanges& op,
                                                             io::Now now) const {
  using Answer = Outcome<ReleaseRanges::Reply>;
  const SharePartition* partition = find(op.key);
  if (partition == nullptr) return Answer::answer({not_active(), 0});
  PartitionChange change;
  const Holder holder{op.member_id.value_or(""), kEverySession};
  int64_t released = 0;
  Offset next = 0;
  for (const OffsetRange& range : op.ranges) {
    if (range.first_offset < next || range.first_offset > range.last_offset) {
      return Answer::answer({failure(ErrorCode::INVALID_REQUEST,
                                     "The ranges are ill-formed, overlap or are not in order."),
                             0});
    }
    next = range.last_offset == INT64_MAX ? INT64_MAX : range.last_offset + 1;
    bool staged = false;
    partition->hard().batches.for_each_piece(
        range.first_offset, std::min(range.last_offset, INT64_MAX - 1),
        [&](Offset, Offset, const StateBatches::Range* piece) {
          staged = staged || (piece != nullptr && piece->state == RecordState::TX_PENDING);
        });
    if (staged) {
      return Answer::answer(
          {failure(ErrorCode::INVALID_RECORD_STATE, "A transaction holds one of the records."), 0});
    }
    if (!partition->active()) continue;
    released += partition->release(op.member_id ? &holder : nullptr, range.first_offset,
                                   range.last_offset, op.limit, change);
  }
  std::vector<Record> records;
  if (!change.empty()) records.push_back(record_of(op.key, *partition, change, now));
  auto outcome = Answer::of(std::move(records), {{}, released});
  add_archived(outcome.effects, op.key, change);
  return outcome;
}

ShareShard::Outcome<DropSoft::Reply> ShareShard::decide(const DropSoft& op, io::Now) const {
  auto outcome = Outcome<DropSoft::Reply>::answer({});
  outcome.effects.push_back(DropSoftEffect{op.group_id, op.session});
  return outcome;
}

}  // namespace ackord::share
