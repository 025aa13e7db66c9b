// ShareMember: a member of a share group with its session, on one connection: joins, beats, fetches
// and accepts. Errors: BenchError.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/bench/bench.h"

namespace ackord::bench {

// Offsets that were handed to the member, in one partition.
struct Acquired {
  int32_t partition = 0;
  Offset first = 0;
  Offset last = 0;
  int64_t count() const { return last - first + 1; }
};

struct Polled {
  std::vector<Acquired> ranges;
  int64_t records = 0;  // offsets in them
  int64_t bytes = 0;    // of the record data that came with them
  // Of the acceptances that the request carried; 0 when all were taken.
  ErrorCode acknowledge_error = ErrorCode::NONE;
};

class ShareMember {
 public:
  ShareMember(Bench& bench, const Topic& topic, std::string group, std::shared_ptr<Wire> wire);

  // Joins, and beats until every one of `members` has partitions.
  Task<> join();
  bool assigned() const { return !partitions_.empty(); }
  // A heartbeat, when one is due; takes a new assignment.
  Task<> beat();

  // From now on never more records than asked for: a log batch may be split.
  void limit_records() { acquire_mode_ = kRecordLimit; }
  // One ShareFetch of at most max_records, which also accepts `accepted`.
  Task<Polled> poll(const std::vector<Acquired>& accepted);
  // Accepts without fetching, and ends the session.
  Task<> finish(const std::vector<Acquired>& accepted);

  Wire& wire() { return *wire_; }
  const std::string& group() const { return group_; }
  const std::string& id() const { return id_; }
  int32_t epoch() const { return epoch_; }
  Clock::time_point next_beat() const { return next_beat_; }

 private:
  static constexpr int8_t kRecordLimit = 1;  // ShareAcquireMode

  Task<> heartbeat();

  Bench& bench_;
  const Topic& topic_;
  std::string group_;
  std::string id_;
  std::shared_ptr<Wire> wire_;
  int32_t epoch_ = 0;
  int32_t session_epoch_ = 0;
  int8_t acquire_mode_ = 0;
  Clock::time_point next_beat_;
  std::vector<int32_t> partitions_;
  std::set<int32_t> in_session_;
  std::vector<int32_t> to_join_;  // the session, with the next request
};

// Fills the topics of a request that carries AcknowledgementBatches with the acceptance of ranges.
template <class Topics>
void accept_all(Topics& topics, const Topic& topic, const std::vector<Acquired>& ranges) {
  constexpr int8_t kAccept = 1;
  if (ranges.empty()) return;
  std::map<int32_t, std::vector<const Acquired*>> by_partition;
  for (const Acquired& range : ranges) by_partition[range.partition].push_back(&range);
  auto& part = topics.emplace_back();
  part.topic_id = topic.id;
  for (const auto& [index, list] : by_partition) {
    auto& partition = part.partitions.emplace_back();
    partition.partition_index = index;
    for (const Acquired* range : list) {
      auto& batch = partition.acknowledgement_batches.emplace_back();
      batch.first_offset = range->first;
      batch.last_offset = range->last;
      batch.acknowledge_types = {kAccept};
    }
  }
}

// As many members as connections, each on a partition of its own where there are enough; all have
// joined, and partitions.
std::vector<std::unique_ptr<ShareMember>> join_members(Bench& bench, const Topic& topic,
                                                       const std::string& group);

}  // namespace ackord::bench
