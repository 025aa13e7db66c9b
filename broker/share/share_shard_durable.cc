// ShareShard: what Kafka's share coordinator does (semantics A.6).
#include <algorithm>

#include "broker/share/share_shard.h"

namespace ackord::share {

namespace {

PartitionError failure(ErrorCode code, std::string why) { return {code, std::move(why)}; }

PartitionError never_initialized() {
  return failure(ErrorCode::INVALID_REQUEST, "The share partition was never initialized.");
}

}  // namespace

PartitionError ShareShard::staged_by_others(const SharePartition& partition,
                                            const char* what) const {
  const auto owners = partition.hard().batches.owners();
  if (owners.empty()) return {};
  return failure(ErrorCode::NON_EMPTY_GROUP, std::string(what) + ": records are staged by " +
                                                 owners.front().first.to_string() + ".");
}

ShareShard::Outcome<PartitionError> ShareShard::decide(const Initialize& op, io::Now now) const {
  if (op.state_epoch < 0 || op.start_offset < -1 || op.key.partition < 0) {
    return Outcome<PartitionError>::answer(
        failure(ErrorCode::INVALID_REQUEST, "A number is negative."));
  }
  ShareSnapshot record{op.key, ShareSnapshot::Value()};
  if (const SharePartition* partition = find(op.key)) {
    if (op.only_if_absent) return Outcome<PartitionError>::answer({});
    if (op.state_epoch < partition->hard().state_epoch) {
      return Outcome<PartitionError>::answer(
          failure(ErrorCode::FENCED_STATE_EPOCH, "The state epoch is older than the stored one."));
    }
    PartitionError staged = staged_by_others(*partition, "Not initialized");
    if (!staged.ok()) return Outcome<PartitionError>::answer(std::move(staged));
    record.value->snapshot_epoch = partition->hard().snapshot_epoch + 1;
    record.value->leader_epoch = partition->hard().leader_epoch;
  }
  record.value->state_epoch = op.state_epoch;
  record.value->start_offset = op.start_offset;
  record.value->delivery_complete_count = op.start_offset == -1 ? -1 : 0;
  record.value->create_timestamp = now.wall_ms;
  record.value->write_timestamp = now.wall_ms;
  auto outcome = Outcome<PartitionError>::of({std::move(record)}, {});
  outcome.effects.push_back(DeactivateEffect{op.key});
  return outcome;
}

ShareShard::Outcome<Read::Reply> ShareShard::decide(const Read& op, io::Now now) const {
  const SharePartition* partition = find(op.key);
  if (partition == nullptr) return Outcome<Read::Reply>::answer({never_initialized()});
  if (op.leader_epoch < 0) {
    return Outcome<Read::Reply>::answer(
        {failure(ErrorCode::INVALID_REQUEST, "The leader epoch is negative.")});
  }
  const SharePartition::HardState& hard = partition->hard();
  if (op.leader_epoch < hard.leader_epoch) {
    return Outcome<Read::Reply>::answer({failure(
        ErrorCode::FENCED_LEADER_EPOCH, "The leader epoch is older than the stored one.")});
  }
  Read::Reply reply;
  reply.state_epoch = hard.state_epoch;
  reply.start_offset = hard.written_start_offset;
  std::tie(reply.state_batches, reply.owners) =
      hard.batches.to_state_batches(hard.written_start_offset);
  std::vector<Record> records;
  if (op.leader_epoch > hard.leader_epoch)
    records.push_back(with_leader_epoch(op.key, op.leader_epoch, now));
  return Outcome<Read::Reply>::of(std::move(records), std::move(reply));
}

ShareRecord ShareShard::with_leader_epoch(const SharePartitionKey& key, int32_t leader_epoch,
                                          io::Now now) const {
  ShareRecord record = record_of(key, *find(key), {}, now);
  if (auto* update = std::get_if<ShareUpdate>(&record)) {
    update->leader_epoch = leader_epoch;
  } else {
    std::get<ShareSnapshot>(record).value->leader_epoch = leader_epoch;
  }
  return record;
}

ShareShard::Outcome<Summary::Reply> ShareShard::decide(const Summary& op, io::Now) const {
  Summary::Reply reply;
  if (const SharePartition* partition = find(op.key)) {
    const SharePartition::HardState& hard = partition->hard();
    reply.initialized = true;
    reply.state_epoch = hard.state_epoch;
    reply.leader_epoch = hard.leader_epoch;
    reply.start_offset = hard.written_start_offset;
    reply.delivery_complete_count = hard.delivery_complete_count;
    reply.staged_records = hard.batches.staged();
  }
  return Outcome<Summary::Reply>::answer(std::move(reply));
}

ShareShard::Outcome<PartitionError> ShareShard::decide(const Delete& op, io::Now) const {
  const SharePartition* partition = find(op.key);
  if (partition == nullptr) return Outcome<PartitionError>::answer({});
  PartitionError staged = staged_by_others(*partition, "Not deleted");
  if (!staged.ok()) return Outcome<PartitionError>::answer(std::move(staged));
  return Outcome<PartitionError>::of({ShareSnapshot{op.key, std::nullopt}}, {});
}

PartitionError ShareShard::check_write(const Write& op) const {
  const SharePartition* partition = find(op.key);
  if (partition == nullptr) return never_initialized();
  const SharePartition::HardState& hard = partition->hard();
  if (op.leader_epoch < 0 || op.state_epoch < 0)
    return failure(ErrorCode::INVALID_REQUEST, "An epoch is negative.");
  if (op.leader_epoch < hard.leader_epoch) {
    return failure(ErrorCode::FENCED_LEADER_EPOCH,
                   "The leader epoch is older than the stored one.");
  }
  if (op.state_epoch < hard.state_epoch) {
    return failure(ErrorCode::FENCED_STATE_EPOCH, "The state epoch is older than the stored one.");
  }
  const std::optional<Offset> first_staged = hard.batches.first_staged();
  if (first_staged && op.start_offset > *first_staged) {
    return failure(ErrorCode::INVALID_REQUEST, "The start offset lies above a staged record.");
  }
  for (const StateBatch& batch : op.state_batches) {
    const auto id = static_cast<int8_t>(batch.delivery_state);
    if (batch.first_offset < 0 || batch.first_offset > batch.last_offset ||
        batch.delivery_count < 0 || !is_known_state(id) ||
        batch.delivery_state == RecordState::ACQUIRED ||
        batch.delivery_state == RecordState::TX_PENDING) {
      return failure(ErrorCode::INVALID_REQUEST, "A state batch is ill-formed.");
    }
    bool staged = false;
    hard.batches.for_each_piece(
        batch.first_offset, batch.last_offset,
        [&](Offset, Offset, const StateBatches::Range* range) {
          staged = staged || (range != nullptr && range->state == RecordState::TX_PENDING);
        });
    if (staged) return failure(ErrorCode::INVALID_REQUEST, "A state batch covers a staged record.");
  }
  return {};
}

ShareShard::Outcome<PartitionError> ShareShard::decide(const Write& op, io::Now now) const {
  PartitionError error = check_write(op);
  if (!error.ok()) return Outcome<PartitionError>::answer(std::move(error));
  const SharePartition& partition = *find(op.key);
  const SharePartition::HardState& hard = partition.hard();
  ShareUpdate update;
  update.key = op.key;
  update.snapshot_epoch = hard.snapshot_epoch;
  update.leader_epoch = op.leader_epoch;
  update.start_offset = op.start_offset;
  update.delivery_complete_count = op.delivery_complete_count;
  for (const StateBatch& batch : op.state_batches) {
    update.state_batches.push_back(
        {batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count});
  }
  if (!snapshot_due(partition)) return Outcome<PartitionError>::of({std::move(update)}, {});
  SharePartition written = partition;
  written.drop_soft();
  written.apply_update(update, {});
  return Outcome<PartitionError>::of(
      {ShareSnapshot{op.key, written.snapshot_as_written(now.wall_ms)}}, {});
}

ShareShard::Outcome<DeleteTopic::Reply> ShareShard::decide(const DeleteTopic& op, io::Now) const {
  std::vector<Record> records;
  for (const auto& [key, partition] : hard_.partitions) {
    if (key.topic_id == op.topic_id) records.push_back(ShareSnapshot{key, std::nullopt});
  }
  const auto deleted = static_cast<int32_t>(records.size());
  return Outcome<DeleteTopic::Reply>::of(std::move(records), {deleted});
}

ShareShard::Outcome<SnapshotCold::Reply> ShareShard::decide(const SnapshotCold& op,
                                                            io::Now now) const {
  std::vector<Record> records;
  for (const auto& [offset, key] : hard_.snapshots) {
    // Nothing would be won by snapshots of snapshots only (Kafka).
    if (hard_.not_cold == 0) break;
    const SharePartition& partition = hard_.partitions.at(key);
    const SharePartition::HardState& hard = partition.hard();
    if (records.size() >= static_cast<size_t>(op.limit) ||
        hard.write_timestamp + op.older_than_ms > now.wall_ms)
      break;
    ShareSnapshot::Value value = partition.snapshot_as_written(now.wall_ms);
    value.create_timestamp = hard.create_timestamp;
    records.push_back(ShareSnapshot{key, std::move(value)});
  }
  const auto snapshots = static_cast<int32_t>(records.size());
  BatchTransactions::Changes anew;
  const bool more =
      batch_transactions_.log_anew(hard_.end_offset, static_cast<size_t>(op.limit), anew);
  records.insert(records.end(), anew.records.begin(), anew.records.end());
  return Outcome<SnapshotCold::Reply>::of(std::move(records),
                                          {snapshots, more || snapshots == op.limit});
}

ShareShard::Outcome<Describe::Reply> ShareShard::decide(const Describe& op, io::Now now) const {
  Describe::Reply reply;
  if (const SharePartition* partition = find(op.key)) {
    reply.initialized = true;
    reply.start_offset = partition->start_offset();
    reply.end_offset = partition->end_offset();
    reply.ranges = partition->describe(static_cast<size_t>(std::max(0, op.max_ranges)), now);
  }
  return Outcome<Describe::Reply>::answer(std::move(reply));
}

ShareShard::Outcome<Positions::Reply> ShareShard::decide(const Positions&, io::Now) const {
  Positions::Reply reply;
  for (const auto& [key, partition] : hard_.partitions) {
    const Offset start = partition.start_offset();
    reply.entries.push_back({key, start, start < 0 ? 0 : partition.done_above_start()});
  }
  return Outcome<Positions::Reply>::answer(std::move(reply));
}

ShareShard::Outcome<StagedByOwner::Reply> ShareShard::decide(const StagedByOwner&, io::Now) const {
  StagedByOwner::Reply reply;
  for (const auto& [key, partition] : hard_.partitions) {
    for (const auto& [owner, records] : partition.hard().batches.owners()) {
      reply.entries.push_back({key, owner, records});
    }
  }
  return Outcome<StagedByOwner::Reply>::answer(std::move(reply));
}

}  // namespace ackord::share
