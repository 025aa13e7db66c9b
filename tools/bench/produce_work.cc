#include "tools/bench/produce_work.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <utility>

#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"

namespace ackord::bench {
namespace {

constexpr int32_t kTimeoutMs = 30000;

}  // namespace

ProduceWork::ProduceWork(Bench& bench, const Topic& topic, int64_t batch, int64_t records)
    : bench_(bench),
      topic_(topic),
      batch_(batch),
      left_(records),
      data_(bench.batch(static_cast<int>(batch))) {}

void ProduceWork::run(int connections, int in_flight, double rate) {
  pacer_ = std::make_unique<Pacer>(bench_.context(), rate / static_cast<double>(batch_));
  std::vector<std::shared_ptr<Wire>> wires;
  std::vector<Task<>> opening;
  for (int i = 0; i < connections; ++i) opening.push_back(open_into(bench_.target(), wires));
  bench_.run(std::move(opening));
  std::vector<Task<>> slots;
  for (const auto& wire : wires) {
    for (int i = 0; i < in_flight; ++i) slots.push_back(slot(wire));
  }
  bench_.run(std::move(slots));
  for (const auto& wire : wires) wire->close();
}

Task<> ProduceWork::slot(std::shared_ptr<Wire> wire) {
  std::vector<std::byte> last;  // the records that remain after whole batches
  while (left_ > 0) {
    const int64_t count = std::min(batch_, left_);
    left_ -= count;
    if (count < batch_) last = bench_.batch(static_cast<int>(count));
    const std::vector<std::byte>& data = count < batch_ ? last : data_;
    protocol::ProduceRequest request;
    request.acks = bench_.options().acks;
    request.timeout_ms = kTimeoutMs;
    auto& topic = request.topic_data.emplace_back();
    topic.name = topic_.name;
    topic.topic_id = topic_.id;
    auto& partition = topic.partition_data.emplace_back();
    partition.index = std::exchange(next_partition_, (next_partition_ + 1) % topic_.partitions);
    partition.records = Records::view(data);
    const Clock::time_point due = co_await pacer_->next();
    const auto answer = co_await wire->call<protocol::ProduceResponse>(request);
    latency_.record(since_ns(due));
    expect_none(answer.message.responses.at(0).partition_responses.at(0).error_code, "Produce");
    bytes_ += static_cast<int64_t>(data.size());
  }
}

}  // namespace ackord::bench
