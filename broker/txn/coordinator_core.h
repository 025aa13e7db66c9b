// CoordinatorCore: one shard of the transaction coordinator with all that it does besides deciding:
// it waits for completions, sends markers, fetches producer ids, aborts what has timed out.
//
// Belongs to the core of its partition of `__transaction_state`; every member runs there. Lives as
// long as the service.
#pragma once

#include <memory>
#include <utility>

#include "broker/coordinator/runtime.h"
#include "broker/io/signal.h"
#include "broker/metadata/metadata_service.h"
#include "broker/txn/marker_sender.h"
#include "broker/txn/sealed_producers.h"
#include "broker/txn/txn_shard.h"

namespace ackord::txn {

class CoordinatorCore {
 public:
  CoordinatorCore(const io::Core& core, std::shared_ptr<log::Partition> partition,
                  TxnSettings settings, metadata::MetadataService& metadata, MarkerSink& markers,
                  SealedProducers& sealed);

  const io::Core& core() const { return runner_.core(); }
  const TxnShard& shard() const { return runner_.shard(); }

  // Replays the log and goes on with what was decided but not completed.
  io::Task<Result<void>> load();

  // Runs one operation, as it is.
  template <class Op>
  io::Task<Result<typename Op::Reply>> run(Op op) {
    auto running = runner_.run(std::move(op));
    co_return co_await std::move(running);
  }
  io::Task<InitProducerIdReply> init_producer_id(InitProducerId op);
  io::Task<ErrorCode> add_partitions(AddPartitions op);
  io::Task<EnlistReply> enlist(Enlist op);
  io::Task<ErrorCode> doom(Doom op);
  io::Task<EndTxnReply> end_txn(EndTxn op);

  // False when the id is still in a Prepare state at `deadline_ms` (steady).
  io::Task<bool> wait_settled(TransactionalId id, int64_t deadline_ms);

 private:
  int64_t wait_deadline() const;
  int16_t transaction_version() const;
  void start_completing(PreparedTransaction transaction);
  io::Task<void> complete(PreparedTransaction transaction);
  io::Task<void> abort_timed_out(TimedOut timed_out);

  coordinator::ShardRunner<TxnShard> runner_;
  metadata::MetadataService& metadata_;
  MarkerSender sender_;
  SealedProducers& sealed_;
  io::Signal settled_;  // notified with each completion
};

}  // namespace ackord::txn
