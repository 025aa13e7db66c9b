// What must hold when everything has come to rest. Each adds its findings to the run's story.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/integration/kill_loop/idempotent_writer.h"
#include "tests/integration/kill_loop/job_worker.h"
#include "tests/integration/kill_loop/txn_writer.h"

namespace ackord::integration {

// Follows a partition as a consumer does while the broker is killed, and keeps what it has seen.
class Follower {
 public:
  Follower(Run& run, Topic topic, int32_t partition)
      : run_(run), topic_(std::move(topic)), partition_(partition) {}
  // Until the run's writers stop. One thread.
  void run();
  // What a reader has seen is there for good, at its offset.
  void check(RawClient& client) const;

 private:
  Run& run_;
  Topic topic_;
  int32_t partition_;
  Offset next_ = 0;
  std::map<Offset, std::string> seen_;
};

// Every acknowledged record is at its offset, and no record is there twice.
void check_idempotent(Run& run, RawClient& client, const IdempotentWriter& writer);
// read_committed sees the records of exactly the committed transactions, each once, in each
// partition.
void check_ledger(Run& run, RawClient& client, const std::vector<TxnWriter>& writers);
// Exactly one output per input, and no input left.
void check_jobs(Run& run, RawClient& client);
// No transaction of these ids is open or undecided, and no partition is held back by one.
void check_nothing_hangs(Run& run, RawClient& client, const std::vector<std::string>& ids);

}  // namespace ackord::integration
