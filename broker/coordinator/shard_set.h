// ShardSet: all shards of one state topic, one runner per partition, each on its partition's core.
//
// The topic is made on first use: ensure() is called by every operation and costs one atomic load
// once it is ready. Threads: all members from any core. Errors: those of making and loading; a
// failed ensure() is tried again next time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/coordinator/runtime.h"
#include "broker/io/core.h"
#include "broker/io/position_gate.h"
#include "broker/log/log_service.h"

namespace ackord::coordinator {

template <class Shard>
class ShardSet {
 public:
  using Runner = ShardRunner<Shard>;
  // Makes the topic if need be and answers how many partitions it has.
  using MakeTopic = std::function<io::Task<Result<int32_t>>()>;
  using MakeShard = std::function<Shard(int32_t partition)>;
  // Called on the runner's core before it loads, to set its hooks.
  using Prepare = std::function<void(int32_t partition, Runner& runner)>;

  ShardSet(io::Environment& environment, log::LogService& log, std::string topic,
           MakeTopic make_topic, MakeShard make_shard, Prepare prepare = {})
      : environment_(environment),
        log_(log),
        topic_(std::move(topic)),
        make_topic_(std::move(make_topic)),
        make_shard_(std::move(make_shard)),
        prepare_(std::move(prepare)) {}

  bool ready() const { return ready_.load(std::memory_order_acquire); }
  // 0 before it is ready.
  int32_t partitions() const { return ready() ? static_cast<int32_t>(runners_.size()) : 0; }

  io::Task<Result<void>> ensure() {
    if (ready()) co_return Result<void>();
    auto starting = io::on(environment_.core(0).executor, start());
    Result<void> started = co_await std::move(starting);
    co_return started;
  }

  // Only when ready.
  Runner& at(int32_t partition) { return *runners_[static_cast<size_t>(partition)]; }

  // Runs the operation on the shard's core. A partition that does not exist: NOT_COORDINATOR.
  template <class Op>
  io::Task<Result<typename Op::Reply>> run(int32_t partition, Op op) {
    using Reply = typename Op::Reply;
    if (partition < 0 || partition >= partitions())
      co_return Result<Reply>(error(ErrorCode::NOT_COORDINATOR));
    Runner& runner = at(partition);
    auto running = io::on(runner.core().executor, runner.template run<Op>(std::move(op)));
    Result<Reply> reply = co_await std::move(running);
    co_return reply;
  }

 private:
  // On core 0, which alone starts the set; whoever comes meanwhile waits for the same start.
  io::Task<Result<void>> start() {
    if (ready()) co_return Result<void>();
    if (starting_) {
      const std::shared_ptr<io::PositionGate> gate = starting_;
      auto waiting = gate->reached(1);
      Result<void> done = co_await std::move(waiting);
      co_return done;
    }
    const auto gate = std::make_shared<io::PositionGate>(0);
    starting_ = gate;
    auto opening = open_all();
    Result<void> opened = co_await std::move(opening);
    starting_.reset();
    if (opened) {
      ready_.store(true, std::memory_order_release);
      gate->advance(1);
    } else {
      runners_.clear();
      gate->fail(opened.error());
    }
    co_return opened;
  }

  io::Task<Result<void>> open_all() {
    auto making = make_topic_();
    Result<int32_t> count = co_await std::move(making);
    if (!count) co_return count.error();
    runners_.clear();
    runners_.resize(static_cast<size_t>(*count));
    std::vector<io::Task<Result<void>>> loads;
    for (int32_t partition = 0; partition < *count; ++partition) {
      const io::Core& core = log_.core_of(name_of(partition));
      loads.push_back(io::on(core.executor, open_one(core, partition)));
    }
    auto loading = io::when_all(std::move(loads));
    std::vector<Result<void>> loaded = co_await std::move(loading);
    for (Result<void>& one : loaded) {
      if (!one) co_return one;
    }
    co_return Result<void>();
  }

  io::Task<Result<void>> open_one(const io::Core& core, int32_t partition) {
    std::shared_ptr<log::Partition> log = log_.find(name_of(partition));
    if (!log)
      co_return error(ErrorCode::COORDINATOR_NOT_AVAILABLE, topic_ + " has no such partition");
    auto runner = std::make_unique<Runner>(core, std::move(log), make_shard_(partition));
    if (prepare_) prepare_(partition, *runner);
    auto loading = runner->load();
    Result<void> loaded = co_await std::move(loading);
    if (loaded) runners_[static_cast<size_t>(partition)] = std::move(runner);
    co_return loaded;
  }

  TopicPartition name_of(int32_t partition) const { return {TopicName(topic_), partition}; }

  io::Environment& environment_;
  log::LogService& log_;
  std::string topic_;
  MakeTopic make_topic_;
  MakeShard make_shard_;
  Prepare prepare_;
  std::vector<std::unique_ptr<Runner>> runners_;  // complete before ready_, unchanged after
  std::shared_ptr<io::PositionGate> starting_;    // core 0
  std::atomic<bool> ready_{false};
};

}  // namespace ackord::coordinator
