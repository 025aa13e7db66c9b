#include <utility>

#include "tools/bench/stage_request.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

struct Processing {
  Bench& bench;
  const Topic& topic;
  const Topic& output;
  int64_t left = 0;     // records that are in no committed transaction yet
  int64_t untaken = 0;  // records that none has been handed yet
  int64_t transactions = 0;
  Histogram stage;
  Histogram end;
  Histogram final;  // from the poll's answer to the commit's
  Clock::time_point last;

  Task<> init(TxnProducer& producer) { co_await producer.init(); }
  Task<> work(ShareMember& member, TxnProducer& producer, int32_t partition);
};

Task<> Processing::work(ShareMember& member, TxnProducer& producer, int32_t partition) {
  while (untaken > 0) {
    co_await member.beat();
    const Polled polled = co_await member.poll({});
    if (polled.records == 0) continue;
    untaken -= polled.records;
    const Clock::time_point polled_at = Clock::now();
    co_await producer.produce(output, partition, static_cast<int>(polled.records));
    Clock::time_point start = Clock::now();
    co_await stage_all(member, producer, topic, polled.ranges);
    stage.record(since_ns(start));
    start = Clock::now();
    co_await producer.commit();
    end.record(since_ns(start));
    final.record(since_ns(polled_at));
    left -= polled.records;
    ++transactions;
    last = Clock::now();
  }
  co_await member.finish({});
}

}  // namespace

Report share_txn(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  const Topic output = bench.create_topic(options.partitions);
  bench.fill(topic, options.records);
  const std::string group = bench.unique("bench-share-txn");
  bench.configure_group(group, {{"share.auto.offset.reset", "earliest"}});
  const auto members = join_members(bench, topic, group);
  const auto wires = bench.connect(options.connections);
  std::vector<Task<>> tasks;
  Processing work{bench, topic, output, options.records, options.records, 0, {}, {}, {}, {}};
  std::vector<std::unique_ptr<TxnProducer>> producers;
  for (const auto& wire : wires) {
    producers.push_back(std::make_unique<TxnProducer>(bench, bench.unique("bench-txn"), wire));
    tasks.push_back(work.init(*producers.back()));
  }
  bench.run(std::move(tasks));
  tasks.clear();
  for (size_t i = 0; i < members.size(); ++i) {
    tasks.push_back(
        work.work(*members[i], *producers[i], static_cast<int32_t>(i) % options.partitions));
  }
  Report report;
  report.work = "share-txn";
  bench.begin();
  bench.run(std::move(tasks));
  if (work.left > 0) throw BenchError(std::to_string(work.left) + " records are not final");
  report.count = options.records;
  report.latencies.emplace_back("stage", std::move(work.stage));
  report.latencies.emplace_back("EndTxn", std::move(work.end));
  report.latencies.emplace_back("poll to final", std::move(work.final));
  report.numbers.emplace_back("transactions", static_cast<double>(work.transactions));
  bench.end(report, work.last);
  for (const auto& wire : wires) wire->close();
  return report;
}

}  // namespace ackord::bench
