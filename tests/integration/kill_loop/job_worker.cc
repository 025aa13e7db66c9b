#include "tests/integration/kill_loop/job_worker.h"

#include <algorithm>
#include <functional>

namespace ackord::integration {
namespace {

constexpr int32_t kInputsAtOnce = 8;
constexpr int32_t kFetchWaitMs = 100;

}  // namespace

JobWorker::JobWorker(Run& run, std::string transactional_id)
    : run_(run),
      id_(std::move(transactional_id)),
      random_(run.seed ^ std::hash<std::string>()(id_)) {}

void JobWorker::run() {
  while (!run_.workers_stop) {
    try {
      TxnProducer producer(run_.port, id_, ++lives_ % 2 == 0 ? TxnVersion::k1 : TxnVersion::k2);
      producer.init();
      join();
      while (!run_.workers_stop) work(*member_, producer);
    } catch (const std::exception& hindered) {
      run_.story.hindrance(std::string("job worker: ") + hindered.what());
      pause_before_reconnect();
    }
  }
}

// As clients do, under the same member id for as long as the group knows it.
void JobWorker::join() {
  if (member_) {
    member_->reconnect();
    ErrorCode code = ErrorCode::NONE;
    poll_until("ShareGroupHeartbeat", [&] { return !is_starting(code = member_->heartbeat()); });
    if (code == ErrorCode::NONE) return;
    member_.reset();
    require_none(code, "ShareGroupHeartbeat");
  }
  ShareMember member(run_.port, run_.group);
  member.join({run_.inputs});
  member_ = std::move(member);
}

void JobWorker::work(ShareMember& member, TxnProducer& producer) {
  require_none(member.heartbeat(), "ShareGroupHeartbeat");
  const auto taken = member.fetch(run_.inputs, 0, kInputsAtOnce, kFetchWaitMs);
  if (taken.empty()) return;
  std::vector<std::string> outputs;
  std::vector<Staging> staged;
  for (const OffsetRange& range : taken) {
    for (Offset input = range.first; input <= range.last; ++input)
      outputs.push_back(output_of(input));
    staged.push_back({run_.inputs, 0, range.first, range.last});
    int most = run_.story.most_deliveries;
    while (most < range.delivery_count &&
           !run_.story.most_deliveries.compare_exchange_weak(most, range.delivery_count)) {
    }
  }
  const int32_t partition = static_cast<int32_t>(random_() % run_.output.partitions);
  ErrorCode code = ErrorCode::NONE;
  poll_until("Produce", [&] {
    code = producer.produce(run_.output, partition, outputs);
    return code != ErrorCode::CONCURRENT_TRANSACTIONS && !is_starting(code);
  });
  require_none(code, "Produce of an output");
  require(producer.stage(member, staged) == staged_ok(), "a stage was refused");
  const bool commit = random_() % 8 != 0;
  producer.end_for_sure(commit);
  if (commit) run_.story.jobs += static_cast<int64_t>(outputs.size());
  ++(commit ? run_.story.commits : run_.story.aborts);
}

}  // namespace ackord::integration
