#include "tests/simulation/sim_plain_consumer.h"

#include <utility>

namespace ackord::simulation {
namespace {

constexpr int8_t kAccept = 1;
constexpr int8_t kRelease = 2;

int8_t accept_all(const SourceRecord&) { return kAccept; }
int8_t reject_some(const SourceRecord& record) {
  return is_rejected(record) ? verdict_on(record) : kRelease;
}

}  // namespace

io::Task<void> SimPlainConsumer::run(const bool& stop) {
  while (!stop) {
    auto beating = consumer_.heartbeat();
    const bool member = co_await std::move(beating);
    Records records;
    if (member) {
      auto fetching = consumer_.fetch();
      records = co_await std::move(fetching);
    }
    // Releasing raises delivery counts, so it does little, with long pauses.
    int64_t pause_ms = 500;
    if (!records.empty()) {
      if (habit_ == Habit::kRejects) pause_ms = 15000;
      auto acknowledging = acknowledge(std::move(records));
      co_await std::move(acknowledging);
    }
    auto thinking = consumer_.think(pause_ms);
    co_await std::move(thinking);
  }
}

io::Task<void> SimPlainConsumer::acknowledge(Records records) {
  const bool accepts = habit_ == Habit::kAccepts;
  auto acknowledging =
      consumer_.acknowledge(std::move(records), accepts ? accept_all : reject_some);
  SimConsumer::Acknowledged result = co_await std::move(acknowledging);
  if (!accepts) {
    const auto released = [](const SourceRecord& record) { return !is_rejected(record); };
    std::erase_if(result.taken, released);
    std::erase_if(result.unknown, released);
  }
  world_.ledger.settled(consumer_.group(), result.taken, world_.scheduler.now_us());
  world_.ledger.undecided(consumer_.group(), result.unknown);
  if (!result.taken.empty()) consumer_.note("is done with" + list_of(result.taken));
}

}  // namespace ackord::simulation
