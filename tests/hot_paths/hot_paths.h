// The broker's hottest paths, each as a piece of work that can be repeated: for the
// micro-benchmarks, and for the count of instructions that guards them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ackord::hot_paths {

struct HotPath {
  std::string name;
  // Makes the state that the work needs; what it returns does the work once.
  std::function<std::function<void()>()> make;
  // What one piece of work handles, for rates.
  int64_t records = 0;
  int64_t bytes = 0;
};

// decode-produce: a Produce request of one batch, from its frame.
// validate-batch: that batch's 100 records of 100 bytes, as a partition checks them.
// crc-16k: the checksum of 16 KiB.
// share-acquire-accept: 500 records handed to a member, and accepted.
std::vector<HotPath> all();

}  // namespace ackord::hot_paths
