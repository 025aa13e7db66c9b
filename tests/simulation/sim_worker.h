// SimWorker: one consumer and one transactional producer of the simulated job, raw protocol, with
// every habit that a real one has or should not have: repeated and delayed requests, locks that
// expire while it thinks, a pause in the middle of a transaction, sessions that it drops, an abort
// while a stage is still under way, a commit although a stage was refused.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"
#include "protocol/generated/add_share_acks_to_txn_request.h"
#include "protocol/generated/add_share_acks_to_txn_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/generated/txn_share_acknowledge_request.h"
#include "protocol/generated/txn_share_acknowledge_response.h"
#include "tests/simulation/sim_consumer.h"

namespace ackord::simulation {

class SimWorker {
 public:
  struct Options {
    std::string name;
    std::string transactional_id;
    bool transaction_version_2 = true;  // Produce v12 and EndTxn v5, or Produce v11 and EndTxn v4
    bool sleeps_once = false;           // long enough in a transaction that another takes its place
    bool has_twin = false;              // another worker uses the same transactional id
    // As the client library does with a stock producer, whose epoch it cannot see and which sends
    // EndTxn only when it has added something itself (part 3).
    bool through_library = false;
  };

  // `lines` is the source topic's id. All but `world` is copied; the worker outlives its run().
  SimWorker(World& world, Options options, Uuid lines);

  // Works until `stop`, or until it learns that it has been replaced.
  io::Task<void> run(const bool& stop);
  // Set while it sleeps in a transaction: the moment to start its replacement.
  bool asleep() const { return asleep_; }

 private:
  // kRefused: a stage failed for good, so that the transaction may not commit (protocol 1.3).
  enum class Step { kDone, kAbort, kRefused, kFenced };
  io::Task<bool> init_producer();
  // `at_once`: right behind the one before, whose markers may still be under way.
  io::Task<Step> transaction(Records records, bool at_once);
  // Outputs and acknowledgements of the records, in the order that chance wants.
  io::Task<Step> work(const Records& records);
  io::Task<Step> work_on(Records records, bool outputs_first);
  io::Task<Step> think_too_long(const Records& held);
  io::Task<Step> stage_and_abort(const Records& records);
  io::Task<Step> begin();
  // Before the first stage: what the library does to learn, and prove, whose transaction it is.
  io::Task<Step> prove_identity();
  io::Task<Step> describe_transaction();
  io::Task<Step> send_reserved_offset();
  io::Task<ErrorCode> add_reserved_group();
  io::Task<void> fall_asleep(int64_t up_to_ms);
  io::Task<Step> produce_all(const Records& records);
  io::Task<Step> produce(int32_t partition, Records records);
  io::Task<Step> add_partition(int32_t partition);
  io::Task<Step> stage(const Records& records);
  Step judge(const protocol::TxnShareAcknowledgeResponse& response, bool& retry);
  io::Task<Step> end(bool commit);
  io::Task<void> send_later(protocol::TxnShareAcknowledgeRequest request, int64_t delay_ms,
                            std::shared_ptr<const bool> ended);
  io::Task<void> repeat_markers(log::EndMarker marker, int64_t delay_ms);
  io::Task<void> think(int64_t up_to_ms);
  void note(const std::string& what) {
    world_.ledger.note(world_.scheduler.now_us(), options_.name, what);
  }
  protocol::TxnShareAcknowledgeRequest stage_request(const Records& records) const;

  World& world_;
  SimRandom& random_;
  Options options_;
  Uuid lines_;
  SimConsumer consumer_;
  SimConnection& connection_;
  ProducerId producer_id_;
  int16_t producer_epoch_ = -1;
  bool producer_ready_ = false;
  log::ProducerStamp stages_as_;  // the same, but for the library, which has to find out
  bool producer_added_ = false;   // what makes a stock producer send EndTxn
  int64_t start_ms_ = -1;
  std::map<int32_t, int32_t> sequences_;
  bool careless_ = false;        // goes on after a refused stage, and commits
  bool stage_is_first_ = false;  // of this transaction, which nobody can have ended yet
  int jumps_ = 0;                // of the clock, when it began
  bool commit_unanswered_ = false;
  Records held_back_;            // acquired, and not in the transaction
  std::shared_ptr<bool> ended_;  // this transaction, answered
  bool asleep_ = false;
  bool has_slept_ = false;
};

}  // namespace ackord::simulation
