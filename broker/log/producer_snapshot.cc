// The snapshot codec of ProducerState.
#include <algorithm>

#include "broker/log/producer_state.h"
#include "broker/log/snapshot_format.h"
#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"

namespace ackord::log {
namespace {

using protocol::load_big;
using protocol::store_big;
namespace f = snapshot_format;

Error corrupt(const char* why) { return error(ErrorCode::CORRUPT_MESSAGE, why); }

void put_entry(std::byte* at, ProducerId id, const ProducerEntry& entry, const ProducerBatch& batch,
               TimeMs timestamp) {
  store_big(at, id.value);
  store_big(at + 8, entry.epoch);
  store_big(at + 10, batch.last_sequence);
  store_big(at + 14, batch.last_offset);
  store_big(at + 22, batch.offset_delta);
  store_big(at + 26, timestamp);
  store_big(at + 34, entry.coordinator_epoch);
  store_big(at + 38, entry.txn_first_offset);
}

}  // namespace

std::vector<std::byte> ProducerState::encode() const {
  std::vector<ProducerId> ids;
  size_t count = 0;
  for (const auto& [id, entry] : producers_) {
    ids.push_back(id);
    count += std::max<size_t>(entry.batches.size(), 1);
  }
  std::sort(ids.begin(), ids.end());
  std::vector<std::byte> out(f::kHeaderSize + count * f::kEntrySize);
  store_big(out.data(), f::kVersion);
  store_big(out.data() + f::kEntries, static_cast<int32_t>(count));
  std::byte* at = out.data() + f::kHeaderSize;
  for (const ProducerId id : ids) {
    const ProducerEntry& entry = producers_.at(id);
    if (entry.batches.empty()) {
      put_entry(at, id, entry, ProducerBatch{}, entry.last_timestamp);
      at += f::kEntrySize;
    }
    for (const ProducerBatch& batch : entry.batches) {
      // The last entry's timestamp stands for the producer's; a marker may have been later than its
      // last batch.
      const bool last = &batch == &entry.batches.back();
      put_entry(at, id, entry, batch, last ? entry.last_timestamp : batch.timestamp);
      at += f::kEntrySize;
    }
  }
  store_big(out.data() + f::kCrc,
            protocol::crc32c(std::span<const std::byte>(out).subspan(f::kEntries)));
  return out;
}

Result<void> ProducerState::decode(std::span<const std::byte> bytes) {
  if (bytes.size() < f::kHeaderSize) return corrupt("the snapshot is shorter than its header");
  if (load_big<int16_t>(bytes.data()) != f::kVersion) return corrupt("unknown snapshot version");
  if (load_big<uint32_t>(bytes.data() + f::kCrc) != protocol::crc32c(bytes.subspan(f::kEntries))) {
    return corrupt("the snapshot fails its checksum");
  }
  const auto count = load_big<int32_t>(bytes.data() + f::kEntries);
  if (count < 0 || bytes.size() - f::kHeaderSize != static_cast<size_t>(count) * f::kEntrySize) {
    return corrupt("the snapshot's size is not that of its entries");
  }
  *this = ProducerState();
  for (const std::byte* at = bytes.data() + f::kHeaderSize; at != bytes.data() + bytes.size();
       at += f::kEntrySize) {
    const ProducerId id(load_big<int64_t>(at));
    ProducerEntry& entry = producers_[id];
    move_to_epoch(entry, load_big<int16_t>(at + 8));
    ProducerBatch batch;
    batch.last_sequence = load_big<int32_t>(at + 10);
    batch.last_offset = load_big<int64_t>(at + 14);
    batch.offset_delta = load_big<int32_t>(at + 22);
    batch.timestamp = load_big<int64_t>(at + 26);
    entry.last_timestamp = batch.timestamp;
    entry.coordinator_epoch = load_big<int32_t>(at + 34);
    entry.txn_first_offset = load_big<int64_t>(at + 38);
    if (batch.last_offset >= 0) entry.batches.push_back(batch);
    if (entry.batches.size() > kProducerWindow) entry.batches.erase(entry.batches.begin());
  }
  for (const auto& [id, entry] : producers_) {
    if (entry.txn_first_offset >= 0) open_.emplace(entry.txn_first_offset, id);
  }
  return {};
}

}  // namespace ackord::log
