// Version ranges as schemas write them: "3", "3-7", "3+" or "none".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ackord::codegen {

struct Versions {
  static constexpr int16_t kLast = INT16_MAX;  // the end of an open range

  int16_t low = 1;
  int16_t high = 0;  // inclusive; below `low`: no version at all

  static constexpr Versions none() { return {}; }
  static constexpr Versions all() { return {0, kLast}; }
  // nullopt when the text is not a range.
  static std::optional<Versions> parse(std::string_view text);

  bool empty() const { return low > high; }
  bool contains(int16_t version) const { return low <= version && version <= high; }
  bool covers(Versions other) const {
    return other.empty() || (low <= other.low && other.high <= high);
  }
  Versions intersect(Versions other) const;
  std::string to_string() const;
  friend bool operator==(Versions, Versions) = default;
};

}  // namespace ackord::codegen
