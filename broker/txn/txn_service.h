// TxnService: the door to the transaction coordinator (KIP-98, KIP-360, KIP-890; abort-only
// transactions are Ackord's).
//
// State lives in `__transaction_state`, one shard per partition, on that partition's core. Threads:
// every member from any core; it resumes on the caller's. Everything answered is durable. Errors
// are Kafka's newest codes: a handler turns PRODUCER_FENCED into INVALID_PRODUCER_EPOCH for
// versions that do not know it. Waiting: where "waits" is said, a call that meets PrepareCommit or
// PrepareAbort waits for the completion, at most 100 ms, before it answers CONCURRENT_TRANSACTIONS:
// a client's own backoff would cost more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/core.h"
#include "broker/io/task.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/txn/marker_sink.h"
#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::txn {

// Who speaks for a transaction. `id` must own its characters (a copy of a String does).
struct TxnIdentity {
  TransactionalId id;
  log::ProducerStamp producer;
};

// What a client's protocol says of transaction.version: the epoch moves with each EndTxn from 2 on.
enum class ClientTransactionVersion : int16_t { kV0 = 0, kV2 = 2 };

struct InitProducerIdReply {
  ErrorCode error = ErrorCode::NONE;
  log::ProducerStamp producer;  // (-1, -1) on an error
  log::ProducerStamp ongoing;   // of the transaction that was kept; (-1, -1): none
};

struct EndTxnReply {
  ErrorCode error = ErrorCode::NONE;
  log::ProducerStamp next;  // what EndTxn v5 tells the client to go on with; (-1, -1) otherwise
};

struct EnlistReply {
  ErrorCode error = ErrorCode::NONE;
  std::string message;
  TimeMs start_time_ms = -1;  // of the open transaction
};

struct TransactionDescription {
  ErrorCode error = ErrorCode::NONE;  // TRANSACTIONAL_ID_NOT_FOUND, NOT_COORDINATOR, COORDINATOR_*
  std::string state;                  // Kafka's name, "Ongoing"
  int32_t timeout_ms = -1;
  TimeMs start_time_ms = -1;  // -1 when none is open
  log::ProducerStamp producer;
  std::vector<TopicPartition> partitions;  // sorted
};

struct TransactionListing {
  TransactionalId id;
  ProducerId producer_id;
  std::string state;
  TimeMs start_time_ms = -1;
  friend bool operator==(const TransactionListing&, const TransactionListing&) = default;
};

class TxnService {
 public:
  virtual ~TxnService() = default;

  // Start-up, after the metadata's: loads the shards of an existing `__transaction_state` and goes
  // on with transactions that were left between their decision and its completion. A topic made
  // later is loaded on first use.
  virtual io::Task<Result<void>> load() = 0;

  // No transactional id: a fresh producer id. `expected` is what a v3+ request says of itself. Over
  // an open transaction: its abort begins and the answer is CONCURRENT_TRANSACTIONS; the next call
  // waits for it. `keep_prepared` (KIP-939): one under two-phase commit stays open instead. Once
  // that is answered nothing joins it any more, and it ends by EndTxn under its own identity or the
  // new one. INVALID_TXN_STATE when it, or the caller, is not under two-phase commit.
  virtual io::Task<InitProducerIdReply> init_producer_id(std::optional<TransactionalId> id,
                                                         int32_t timeout_ms,
                                                         std::optional<log::ProducerStamp> expected,
                                                         bool enable_2pc,
                                                         bool keep_prepared = false) = 0;

  // Adds the partitions to the transaction, which begins if none is open. Waits. For
  // AddPartitionsToTxn, AddOffsetsToTxn (kV0) and the implicit adds of Produce v12 and
  // TxnOffsetCommit v5 (kV2). Already in it: no write.
  virtual io::Task<ErrorCode> add_partitions(TxnIdentity who,
                                             std::vector<TopicPartition> partitions,
                                             ClientTransactionVersion version) = 0;

  // Whether the partitions are in the open transaction; changes nothing, waits for nothing. A
  // partition that is not: TRANSACTION_ABORTABLE. An error of the transaction stands at every
  // partition.
  virtual io::Task<std::vector<std::pair<TopicPartition, ErrorCode>>> verify(
      TxnIdentity who, std::vector<TopicPartition> partitions) = 0;

  // As add_partitions for share acknowledgements (protocol 1.1 step 7): with `start` given it must
  // be that of the open transaction, else INVALID_TXN_STATE. Never waits for a Prepare state:
  // CONCURRENT_TRANSACTIONS (settle() first).
  virtual io::Task<EnlistReply> enlist(TxnIdentity who, std::optional<TimeMs> start,
                                       std::vector<TopicPartition> partitions) = 0;

  // Waits while the id is in PrepareCommit or PrepareAbort, no longer than `max_wait_ms`. At once
  // for an unknown one.
  virtual io::Task<void> settle(TransactionalId id, int64_t max_wait_ms = 100) = 0;

  // Makes the open transaction abort-only (protocol 1.3), opening it if need be. Durable when it
  // ends with NONE. A wrong identity or start, and a two-phase-commit transaction, change nothing:
  // NONE too. Waits. On an error the transaction may still commit: what was to doom it may not be
  // answered yet.
  virtual io::Task<ErrorCode> doom(TxnIdentity who, std::optional<TimeMs> start) = 0;

  // Decides the transaction; ends when the decision is durable. Markers and completion follow by
  // themselves. kV2: the rules of EndTxn v5.
  virtual io::Task<EndTxnReply> end_txn(TxnIdentity who, bool commit,
                                        ClientTransactionVersion version) = 0;

  virtual io::Task<TransactionDescription> describe(TransactionalId id) = 0;
  // Every transactional id of the broker, in no order. COORDINATOR_LOAD_IN_PROGRESS while a shard
  // loads.
  virtual io::Task<Result<std::vector<TransactionListing>>> list() = 0;

  // Whether the producer's transaction was kept for a successor, so that what it still sends must
  // be refused (INVALID_PRODUCER_EPOCH). Asked on a partition's core, just before it appends: the
  // coordinator is not asked about a producer whose transaction is open there already.
  virtual bool is_sealed(log::ProducerStamp producer) const = 0;

  // Whether an open transaction (Ongoing, PrepareCommit, PrepareAbort) of this producer id lists
  // the partition.
  virtual io::Task<bool> lists_open(ProducerId producer_id, TopicPartition partition) = 0;
};

// All of them must outlive the service.
std::unique_ptr<TxnService> make_txn_service(io::Environment& environment, log::LogService& log,
                                             metadata::MetadataService& metadata,
                                             MarkerSink& markers);

}  // namespace ackord::txn
