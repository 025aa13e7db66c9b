#include <utility>

#include "tools/bench/share_member.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

struct Consuming {
  int64_t left = 0;     // records that none has accepted yet
  int64_t untaken = 0;  // records that none has been handed yet
  int64_t bytes = 0;
  int64_t again = 0;  // acceptances that came too late
  Histogram latency;
  Clock::time_point last;  // when the last acceptance was answered

  Task<> consume(ShareMember& member);
};

int64_t count_of(const std::vector<Acquired>& ranges) {
  int64_t count = 0;
  for (const Acquired& range : ranges) count += range.count();
  return count;
}

Task<> Consuming::consume(ShareMember& member) {
  std::vector<Acquired> held;
  // Once all are handed out, a fetch would only wait.
  while (untaken > 0) {
    co_await member.beat();
    const Clock::time_point start = Clock::now();
    Polled polled = co_await member.poll(held);
    latency.record(since_ns(start));
    if (polled.acknowledge_error == ErrorCode::NONE) {
      left -= count_of(held);
    } else {
      untaken += count_of(held);
      again += count_of(held);
    }
    untaken -= polled.records;
    bytes += polled.bytes;
    held = std::move(polled.ranges);
  }
  if (!held.empty()) {
    co_await member.finish(held);
    left -= count_of(held);
    last = Clock::now();
  }
}

}  // namespace

Report share(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  bench.fill(topic, options.records);
  const std::string group = bench.unique("bench-share");
  bench.configure_group(group, {{"share.auto.offset.reset", "earliest"}});
  const auto members = join_members(bench, topic, group);
  Consuming consuming{options.records, options.records, 0, 0, {}, {}};
  std::vector<Task<>> tasks;
  for (const auto& member : members) tasks.push_back(consuming.consume(*member));
  Report report;
  report.work = "share";
  bench.begin();
  bench.run(std::move(tasks));
  if (consuming.left > 0)
    throw BenchError(std::to_string(consuming.left) + " records were not accepted");
  report.count = options.records;
  report.bytes = consuming.bytes;
  report.latencies.emplace_back("fetch + accept", std::move(consuming.latency));
  report.numbers.emplace_back("accepted_late_records", static_cast<double>(consuming.again));
  bench.end(report, consuming.last);
  return report;
}

}  // namespace ackord::bench
