#include "broker/txn/transaction.h"

#include <algorithm>

#include "broker/base/assert.h"

namespace ackord::txn {

bool Transaction::lists(const TopicPartition& partition) const {
  return std::binary_search(partitions.begin(), partitions.end(), partition);
}

bool Transaction::add(const std::vector<TopicPartition>& more) {
  bool changed = false;
  for (const TopicPartition& partition : more) {
    const auto at = std::lower_bound(partitions.begin(), partitions.end(), partition);
    if (at != partitions.end() && *at == partition) continue;
    partitions.insert(at, partition);
    changed = true;
  }
  return changed;
}

void Transaction::move_to(TxnState next) {
  ACKORD_ASSERT(may_move(state, next), "a transaction moves as its table says");
  state = next;
}

}  // namespace ackord::txn
