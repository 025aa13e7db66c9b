// CleanedTransactions: which batches and markers of transactions a compaction may drop, told by
// walking them in order from the log's start. Pure. Rules: data of aborted transactions goes; a
// marker goes only when a whole pass has met no data of its transaction any more (KIP-534).
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "broker/log/indexes.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::log {

class CleanedTransactions {
 public:
  // `aborted`: all that are known to have data in what is walked, by first offset.
  explicit CleanedTransactions(std::vector<AbortedRange> aborted) : aborted_(std::move(aborted)) {}

  // A batch of data. True when its transaction was aborted.
  bool on_data(const protocol::BatchHeader& batch);

  struct Marker {
    bool discardable = false;
    std::optional<AbortedRange> kept;  // an aborted transaction that the index still needs
  };
  // `commit`: what its record says; empty for a control batch without records, or of another kind.
  Marker on_control(const protocol::BatchHeader& batch, std::optional<bool> commit);

 private:
  struct Aborted {
    AbortedRange range;
    bool met = false;  // some of its data
  };
  void begin_up_to(Offset offset);

  std::vector<AbortedRange> aborted_;
  size_t next_ = 0;
  std::unordered_map<ProducerId, Aborted> open_aborted_;
  std::unordered_set<ProducerId> met_committed_;
};

}  // namespace ackord::log
