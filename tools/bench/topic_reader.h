// TopicReader: reads partitions of a topic from one offset on, Fetch by Fetch, on a connection, in
// a fetch session (KIP-227) if it gets one: then a request names only those that had records.
// Errors: BenchError. One thread.
#pragma once

#include <memory>
#include <vector>

#include "tools/bench/bench.h"
#include "tools/bench/record_counts.h"

namespace ackord::bench {

class TopicReader {
 public:
  // Of the partitions `first`, `first + step`, ….
  TopicReader(Bench& bench, const Topic& topic, std::shared_ptr<Wire> wire, int32_t first = 0,
              int32_t step = 1, Offset from = 0);

  // One Fetch: the records that it brought, and their bytes.
  Task<RecordCounts> fetch();

 private:
  Bench& bench_;
  const Topic& topic_;
  std::shared_ptr<Wire> wire_;
  std::vector<Offset> next_;      // by partition
  std::vector<int32_t> to_name_;  // those whose offset the session does not know
  int32_t session_id_ = 0;
  int32_t session_epoch_ = 0;
};

}  // namespace ackord::bench
