#include "tests/simulation/sim_sink.h"

#include <utility>

namespace ackord::simulation {

io::Task<bool> SimSink::commit(int attempt, std::string id, Records records) {
  SimRandom& random = world_.scheduler.random;
  io::SleepUntil writing(world_.clock,
                         world_.clock.now().steady_ms + static_cast<int64_t>(random.below(20)));
  co_await writing;
  if (attempt != attempt_) co_return false;
  world_.ledger.settled(kGroup, records, world_.scheduler.now_us());
  Records& shown = committed_[id];
  for (const SourceRecord& record : records) {
    if (!is_rejected(record)) shown.push_back(record);
  }
  world_.ledger.note(world_.scheduler.now_us(), "sink", "has " + id + list_of(records));
  co_return true;
}

}  // namespace ackord::simulation
