// Histogram: latencies in buckets whose width is at most 1/64 of their values, from nanoseconds to
// hours, as HdrHistogram lays them out: recording is one increment, and memory does not grow with
// the number of samples. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace ackord::bench {

class Histogram {
 public:
  Histogram();

  // Negative values count as 0.
  void record(int64_t nanoseconds);
  void add(const Histogram& other);

  uint64_t count() const { return count_; }
  int64_t max() const { return max_; }
  // The least recorded value (to the width of its bucket) that `part` of all samples do not exceed;
  // `part` in (0, 1]. 0 without samples.
  int64_t quantile(double part) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  int64_t max_ = 0;
};

}  // namespace ackord::bench
