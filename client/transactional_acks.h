// TransactionalAcks: puts share acknowledgements into the transactions of a stock librdkafka
// producer (2.0.2 or newer), so that its records and the acknowledgements commit together, or not
// at all. Source: KIP-1289; docs/PROTOCOL.md part 3.
//
//   auto acks = TransactionalAcks::create(producer);   // after rd_kafka_init_transactions()
//   (*acks)->bind(*consumer);
//   rd_kafka_begin_transaction(producer);
//   …rd_kafka_producev(producer, …)…
//   auto verdicts = consumer->acknowledgements_for_transaction();
//   (*acks)->send_share_acknowledgements_to_transaction(
//       *verdicts, consumer->share_group_metadata(), Millis(10000));
//   auto committed = (*acks)->commit_transaction(Millis(30000));  // not librdkafka's
//   if (!committed && committed.error().requires_abort) (*acks)->abort_transaction(Millis(30000));
//
// Before the first acknowledgement of each transaction the library (1) asks DescribeTransactions
// for producer id and epoch, (2) lets the producer itself send one offset for the reserved group
// __ackord_acks_only, (3) asks the transaction coordinator for the start of the open transaction,
// and (4) stages with it. Epochs only grow, so (2) proves that the pair of (1) is this producer's
// own and not its successor's; and it makes the producer send its EndTxn even when it has produced
// nothing. The library never ends a transaction itself.
//
// Against a broker without transactional acknowledgements, with share.acknowledgement.fallback set,
// the same calls keep the acknowledgements until the producer's commit and then give them back to
// the consumer, which sends them plainly.
//
// Ownership: the producer must outlive this object; one object per producer. Threads: one at a
// time, which need not be the consumer's.
#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/acknowledgements.h"
#include "client/cluster.h"
#include "client/in_flight.h"

namespace ackord::client {

class ShareConsumer;

struct TransactionError {
  ErrorCode code = ErrorCode::UNKNOWN_SERVER_ERROR;
  std::string message;
  bool retriable = false;       // the same call may be made again
  bool requires_abort = false;  // only abort_transaction() is left
  bool fatal = false;           // the producer is fenced or broken: make a new one
};

[[noreturn]] inline void throw_exception_from_error(const TransactionError&,
                                                    const boost::source_location&) {
  std::abort();
}

using TransactionResult = boost::system::result<void, TransactionError>;

class TransactionalAcks {
 public:
  // Brokers and transactional id are the producer's; `config` gives the rest (its bootstrap_servers
  // are ignored). INVALID_CONFIG: the producer has no transactional id. Plaintext connections only.
  static Result<std::unique_ptr<TransactionalAcks>> create(rd_kafka_t* producer,
                                                           ClientConfig config = {});

  // Lets commit_transaction() refuse when this consumer has been handed a record again that it
  // still holds, even if none of its acknowledgements are in the transaction yet. Consumers whose
  // acknowledgements were sent are known.
  void bind(const ShareConsumer& consumer);

  // Stages the acknowledgements of one member; any number of calls per transaction. Passing errors
  // are tried again until the timeout. After an error the transaction can only be aborted.
  TransactionResult send_share_acknowledgements_to_transaction(
      const ShareAcknowledgements& acknowledgements, const ShareGroupMetadata& metadata,
      Millis timeout);
  // The same, for a consumer that the library knows: the metadata are those of the consumer that
  // they came from, or of the bound one of that group.
  TransactionResult send_share_acks_to_transaction(const ShareAcknowledgements& acknowledgements,
                                                   const GroupId& group, Millis timeout);
  // The caller has seen the delivery report of a record of this very transaction: the producer will
  // end it, and step (2) is left out if the producer's identity has been proved before. Good for
  // one transaction.
  void record_was_delivered() { delivered_ = true; }

  // Refuses (TRANSACTION_ABORTABLE, requires_abort) when an acknowledgement was not staged, or when
  // a consumer was handed a record again that it holds undecided or that is part of this
  // transaction.
  TransactionResult commit_transaction(Millis timeout);
  // The records of the transaction, and those handed again meanwhile, are delivered again.
  TransactionResult abort_transaction(Millis timeout);

 private:
  struct Identity {
    ProducerId id;
    int16_t epoch = -1;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  TransactionalAcks(rd_kafka_t* producer, std::string transactional_id,
                    std::unique_ptr<Cluster> cluster);

  TransactionResult stage(const ShareAcknowledgements& acknowledgements,
                          const ShareGroupMetadata& metadata, const Deadline& deadline);
  // Steps (1) to (3).
  TransactionResult open(const ShareAcknowledgements& acknowledgements,
                         const ShareGroupMetadata& metadata, const Deadline& deadline);
  Result<Identity> describe_transaction(const Deadline& deadline);
  TransactionResult send_reserved_offset(const ShareAcknowledgements& acknowledgements,
                                         const Deadline& deadline);
  Result<TimeMs> add_share_acks(const ShareAcknowledgements& acknowledgements,
                                const ShareGroupMetadata& metadata, const Deadline& deadline);
  // Step (4).
  TransactionResult stage_everywhere(const ShareAcknowledgements& acknowledgements,
                                     const ShareGroupMetadata& metadata, const Deadline& deadline);
  // One request to one leader; what is staged leaves `left`.
  Result<void> stage_at(Connection& leader, const std::vector<TopicIdPartition>& partitions,
                        PartitionAcknowledgements& left, const ShareGroupMetadata& metadata,
                        const Deadline& deadline);
  TransactionResult refuse(const Error& cause);
  void end(bool committed);

  rd_kafka_t* const producer_;
  const std::string transactional_id_;
  const std::unique_ptr<Cluster> cluster_;
  std::set<std::shared_ptr<InFlight>> bound_;
  std::optional<Identity> proved_;
  Identity last_identity_;  // of the last transaction seen to end
  TimeMs last_start_ = -1;  // its start

  // Of the open transaction.
  TransactionToken token_;
  std::optional<TimeMs> start_;
  std::optional<Error> failed_;
  bool delivered_ = false;
  std::set<std::shared_ptr<InFlight>> books_;
  std::vector<ShareAcknowledgements> after_commit_;  // with the fallback
  std::vector<ShareAcknowledgements>
      not_staged_;  // surely not: given back to the broker after an abort
};

}  // namespace ackord::client
