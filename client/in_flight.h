// InFlight: a share consumer's book of the records that the broker has handed to it and that are
// not settled yet. Pure bookkeeping: no I/O, no clock. Thread-safe: the consumer and a transaction
// may be used on different threads.
//
// A record's copy goes through these states; a new copy of an offset that is still held is a
// *second copy*: the lock of the first has expired, or a transaction has been aborted by the
// broker.
//
//   kBuffered    fetched, not given to the application: a second copy replaces it
//   kDelivered   given, no verdict yet
//   kDecided     with a verdict that has not been sent
//   kHandedOver  the verdict is part of a transaction
//
// Within a transactional consumer a second copy of one of the last three waits, and the open
// transaction cannot commit; the copy is delivered after the transaction was aborted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "client/acknowledgements.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::client {

// Names one transaction within this process.
using TransactionToken = uint64_t;
TransactionToken next_transaction_token();

class InFlight {
 public:
  explicit InFlight(bool transactional) : transactional_(transactional) {}

  // The member, as it is now. Written by the heartbeat.
  void set_member(ShareGroupMetadata member);
  ShareGroupMetadata member() const;
  // Whether verdicts go plainly after the producer's commit, because the broker knows no
  // transactional ones.
  void set_fallback(bool fallback);
  bool fallback() const;

  // A copy of a record has been fetched. False: it must wait (see may_deliver()).
  bool acquired(const TopicIdPartition& partition, Offset offset, int16_t delivery_count);
  // Whether a waiting copy may be taken up now; then it is buffered.
  bool may_deliver(const TopicIdPartition& partition, Offset offset, int16_t delivery_count);
  void delivered(const TopicIdPartition& partition, Offset offset);
  // INVALID_RECORD_STATE unless this very copy was delivered and is not settled.
  Result<void> decide(const TopicIdPartition& partition, Offset offset, int16_t delivery_count,
                      AcknowledgeType type);
  void decide_all_delivered(AcknowledgeType type);
  bool all_decided() const;
  // The broker no longer holds these for us (the share session ended before they were given to the
  // application).
  void drop_buffered(const TopicIdPartition& partition);
  // The lock of one of them has expired.
  void drop_buffered(const TopicIdPartition& partition, Offset offset);

  // Plain acknowledging: takes the verdicts of these types out of the book (kRenew: the record
  // becomes delivered again).
  PartitionAcknowledgements take_decided();
  PartitionAcknowledgements take_decided(AcknowledgeType type);

  // Transactions. Takes what has been decided; INVALID_RECORD_STATE, and nothing is taken, when a
  // verdict is RELEASE or RENEW. `accept_undecided`: records without a verdict are accepted too.
  Result<PartitionAcknowledgements> hand_over(bool accept_undecided);
  // They are part of this transaction from now on.
  void joined(const PartitionAcknowledgements& acknowledgements, TransactionToken transaction);
  // A second copy came of a record that is undecided, or that is part of this transaction.
  bool refuses_commit(TransactionToken transaction) const;
  void committed(TransactionToken transaction);
  // Records of the transaction, and those of which a second copy waits, leave the book.
  void aborted(TransactionToken transaction);

  // Verdicts to be sent plainly as soon as possible: gaps, and what a transaction leaves behind.
  void send_plainly(const PartitionAcknowledgements& acknowledgements);
  void send_plainly(const TopicIdPartition& partition, Offset offset, AcknowledgeType type);
  PartitionAcknowledgements take_plain();

 private:
  enum class State : uint8_t { kBuffered, kDelivered, kDecided, kHandedOver };
  struct Held {
    State state = State::kBuffered;
    AcknowledgeType type = AcknowledgeType::kGap;
    int16_t delivery_count = 0;
    bool second_copy_waits = false;
    TransactionToken transaction = 0;  // 0: handed over, but in none yet
  };
  using Verdicts = std::map<TopicIdPartition, std::map<Offset, AcknowledgeType>>;

  static PartitionAcknowledgements batches_of(const Verdicts& verdicts);
  bool waits(const Held& held) const { return transactional_ && held.state != State::kBuffered; }
  template <class Wanted>
  void erase_if(Wanted wanted);

  const bool transactional_;
  mutable std::mutex mutex_;
  ShareGroupMetadata member_;
  bool fallback_ = false;
  std::map<TopicIdPartition, std::map<Offset, Held>> held_;
  Verdicts plain_;
};

}  // namespace ackord::client
