// ShareShard: batch transactions, as coordinator (batch_transactions.h) and as participant
// (docs/PROTOCOL.md part 2).
#include <algorithm>

#include "broker/base/planted_bug.h"
#include "broker/share/share_shard.h"

namespace ackord::share {

const std::set<SharePartitionKey>& ShareShard::keys_of(const BatchTxnId& id) const {
  static const std::set<SharePartitionKey> none;
  const auto at = hard_.staged_by_batch.find(id);
  return at == hard_.staged_by_batch.end() ? none : at->second;
}

ShareShard::Outcome<CloseBatchTxnHere::Reply> ShareShard::decide(const CloseBatchTxnHere& op,
                                                                 io::Now) const {
  CloseBatchTxnHere::Reply reply;
  for (const SharePartitionKey& key : keys_of(op.id)) {
    const SharePartition* partition = find(key);
    if (partition == nullptr) continue;
    for (const OffsetRange& range : partition->hard().batches.staged_by(op.id.owner()))
      reply.staged_records += range.last_offset - range.first_offset + 1;
  }
  auto outcome = Outcome<CloseBatchTxnHere::Reply>::answer(reply);
  if (base::planted(base::PlantedBug::kStageAfterClosing)) return outcome;
  outcome.effects.push_back(
      GuardsVoidedEffect{OwnerId{ProducerId(-1), op.id.group_id, op.id.transaction_id}});
  return outcome;
}

ShareShard::Outcome<ResolveBatchTxnHere::Reply> ShareShard::decide(const ResolveBatchTxnHere& op,
                                                                   io::Now now) const {
  ResolveBatchTxnHere::Reply reply;
  std::vector<Record> records;
  std::vector<Effect> effects;
  for (const SharePartitionKey& key : keys_of(op.id)) {
    const SharePartition* partition = find(key);
    if (partition == nullptr) continue;
    PartitionChange change;
    reply.resolved_records += partition->resolve_batch(op.id.owner(), op.commit, change);
    if (!change.empty()) records.push_back(record_of(key, *partition, change, now));
    add_archived(effects, key, change);
  }
  auto outcome = Outcome<ResolveBatchTxnHere::Reply>::of(std::move(records), reply);
  outcome.effects = std::move(effects);
  outcome.effects.push_back(BatchOwnerForgottenEffect{op.id});
  return outcome;
}

ShareShard::Outcome<DescribeBatchTxnHere::Reply> ShareShard::decide(const DescribeBatchTxnHere& op,
                                                                    io::Now) const {
  DescribeBatchTxnHere::Reply reply;
  for (const SharePartitionKey& key : keys_of(op.id)) {
    const SharePartition* partition = find(key);
    if (partition == nullptr) continue;
    const StateBatches& batches = partition->hard().batches;
    DescribeBatchTxnHere::Partition described{key, {}};
    for (const OffsetRange& range : batches.staged_by(op.id.owner())) {
      described.ranges.push_back({range, batches.at_or_after(range.first_offset)->second.ack_type});
      reply.staged_records += range.last_offset - range.first_offset + 1;
    }
    if (!described.ranges.empty()) reply.partitions.push_back(std::move(described));
  }
  return Outcome<DescribeBatchTxnHere::Reply>::answer(std::move(reply));
}

void ShareShard::apply_soft_batch(const Effect& effect) {
  if (const auto* of_batch = std::get_if<BatchTxnEffect>(&effect)) {
    batch_transactions_.apply_soft(*of_batch);
  } else if (const auto* voided = std::get_if<GuardsVoidedEffect>(&effect)) {
    drop_guards_of(voided->owner);
  } else {
    hard_.staged_by_batch.erase(std::get<BatchOwnerForgottenEffect>(effect).id);
  }
}

}  // namespace ackord::share
