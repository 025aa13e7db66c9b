// Batch transactions: share acknowledgements that commit with something that is not a Kafka
// producer (docs/PROTOCOL.md part 2). For engines with one coordinator and many executors, whose
// sink is a database, a file system, anything.
//
//   coordinator                                       executors, each with a ShareConsumer
//   begin(id)
//                                                     poll … acknowledge(record)
//                                                     acknowledge(id, acks, metadata)
//                                                     report(id)  → StagedOffsets
//   prepare(id, sum of the reports)
//   …the engine makes its own commit durable…
//   commit(id)                                        ended(id, true)
//
//   after a crash: recover(prefix, should_commit)
//
// The sum matters: the broker says how many records are staged, and when that is not what the
// executors of this attempt have staged (one is lost, or one of an earlier attempt is still alive),
// or when two of them report the same record, prepare() aborts. Ids are chosen by the engine;
// "{group}-{prefix}-{checkpoint}" is the convention, and the prefix should hold the job's attempt.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/acknowledgements.h"
#include "client/cluster.h"
#include "client/in_flight.h"
#include "client/staged_offsets.h"

namespace ackord::client {

enum class BatchTransactionState { kOngoing, kPrepare, kCommitted, kAborted };
// As on the wire: "ONGOING", …
const char* name_of(BatchTransactionState state);
std::optional<BatchTransactionState> batch_transaction_state(std::string_view name);

struct BatchTransaction {
  std::string id;
  BatchTransactionState state = BatchTransactionState::kOngoing;
  TimeMs create_time_ms = 0;
  TimeMs prepare_time_ms = -1;
  Millis timeout{0};
  // What is staged, by source partition; of undecided ones only.
  PartitionAcknowledgements pending;
  std::map<Uuid, TopicName> topics;  // the names of all topics in `pending` that exist
};

// The engine's coordinator. Passing errors are tried again until the deadline. One thread at a
// time.
class BatchTransactionCoordinator {
 public:
  // UNSUPPORTED_VERSION: the broker has no batch transactions, or share.version is below 3.
  static Result<std::unique_ptr<BatchTransactionCoordinator>> create(ClientConfig config,
                                                                     GroupId group, Millis timeout);

  // The broker aborts it after `transaction_timeout`, unless it is prepared by then.
  // INVALID_TXN_STATE: the id was used before; one that an earlier attempt has left open with
  // records in it is aborted then, so that they are delivered again. Use another id.
  Result<void> begin(const std::string& id, Millis transaction_timeout, Millis timeout);
  // Closes it. `expected`: what the executors have reported, added up; when the broker counts
  // otherwise, or when it overlaps, the transaction is aborted and the answer is
  // TRANSACTION_ABORTABLE. After success only commit() and abort() end it: no timeout does.
  Result<void> prepare(const std::string& id, const StagedOffsets& expected, Millis timeout);
  // When these return without an error, every record of it is acknowledged, or delivered again.
  Result<void> commit(const std::string& id, Millis timeout);
  Result<void> abort(const std::string& id, Millis timeout);

  // Those whose ids begin with the prefix, in one of these states; none named: in any.
  Result<std::vector<BatchTransaction>> list(const std::string& prefix,
                                             const std::vector<BatchTransactionState>& states,
                                             Millis timeout);
  // Those that are neither committed nor aborted, whose ids begin with the prefix.
  Result<std::vector<BatchTransaction>> list_pending(const std::string& prefix, Millis timeout);
  struct Recovered {
    std::vector<std::string> committed;
    std::vector<std::string> aborted;
  };
  // After a restart of the engine: prepared ones for which `should_commit` says so (the engine's
  // own commit had become durable) are committed, all others aborted. Safe to repeat.
  Result<Recovered> recover(const std::string& prefix,
                            const std::function<bool(const std::string& id)>& should_commit,
                            Millis timeout);

 private:
  struct Answered {
    std::string state;
    int64_t staged_records = 0;
  };

  BatchTransactionCoordinator(std::unique_ptr<Cluster> cluster, GroupId group)
      : cluster_(std::move(cluster)), group_(std::move(group)) {}

  template <class Response, class Request>
  Result<Answered> call(const Request& request, const Deadline& deadline);
  template <class Response, class Request>
  Result<Answer<Response>> ask(const Request& request, const Deadline& deadline);
  // Aborts it; why.
  Error give_up(const std::string& id, ErrorCode code, std::string why, const Deadline& deadline);
  template <class Request>
  Request request_of(const std::string& id) const;

  const std::unique_ptr<Cluster> cluster_;
  const GroupId group_;
};

// One executor: stages what its consumers have decided. One thread at a time, which need not be the
// consumers'.
class BatchTransactionExecutor {
 public:
  static Result<std::unique_ptr<BatchTransactionExecutor>> create(ClientConfig config);

  // What ShareConsumer::acknowledgements_for_transaction() has handed over. After an error the
  // transaction can only be aborted, and report() says so.
  Result<void> acknowledge(const std::string& id, const ShareAcknowledgements& acknowledgements,
                           const ShareGroupMetadata& metadata, Millis timeout);
  // What this executor has staged in it, for prepare(). TRANSACTION_ABORTABLE when an
  // acknowledgement was not staged, or when a consumer was handed a record again that it holds.
  Result<StagedOffsets> report(const std::string& id) const;
  // The coordinator has committed or aborted it: the consumers forget its records, or take them up
  // again.
  void ended(const std::string& id, bool committed);

 private:
  struct Open {
    TransactionToken token = 0;
    StagedOffsets staged;
    std::optional<Error> failed;
    std::set<std::shared_ptr<InFlight>> books;
    std::vector<ShareAcknowledgements> not_staged;  // surely not: given back when it has ended
  };

  explicit BatchTransactionExecutor(std::unique_ptr<Cluster> cluster)
      : cluster_(std::move(cluster)) {}

  const std::unique_ptr<Cluster> cluster_;
  std::map<std::string, Open> open_;
};

}  // namespace ackord::client
