#include <boost/asio/redirect_error.hpp>
#include <utility>

#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "tools/bench/record_counts.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

constexpr int32_t kTimeoutMs = 30000;
constexpr int32_t kMaxBytes = 1 << 20;

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
  protocol::ProduceRequest request;
  request.acks = bench.options().acks;
  request.timeout_ms = kTimeoutMs;
  auto& part = request.topic_data.emplace_back();
  part.name = topic.name;
  part.topic_id = topic.id;
  part.partition_data.emplace_back().records = Records::view(data);
  Pacer pacer(bench.context(), bench.options().rate);
  while (sent < bench.options().records) {
    due = co_await pacer.next();
    ++sent;
    const auto answer = co_await wire->call<protocol::ProduceResponse>(request);
    produce_latency.record(since_ns(due));
    expect_none(answer.message.responses.at(0).partition_responses.at(0).error_code, "Produce");
    while (received < sent) {
      boost::system::error_code woken;
      arrived.expires_at(asio::steady_timer::time_point::max());
      co_await arrived.async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
  }
}

Task<> EndToEnd::read(std::shared_ptr<Wire> wire) {
  Offset next = 0;
  while (received < bench.options().records) {
    protocol::FetchRequest request;
    request.max_wait_ms = bench.options().max_wait_ms;
    request.min_bytes = 1;
    request.max_bytes = kMaxBytes;
    auto& part = request.topics.emplace_back();
    part.topic = topic.name;
    part.topic_id = topic.id;
    auto& partition = part.partitions.emplace_back();
    partition.fetch_offset = next;
    partition.partition_max_bytes = kMaxBytes;
    const auto answer = co_await wire->call<protocol::FetchResponse>(request);
    expect_none(answer.message.error_code, "Fetch");
    const auto& fetched = answer.message.responses.at(0).partitions.at(0);
    expect_none(fetched.error_code, "Fetch");
    if (!fetched.records) continue;
    const RecordCounts counts = count_records(fetched.records->bytes());
    if (counts.records == 0) continue;
    latency.record(since_ns(due));
    next = counts.next_offset;
    received += counts.records;
    arrived.cancel();
  }
}

}  // namespace

Report e2e(Bench& bench) {
  const Topic topic = bench.create_topic(1);
  std::vector<std::shared_ptr<Wire>> wires;
  std::vector<Task<>> tasks;
  for (int i = 0; i < 2; ++i) tasks.push_back(open_into(bench.target(), wires));
  bench.run(std::move(tasks));
  EndToEnd work{bench, topic, 0, 0, {}, {}, {}, asio::steady_timer(bench.context())};
  tasks.clear();
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
