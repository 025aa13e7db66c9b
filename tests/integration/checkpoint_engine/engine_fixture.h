// EngineTest: a broker, a topic of inputs, and the checkpointing engine (tools/checkpoint-engine)
// that a test starts, kills and starts again. What it asserts in the end: every input has exactly
// one result in the SQLite file, and the group has nothing left.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"
#include "tests/support/temp_directory.h"

namespace ackord::integration {

class EngineTest : public ::testing::Test {
 protected:
  static constexpr int kPartitions = 2;
  static constexpr Millis kRunLimit{60000};

  // `proxied`: more listeners of the broker.
  explicit EngineTest(std::vector<ProxiedListener> proxied = {});

  // Distinct values "in-N", spread over the partitions.
  void feed(int count);
  // A run in the background, ending by itself when it has been idle for some checkpoints.
  ChildProcess start(const std::vector<std::string>& more = {});
  // Until it ends; its exit status (128 + signal).
  int run(const std::vector<std::string>& more = {});
  // Starts it again, as a supervisor does, until there is a result of each input.
  void run_until_done();
  // Results by input value; an input that has none is missing.
  std::map<std::string, int> results() const;
  void expect_each_input_once();
  // Until the file has results of at least so many inputs; until runs have started so many
  // executors.
  void await_results(size_t count);
  void await_executors(size_t count);
  bool said(const std::string& text) const;
  // The processes of executors that runs have named so far.
  std::vector<int> executors() const;
  std::string engine_output() const;

  test::TempDirectory directory_;
  BrokerProcess broker_;
  // Where runs reach the broker.
  std::string bootstrap_;
  Topic topic_;
  std::string group_ = "engine";
  int fed_ = 0;
  // After how many checkpoints without a result a run ends by itself.
  int idle_checkpoints_ = 6;
};

}  // namespace ackord::integration
