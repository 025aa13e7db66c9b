// SealedProducers: the producers whose transaction was kept for a successor (KIP-939), on every
// core, so that a partition can refuse what they still send without asking the coordinator.
//
// A seal covers the producer's epoch and those before it. Soft: the coordinator seals again what
// its log holds when it loads. Threads: a core reads its own copy; seal() and unseal() from any
// core, and their effects come in the order of the calls of one core.
#pragma once

#include <unordered_map>
#include <vector>

#include "broker/io/core.h"
#include "broker/log/types.h"
#include "broker/metadata/every_core.h"
#include "protocol/types/ids.h"

namespace ackord::txn {

class SealedProducers {
 public:
  explicit SealedProducers(const io::Environment& environment)
      : environment_(environment), by_core_(environment.cores.size()) {}

  // Awaited: every core knows it then.
  metadata::OnEveryCore seal(log::ProducerStamp producer) {
    return {environment_,
            [this, producer](size_t core) { by_core_[core][producer.id] = producer.epoch; }};
  }
  metadata::OnEveryCore unseal(ProducerId id) {
    return {environment_, [this, id](size_t core) { by_core_[core].erase(id); }};
  }
  bool covers(log::ProducerStamp producer) const {
    const auto& mine = by_core_[static_cast<size_t>(environment_.here().index)];
    if (mine.empty()) return false;
    const auto at = mine.find(producer.id);
    return at != mine.end() && producer.epoch <= at->second;
  }

 private:
  const io::Environment& environment_;
  std::vector<std::unordered_map<ProducerId, int16_t>> by_core_;  // the sealed epoch
};

}  // namespace ackord::txn
