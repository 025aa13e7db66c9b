#include <boost/asio/redirect_error.hpp>
#include <utility>

#include "tools/bench/produce_request.h"
#include "tools/bench/topic_reader.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

// A producer that sends the next record once the reader has the one before.
struct EndToEnd {
  Bench& bench;
  const Topic& topic;
  int64_t sent = 0;
  int64_t received = 0;
  Clock::time_point due;
  Histogram latency;
  Histogram produce_latency;
  asio::steady_timer arrived;

  Task<> write(std::shared_ptr<Wire> wire);
  Task<> read(std::shared_ptr<Wire> wire);
};

Task<> EndToEnd::write(std::shared_ptr<Wire> wire) {
  const std::vector<std::byte> data = bench.batch(1);
  const protocol::ProduceRequest request = produce_request(topic, 0, data, bench.options().acks);
  Pacer pacer(bench.context(), bench.options().rate);
  while (sent < bench.options().records) {
    due = co_await pacer.next();
    ++sent;
    const auto answer = co_await wire->call<protocol::ProduceResponse>(request);
    produce_latency.record(since_ns(due));
    expect_none(code_of(answer.message), "Produce");
    while (received < sent) {
      boost::system::error_code woken;
      arrived.expires_at(asio::steady_timer::time_point::max());
      co_await arrived.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
  }
}

Task<> EndToEnd::read(std::shared_ptr<Wire> wire) {
  TopicReader reader(bench, topic, std::move(wire));
  while (received < bench.options().records) {
    const RecordCounts counts = co_await reader.fetch();
    if (counts.records == 0) continue;
    latency.record(since_ns(due));
    received += counts.records;
    arrived.cancel();
  }
}

}  // namespace

Report e2e(Bench& bench) {
  const Topic topic = bench.create_topic(1);
  const auto wires = bench.connect(2);
  EndToEnd work{bench, topic, 0, 0, {}, {}, {}, asio::steady_timer(bench.context())};
  std::vector<Task<>> tasks;
  tasks.push_back(work.read(wires[0]));
  tasks.push_back(work.write(wires[1]));
  Report report;
  report.work = "e2e";
  bench.begin();
  bench.run(std::move(tasks));
  report.count = bench.options().records;
  report.latencies.emplace_back("send to receipt", std::move(work.latency));
  report.latencies.emplace_back("produce", std::move(work.produce_latency));
  bench.end(report);
  for (const auto& wire : wires) wire->close();
  return report;
}

}  // namespace ackord::bench
