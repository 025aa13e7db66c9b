// What else may go wrong while the engine runs: the broker dies, an executor dies, an executor of
// an earlier attempt comes back to life.
#include <signal.h>

#include <random>
#include <thread>

#include "tests/integration/checkpoint_engine/engine_fixture.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

class EngineFaults : public EngineTest {};

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

// The whole of an earlier attempt stands still between its prepare and its sink, and goes on when a
// later one has aborted what it had prepared: its results must not come into the file any more.
TEST_F(EngineFaults, AZombieCoordinatorComesBack) {
  feed(60);
  ChildProcess zombie = start({"--stop-at", "prepare"});
  poll_until("the stop", [&] { return zombie.stopped(); }, kRunLimit);
  EXPECT_EQ(results().size(), 0u);
  ChildProcess successor = start();
  poll_until("recovery", [&] { return said(": aborted"); }, kRunLimit);
  zombie.signal(SIGCONT);
  EXPECT_EQ(zombie.wait_for_end(kRunLimit), 1) << engine_output();
  EXPECT_TRUE(said("attempt 2 has begun")) << engine_output();
  ASSERT_TRUE(successor.wait_for_end(kRunLimit).has_value()) << engine_output();
  run_until_done();
  expect_each_input_once();
}

}  // namespace
}  // namespace ackord::integration
