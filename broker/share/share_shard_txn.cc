// ShareShard: transactional acknowledgements: guards, stages, markers (protocol 1.1-1.4).
#include <algorithm>
#include <set>

#include "broker/base/planted_bug.h"
#include "broker/share/share_shard.h"

namespace ackord::share {

namespace {

constexpr int64_t kGuardLifetimeMs = 60000;

PartitionError failure(ErrorCode code, std::string why) { return {code, std::move(why)}; }

// A failure for good of a stage: the transaction may not commit without these acknowledgements
// (1.3).
bool dooms(ErrorCode code) {
  return code == ErrorCode::INVALID_RECORD_STATE || code == ErrorCode::INVALID_REQUEST;
}

// Under way twice: `last` is the producer's last epoch here.
bool is_repeat(const log::EndMarker& marker, int16_t last) {
  if (base::planted(base::PlantedBug::kMarkerEqualEpoch)) return false;
  return marker.transaction_version >= 2 && last >= 0 && marker.producer.epoch == last;
}

}  // namespace

ShareShard::Outcome<Guard> ShareShard::decide(const TakeGuard& op, io::Now now) const {
  auto outcome = Outcome<Guard>::answer({op.token, config_.incarnation});
  outcome.effects.push_back(GuardEffect{op.owner, op.token, now.steady_ms + kGuardLifetimeMs});
  return outcome;
}

bool ShareShard::has_staged(ProducerId id) const { return last_epoch_of(id, std::nullopt) >= 0; }

int16_t ShareShard::last_epoch_of(ProducerId id,
                                  const std::optional<log::ProducerView>& view) const {
  int16_t last = view ? view->producer.epoch : int16_t{-1};
  const auto at = hard_.staged_by.find(id);
  if (at == hard_.staged_by.end()) return last;
  for (const SharePartitionKey& key : at->second) {
    if (const SharePartition* partition = find(key)) {
      last = std::max(last, partition->hard().batches.highest_epoch(id));
    }
  }
  return last;
}

PartitionError ShareShard::check_guard(const Guard& guard, const OwnerId& owner,
                                       io::Now now) const {
  if (base::planted(base::PlantedBug::kNoGuard)) return {};
  const auto at = soft_.guards.find(guard.token);
  if (at != soft_.guards.end() && guard.incarnation == config_.incarnation &&
      at->second.owner == owner && at->second.deadline_ms > now.steady_ms) {
    return {};
  }
  if (guard.incarnation != config_.incarnation) {
    return failure(ErrorCode::COORDINATOR_NOT_AVAILABLE,
                   "The share state was loaded anew since the request began.");
  }
  return failure(ErrorCode::INVALID_TXN_STATE,
                 "The transaction ended while the request was under way.");
}

PartitionError ShareShard::check_stage(const Stage& op, io::Now now) const {
  OwnerId owner{op.owner.producer_id, {}, {}};
  if (op.owner.is_batch() && !op.partitions.empty()) {
    owner.group_id = op.partitions.front().key.group_id;
    if (op.owner.transaction_id) owner.transaction_id = *op.owner.transaction_id;
  }
  PartitionError guard = check_guard(op.guard, owner, now);
  if (!guard.ok() || op.owner.is_batch()) return guard;
  if (op.owner.producer_epoch < last_epoch_of(op.owner.producer_id, op.producer)) {
    return failure(ErrorCode::INVALID_PRODUCER_EPOCH, "The producer has a newer epoch.");
  }
  return {};
}

ShareShard::Outcome<Stage::Reply> ShareShard::decide(const Stage& op, io::Now now) const {
  auto outcome = Outcome<Stage::Reply>::answer({});
  outcome.effects.push_back(GuardUsedEffect{op.guard.token});
  const PartitionError refused = check_stage(op, now);
  if (!refused.ok()) {
    outcome.reply.assign(op.partitions.size(), {refused, false});
    return outcome;
  }
  Owner owner = op.owner;
  owner.staged_timestamp_ms = now.wall_ms;
  coordinator::Batch<Record> snapshots;
  coordinator::Batch<Record> stage;
  // The header of the batch makes the log part of the producer's transaction; a batch transaction
  // has no producer.
  if (!owner.is_batch())
    stage.transaction = log::ProducerStamp{owner.producer_id, owner.producer_epoch};
  std::set<SharePartitionKey> seen;
  for (const Stage::Partition& asked : op.partitions) {
    PartitionError error;
    PartitionChange change;
    const SharePartition* partition = find(asked.key);
    if (!seen.insert(asked.key).second) {
      error = failure(ErrorCode::INVALID_REQUEST, "The partition is named twice.");
    } else if (partition == nullptr) {
      error =
          failure(ErrorCode::INVALID_RECORD_STATE, "The record is not acquired by this member.");
    } else {
      error = check_staged_batches(asked.batches);
      if (error.ok()) {
        error = partition->stage(owner, op.member_id, asked.batches, asked.dlq,
                                 asked.max_staged_records, change);
      }
    }
    if (error.ok() && !change.empty()) {
      ShareUpdate update = partition->update_of(asked.key, change);
      if (snapshot_due(*partition)) {
        // Not in the stage's batch: a snapshot is no part of any transaction.
        ShareSnapshot snapshot{asked.key, partition->snapshot_value({}, now.wall_ms)};
        update.snapshot_epoch = snapshot.value->snapshot_epoch;
        snapshots.records.push_back(std::move(snapshot));
      }
      stage.records.push_back(std::move(update));
    }
    const bool doom = dooms(error.error_code);
    outcome.reply.push_back({std::move(error), doom});
  }
  if (!snapshots.records.empty()) outcome.batches.push_back(std::move(snapshots));
  if (!stage.records.empty()) outcome.batches.push_back(std::move(stage));
  return outcome;
}

ShareShard::Outcome<IsStagedBy::Reply> ShareShard::decide(const IsStagedBy& op, io::Now) const {
  IsStagedBy::Reply reply;
  reply.staged = !op.partitions.empty();
  for (const IsStagedBy::Partition& asked : op.partitions) {
    const SharePartition* partition = find(asked.key);
    reply.staged = reply.staged && partition != nullptr &&
                   check_staged_batches(asked.batches).ok() &&
                   partition->is_staged_by(op.owner, asked.batches);
  }
  return Outcome<IsStagedBy::Reply>::answer(reply);
}

int64_t ShareShard::staged_records_of(ProducerId id) const {
  int64_t records = 0;
  const auto at = hard_.staged_by.find(id);
  if (at == hard_.staged_by.end()) return records;
  for (const SharePartitionKey& key : at->second) {
    const SharePartition* partition = find(key);
    if (partition == nullptr) continue;
    for (const OffsetRange& range : partition->hard().batches.staged_by(id)) {
      records += range.last_offset - range.first_offset + 1;
    }
  }
  return records;
}

ShareShard::Outcome<WatchProducer::Reply> ShareShard::decide(const WatchProducer& op,
                                                             io::Now now) const {
  WatchProducer::Reply reply{{op.token, config_.incarnation}, staged_records_of(op.producer_id)};
  auto outcome = Outcome<WatchProducer::Reply>::answer(reply);
  outcome.effects.push_back(
      GuardEffect{{op.producer_id, {}, {}}, op.token, now.steady_ms + kGuardLifetimeMs});
  return outcome;
}

// While the guard stands no marker has come, so that what is staged can only have grown; a stage
// that is still to come has a guard of its own.
bool ShareShard::would_tear(const Marker& op) const {
  const WatchProducer::Reply& watched = op.from_the_wire->watched;
  const OwnerId owner{op.marker.producer.id, {}, {}};
  const auto first = soft_.guards_by_owner.lower_bound({owner, 0});
  const bool stands = watched.guard.incarnation == config_.incarnation &&
                      soft_.guards.contains(watched.guard.token);
  const bool alone =
      first != soft_.guards_by_owner.end() && first->second == watched.guard.token &&
      (std::next(first) == soft_.guards_by_owner.end() || std::next(first)->first != owner);
  return op.from_the_wire->listed || !stands || !alone ||
         staged_records_of(op.marker.producer.id) != watched.staged_records;
}

// As the log's own partitions check markers, with the owners of what is staged as a second witness:
// their epochs do not expire with the log's producer state.
PartitionError ShareShard::check_marker(const Marker& op) const {
  const log::EndMarker& marker = op.marker;
  const int16_t last = last_epoch_of(marker.producer.id, op.producer);
  const bool repeat = is_repeat(marker, last);
  if (marker.producer.epoch < last || (repeat && has_staged(marker.producer.id))) {
    return failure(ErrorCode::INVALID_PRODUCER_EPOCH,
                   "The marker's epoch is not above the producer's last one.");
  }
  if (op.producer && marker.coordinator_epoch < op.producer->coordinator_epoch) {
    return failure(ErrorCode::TRANSACTION_COORDINATOR_FENCED,
                   "The marker comes from an older coordinator.");
  }
  return {};
}

ShareShard::Outcome<Marker::Reply> ShareShard::decide(const Marker& op, io::Now) const {
  const ProducerId id = op.marker.producer.id;
  Marker::Reply reply{check_marker(op), 0};
  const bool repeat = is_repeat(op.marker, last_epoch_of(id, op.producer));
  if (reply.error.ok() && !repeat && op.from_the_wire && would_tear(op)) {
    reply.error = failure(ErrorCode::INVALID_TXN_STATE, "The transaction is open.");
  }
  if (!reply.error.ok() || repeat) {  // a repeat: success without effect
    auto answer = Outcome<Marker::Reply>::answer(std::move(reply));
    if (op.from_the_wire)
      answer.effects.push_back(GuardUsedEffect{op.from_the_wire->watched.guard.token});
    return answer;
  }
  reply.resolved_records = staged_records_of(id);
  coordinator::Batch<Record> gone;
  std::vector<Effect> effects;
  const auto staged_by = hard_.staged_by.find(id);
  if (staged_by != hard_.staged_by.end()) {
    for (const SharePartitionKey& key : staged_by->second) {
      const SharePartition* partition = find(key);
      if (partition == nullptr) continue;
      PartitionChange change;
      partition->archive_below_log_start(id, change);
      if (!change.empty()) gone.records.push_back(partition->update_of(key, change));
      add_archived(effects, key, change);
      if (!op.marker.commit) continue;
      std::vector<ArchivedRange> given_up = partition->given_up_by_commit(id);
      if (!given_up.empty()) effects.push_back(ArchivedEffect{{key, std::move(given_up)}});
    }
  }
  auto outcome = Outcome<Marker::Reply>::answer(std::move(reply));
  // Before the marker, which then finds nothing there: what has left the log can be neither
  // delivered nor done with.
  if (!gone.records.empty()) outcome.batches.push_back(std::move(gone));
  outcome.batches.push_back({{}, std::nullopt, op.marker});
  outcome.effects = std::move(effects);
  return outcome;
}

}  // namespace ackord::share
