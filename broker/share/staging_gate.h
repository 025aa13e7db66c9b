// StagingGate: whether transactional acknowledgements may begin now: a stage, or a batch
// transaction that would take some (docs/PROTOCOL.md 1.5).
//
// share.version may go down only while nothing is staged and no batch transaction is live. Whoever
// lowers it closes the gate, looks, and opens it again once the new level forbids on every core
// what the gate has forbidden: nothing can slip in between. Who begins something asks on the core
// of the shard, at the moment of the decision. Threads: closed(), check() and the tasks from any
// core; each core has a count of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "broker/metadata/every_core.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::share {

class StagingGate {
 public:
  StagingGate(io::Environment& environment, metadata::MetadataService& metadata)
      : environment_(environment), metadata_(metadata), closed_(environment.cores.size(), 0) {}

  // COORDINATOR_NOT_AVAILABLE while it is closed, UNSUPPORTED_VERSION below the level.
  ErrorCode check() const {
    if (closed_[static_cast<size_t>(environment_.here().index)] > 0)
      return ErrorCode::COORDINATOR_NOT_AVAILABLE;
    if (metadata_.image().features().level("share.version") < kFirstLevel)
      return ErrorCode::UNSUPPORTED_VERSION;
    return ErrorCode::NONE;
  }

  // May be nested. When close() has ended, whatever passed the gate has been decided.
  io::Task<void> close() {
    metadata::OnEveryCore closing{environment_, [this](size_t core) { ++closed_[core]; }};
    co_await closing;
  }
  io::Task<void> open() {
    metadata::OnEveryCore opening{environment_, [this](size_t core) { --closed_[core]; }};
    co_await opening;
  }

 private:
  static constexpr int16_t kFirstLevel = 3;  // of share.version

  io::Environment& environment_;
  metadata::MetadataService& metadata_;
  std::vector<int> closed_;  // by core: how many have closed it
};

}  // namespace ackord::share
