// SimBatchExecutor: one executor of a batch engine: a consumer that stages what it is handed in the
// engine's open batch transaction, and reports what it has staged (docs/PROTOCOL.md part 2).
//
// Its bad habits: requests repeated and delayed, types that there are not, thinking until its locks
// end; and, once the engine has given it up, going on all the same.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "protocol/generated/batch_txn_acknowledge_request.h"
#include "protocol/generated/batch_txn_acknowledge_response.h"
#include "tests/simulation/sim_consumer.h"

namespace ackord::simulation {

// One batch transaction as the engine and its executors know it; shared, since requests about it
// outlive both.
struct Checkpoint {
  std::string id;
  // Prepare, or an abort, was answered: nothing may join any more.
  bool closed = false;
  // Somebody whose report the engine does not count may have staged something, or the time may have
  // ended it.
  bool disturbed = false;
};

class SimBatchExecutor {
 public:
  struct Report {
    bool done = false;
    bool failed = false;   // only an abort is left
    bool refused = false;  // and the broker must know that: an acknowledgement was refused for good
    int64_t staged = 0;    // offsets, each once
    Records records;
  };

  SimBatchExecutor(World& world, std::string name, Uuid lines)
      : world_(world),
        random_(world.scheduler.random),
        name_(name),
        consumer_(world, std::move(name), kGroup, lines) {}

  // Takes records and stages them; the report fills up on the way, `done` comes last.
  static io::Task<void> work(std::shared_ptr<SimBatchExecutor> self,
                             std::shared_ptr<Checkpoint> checkpoint,
                             std::shared_ptr<Report> report);
  // Of one that was given up: what it has got hold of goes into the transaction as well, within the
  // next milliseconds.
  void haunt(const std::shared_ptr<Checkpoint>& checkpoint);
  // Gets hold of records for a haunting.
  static io::Task<void> arm(std::shared_ptr<SimBatchExecutor> self);
  bool is_armed() const { return !held_.empty(); }
  int haunts = 0;
  // The transaction has ended; what was staged in it may be handed out again.
  void ended() { taken_.clear(); }
  void drop() { consumer_.drop(); }

 private:
  enum class Outcome { kStaged, kFailed, kRefused };

  io::Task<void> work_on(std::shared_ptr<Checkpoint> checkpoint, std::shared_ptr<Report> report);
  io::Task<Outcome> stage(std::shared_ptr<Checkpoint> checkpoint, Records records);
  static io::Task<void> send_later(World& world, std::string name,
                                   std::shared_ptr<Checkpoint> checkpoint,
                                   protocol::BatchTxnAcknowledgeRequest request, int64_t delay_us,
                                   Records records);
  protocol::BatchTxnAcknowledgeRequest request_of(const Checkpoint& checkpoint,
                                                  const Records& records) const;

  World& world_;
  SimRandom& random_;
  std::string name_;
  SimConsumer consumer_;
  std::set<SourceRecord> taken_;  // in the open transaction
  Records held_;
};

}  // namespace ackord::simulation
