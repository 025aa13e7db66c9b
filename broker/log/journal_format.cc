#include "broker/log/journal_format.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "broker/base/assert.h"
#include "broker/io/file_system.h"
#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"

namespace ackord::log {
namespace {

using protocol::load_big;
using protocol::store_big;

constexpr uint32_t kMagic = 0x414b4a31;
constexpr size_t kCrcAt = 4;
constexpr size_t kSizeAt = 8;
constexpr size_t kGenerationAt = 12;
constexpr size_t kRoundAt = 20;
constexpr size_t kCountAt = 24;
constexpr size_t kPartitionAt = 16;
constexpr size_t kEntrySizeAt = 20;

size_t padded(size_t size) { return (size + io::kBlock - 1) / io::kBlock * io::kBlock; }

}  // namespace

std::optional<JournalRound> parse_round(std::span<const std::byte> bytes) {
  if (bytes.size() < kRoundHeader || load_big<uint32_t>(bytes.data()) != kMagic)
    return std::nullopt;
  const size_t size = load_big<uint32_t>(bytes.data() + kSizeAt);
  if (size < kRoundHeader || size > bytes.size()) return std::nullopt;
  const uint32_t crc = protocol::crc32c(bytes.first(size).subspan(kSizeAt));
  if (load_big<uint32_t>(bytes.data() + kCrcAt) != crc) return std::nullopt;
  JournalRound round;
  round.generation = load_big<uint64_t>(bytes.data() + kGenerationAt);
  round.round = load_big<uint32_t>(bytes.data() + kRoundAt);
  round.padded_size = padded(size);
  const auto count = load_big<uint32_t>(bytes.data() + kCountAt);
  auto left = bytes.first(size).subspan(kRoundHeader);
  for (uint32_t i = 0; i < count; ++i) {
    if (left.size() < kJournalEntryHeader) return std::nullopt;
    JournalEntry entry;
    std::memcpy(entry.topic_id.bytes.data(), left.data(), entry.topic_id.bytes.size());
    entry.partition = load_big<int32_t>(left.data() + kPartitionAt);
    const size_t entry_size = load_big<uint32_t>(left.data() + kEntrySizeAt);
    left = left.subspan(kJournalEntryHeader);
    if (entry_size > left.size()) return std::nullopt;
    entry.batches = left.first(entry_size);
    left = left.subspan(entry_size);
    round.entries.push_back(entry);
  }
  return round;
}

void RoundBuilder::Free::operator()(std::byte* bytes) const { std::free(bytes); }

void RoundBuilder::clear() {
  size_ = kRoundHeader;
  count_ = 0;
}

size_t RoundBuilder::padded_size() const { return padded(size_); }

void RoundBuilder::reserve(size_t size) {
  const size_t wanted = padded(size);
  if (wanted <= capacity_) return;
  const size_t capacity = std::max(wanted, capacity_ * 2);
  auto* bytes = static_cast<std::byte*>(std::aligned_alloc(io::kBlock, capacity));
  ACKORD_ASSERT(bytes != nullptr, "memory for the journal");
  std::unique_ptr<std::byte[], Free> larger(bytes);
  if (count_ > 0) std::memcpy(larger.get(), buffer_.get(), size_);
  buffer_ = std::move(larger);
  capacity_ = capacity;
}

std::span<std::byte> RoundBuilder::add(const Uuid& topic_id, int32_t partition, size_t size) {
  reserve(size_ + kJournalEntryHeader + size);
  std::byte* at = buffer_.get() + size_;
  std::memcpy(at, topic_id.bytes.data(), topic_id.bytes.size());
  store_big<int32_t>(at + kPartitionAt, partition);
  store_big<uint32_t>(at + kEntrySizeAt, static_cast<uint32_t>(size));
  size_ += kJournalEntryHeader + size;
  ++count_;
  return {at + kJournalEntryHeader, size};
}

std::span<const std::byte> RoundBuilder::finish(uint64_t generation, uint32_t round) {
  ACKORD_ASSERT(count_ > 0, "a round has an entry");
  std::byte* at = buffer_.get();
  store_big<uint32_t>(at, kMagic);
  store_big<uint32_t>(at + kSizeAt, static_cast<uint32_t>(size_));
  store_big<uint64_t>(at + kGenerationAt, generation);
  store_big<uint32_t>(at + kRoundAt, round);
  store_big<uint32_t>(at + kCountAt, count_);
  store_big<uint32_t>(at + kCrcAt, protocol::crc32c({at + kSizeAt, size_ - kSizeAt}));
  const size_t whole = padded(size_);
  std::memset(at + size_, 0, whole - size_);
  return {at, whole};
}

}  // namespace ackord::log
