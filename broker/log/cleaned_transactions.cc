#include "broker/log/cleaned_transactions.h"

namespace ackord::log {

void CleanedTransactions::begin_up_to(Offset offset) {
  for (; next_ < aborted_.size() && aborted_[next_].first_offset <= offset; ++next_) {
    open_aborted_.try_emplace(aborted_[next_].producer_id, Aborted{aborted_[next_], false});
  }
}

bool CleanedTransactions::on_data(const protocol::BatchHeader& batch) {
  begin_up_to(batch.last_offset());
  if (!batch.transactional()) return false;
  const auto aborted = open_aborted_.find(batch.producer_id);
  if (aborted == open_aborted_.end()) {
    met_committed_.insert(batch.producer_id);
    return false;
  }
  aborted->second.met = true;
  return true;
}

CleanedTransactions::Marker CleanedTransactions::on_control(const protocol::BatchHeader& batch,
                                                            std::optional<bool> commit) {
  begin_up_to(batch.last_offset());
  Marker marker;
  if (batch.records_count == 0) {
    // Its record has gone before; the batch stayed for its producer's sake.
    marker.discardable = true;
    return marker;
  }
  if (!commit) return marker;
  if (*commit) {
    marker.discardable = met_committed_.erase(batch.producer_id) == 0;
    return marker;
  }
  const auto aborted = open_aborted_.find(batch.producer_id);
  if (aborted != open_aborted_.end()) {
    if (aborted->second.met) marker.kept = aborted->second.range;
    open_aborted_.erase(aborted);
  }
  marker.discardable = !marker.kept;
  return marker;
}

}  // namespace ackord::log
