// Random: numbers that follow from a seed alone, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ackord::conform::differential {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // The numbers of one step follow from the seed and the step, not from how many were used before.
  Random(uint64_t seed, uint64_t step) : state_(seed * 0x9e3779b97f4a7c15 + step) { next(); }

  // splitmix64.
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // 0 to `count` - 1; `count` is at least 1.
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }
  int32_t number(int32_t count) { return static_cast<int32_t>(below(static_cast<size_t>(count))); }
  bool one_in(size_t count) { return below(count) == 0; }
  // Of a list that is not empty.
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[below(list.size())];
  }
  template <class T>
  T& of(std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace ackord::conform::differential
