// EveryWrite: a broker that is killed (SIGKILL) before and after each of the writes that a request
// leads to, one after another: nothing between "nothing of it is on disk" and "all of it is" is
// left out. It has one core, so that the order of its writes is always the same.
//
// A round takes two records of each partition of a topic whose share state lies in several state
// partitions. What is on disk when the broker dies is read from the files, so that a test can say
// which moments it has seen.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/integration/support/batch_txn.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/crash_point.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {

class EveryWrite : public ::testing::Test {
 protected:
  static constexpr int32_t kStatePartitions = 5;
  static constexpr int32_t kPartitions = 6;
  static constexpr Offset kPerRound = 2;
  static constexpr int kMostSteps = 200;

  // How far a decision had come when the broker died.
  struct Moment {
    bool decided = false;
    size_t told = 0;  // participants besides the decider
    friend auto operator<=>(const Moment&, const Moment&) = default;
  };

  EveryWrite();

  // Calls `round` with 1, 2, 3, … until one says that it was not killed any more.
  void for_each_step(const std::function<bool(int64_t step)>& round);
  // Does it with the crash armed. False: the broker was killed.
  bool survives(int64_t step, const std::function<void()>& request);
  // After that; everybody is connected again.
  void restart(std::initializer_list<TxnProducer*> producers,
               std::initializer_list<BatchTxn*> batches);

  // Produces a round's records and acquires them all.
  void take_records();
  void acquire_all();
  // All of the round, in one request.
  std::vector<Staging> all() const;
  // Each partition's state is `ranges` of the round's records: "AVAILABLE x1"; empty: they are
  // finished.
  void await_all(const std::string& state);
  // One partition's: the same.
  std::string state_of(int32_t partition);
  // Accepts all that is left of the round, so that the next one begins with nothing.
  void finish_round();
  int64_t staged_records() const { return kPartitions * kPerRound; }

  // Batches in each log, by folder name.
  std::map<std::string, int64_t> batches_on_disk() const;
  // Which logs have grown since, of those whose names begin so.
  std::set<std::string> grown_since(const std::map<std::string, int64_t>& before,
                                    const std::string& prefix) const;
  static std::string state_folder(int32_t partition);
  // The state partition that coordinates the group's batch transactions.
  std::string coordinator() const;
  // Those that hold the state of the topic's partitions; the same without the coordinator.
  std::set<std::string> holders() const;
  std::set<std::string> participants() const;
  // It was killed before the decision, and when none, one, two, … all were told.
  void expect_all_moments(const std::set<Moment>& seen, size_t participants) const;

  CrashPoint crash_;
  BrokerProcess broker_;
  RawClient client_{broker_.port()};
  std::string group_ = "every-write";
  ShareMember member_{broker_.port(), group_};
  Topic source_;
  Topic output_;
  Offset first_ = 0;  // of the round, in each partition
  int round_ = 0;
};

}  // namespace ackord::integration
