// SimPlainConsumer: a share consumer without transactions, as any stock one. In the job's group it
// rejects what the job rejects and releases the rest; in a group of its own it accepts everything,
// beside all the transactions on the same topic (I7).
#pragma once

#include <string>

#include "tests/simulation/sim_consumer.h"

namespace ackord::simulation {

class SimPlainConsumer {
 public:
  enum class Habit { kRejects, kAccepts };
  SimPlainConsumer(World& world, std::string name, std::string group, Habit habit, Uuid lines)
      : world_(world), consumer_(world, std::move(name), std::move(group), lines), habit_(habit) {}

  io::Task<void> run(const bool& stop);

 private:
  io::Task<void> acknowledge(Records records);

  World& world_;
  SimConsumer consumer_;
  Habit habit_;
};

}  // namespace ackord::simulation
