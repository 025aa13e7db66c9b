// ProduceWork: produce requests from several connections, each with several on the way.
#pragma once

#include <memory>
#include <vector>

#include "tools/bench/bench.h"

namespace ackord::bench {

class ProduceWork {
 public:
  // `records` in requests of `batch` each, to the active partitions in turn.
  ProduceWork(Bench& bench, const Topic& topic, int64_t batch, int64_t records);
  // The same with a batch that is there: `records` is a multiple of `batch`.
  ProduceWork(Bench& bench, const Topic& topic, std::vector<std::byte> data, int64_t batch,
              int64_t records);

  // To the end. `rate`: records a second, 0 for as many as go.
  void run(int connections, int in_flight, double rate);
  const Histogram& latency() const { return latency_; }
  int64_t bytes() const { return bytes_; }

 private:
  Task<> slot(std::shared_ptr<Wire> wire);

  Bench& bench_;
  const Topic& topic_;
  int64_t batch_;
  int64_t left_;
  int64_t bytes_ = 0;
  int32_t next_partition_ = 0;
  int32_t partitions_;
  std::vector<std::byte> data_;
  Histogram latency_;
  std::unique_ptr<Pacer> pacer_;
};

}  // namespace ackord::bench
