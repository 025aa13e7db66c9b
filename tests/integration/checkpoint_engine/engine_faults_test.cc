// What else may go wrong while the engine runs: the broker dies, an executor dies, an executor of
// an earlier attempt comes back to life.
#include <signal.h>

#include <random>
#include <thread>

#include "tests/integration/checkpoint_engine/engine_fixture.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

class EngineFaults : public EngineTest {
 protected:
  // Until the file has results of at least so many inputs.
  void await_results(size_t count) {
    poll_until("results", [&] { return results().size() >= count; }, kRunLimit);
  }
  void await_executors(size_t count) {
    poll_until("executors", [&] { return executors().size() >= count; }, kRunLimit);
  }
};

TEST_F(EngineFaults, NothingGoesWrong) {
  feed(100);
  EXPECT_EQ(run(), 0) << engine_output();
  expect_each_input_once();
}

TEST_F(EngineFaults, TheBrokerIsKilledAgainAndAgain) {
  std::mt19937 random(11);
  for (int round = 0; round < 8; ++round) {
    feed(20);
    ChildProcess engine = start();
    await_executors(executors().size() + 1);
    // At any step of the first checkpoints.
    std::this_thread::sleep_for(Millis(random() % 1500));
    broker_.crash();
    const std::optional<int> status = engine.wait_for_end(kRunLimit);
    ASSERT_TRUE(status.has_value()) << engine_output();
  }
  run_until_done();
  expect_each_input_once();
}

TEST_F(EngineFaults, AnExecutorDiesInTheTransaction) {
  feed(100);
  ChildProcess engine = start();
  await_executors(4);
  std::this_thread::sleep_for(Millis(500));
  ::kill(executors().back(), SIGKILL);
  const std::optional<int> status = engine.wait_for_end(kRunLimit);
  ASSERT_TRUE(status.has_value()) << engine_output();
  run_until_done();
  expect_each_input_once();
}

// It has taken records, stands still while the job is started anew, and goes on then.
TEST_F(EngineFaults, AZombieExecutorComesBack) {
  feed(100);
  ChildProcess engine = start();
  await_executors(4);
  await_results(1);
  feed(50);
  const std::vector<int> zombies = executors();
  for (const int zombie : zombies) ::kill(zombie, SIGSTOP);
  engine.signal(SIGKILL);
  ASSERT_TRUE(engine.wait_for_end(kRunLimit).has_value());
  ChildProcess successor = start();
  await_executors(8);
  for (const int zombie : zombies) ::kill(zombie, SIGCONT);
  const std::optional<int> status = successor.wait_for_end(kRunLimit);
  ASSERT_TRUE(status.has_value()) << engine_output();
  run_until_done();
  expect_each_input_once();
}

}  // namespace
}  // namespace ackord::integration
