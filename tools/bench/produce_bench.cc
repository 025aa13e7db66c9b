#include <utility>

#include "tools/bench/produce_work.h"
#include "tools/bench/works.h"

namespace ackord::bench {

Report produce(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  (void)bench.prefill(topic);
  ProduceWork work(bench, topic, options.batch, options.records);
  Report report;
  report.work = "produce";
  bench.begin();
  work.run(options.connections, options.in_flight, options.rate);
  report.count = options.records;
  report.bytes = work.bytes();
  report.latencies.emplace_back("produce", work.latency());
  bench.end(report);
  return report;
}

}  // namespace ackord::bench
