// RequestBudget: what the connections of a process hold, all together, of requests that came and
// of answers that wait in memory (queued.max.request.bytes, queued.max.requests).
//
// It is soft: a connection that has nothing unanswered may always take one small request, so that
// none is locked out by the others; and of the large frames that have begun one may always go on,
// so that they do not wait for each other. Threads: each core counts its own; sums from any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "broker/net/frame_buffer.h"

namespace ackord::net {

class RequestBudget {
 public:
  // What a frame may take unasked.
  static constexpr int64_t kSmallFrame = FrameBuffer::kFirstStep;

  RequestBudget(size_t cores, int64_t max_bytes, int64_t max_queued)
      : max_bytes_(max_bytes), max_queued_(max_queued), parts_(cores) {}

  // Of the core that calls.
  void add_bytes(int core, int64_t bytes) { add(part(core).bytes, bytes); }
  void add_queued(int core, int64_t requests) { add(part(core).queued, requests); }
  // Readers that wait for a place for more of their frame.
  void add_waiting(int core, int64_t readers) { add(part(core).waiting, readers); }

  // For the one frame that may go on though there is no place. False: another one does.
  bool take_exemption() { return !exemption_taken_.exchange(true); }
  void return_exemption() { exemption_taken_.store(false); }

  bool is_spent() const { return sum(&Part::bytes) >= max_bytes_; }
  bool has_too_many_queued() const { return sum(&Part::queued) >= max_queued_; }
  bool has_place_for(int64_t bytes) const { return sum(&Part::bytes) + bytes <= max_bytes_; }
  // Somebody is kept waiting by what others hold.
  bool is_short() const { return is_spent() || sum(&Part::waiting) > 0; }
  int64_t bytes() const { return sum(&Part::bytes); }

 private:
  // A cache line each.
  struct alignas(64) Part {
    std::atomic<int64_t> bytes{0};
    std::atomic<int64_t> queued{0};
    std::atomic<int64_t> waiting{0};
  };

  static void add(std::atomic<int64_t>& count, int64_t change) {
    count.store(count.load(std::memory_order_relaxed) + change, std::memory_order_relaxed);
  }
  Part& part(int core) { return parts_[static_cast<size_t>(core)]; }
  int64_t sum(std::atomic<int64_t> Part::* which) const {
    int64_t total = 0;
    for (const Part& one : parts_) total += (one.*which).load(std::memory_order_relaxed);
    return total;
  }

  const int64_t max_bytes_;
  const int64_t max_queued_;
  std::vector<Part> parts_;
  std::atomic<bool> exemption_taken_{false};
};

}  // namespace ackord::net
