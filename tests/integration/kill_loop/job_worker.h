// JobWorker: takes inputs through the share group, and writes one output per input in the
// transaction that acknowledges it. It begins a new life, with the same transactional id, after
// whatever has gone wrong. One thread.
#pragma once

#include <optional>
#include <random>
#include <string>

#include "tests/integration/kill_loop/story.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {

class JobWorker {
 public:
  JobWorker(Run& run, std::string transactional_id);

  // Until the run's workers stop. A transaction may be left open then.
  void run();

  const std::string& id() const { return id_; }
  static std::string output_of(Offset input) { return "in-" + std::to_string(input); }

 private:
  void join();
  void work(ShareMember& member, TxnProducer& producer);

  Run& run_;
  std::string id_;
  std::mt19937_64 random_;
  int lives_ = 0;
  std::optional<ShareMember> member_;
};

}  // namespace ackord::integration
