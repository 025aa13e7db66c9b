// ChurnMember: a member of the share group, in a process of its own, that takes records and does
// with them what consumers do: accept, release, reject, renew and accept, accept late, or forget
// them until their lock expires. It comes back by itself after whatever the broker does. One
// thread.
#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <random>
#include <string>

#include "tests/integration/share_churn/journal.h"
#include "tests/integration/support/share_member.h"

namespace ackord::integration {

class ChurnMember {
 public:
  ChurnMember(uint16_t port, std::string group, Topic topic, uint64_t seed, Journal& journal);

  // Until `stop`; then it leaves the group.
  void run(const std::atomic<bool>& stop);

 private:
  // Accepted later, unless its lock has expired by then.
  struct Kept {
    int32_t partition = 0;
    OffsetRange range;
    int64_t due_us = 0;
  };

  void join();
  void beat();
  void take();
  void treat(int32_t partition, OffsetRange range);
  void accept_kept();
  void acknowledge(int32_t partition, const OffsetRange& range, int8_t type);
  uint64_t below(uint64_t bound) { return random_() % bound; }

  uint16_t port_;
  std::string group_;
  Topic topic_;
  std::mt19937_64 random_;
  Journal& journal_;
  std::optional<ShareMember> member_;
  int64_t next_beat_us_ = 0;
  std::deque<Kept> kept_;
};

}  // namespace ackord::integration
