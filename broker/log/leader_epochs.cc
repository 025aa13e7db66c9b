#include "broker/log/leader_epochs.h"

#include <algorithm>

namespace ackord::log {

std::pair<int32_t, Offset> end_of_epoch(const std::vector<EpochStart>& epochs, int32_t epoch,
                                        Offset log_end) {
  if (epoch < 0 || epoch > epochs.back().epoch) return {-1, -1};
  if (epoch == epochs.back().epoch) return {epoch, log_end};
  const auto next = std::find_if(epochs.begin(), epochs.end(),
                                 [epoch](const EpochStart& one) { return one.epoch > epoch; });
  const int32_t known = next == epochs.begin() ? epoch : std::prev(next)->epoch;
  return {known, next->start_offset};
}

bool begin_epoch(std::vector<EpochStart>& epochs, EpochStart next) {
  if (next.epoch <= epochs.back().epoch) return false;
  if (epochs.back().start_offset == next.start_offset) epochs.pop_back();
  epochs.push_back(next);
  return true;
}

bool trim_start(std::vector<EpochStart>& epochs, Offset log_start) {
  const auto after = std::find_if(epochs.begin(), epochs.end(), [log_start](const EpochStart& one) {
    return one.start_offset > log_start;
  });
  if (after == epochs.begin()) return false;
  const auto first = std::prev(after);
  if (first == epochs.begin() && first->start_offset == log_start) return false;
  first->start_offset = log_start;
  epochs.erase(epochs.begin(), first);
  return true;
}

bool trim_end(std::vector<EpochStart>& epochs, Offset log_end) {
  return std::erase_if(
             epochs, [log_end](const EpochStart& one) { return one.start_offset > log_end; }) != 0;
}

}  // namespace ackord::log
