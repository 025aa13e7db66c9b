#include <utility>

#include "tools/bench/txn_producer.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

struct Transactions {
  Bench& bench;
  const Topic& topic;
  int64_t left = 0;  // transactions
  Histogram whole;
  Histogram end;

  Task<> init(TxnProducer& producer) { co_await producer.init(); }
  Task<> work(TxnProducer& producer, int32_t partition);
};

Task<> Transactions::work(TxnProducer& producer, int32_t partition) {
  while (left > 0) {
    --left;
    const Clock::time_point start = Clock::now();
    co_await producer.produce(topic, partition, bench.options().txn_records);
    const Clock::time_point ending = Clock::now();
    co_await producer.commit();
    end.record(since_ns(ending));
    whole.record(since_ns(start));
  }
}

}  // namespace

Report txn(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  const auto wires = bench.connect(options.connections);
  const int64_t transactions = std::max<int64_t>(1, options.records / options.txn_records);
  Transactions work{bench, topic, transactions, {}, {}};
  std::vector<std::unique_ptr<TxnProducer>> producers;
  std::vector<Task<>> tasks;
  for (const auto& wire : wires) {
    producers.push_back(std::make_unique<TxnProducer>(bench, bench.unique("bench-txn"), wire));
    tasks.push_back(work.init(*producers.back()));
  }
  bench.run(std::move(tasks));
  tasks.clear();
  for (size_t i = 0; i < producers.size(); ++i)
    tasks.push_back(work.work(*producers[i], static_cast<int32_t>(i) % topic.partitions));
  Report report;
  report.work = "txn";
  report.unit = "transactions";
  bench.begin();
  bench.run(std::move(tasks));
  report.count = transactions;
  report.latencies.emplace_back("produce to end", std::move(work.whole));
  report.latencies.emplace_back("EndTxn", std::move(work.end));
  bench.end(report);
  for (const auto& wire : wires) wire->close();
  return report;
}

}  // namespace ackord::bench
