// The engine is killed at each step of a checkpoint, and started again: what it has done is
// visible, the rest is done again; nothing is lost, nothing is there twice.
#include <signal.h>

#include "tests/integration/checkpoint_engine/engine_fixture.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

constexpr int kKilled = 128 + SIGKILL;

class KillPoints : public EngineTest {
 protected:
  // `visible`: whether the results of the checkpoint that was killed are there at once.
  void killed_after(const std::string& step, bool visible) {
    feed(60);
    ASSERT_EQ(run({"--die-at", step}), kKilled) << engine_output();
    EXPECT_EQ(!results().empty(), visible) << engine_output();
    feed(5);
    run_until_done();
    expect_each_input_once();
  }
};

TEST_F(KillPoints, AfterTheAcknowledgementsAreStaged) {
  killed_after("acks", false);
  EXPECT_TRUE(said(": aborted")) << "what was left is settled";
}

TEST_F(KillPoints, AfterThePrepare) {
  killed_after("prepare", false);
  EXPECT_TRUE(said(": aborted")) << "what was left is settled";
}

TEST_F(KillPoints, AfterTheSinkHasCommitted) {
  killed_after("sink", true);
  EXPECT_TRUE(said(": committed")) << "what was left is settled";
}

TEST_F(KillPoints, AfterTheCommitBeforeTheEngineIsTold) {
  killed_after("commit", true);
  EXPECT_FALSE(said("recovered")) << "nothing was left";
}

}  // namespace
}  // namespace ackord::integration
