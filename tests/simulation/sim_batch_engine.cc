#include "tests/simulation/sim_batch_engine.h"

namespace ackord::simulation {

io::Task<void> SimBatchEngine::attempt(SimBatchCoordinator& coordinator, const bool& stop) {
  auto running = coordinator.run(stop);
  co_await std::move(running);
  --shared_.running;
}

io::Task<void> SimBatchEngine::run(const bool& stop) {
  while (!stop) {
    const auto number = static_cast<int>(attempts_.size()) + 1;
    attempts_.push_back(std::make_unique<SimBatchCoordinator>(world_, shared_, number, lines_));
    SimBatchCoordinator& current = *attempts_.back();
    ++shared_.running;
    io::spawn(world_.clients, attempt(current, stop));
    while (!current.is_over() && !current.is_hanging()) {
      auto sleeping = world_.sleep_us(200'000);
      co_await std::move(sleeping);
    }
    auto sleeping = world_.sleep_us(static_cast<int64_t>(world_.scheduler.random.below(1'000'000)));
    co_await std::move(sleeping);
  }
  while (shared_.running > 0) {
    auto sleeping = world_.sleep_us(200'000);
    co_await std::move(sleeping);
  }
}

}  // namespace ackord::simulation
