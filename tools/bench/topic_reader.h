// TopicReader: reads partitions of a topic from their beginnings, Fetch by Fetch, on a connection.
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
              int32_t step = 1);

  // One Fetch: the records that it brought, and their bytes.
  Task<RecordCounts> fetch();

 private:
  Bench& bench_;
  const Topic& topic_;
  std::shared_ptr<Wire> wire_;
  int32_t first_;
  int32_t step_;
  std::vector<Offset> next_;  // by partition
};

}  // namespace ackord::bench
