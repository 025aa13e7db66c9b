#include "broker/log/producer_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace ackord::log {
namespace {

using protocol::BatchHeader;

// From version 2 of transactions on every end of one raises the epoch (KIP-890).
constexpr int8_t kEpochRaisedByMarker = 2;

bool follows(int32_t last, int32_t next) {
  return int64_t{next} == int64_t{last} + 1 || (next == 0 && last == INT32_MAX);
}

}  // namespace

int32_t ProducerBatch::first_sequence() const {
  return last_sequence < 0 ? last_sequence
                           : protocol::subtract_sequence(last_sequence, offset_delta);
}

const ProducerBatch* ProducerState::find_duplicate(const BatchHeader& batch) const {
  const auto found = producers_.find(batch.producer_id);
  if (found == producers_.end() || found->second.epoch != batch.producer_epoch) return nullptr;
  for (const ProducerBatch& known : found->second.batches) {
    if (known.first_sequence() == batch.base_sequence &&
        known.last_sequence == batch.last_sequence()) {
      return &known;
    }
  }
  return nullptr;
}

Result<void> ProducerState::check(const BatchHeader& batch, Origin origin,
                                  std::optional<uint64_t> guard, bool starts_at_zero) const {
  const ProducerStamp producer{batch.producer_id, batch.producer_epoch};
  const auto known = producers_.find(batch.producer_id);
  if (origin == Origin::kClient && batch.transactional() && !has_open_transaction(producer)) {
    const auto verified = verifications_.find(batch.producer_id);
    if (!guard || verified == verifications_.end() || verified->second.guard != *guard ||
        verified->second.epoch != batch.producer_epoch) {
      return error(ErrorCode::INVALID_TXN_STATE,
                   fmt::format("producer {} has no verified transaction on this partition",
                               batch.producer_id.value));
    }
  }
  if (known != producers_.end() && batch.producer_epoch < known->second.epoch) {
    return error(ErrorCode::INVALID_PRODUCER_EPOCH,
                 fmt::format("epoch {} of producer {} is older than {}", batch.producer_epoch,
                             batch.producer_id.value, known->second.epoch));
  }
  if (origin == Origin::kClient) {
    auto in_order = check_sequence(batch, starts_at_zero);
    if (in_order.has_error()) return in_order;
  }
  if (!batch.transactional() && known != producers_.end() && known->second.txn_first_offset >= 0) {
    return error(
        ErrorCode::INVALID_TXN_STATE,
        fmt::format("producer {} has an open transaction, but its batch is not transactional",
                    batch.producer_id.value));
  }
  return {};
}

Result<void> ProducerState::check_sequence(const BatchHeader& batch, bool starts_at_zero) const {
  const auto out_of_order = [&batch](const std::string& why) {
    return error(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER,
                 fmt::format("producer {} epoch {} sent sequence {}: {}", batch.producer_id.value,
                             batch.producer_epoch, batch.base_sequence, why));
  };
  const auto known = producers_.find(batch.producer_id);
  if (known == producers_.end() || known->second.epoch < 0) {
    // Its records may have been deleted, so any start is taken (KIP-360).
    if (starts_at_zero && batch.base_sequence != 0)
      return out_of_order("a new producer starts at 0");
    return {};
  }
  if (known->second.epoch != batch.producer_epoch) {
    if (batch.base_sequence != 0) return out_of_order("a new epoch starts at 0");
    return {};
  }
  const auto& batches = known->second.batches;
  const int32_t last = batches.empty() ? -1 : batches.back().last_sequence;
  if (!follows(last, batch.base_sequence))
    return out_of_order(fmt::format("the last one is {}", last));
  return {};
}

Result<void> ProducerState::check_marker(const EndMarker& marker) const {
  if (marker.producer.id.value < 0 || marker.producer.epoch < 0) {
    return error(ErrorCode::INVALID_REQUEST, "a marker needs a producer id and an epoch");
  }
  const auto found = producers_.find(marker.producer.id);
  if (found == producers_.end()) return {};
  const ProducerEntry& known = found->second;
  const int16_t epoch = marker.producer.epoch;
  bool fenced = epoch < known.epoch;
  if (marker.transaction_version >= kEpochRaisedByMarker && epoch == known.epoch) {
    // An equal epoch is a marker that was already written, or one that could not be raised any
    // further.
    fenced = known.txn_first_offset >= 0 && epoch != INT16_MAX;
  }
  if (fenced) {
    return error(ErrorCode::INVALID_PRODUCER_EPOCH,
                 fmt::format("marker epoch {} of producer {}, known is {}", epoch,
                             marker.producer.id.value, known.epoch));
  }
  if (marker.coordinator_epoch < known.coordinator_epoch) {
    return error(
        ErrorCode::TRANSACTION_COORDINATOR_FENCED,
        fmt::format("coordinator epoch {} for producer {}, known is {}", marker.coordinator_epoch,
                    marker.producer.id.value, known.coordinator_epoch));
  }
  return {};
}

void ProducerState::move_to_epoch(ProducerEntry& entry, int16_t epoch) {
  if (entry.epoch == epoch) return;
  entry.epoch = epoch;
  entry.batches.clear();
}

