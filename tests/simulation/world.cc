#include "tests/simulation/world.h"

#include <algorithm>
#include <utility>

namespace ackord::simulation {
namespace {

// A run takes some thousand steps; the crashes lie anywhere in it, the first one sometimes before
// the first answer.
constexpr uint64_t kMostCrashes = 3;
constexpr uint64_t kCrashWithin = 4000;
constexpr double kFailedDatasyncChance = 0.1;
constexpr double kPowerLossChance = 0.7;
constexpr double kProvokedChance = 0.03;
constexpr uint64_t kProvokedWithin = 50;
constexpr double kClockJumpChance = 0.25;
constexpr int64_t kFarthestJumpMs = 90'000;

metadata::BrokerConfig small_broker() {
  metadata::BrokerConfig config;
  config.offsets_topic_num_partitions = 2;
  config.transaction_state_log_num_partitions = 2;
  config.share_coordinator_state_topic_num_partitions = 2;
  // Full after a few transactions, so that the log is compacted in the middle of the job.
  config.transaction_state_log_segment_bytes = 2'000;
  config.group_share_max_delivery_count_limit = 100;
  // Snapshots happen within a run.
  config.share_coordinator_snapshot_update_records_per_snapshot = 7;
  // And so is the pruning of the state topic, which goes by them.
  config.share_coordinator_state_topic_prune_interval_ms = 2'000;
  return config;
}

}  // namespace

World::World(uint64_t seed)
    : scheduler(seed), clients(scheduler), clock(scheduler, clients), network(scheduler, clients) {
  cores_ = static_cast<int>(1 + scheduler.random.below(3));
  crashes_left_ = scheduler.random.below(kMostCrashes + 1);
  plan_crash();
  if (scheduler.random.chance(kClockJumpChance))
    clock_jumps_at_ = 1 + scheduler.random.below(kCrashWithin);
  start_broker();
}

World::~World() {
  network.broker_died();
  broker_.reset();
  clients.drop();
  clients.destroy_spawned();
}

void World::start_broker() {
  broker_ = std::make_unique<SimBroker>(scheduler, disk, cores_, small_broker());
  broker_->start([this](Result<void> result) {
    const bool disk_failed = fail_datasync_at_ != 0 && scheduler.steps() >= fail_datasync_at_;
    if (!result && disk_failed) return;  // as it should; the restart comes
    if (!result) {
      ledger.finding("the broker does not start: " + result.error().message);
      return;
    }
    ledger.note(scheduler.now_us(), "broker", "is up");
    network.attach(broker_.get());
  });
}

void World::plan_crash() {
  crash_at_ = fail_datasync_at_ = 0;
  if (crashes_left_ == 0) return;
  --crashes_left_;
  crash_at_ = scheduler.steps() + 1 + scheduler.random.below(kCrashWithin);
  if (!scheduler.random.chance(kFailedDatasyncChance)) return;
  fail_datasync_at_ = crash_at_;
  crash_at_ += scheduler.random.below(kCrashWithin / 4);
}

void World::crash() {
  crash_steps.push_back(scheduler.steps());
  // What a disk that has failed still holds is not to be trusted.
  const bool power = fail_datasync_at_ != 0 || scheduler.random.chance(kPowerLossChance);
  ledger.note(scheduler.now_us(), "broker", power ? "loses its power" : "is killed");
  network.broker_died();
  broker_.reset();
  if (power) disk.crash(scheduler.random);
  plan_crash();
  restart_at_us_ = scheduler.now_us() + static_cast<int64_t>(scheduler.random.below(3'000'000));
  // Something to wake up to, when everybody else waits for the broker.
  scheduler.after(restart_at_us_ - scheduler.now_us(), clients, [this] {
    restart_at_us_ = -1;
    start_broker();
  });
}

void World::provoke() {
  if (crash_at_ == 0 || fail_datasync_at_ != 0 || !scheduler.random.chance(kProvokedChance)) return;
  crash_at_ = std::min(crash_at_, scheduler.steps() + 1 + scheduler.random.below(kProvokedWithin));
}

void World::jump() {
  const int64_t by_ms =
      static_cast<int64_t>(scheduler.random.below(2 * kFarthestJumpMs)) - kFarthestJumpMs;
  ledger.note(scheduler.now_us(), "clock", "jumps by " + std::to_string(by_ms) + " ms");
  scheduler.jump_wall(by_ms);
}

namespace {

struct Sleep {
  SimScheduler& scheduler;
  SimExecutor& executor;
  int64_t duration_us;
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    scheduler.after(duration_us, executor, [caller] { caller.resume(); });
  }
  void await_resume() noexcept {}
};

}  // namespace

io::Task<void> World::sleep_us(int64_t duration_us) {
  Sleep sleep{scheduler, clients, duration_us};
  co_await sleep;
}

io::Task<void> World::finishing(io::Task<void> job, bool& finished) {
  co_await std::move(job);
  finished = true;
}

void World::run(io::Task<void> job, uint64_t steps_limit) {
  io::spawn(clients, finishing(std::move(job), finished));
  while (!finished && ledger.findings().empty()) {
    if (scheduler.steps() > steps_limit) {
      ledger.finding("the run did not end within " + std::to_string(steps_limit) + " steps");
      return;
    }
    if (!scheduler.step()) {
      ledger.finding("nothing will ever happen again, and the job has not ended");
      return;
    }
    if (fail_datasync_at_ != 0 && scheduler.steps() == fail_datasync_at_) {
      ledger.note(scheduler.now_us(), "disk", "fails");
      disk.fail_next_datasync();
    }
    if (scheduler.steps() == clock_jumps_at_) jump();
    if (crash_at_ != 0 && scheduler.steps() >= crash_at_ && broker_) crash();
  }
}

}  // namespace ackord::simulation
