#include "client/acknowledgements.h"

#include <algorithm>

namespace ackord::client {

std::vector<AcknowledgementBatch> make_batches(const std::map<Offset, AcknowledgeType>& verdicts) {
  std::vector<AcknowledgementBatch> batches;
  for (const auto& [offset, type] : verdicts) {
    if (batches.empty() || batches.back().last + 1 != offset)
      batches.push_back({offset, offset, {}});
    batches.back().last = offset;
    batches.back().types.push_back(static_cast<int8_t>(type));
  }
  for (AcknowledgementBatch& batch : batches) {
    const int8_t first = batch.types.front();
    if (std::all_of(batch.types.begin(), batch.types.end(),
                    [first](int8_t type) { return type == first; })) {
      batch.types = {first};
    }
  }
  return batches;
}

int64_t count_offsets(const PartitionAcknowledgements& acknowledgements) {
  int64_t count = 0;
  for (const auto& [partition, batches] : acknowledgements) {
    for (const AcknowledgementBatch& batch : batches) count += batch.last - batch.first + 1;
  }
  return count;
}

PartitionAcknowledgements releases_of(PartitionAcknowledgements acknowledgements) {
  for (auto& [partition, batches] : acknowledgements) {
    for (AcknowledgementBatch& batch : batches)
      batch.types = {static_cast<int8_t>(AcknowledgeType::kRelease)};
  }
  return acknowledgements;
}

}  // namespace ackord::client
