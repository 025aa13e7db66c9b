// SimSink: what a batch engine writes into instead of Kafka. A commit becomes durable as a whole, a
// while after it was asked for. Whoever has opened the sink last is the only one whose commits it
// takes, so that a coordinator that was replaced while it hung does no harm.
#pragma once

#include <map>
#include <string>

#include "tests/simulation/sim_consumer.h"

namespace ackord::simulation {

class SimSink {
 public:
  explicit SimSink(World& world) : world_(world) {}

  // From now on the commits of earlier attempts are refused.
  void open(int attempt) { attempt_ = attempt; }
  // The records of a checkpoint, whose transaction `id` is prepared: those that are accepted are
  // shown, and all of them are final (I1: nothing but a commit may follow). False: another attempt
  // has opened the sink.
  io::Task<bool> commit(int attempt, std::string id, Records records);
  bool has(const std::string& id) const { return committed_.contains(id); }
  // What a reader sees, by checkpoint.
  const std::map<std::string, Records>& shown() const { return committed_; }

 private:
  World& world_;
  int attempt_ = 0;
  std::map<std::string, Records> committed_;
};

}  // namespace ackord::simulation
