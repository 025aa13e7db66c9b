#include "broker/quota/meter.h"

#include <algorithm>
#include <cmath>

namespace ackord::quota {
namespace {

constexpr int kAmountBits = 40;
constexpr uint64_t kMaxAmount = (uint64_t{1} << kAmountBits) - 1;
constexpr uint64_t kMaxNumber = (uint64_t{1} << (64 - kAmountBits)) - 1;
constexpr int64_t kMicrosPerMs = 1000;
constexpr double kMicrosPerSecond = 1e6;

uint64_t number_of(uint64_t word) { return word >> kAmountBits; }

}  // namespace

Meter::Meter(Windows windows)
    : windows_{std::max<int64_t>(windows.count, 1), std::max<int64_t>(windows.size_ms, 1)},
      ring_(new std::atomic<uint64_t>[static_cast<size_t>(windows_.count)]) {
  for (int64_t i = 0; i < windows_.count; ++i) ring_[static_cast<size_t>(i)] = 0;
}

void Meter::record(int64_t now_ms, int64_t amount) {
  const int64_t window = now_ms / windows_.size_ms;
  const uint64_t number = static_cast<uint64_t>(window) & kMaxNumber;
  std::atomic<uint64_t>& slot = ring_[static_cast<size_t>(window % windows_.count)];
  uint64_t word = slot.load(std::memory_order_relaxed);
  uint64_t next = 0;
  do {
    const int64_t before =
        number_of(word) == number ? static_cast<int64_t>(word & kMaxAmount) : int64_t{0};
    const auto sum =
        static_cast<uint64_t>(std::clamp<int64_t>(before + amount, 0, int64_t{kMaxAmount}));
    next = number << kAmountBits | sum;
  } while (!slot.compare_exchange_weak(word, next, std::memory_order_relaxed));
}

int64_t Meter::used(int64_t now_ms) const {
  const int64_t window = now_ms / windows_.size_ms;
  int64_t sum = 0;
  for (int64_t i = 0; i < windows_.count; ++i) {
    const int64_t one = window - i;
    if (one < 0) break;
    const uint64_t word =
        ring_[static_cast<size_t>(one % windows_.count)].load(std::memory_order_relaxed);
    if (number_of(word) == (static_cast<uint64_t>(one) & kMaxNumber))
      sum += static_cast<int64_t>(word & kMaxAmount);
  }
  return sum;
}

int64_t Meter::throttle_ms(int64_t now_ms, double limit) const {
  const auto elapsed_ms = static_cast<double>((windows_.count - 1) * windows_.size_ms +
                                              std::max<int64_t>(now_ms % windows_.size_ms, 1));
  const double rate = static_cast<double>(used(now_ms)) * 1000.0 / elapsed_ms;
  if (rate <= limit) return 0;
  return std::max<int64_t>(std::llround((rate - limit) / limit * elapsed_ms), 1);
}

void Bucket::take(int64_t now_ms, double amount, double rate) {
  const int64_t now_us = now_ms * kMicrosPerMs;
  const auto cost_us = static_cast<int64_t>(amount / rate * kMicrosPerSecond);
  int64_t full_at = full_at_us_.load(std::memory_order_relaxed);
  while (!full_at_us_.compare_exchange_weak(full_at, std::max(full_at, now_us) + cost_us,
                                            std::memory_order_relaxed)) {
  }
}

int64_t Bucket::throttle_ms(int64_t now_ms) const {
  const int64_t below_us =
      full_at_us_.load(std::memory_order_relaxed) - (now_ms + capacity_ms_) * kMicrosPerMs;
  return below_us <= 0 ? 0 : (below_us + kMicrosPerMs - 1) / kMicrosPerMs;
}

}  // namespace ackord::quota
