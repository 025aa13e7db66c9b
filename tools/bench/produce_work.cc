#include "tools/bench/produce_work.h"

#include <algorithm>
#include <utility>

#include "tools/bench/produce_request.h"

namespace ackord::bench {

ProduceWork::ProduceWork(Bench& bench, const Topic& topic, int64_t batch, int64_t records)
    : ProduceWork(bench, topic, bench.batch(static_cast<int>(batch)), batch, records) {}

ProduceWork::ProduceWork(Bench& bench, const Topic& topic, std::vector<std::byte> data,
                         int64_t batch, int64_t records)
    : bench_(bench),
      topic_(topic),
      batch_(batch),
      left_(records),
      partitions_(bench.active(topic)),
      data_(std::move(data)) {}

void ProduceWork::run(int connections, int in_flight, double rate) {
  pacer_ = std::make_unique<Pacer>(bench_.context(), rate / static_cast<double>(batch_));
  const auto wires = bench_.connect(connections);
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
    const int32_t partition = std::exchange(next_partition_, (next_partition_ + 1) % partitions_);
    const protocol::ProduceRequest request =
        produce_request(topic_, partition, data, bench_.options().acks);
    const Clock::time_point due = co_await pacer_->next();
    const auto answer = co_await wire->call<protocol::ProduceResponse>(request);
    latency_.record(since_ns(due));
    expect_none(code_of(answer.message), "Produce");
    bytes_ += static_cast<int64_t>(data.size());
  }
}

}  // namespace ackord::bench
