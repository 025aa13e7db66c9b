#include "broker/api/fetch_reading.h"

#include <algorithm>

#include "broker/api/leader_epoch.h"

namespace ackord::api {
namespace {

ErrorCode check(const log::Partition& partition, const Read& read) {
  // One node: nobody replicates from it.
  if (read.from_replica) return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  // In a Fetch every negative epoch is none (as Kafka).
  return check_leader_epoch(std::max(read.current_leader_epoch, kNoLeaderEpoch),
                            partition.leader_epoch());
}

// Where the reader's log and this one part (KIP-595). An epoch that is not known yet is
// OFFSET_OUT_OF_RANGE.
bool find_divergence(const log::Partition& partition, const Read& read, FetchResult& result) {
  if (read.last_fetched_epoch < 0) return false;
  const auto [epoch, end] = partition.end_offset_for_epoch(read.last_fetched_epoch);
  if (epoch < 0 || end < 0) {
    result.error = ErrorCode::OFFSET_OUT_OF_RANGE;
    return false;
  }
  if (epoch == read.last_fetched_epoch && end >= read.spec.offset) return false;
  result.diverging = {epoch, end};
  return true;
}

}  // namespace

io::Task<std::vector<FetchResult>> Reading::operator()(std::vector<Read> reads) {
  std::vector<FetchResult> results;
  results.reserve(reads.size());
  for (Read& read : reads) {
    FetchResult& result = results.emplace_back();
    result.error = read.error;
    if (result.error != ErrorCode::NONE) continue;
    const std::shared_ptr<log::Partition> partition = logs.find(read.partition);
    result.error = partition ? check(*partition, read) : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    if (result.error == ErrorCode::NOT_LEADER_OR_FOLLOWER)
      result.leader_epoch = partition->leader_epoch();
    if (result.error != ErrorCode::NONE) continue;
    if (read.watch) partition->on_advance().subscribe(read.watch);
    const bool diverges = find_divergence(*partition, read, result);
    if (result.error != ErrorCode::NONE) continue;
    if (diverges) read.spec.max_bytes = 0;
    auto reading = partition->read(read.spec);
    log::ReadResult read_now = co_await std::move(reading);
    static_cast<log::ReadResult&>(result) = std::move(read_now);
    if (diverges) {
      result.error = ErrorCode::NONE;
      result.records = Records();
    }
  }
  co_return results;
}

}  // namespace ackord::api
