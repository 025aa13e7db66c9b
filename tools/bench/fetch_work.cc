#include <utility>

#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "tools/bench/record_counts.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

// As Kafka's consumer has them by default.
constexpr int32_t kMaxBytes = 50 << 20;
constexpr int32_t kPartitionMaxBytes = 1 << 20;

struct Reading {
  Bench& bench;
  const Topic& topic;
  int64_t left = 0;
  int64_t bytes = 0;
  Histogram latency;

  // Partitions `first`, `first + step`, ….
  Task<> read(int32_t first, int32_t step);
};

Task<> Reading::read(int32_t first, int32_t step) {
  auto opening = Wire::open(bench.target());
  const auto wire = co_await std::move(opening);
  std::vector<Offset> next(static_cast<size_t>(topic.partitions));
  while (left > 0) {
    protocol::FetchRequest request;
    request.max_wait_ms = bench.options().max_wait_ms;
    request.min_bytes = 1;
    request.max_bytes = kMaxBytes;
    auto& asked = request.topics.emplace_back();
    asked.topic = topic.name;
    asked.topic_id = topic.id;
    for (int32_t p = first; p < topic.partitions; p += step) {
      auto& partition = asked.partitions.emplace_back();
      partition.partition = p;
      partition.fetch_offset = next[static_cast<size_t>(p)];
      partition.partition_max_bytes = kPartitionMaxBytes;
    }
    const Clock::time_point start = Clock::now();
    const auto answer = co_await wire->call<protocol::FetchResponse>(request);
    latency.record(since_ns(start));
    expect_none(answer.message.error_code, "Fetch");
    for (const auto& part : answer.message.responses) {
      for (const auto& partition : part.partitions) {
        expect_none(partition.error_code, "Fetch");
        if (!partition.records) continue;
        const RecordCounts counts = count_records(partition.records->bytes());
        bytes += static_cast<int64_t>(counts.bytes);
        left -= counts.records;
        if (counts.records > 0)
          next[static_cast<size_t>(partition.partition_index)] = counts.next_offset;
      }
    }
  }
  wire->close();
}

}  // namespace

Report fetch(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  bench.fill(topic, options.records);
  Reading reading{bench, topic, options.records, 0, {}};
  std::vector<Task<>> readers;
  const int count = std::min(options.connections, options.partitions);
  for (int i = 0; i < count; ++i) readers.push_back(reading.read(i, count));
  Report report;
  report.work = "fetch";
  bench.begin();
  bench.run(std::move(readers));
  report.count = options.records;
  report.bytes = reading.bytes;
  report.latencies.emplace_back("fetch", std::move(reading.latency));
  bench.end(report);
  return report;
}

}  // namespace ackord::bench