void ProducerState::apply(const BatchHeader& batch) {
  if (!batch.has_producer()) return;
  ProducerEntry& entry = producers_[batch.producer_id];
  move_to_epoch(entry, batch.producer_epoch);
  if (entry.batches.size() == kProducerWindow) entry.batches.erase(entry.batches.begin());
  entry.batches.push_back(
      {batch.last_sequence(), batch.last_offset(), batch.last_offset_delta, batch.max_timestamp});
  entry.last_timestamp = batch.max_timestamp;
  if (batch.transactional() && entry.txn_first_offset < 0) {
    entry.txn_first_offset = batch.base_offset;
    open_.emplace(batch.base_offset, batch.producer_id);
    forget_verification(batch.producer_id);
  }
}

std::optional<CompletedTransaction> ProducerState::apply_marker(
    const BatchHeader& batch, const protocol::EndTransactionMarker& marker) {
  ProducerEntry& entry = producers_[batch.producer_id];
  // What was verified before its transaction ended must not be appended behind the marker. But a
  // client of version 2 begins the next one, at a raised epoch, while this marker is on its way:
  // its verification is about a later transaction.
  const auto verified = verifications_.find(batch.producer_id);
  const bool about_later = verified != verifications_.end() && entry.txn_first_offset >= 0 &&
                           verified->second.epoch > entry.epoch;
  if (!about_later) forget_verification(batch.producer_id);
  move_to_epoch(entry, batch.producer_epoch);
  entry.last_timestamp = batch.max_timestamp;
  entry.coordinator_epoch = marker.coordinator_epoch;
  if (entry.txn_first_offset < 0) return std::nullopt;
  CompletedTransaction done;
  done.producer_id = batch.producer_id;
  done.first_offset = entry.txn_first_offset;
  done.marker_offset = batch.base_offset;
  done.aborted = !marker.commit;
  entry.txn_first_offset = -1;
  open_.erase(done.first_offset);
  completed_.emplace(done.first_offset, done.marker_offset);
  done.last_stable_offset = open_.empty() ? done.marker_offset + 1 : open_.begin()->first;
  return done;
}

void ProducerState::advance_high_watermark(Offset high_watermark) {
  std::erase_if(completed_,
                [high_watermark](const auto& entry) { return entry.second < high_watermark; });
}

void ProducerState::remove_expired(TimeMs now_ms, int64_t expiration_ms) {
  std::erase_if(producers_, [&](const auto& item) {
    const ProducerEntry& entry = item.second;
    return entry.txn_first_offset < 0 && entry.last_timestamp >= 0 &&
           now_ms - entry.last_timestamp >= expiration_ms;
  });
}

std::optional<Offset> ProducerState::first_unstable_offset() const {
  std::optional<Offset> first;
  if (!open_.empty()) first = open_.begin()->first;
  if (!completed_.empty()) first = std::min(first.value_or(INT64_MAX), completed_.begin()->first);
  return first;
}

bool ProducerState::has_open_transaction(ProducerStamp producer) const {
  const auto found = producers_.find(producer.id);
  return found != producers_.end() && found->second.epoch == producer.epoch &&
         found->second.txn_first_offset >= 0;
}

std::optional<ProducerView> ProducerState::view(ProducerId id) const {
  const auto found = producers_.find(id);
  if (found == producers_.end()) return std::nullopt;
  const ProducerEntry& entry = found->second;
  ProducerView view;
  view.producer = {id, entry.epoch};
  view.last_sequence = entry.batches.empty() ? -1 : entry.batches.back().last_sequence;
  view.last_timestamp = entry.last_timestamp;
  view.coordinator_epoch = entry.coordinator_epoch;
  view.current_txn_start_offset = entry.txn_first_offset;
  return view;
}

std::vector<ProducerView> ProducerState::views() const {
  std::vector<ProducerView> all;
  all.reserve(producers_.size());
  for (const auto& [id, entry] : producers_) all.push_back(*view(id));
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.producer.id < b.producer.id; });
  return all;
}

LastBatches ProducerState::last_batches() const {
  LastBatches all;
  for (const auto& [id, entry] : producers_) {
    const Offset last = entry.batches.empty() ? -1 : entry.batches.back().last_offset;
    all.emplace(id, LastBatch{last, entry.epoch});
  }
  return all;
}

uint64_t ProducerState::begin_verification(ProducerStamp producer) {
  const auto found = verifications_.find(producer.id);
  if (found != verifications_.end() && found->second.epoch == producer.epoch) {
    return found->second.guard;
  }
  forget_verification(producer.id);
  if (verifications_.size() >= kMaxVerifications) forget_verification(by_guard_.begin()->second);
  const uint64_t guard = ++last_guard_;
  verifications_[producer.id] = {producer.epoch, guard};
  by_guard_.emplace(guard, producer.id);
  return guard;
}

void ProducerState::forget_verification(ProducerId id) {
  const auto found = verifications_.find(id);
  if (found == verifications_.end()) return;
  by_guard_.erase(found->second.guard);
  verifications_.erase(found);
}

}  // namespace ackord::log
