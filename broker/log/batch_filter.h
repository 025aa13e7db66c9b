// BatchFilter: what a compaction keeps of one batch. Pure; batches come in order from the log's
// start. Rules are Kafka's (MemoryRecords.filterTo, KIP-534): offsets never change; of each key the
// latest record stays; a tombstone, and the marker of a transaction without records, stays until
// the delete horizon that the batch gets when that is first met; the batch that tells a producer's
// last sequence, and the one that ends at the high watermark, stay even when they are empty.
// Errors: CORRUPT_MESSAGE, INVALID_RECORD for bytes that cannot be read.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "broker/log/cleaned_transactions.h"
#include "broker/log/key_offsets.h"
#include "protocol/record_batch/batch_header.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::log {

// What the log's last batch of an active producer is.
struct LastBatch {
  Offset last_data_offset = -1;  // -1: none in this epoch, so its marker is
  int16_t epoch = -1;
  friend bool operator==(const LastBatch&, const LastBatch&) = default;
};
using LastBatches = std::unordered_map<ProducerId, LastBatch>;

struct FilterRules {
  Offset map_end = 0;         // `keys` knows every record below; what is above stays as it is
  Offset high_watermark = 0;  // the batch that ends here is kept
  int64_t delete_retention_ms = 0;
  TimeMs now_ms = 0;
};

// Whether a control batch is a commit; empty for one without a record, or of another kind.
Result<std::optional<bool>> is_commit(const protocol::BatchHeader& header,
                                      std::span<const std::byte> batch);

class BatchFilter {
 public:
  // Borrows all but the rules.
  BatchFilter(FilterRules rules, const KeyOffsets& keys, const LastBatches& last_batches,
              CleanedTransactions& transactions)
      : rules_(rules), keys_(keys), last_batches_(last_batches), transactions_(transactions) {}

  struct Kept {
    // Of what is written; empty: nothing is.
    std::optional<protocol::BatchHeader> header;
    // A view into the batch, or into this object until the next call.
    std::span<const std::byte> bytes;
    std::optional<AbortedRange> aborted;  // for the transaction index
  };
  Result<Kept> filter(const protocol::BatchHeader& header, std::span<const std::byte> batch);

 private:
  bool must_stay(const protocol::BatchHeader& header) const;
  bool keeps(const protocol::BatchHeader& header, const protocol::Record& record) const;
  Result<Kept> filter_records(const protocol::BatchHeader& header, std::span<const std::byte> batch,
                              bool ready_marker);
  Kept empty_batch(const protocol::BatchHeader& header);
  Kept rebuilt(const protocol::BatchHeader& header, std::span<const std::byte> records,
               std::optional<TimeMs> horizon);

  FilterRules rules_;
  const KeyOffsets& keys_;
  const LastBatches& last_batches_;
  CleanedTransactions& transactions_;
  std::vector<std::byte> uncompressed_;
  std::vector<std::byte> written_;
};

}  // namespace ackord::log
