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
// transaction cannot commit. After the abort the copy is delivered, unless it is *void*: a stage
// names records and a member, so that the stage of the first copy uses up the acquisition of a
// second one that was fetched before it. Then the broker hands the record out once more.
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

  // Orders the fetches and the stages of this consumer. Drawn before a fetch is sent; its copies
  // carry it, and of two copies of a record the later one counts. (Delivery counts do not tell:
  // what a session's end releases gets the same one again.)
  using Moment = uint64_t;
  Moment next_moment();
  // A copy of a record has been fetched. False: it must wait (see fate_of()).
  bool acquired(const TopicIdPartition& partition, Offset offset, int16_t delivery_count,
                Moment fetched);
  enum class Fate : uint8_t { kWait, kTakeUp, kDrop };
  // What becomes of a waiting copy. kTakeUp: acquired() accepts it.
  Fate fate_of(const TopicIdPartition& partition, Offset offset, Moment fetched);
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
  // Their stage has been answered without an error.
  void staged(const PartitionAcknowledgements& acknowledgements);
  // A second copy came of a record that is undecided, or that is part of this transaction.
  bool refuses_commit(TransactionToken transaction) const;
  void committed(TransactionToken transaction);
  // Records of the transaction, and those of which a second copy waits, leave the book; of a void
  // copy a note stays until it has met its fate.
  void aborted(TransactionToken transaction);

  // Verdicts to be sent plainly as soon as possible: gaps, and what a transaction leaves behind.
  void send_plainly(const PartitionAcknowledgements& acknowledgements);
  void send_plainly(const TopicIdPartition& partition, Offset offset, AcknowledgeType type);
  PartitionAcknowledgements take_plain();

 private:
  enum class State : uint8_t { kBuffered, kDelivered, kDecided, kHandedOver, kVoid };
  struct Held {
    State state = State::kBuffered;
    AcknowledgeType type = AcknowledgeType::kGap;
    int16_t delivery_count = 0;
    bool second_copy_waits = false;
    TransactionToken transaction = 0;  // 0: handed over, but in none yet
    Moment fetched = 0;
    Moment staged = 0;          // 0: not staged
    Moment second_fetched = 0;  // of the last second copy
  };
  using Verdicts = std::map<TopicIdPartition, std::map<Offset, AcknowledgeType>>;

  static PartitionAcknowledgements batches_of(const Verdicts& verdicts);
  static bool of_transaction(const Held& held, TransactionToken transaction);
  bool makes_wait(const Held& held) const;
  template <class Do>
  void for_each_handed_over(const PartitionAcknowledgements& acknowledgements, Do act);
  template <class Wanted>
  void erase_if(Wanted wanted);

  const bool transactional_;
  mutable std::mutex mutex_;
  ShareGroupMetadata member_;
  bool fallback_ = false;
  Moment last_moment_ = 0;
  std::map<TopicIdPartition, std::map<Offset, Held>> held_;
  Verdicts plain_;
};

}  // namespace ackord::client
