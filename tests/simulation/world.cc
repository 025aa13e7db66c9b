#include "tests/simulation/world.h"

#include <utility>

namespace ackord::simulation {
namespace {

// A run takes some thousand steps; the crash lies anywhere in it, sometimes before the first
// answer.
constexpr uint64_t kCrashWithin = 4000;

metadata::BrokerConfig small_broker() {
  metadata::BrokerConfig config;
  config.offsets_topic_num_partitions = 2;
  config.transaction_state_log_num_partitions = 2;
  config.share_coordinator_state_topic_num_partitions = 2;
  // Snapshots happen within a run.
  config.share_coordinator_snapshot_update_records_per_snapshot = 7;
  return config;
}

}  // namespace

World::World(uint64_t seed)
    : scheduler(seed), clients(scheduler), clock(scheduler, clients), network(scheduler, clients) {
  cores_ = static_cast<int>(1 + scheduler.random.below(2));
  crash_at_ = 1 + scheduler.random.below(kCrashWithin);
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
    if (!result) {
      ledger.finding("the broker does not start: " + result.error().message);
      return;
    }
    ledger.note(scheduler.now_us(), "broker", "is up");
    network.attach(broker_.get());
  });
}

void World::crash() {
  crash_step = scheduler.steps();
  ledger.note(scheduler.now_us(), "broker", "dies");
  network.broker_died();
  broker_.reset();
  disk.crash(scheduler.random);
  restart_at_us_ = scheduler.now_us() + static_cast<int64_t>(scheduler.random.below(3'000'000));
  // Something to wake up to, when everybody else waits for the broker.
  scheduler.after(restart_at_us_ - scheduler.now_us(), clients, [this] {
    restart_at_us_ = -1;
    start_broker();
  });
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
    if (crash_step == 0 && scheduler.steps() >= crash_at_) crash();
  }
}

}  // namespace ackord::simulation
