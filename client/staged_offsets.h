// What executors have staged in a batch transaction, as offsets: each reports its own, the
// coordinator adds them up and prepares with the sum (docs/PROTOCOL.md part 2). Offsets, not their
// number: a stage that is sent again also succeeds where another executor has staged the records
// meanwhile, and then two executors have a result of the same record. Plain data, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "client/acknowledgements.h"
#include "protocol/types/result.h"

namespace ackord::client {

class StagedOffsets {
 public:
  void add(const PartitionAcknowledgements& acknowledgements);
  void add(const StagedOffsets& other);

  // Different offsets of all partitions.
  int64_t size() const;
  // Whether an offset was added more than once.
  bool overlaps() const { return overlaps_; }

  // One line of text without blanks, for the engine's own messages. What overlaps has none: it can
  // only be aborted, so that nobody may pass it on.
  Result<std::string> to_text() const;
  // INVALID_REQUEST: it is no text of to_text().
  static Result<StagedOffsets> from_text(std::string_view text);

  friend bool operator==(const StagedOffsets&, const StagedOffsets&) = default;

 private:
  using Ranges = std::map<Offset, Offset>;  // first → last; apart from each other by more than one

  void add(Ranges& ranges, Offset first, Offset last);

  std::map<TopicIdPartition, Ranges> partitions_;
  bool overlaps_ = false;
};

}  // namespace ackord::client
