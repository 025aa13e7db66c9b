#include "client/in_flight.h"

#include <atomic>

namespace ackord::client {

TransactionToken next_transaction_token() {
  static std::atomic<TransactionToken> last{0};
  return ++last;
}

namespace {

using Lock = std::lock_guard<std::mutex>;

}  // namespace

void InFlight::set_member(ShareGroupMetadata member) {
  const Lock lock(mutex_);
  member_ = std::move(member);
}

ShareGroupMetadata InFlight::member() const {
  const Lock lock(mutex_);
  return member_;
}

void InFlight::set_fallback(bool fallback) {
  const Lock lock(mutex_);
  fallback_ = fallback;
}

bool InFlight::fallback() const {
  const Lock lock(mutex_);
  return fallback_;
}

bool InFlight::makes_wait(const Held& held) const {
  return transactional_ && held.state != State::kBuffered && held.state != State::kVoid;
}

InFlight::Moment InFlight::next_moment() {
  const Lock lock(mutex_);
  return ++last_moment_;
}

bool InFlight::acquired(const TopicIdPartition& partition, Offset offset, int16_t delivery_count,
                        Moment fetched) {
  const Lock lock(mutex_);
  auto& records = held_[partition];
  const auto known = records.find(offset);
  if (known != records.end() && makes_wait(known->second)) {
    Held& first = known->second;
    first.second_copy_waits = true;
    first.second_fetched = fetched;
    return false;
  }
  records[offset] = Held{.delivery_count = delivery_count, .fetched = fetched};
  return true;
}

InFlight::Fate InFlight::fate_of(const TopicIdPartition& partition, Offset offset, Moment fetched) {
  const Lock lock(mutex_);
  const auto records = held_.find(partition);
  if (records == held_.end()) return Fate::kTakeUp;
  const auto known = records->second.find(offset);
  if (known == records->second.end()) return Fate::kTakeUp;
  const Held& held = known->second;
  if (fetched > held.fetched) return makes_wait(held) ? Fate::kWait : Fate::kTakeUp;
  if (held.state == State::kVoid && fetched == held.fetched) records->second.erase(known);
  return Fate::kDrop;
}

void InFlight::delivered(const TopicIdPartition& partition, Offset offset) {
  const Lock lock(mutex_);
  held_[partition][offset].state = State::kDelivered;
}

Result<void> InFlight::decide(const TopicIdPartition& partition, Offset offset,
                              int16_t delivery_count, AcknowledgeType type) {
  const Lock lock(mutex_);
  const auto records = held_.find(partition);
  if (records != held_.end()) {
    const auto record = records->second.find(offset);
    if (record != records->second.end()) {
      Held& held = record->second;
      const bool open = held.state == State::kDelivered || held.state == State::kDecided;
      if (open && held.delivery_count == delivery_count) {
        held.state = State::kDecided;
        held.type = type;
        return {};
      }
    }
  }
  return error(ErrorCode::INVALID_RECORD_STATE,
               "offset " + std::to_string(offset) + " is not held by this consumer");
}

void InFlight::decide_all_delivered(AcknowledgeType type) {
  const Lock lock(mutex_);
  for (auto& [partition, records] : held_) {
    for (auto& [offset, held] : records) {
      if (held.state != State::kDelivered) continue;
      held.state = State::kDecided;
      held.type = type;
    }
  }
}

bool InFlight::all_decided() const {
  const Lock lock(mutex_);
  for (const auto& [partition, records] : held_) {
    for (const auto& [offset, held] : records) {
      if (held.state == State::kDelivered) return false;
    }
  }
  return true;
}

template <class Wanted>
void InFlight::erase_if(Wanted wanted) {
  for (auto partition = held_.begin(); partition != held_.end();) {
    std::erase_if(partition->second, [&](const auto& record) { return wanted(record.second); });
    partition = partition->second.empty() ? held_.erase(partition) : std::next(partition);
  }
}

void InFlight::drop_buffered(const TopicIdPartition& partition) {
  const Lock lock(mutex_);
  const auto records = held_.find(partition);
  if (records == held_.end()) return;
  // Without its copies a note on a void one is of no use.
  std::erase_if(records->second, [](const auto& record) {
    return record.second.state == State::kBuffered || record.second.state == State::kVoid;
  });
}

void InFlight::drop_buffered(const TopicIdPartition& partition, Offset offset) {
  const Lock lock(mutex_);
  const auto records = held_.find(partition);
  if (records == held_.end()) return;
  const auto record = records->second.find(offset);
  if (record != records->second.end() && record->second.state == State::kBuffered)
    records->second.erase(record);
}

PartitionAcknowledgements InFlight::batches_of(const Verdicts& verdicts) {
  PartitionAcknowledgements batches;
  for (const auto& [partition, offsets] : verdicts) {
    if (!offsets.empty()) batches[partition] = make_batches(offsets);
  }
  return batches;
}

PartitionAcknowledgements InFlight::take_decided() {
  const Lock lock(mutex_);
  Verdicts taken;
  for (auto& [partition, records] : held_) {
    for (auto& [offset, held] : records) {
      if (held.state == State::kDecided && held.type != AcknowledgeType::kRenew)
        taken[partition][offset] = held.type;
    }
  }
  erase_if([](const Held& held) {
    return held.state == State::kDecided && held.type != AcknowledgeType::kRenew;
  });
  return batches_of(taken);
}

PartitionAcknowledgements InFlight::take_decided(AcknowledgeType type) {
  const Lock lock(mutex_);
  Verdicts taken;
  for (auto& [partition, records] : held_) {
    for (auto& [offset, held] : records) {
      if (held.state != State::kDecided || held.type != type) continue;
      taken[partition][offset] = type;
      if (type == AcknowledgeType::kRenew) held.state = State::kDelivered;
    }
  }
  erase_if([type](const Held& held) { return held.state == State::kDecided && held.type == type; });
  return batches_of(taken);
}

Result<PartitionAcknowledgements> InFlight::hand_over(bool accept_undecided) {
  const Lock lock(mutex_);
  for (const auto& [partition, records] : held_) {
    for (const auto& [offset, held] : records) {
      if (held.state != State::kDecided) continue;
      if (held.type == AcknowledgeType::kRelease || held.type == AcknowledgeType::kRenew) {
        return error(ErrorCode::INVALID_RECORD_STATE,
                     "offset " + std::to_string(offset) +
                         " is to be released or renewed: no part of a transaction");
      }
    }
  }
  Verdicts taken;
  for (auto& [partition, records] : held_) {
    for (auto& [offset, held] : records) {
      if (held.state == State::kDelivered && accept_undecided) {
        held.state = State::kDecided;
        held.type = AcknowledgeType::kAccept;
      }
      if (held.state != State::kDecided) continue;
      held.state = State::kHandedOver;
      held.transaction = 0;
      taken[partition][offset] = held.type;
    }
  }
  return batches_of(taken);
}

template <class Do>
void InFlight::for_each_handed_over(const PartitionAcknowledgements& acknowledgements, Do act) {
  for (const auto& [partition, batches] : acknowledgements) {
    const auto records = held_.find(partition);
    if (records == held_.end()) continue;
    for (const AcknowledgementBatch& batch : batches) {
      auto record = records->second.lower_bound(batch.first);
      for (; record != records->second.end() && record->first <= batch.last; ++record) {
        if (record->second.state == State::kHandedOver) act(record->second);
      }
    }
  }
}

void InFlight::joined(const PartitionAcknowledgements& acknowledgements,
                      TransactionToken transaction) {
  const Lock lock(mutex_);
  for_each_handed_over(acknowledgements,
                       [transaction](Held& held) { held.transaction = transaction; });
}

void InFlight::staged(const PartitionAcknowledgements& acknowledgements) {
  const Lock lock(mutex_);
  ++last_moment_;
  for_each_handed_over(acknowledgements, [this](Held& held) { held.staged = last_moment_; });
}

bool InFlight::of_transaction(const Held& held, TransactionToken transaction) {
  return held.state == State::kHandedOver &&
         (held.transaction == transaction || held.transaction == 0);
}

bool InFlight::refuses_commit(TransactionToken transaction) const {
  const Lock lock(mutex_);
  for (const auto& [partition, records] : held_) {
    for (const auto& [offset, held] : records) {
      if (!held.second_copy_waits) continue;
      if (held.state != State::kHandedOver || of_transaction(held, transaction)) return true;
    }
  }
  return false;
}

void InFlight::committed(TransactionToken transaction) {
  const Lock lock(mutex_);
  erase_if([transaction](const Held& held) {
    return held.state == State::kHandedOver && held.transaction == transaction;
  });
}

void InFlight::aborted(TransactionToken transaction) {
  const Lock lock(mutex_);
  for (auto& [partition, records] : held_) {
    for (auto& [offset, held] : records) {
      const bool is_void = of_transaction(held, transaction) && held.second_copy_waits &&
                           held.second_fetched < held.staged;
      if (is_void) held = Held{.state = State::kVoid, .fetched = held.second_fetched};
    }
  }
  erase_if([transaction](const Held& held) {
    return held.state == State::kHandedOver ? of_transaction(held, transaction)
                                            : held.second_copy_waits;
  });
}

void InFlight::send_plainly(const PartitionAcknowledgements& acknowledgements) {
  const Lock lock(mutex_);
  for (const auto& [partition, batches] : acknowledgements) {
    for (const AcknowledgementBatch& batch : batches) {
      for (Offset offset = batch.first; offset <= batch.last; ++offset) {
        const auto index = batch.types.size() == 1 ? 0 : static_cast<size_t>(offset - batch.first);
        plain_[partition][offset] = static_cast<AcknowledgeType>(batch.types[index]);
      }
    }
  }
}

void InFlight::send_plainly(const TopicIdPartition& partition, Offset offset,
                            AcknowledgeType type) {
  const Lock lock(mutex_);
  plain_[partition][offset] = type;
}

PartitionAcknowledgements InFlight::take_plain() {
  const Lock lock(mutex_);
  PartitionAcknowledgements batches = batches_of(plain_);
  plain_.clear();
  return batches;
}

}  // namespace ackord::client
