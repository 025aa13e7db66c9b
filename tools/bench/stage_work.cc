#include <algorithm>
#include <utility>

#include "tools/bench/held_records.h"
#include "tools/bench/stage_request.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

struct Staging {
  Bench& bench;
  const Topic& topic;
  int64_t untaken = 0;  // records that the member has not been handed yet
  int64_t staged = 0;
  int64_t transactions = 0;
  Histogram stage;
  Histogram end;

  Task<> work(ShareMember& member, TxnProducer& producer);
};

Task<> Staging::work(ShareMember& member, TxnProducer& producer) {
  std::vector<Acquired> rest;  // of the transaction before
  while (untaken > 0) {
    std::vector<Acquired> taken;
    const int64_t wanted = std::min<int64_t>(untaken, 2 * bench.options().txn_records);
    for (int64_t records = 0; records < wanted;) {
      co_await member.beat();
      Polled polled = co_await member.poll(std::exchange(rest, {}));
      expect_none(polled.acknowledge_error, "ShareFetch");
      records += polled.records;
      untaken -= polled.records;
      taken.insert(taken.end(), polled.ranges.begin(), polled.ranges.end());
    }
    const Alternating halves = alternate(taken);
    Clock::time_point start = Clock::now();
    co_await stage_all(member, producer, topic, halves.odd);
    stage.record(since_ns(start));
    start = Clock::now();
    co_await producer.commit();
    end.record(since_ns(start));
    staged += static_cast<int64_t>(halves.odd.size());
    ++transactions;
    rest = halves.even;
  }
  co_await member.finish(rest);
}

}  // namespace

Report stage(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  const int64_t records = 2 * options.records;
  bench.fill(topic, records);
  const std::string group = bench.unique("bench-stage");
  configure_holding(bench, group);
  const auto wires = bench.connect(2);
  ShareMember member(bench, topic, group, wires[0]);
  member.limit_records();
  TxnProducer producer(bench, bench.unique("bench-txn"), wires[1]);
  std::vector<Task<>> tasks;
  tasks.push_back(member.join());
  tasks.push_back(producer.init());
  bench.run(std::move(tasks));
  tasks.clear();
  Staging work{bench, topic, records, 0, 0, {}, {}};
  tasks.push_back(work.work(member, producer));
  Report report;
  report.work = "stage";
  report.unit = "ranges";
  bench.begin();
  bench.run(std::move(tasks));
  report.count = work.staged;
  report.latencies.emplace_back("stage", std::move(work.stage));
  report.latencies.emplace_back("EndTxn", std::move(work.end));
  report.numbers.emplace_back("transactions", static_cast<double>(work.transactions));
  bench.end(report);
  for (const auto& wire : wires) wire->close();
  return report;
}

}  // namespace ackord::bench
