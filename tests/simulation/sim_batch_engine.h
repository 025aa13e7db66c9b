// SimBatchEngine: an engine whose sink is not Kafka, on batch transactions (docs/PROTOCOL.md part
// 2): attempt after attempt of a coordinator with its executors. An attempt may crash at any point,
// or hang and wake up when the next one is at work already.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/sim_batch_coordinator.h"
#include "tests/simulation/sim_sink.h"

namespace ackord::simulation {

class SimBatchEngine {
 public:
  // `sink` outlives it.
  SimBatchEngine(World& world, SimSink& sink, Uuid lines)
      : world_(world),
        shared_{sink, {}, {}, world.scheduler.random.chance(0.5), 0},
        lines_(lines) {}

  // Until `stop`, and no attempt is left.
  io::Task<void> run(const bool& stop);

 private:
  io::Task<void> attempt(SimBatchCoordinator& coordinator, const bool& stop);

  World& world_;
  SharedByAttempts shared_;
  Uuid lines_;
  std::vector<std::unique_ptr<SimBatchCoordinator>> attempts_;
};

}  // namespace ackord::simulation
