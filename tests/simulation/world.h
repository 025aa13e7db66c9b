// World: one simulated run: the machine, its disk, the broker's lives, the network and the clients.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/ledger.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/sim_broker.h"
#include "tests/simulation/sim_disk.h"
#include "tests/simulation/sim_network.h"

namespace ackord::simulation {

struct Report {
  uint64_t seed = 0;
  uint64_t steps = 0;
  int64_t simulated_ms = 0;
  std::vector<uint64_t> crash_steps;
  Ledger ledger;
  bool failed() const { return !ledger.findings().empty(); }
};

class World {
 public:
  explicit World(uint64_t seed);
  ~World();

  // Runs `job` (a task of the clients' core) to its end, with up to three crashes on the way: the
  // power fails, or the process is killed and the page cache stays; now and then a datasync fails
  // first, and the broker runs on without that log until somebody restarts it. The wall clock may
  // jump meanwhile. A job that never ends is a finding.
  void run(io::Task<void> job, uint64_t steps_limit);
  // Somebody sends what it hurts most to lose: now and then the next crash comes right behind it.
  void provoke();
  // Of the clients' core.
  io::Task<void> sleep_us(int64_t duration_us);

  SimScheduler scheduler;
  SimDisk disk;
  SimExecutor clients;
  SimClock clock;
  SimNetwork network;
  Ledger ledger;
  std::vector<uint64_t> crash_steps;
  // The broker's first life has begun and the job may start.
  bool finished = false;

 private:
  void start_broker();
  void plan_crash();
  void crash();
  void jump();
  static io::Task<void> finishing(io::Task<void> job, bool& finished);

  std::unique_ptr<SimBroker> broker_;
  int cores_;
  bool starting_ = false;
  int64_t restart_at_us_ = -1;
  uint64_t crashes_left_ = 0;
  uint64_t crash_at_ = 0;          // 0: none to come
  uint64_t fail_datasync_at_ = 0;  // 0: none fails before it
  uint64_t clock_jumps_at_ = 0;    // 0: never
};

}  // namespace ackord::simulation
