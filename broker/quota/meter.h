// How much was used lately. Any thread; no lock: every change is one atomic word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ackord::quota {

// quota.window.num, quota.window.size.seconds.
struct Windows {
  int64_t count = 11;
  int64_t size_ms = 1000;
};

// Amounts by window of time: what is used is known for as long as `count` windows. An amount beyond
// 2^40 in a window counts as that.
class Meter {
 public:
  explicit Meter(Windows windows);

  // Both in steady time.
  void record(int64_t now_ms, int64_t amount);
  // For how long the connection must be silent, so that its use falls to `limit` a second; 0 when
  // it is below that.
  int64_t throttle_ms(int64_t now_ms, double limit) const;

 private:
  int64_t used(int64_t now_ms) const;

  Windows windows_;
  // A ring of words: window number modulo 2^24 | amount.
  std::unique_ptr<std::atomic<uint64_t>[]> ring_;
};

// A bucket of tokens that is full with what `rate` gives in all windows, and may go below nothing
// once (KIP-599).
class Bucket {
 public:
  explicit Bucket(Windows windows) : capacity_ms_(windows.count * windows.size_ms) {}

  // Takes the tokens, however few are left.
  void take(int64_t now_ms, double amount, double rate);
  // Until the bucket is no more below nothing.
  int64_t throttle_ms(int64_t now_ms) const;

 private:
  int64_t capacity_ms_;
  std::atomic<int64_t> full_at_us_{0};  // when all of it is there again
};

}  // namespace ackord::quota
