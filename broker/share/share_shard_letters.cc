// ShareShard: records that wait for their dead letters (KIP-1191, semantics A.12).
#include "broker/share/share_shard.h"

namespace ackord::share {

ShareShard::Outcome<ResumeLetters::Reply> ShareShard::decide(const ResumeLetters&, io::Now) const {
  auto outcome = Outcome<ResumeLetters::Reply>::answer({});
  for (const auto& [key, partition] : hard_.partitions) {
    std::vector<ArchivedRange> waiting = partition.archiving();
    if (waiting.empty()) continue;
    for (const ArchivedRange& range : waiting) outcome.reply.waiting_records += range.records();
    outcome.effects.push_back(ArchivedEffect{{key, std::move(waiting)}});
  }
  return outcome;
}

ShareShard::Outcome<FinishLetters::Reply> ShareShard::decide(const FinishLetters& op,
                                                             io::Now now) const {
  const SharePartition* partition = find(op.key);
  if (partition == nullptr) return Outcome<FinishLetters::Reply>::answer({});
  PartitionChange change;
  for (const OffsetRange& range : op.ranges)
    partition->finish_letters(range.first_offset, range.last_offset, change);
  FinishLetters::Reply reply;
  for (const StateBatch& batch : change.batches)
    reply.finished_records += batch.last_offset - batch.first_offset + 1;
  std::vector<Record> records;
  if (!change.empty()) records.push_back(record_of(op.key, *partition, change, now));
  return Outcome<FinishLetters::Reply>::of(std::move(records), reply);
}

}  // namespace ackord::share
