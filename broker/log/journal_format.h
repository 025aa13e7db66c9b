// A journal file holds the same bytes as the ends of logs whose own files are not synced yet, as
// rounds: one write each, from the file's beginning on, padded with zeros to whole blocks.
//
// A round (all numbers big-endian):
//    0 magic uint32 "AKJ1"    4 crc uint32 (CRC-32C of all from `size` on, without the padding)
//    8 size uint32 (without the padding)
//   12 generation uint64: larger each time that the file is begun anew
//   20 round uint32: 0, 1, … within the generation
//   24 count uint32
//   28 entries: topic_id 16 bytes | partition int32 | size uint32 | whole record batches
// What a file holds ends at the first round that is not valid, of another generation, or out of
// turn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "protocol/types/ids.h"

namespace ackord::log {

constexpr size_t kRoundHeader = 28;
constexpr size_t kJournalEntryHeader = 24;

struct JournalEntry {
  Uuid topic_id;
  int32_t partition = 0;
  std::span<const std::byte> batches;
};

struct JournalRound {
  uint64_t generation = 0;
  uint32_t round = 0;
  std::vector<JournalEntry> entries;  // borrow from the file's bytes
  size_t padded_size = 0;
};

// The round that begins `bytes`; nullopt when none does.
std::optional<JournalRound> parse_round(std::span<const std::byte> bytes);

// Builds rounds in one buffer, aligned for unbuffered writes, that is used again and again.
class RoundBuilder {
 public:
  // Drops what was built before.
  void clear();
  // Of what finish() would return now.
  size_t padded_size() const;
  // Room for the entry's batches, to be filled before the next call.
  std::span<std::byte> add(const Uuid& topic_id, int32_t partition, size_t size);
  // The round, padded; valid until clear().
  std::span<const std::byte> finish(uint64_t generation, uint32_t round);

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  void reserve(size_t size);

  std::unique_ptr<std::byte[], Free> buffer_;
  size_t capacity_ = 0;
  size_t size_ = kRoundHeader;
  uint32_t count_ = 0;
};

}  // namespace ackord::log
