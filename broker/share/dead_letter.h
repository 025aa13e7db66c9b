// What a dead letter says (KIP-1191, semantics A.12): headers that name the record, and its key and
// value where they are copied. Letters are gathered into one uncompressed batch. Pure; copies what
// it is given.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "broker/share/archived.h"
#include "protocol/record_batch/batch_builder.h"

namespace ackord::share {

struct DeadLetter {
  std::string_view topic;
  int32_t partition = 0;
  Offset offset = 0;
  std::string_view group;
  int16_t delivery_count = 0;
  ArchiveReason reason = ArchiveReason::kUnknown;  // not known after a restart: no message
  std::optional<std::span<const std::byte>> key;
  std::optional<std::span<const std::byte>> value;
};

class LetterBatch {
 public:
  // `max_bytes`: the queue's max.message.bytes.
  LetterBatch(int64_t max_bytes, TimeMs timestamp) : max_bytes_(max_bytes), timestamp_(timestamp) {}

  // False when the letter has no room beside the others: build() first. Alone it always goes in;
  // when it is too large then, without the key and value that it copies.
  bool add(const DeadLetter& letter);
  bool empty() const { return builder_.count() == 0; }
  int32_t count() const { return builder_.count(); }
  // Of the letters so far; the next add() begins another batch.
  std::vector<std::byte> build();

 private:
  int64_t max_bytes_;
  TimeMs timestamp_;
  protocol::BatchBuilder builder_{{}};
};

}  // namespace ackord::share
