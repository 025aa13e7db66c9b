#include <algorithm>
#include <utility>

#include "tools/bench/topic_reader.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

struct Reading {
  int64_t left = 0;
  int64_t bytes = 0;
  Histogram latency;

  Task<> read(TopicReader& reader);
};

Task<> Reading::read(TopicReader& reader) {
  while (left > 0) {
    const Clock::time_point start = Clock::now();
    const RecordCounts counts = co_await reader.fetch();
    latency.record(since_ns(start));
    left -= counts.records;
    bytes += static_cast<int64_t>(counts.bytes);
  }
}

}  // namespace

Report fetch(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  const Offset from = topic.end + bench.prefill(topic);
  bench.fill(topic, options.records);
  const int count = std::min(options.connections, options.partitions);
  const auto wires = bench.connect(count);
  std::vector<std::unique_ptr<TopicReader>> readers;
  Reading reading{options.records, 0, {}};
  std::vector<Task<>> tasks;
  for (int i = 0; i < count; ++i) {
    readers.push_back(
        std::make_unique<TopicReader>(bench, topic, wires[static_cast<size_t>(i)], i, count, from));
    tasks.push_back(reading.read(*readers.back()));
  }
  Report report;
  report.work = "fetch";
  bench.begin();
  bench.run(std::move(tasks));
  report.count = options.records;
  report.bytes = reading.bytes;
  report.latencies.emplace_back("fetch", std::move(reading.latency));
  bench.end(report);
  for (const auto& wire : wires) wire->close();
  return report;
}

}  // namespace ackord::bench
