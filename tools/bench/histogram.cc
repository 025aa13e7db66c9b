#include "tools/bench/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ackord::bench {
namespace {

// Values below 2^kExactBits have a bucket each; above, each power of two has 2^(kExactBits - 1).
constexpr int kExactBits = 7;
constexpr uint64_t kHalf = uint64_t{1} << (kExactBits - 1);
constexpr int kMostBits = 44;  // five hours
constexpr size_t kBuckets = (kMostBits - kExactBits) * kHalf + 2 * kHalf;

size_t bucket_of(uint64_t value) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kExactBits);
  return static_cast<uint64_t>(shift) * kHalf + (value >> shift);
}

// The largest value of a bucket.
int64_t top_of(size_t bucket) {
  if (bucket < 2 * kHalf) return static_cast<int64_t>(bucket);
  const size_t shift = bucket / kHalf - 1;
  const size_t within = bucket - shift * kHalf;
  return static_cast<int64_t>(((within + 1) << shift) - 1);
}

}  // namespace

Histogram::Histogram() : buckets_(kBuckets) {}

void Histogram::record(int64_t nanoseconds) {
  const int64_t value = std::max<int64_t>(0, nanoseconds);
  ++buckets_[std::min(bucket_of(static_cast<uint64_t>(value)), kBuckets - 1)];
  ++count_;
  max_ = std::max(max_, value);
}

void Histogram::add(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

int64_t Histogram::quantile(double part) const {
  const auto wanted =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(part * static_cast<double>(count_))));
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets && count_ > 0; ++i) {
    seen += buckets_[i];
    if (seen >= wanted) return std::min(top_of(i), max_);
  }
  return max_;
}

}  // namespace ackord::bench
