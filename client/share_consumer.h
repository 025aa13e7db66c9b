// ShareConsumer: a member of a share group (KIP-932) that can also put its acknowledgements into
// transactions.
//
//   ShareConsumerConfig config;
//   config.client.bootstrap_servers = "localhost:9092";
//   config.group = "payments";
//   config.mode = AcknowledgementMode::kTransactional;
//   auto consumer = ShareConsumer::create(config, Millis(10000));
//   (*consumer)->subscribe({"orders"});
//   TransactionalAcks transaction(producer);             // see transactional_acks.h
//   transaction.bind(**consumer);
//   auto records = (*consumer)->poll(Millis(1000));
//   rd_kafka_begin_transaction(producer);
//   for (const ShareRecord& record : *records) {
//     …produce the result…
//     (*consumer)->acknowledge(record, AcknowledgeType::kAccept);
//   }
//   auto acks = (*consumer)->acknowledgements_for_transaction();
//   transaction.send_share_acknowledgements_to_transaction(
//       *acks, (*consumer)->share_group_metadata(), Millis(10000));
//   transaction.commit_transaction(Millis(30000));
//
// Threads: heartbeats have their own; all else happens in the caller's thread, one at a time.
// Errors: a Result's; the consumer stays usable unless the group has refused the member for good.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/acknowledgements.h"
#include "client/cluster.h"
#include "client/in_flight.h"
#include "client/record.h"
#include "client/share_membership.h"
#include "client/share_session.h"

namespace ackord::client {

// share.acknowledgement.mode
enum class AcknowledgementMode {
  kImplicit,       // a poll accepts what the poll before it delivered
  kExplicit,       // acknowledge() each record before the next poll; sent with the next poll or
                   // commit_sync()
  kTransactional,  // acknowledge() at any time; sent by a transaction. Undecided records stay in
                   // flight.
};

// What happens when a record's acknowledgement was answered; the code is NONE for success.
using AcknowledgementCallback = std::function<void(
    const TopicIdPartition&, const std::vector<AcknowledgementBatch>&, ErrorCode)>;

struct ShareConsumerConfig {
  ClientConfig client;
  GroupId group;
  AcknowledgementMode mode = AcknowledgementMode::kImplicit;
  // share.acknowledgement.fallback: what to do when the broker has no transactional
  // acknowledgements. Without it the consumer does not start. kExplicit: decided records are
  // acknowledged plainly after the producer's commit; kImplicit: undecided ones are accepted then
  // too. At-least-once in both.
  std::optional<AcknowledgementMode> fallback;
  ShareFetchLimits limits;
  std::optional<std::string> rack;
  AcknowledgementCallback on_acknowledged;

  // Sets an option by Kafka's name: bootstrap.servers, client.id, group.id, client.rack,
  // share.acknowledgement.mode, share.acknowledgement.fallback, share.acquire.mode,
  // max.poll.records, fetch.min.bytes, fetch.max.bytes, fetch.max.wait.ms, request.timeout.ms.
  // INVALID_CONFIG for another name or a value it cannot have.
  Result<void> set(std::string_view name, std::string_view value);
};

class ShareConsumer {
 public:
  // Connects and looks at what the broker can do. UNSUPPORTED_VERSION: no share groups; or
  // kTransactional without a fallback, and the broker lacks TxnShareAcknowledge or share.version 3.
  static Result<std::unique_ptr<ShareConsumer>> create(ShareConsumerConfig config, Millis timeout);
  ~ShareConsumer();  // without close(): the broker releases the records when the connections break

  void subscribe(std::vector<TopicName> topics);
  // Up to max.poll.records; empty at the timeout. INVALID_RECORD_STATE in kExplicit with undecided
  // records.
  Result<std::vector<ShareRecord>> poll(Millis timeout);
  // kAccept, kRelease, kReject or kRenew. INVALID_RECORD_STATE when this copy is not held (any
  // more), or in kImplicit.
  Result<void> acknowledge(const ShareRecord& record,
                           AcknowledgeType type = AcknowledgeType::kAccept);
  // Sends verdicts plainly and waits for the answers, per partition. kImplicit: accepts all
  // delivered records. kTransactional: releases and renewals only, the others wait for their
  // transaction.
  Result<std::map<TopicIdPartition, ErrorCode>> commit_sync(Millis timeout);
  // Sends what commit_sync() would, ends the share sessions (undecided records are released) and
  // leaves the group.
  Result<void> close(Millis timeout);

  // kTransactional. Hands over what has been decided; INVALID_RECORD_STATE, and nothing is handed
  // over, when a verdict is RELEASE or RENEW (commit_sync() sends those).
  Result<ShareAcknowledgements> acknowledgements_for_transaction();
  ShareGroupMetadata share_group_metadata() const { return book_->member(); }
  // Whether the fallback is in force.
  bool falls_back() const { return book_->fallback(); }
  std::vector<TopicIdPartition> assignment() const { return membership_->assignment().partitions; }
  const std::shared_ptr<InFlight>& book() const { return book_; }

 private:
  struct Buffered {
    ShareRecord record;
    Deadline::Clock::time_point lock_ends;
    InFlight::Moment fetched;
  };
  using Results = std::map<TopicIdPartition, ErrorCode>;

  ShareConsumer(ShareConsumerConfig config, std::unique_ptr<Cluster> cluster,
                std::unique_ptr<Cluster> heartbeats);

  Result<void> check_abilities(const Deadline& deadline);
  void collect_acknowledgements();
  std::vector<ShareRecord> take_deliverable();
  void take_up_waiting();
  void take_in(Buffered copy);
  Result<void> fetch_round(const Deadline& deadline);
  void refresh_leaders(const std::vector<TopicIdPartition>& wanted, const Deadline& deadline);
  void start_fetches(const ShareAssignment& assignment, const Deadline& deadline);
  // False when no fetch is under way.
  bool await_fetch(const Deadline& deadline);
  void finish_fetch(ShareSession& session, const Deadline& deadline);
  void finish_all_fetches(const Deadline& deadline);
  void buffer(const ShareSession::FetchedPartition& partition, Millis lock_time,
              InFlight::Moment fetched_at);
  void lose_session(ShareSession& session);
  void acknowledged(const PartitionAcknowledgements& sent, const Results& results);
  void merge_outgoing(PartitionAcknowledgements acknowledgements);
  PartitionAcknowledgements outgoing_for(const std::set<TopicIdPartition>& wanted);
  // Sends `outgoing_` now and waits; what may be tried again stays in it.
  Results send_outgoing(bool renew, const Deadline& deadline);
  Results send_until_settled(bool renew, const Deadline& deadline);
  ShareSession& session_of(BrokerId broker);

  ShareConsumerConfig config_;
  std::shared_ptr<InFlight> book_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<ShareMembership> membership_;
  std::vector<TopicName> topics_;
  std::map<Uuid, TopicName> topic_names_;  // of all records so far
  std::map<BrokerId, ShareSession> sessions_;
  std::deque<Buffered> buffer_;
  std::deque<Buffered> waiting_;  // second copies: see InFlight
  PartitionAcknowledgements outgoing_;
  std::optional<Error> failure_;  // of a fetch; returned by the next poll
  bool leaders_are_old_ = true;
  Deadline refresh_not_before_ = Deadline::in(Millis(0));
  Backoff refresh_backoff_;
  bool closed_ = false;
};

}  // namespace ackord::client
