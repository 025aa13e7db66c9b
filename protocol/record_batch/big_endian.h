// Numbers at fixed places of a byte format, in network order. The caller has checked the bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ackord::protocol {

template <class Number>
Number load_big(const std::byte* at) {
  std::make_unsigned_t<Number> value = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    value = static_cast<std::make_unsigned_t<Number>>(static_cast<uint64_t>(value) << 8 |
                                                      static_cast<uint64_t>(at[i]));
  }
  return static_cast<Number>(value);
}

template <class Number>
void store_big(std::byte* at, Number value) {
  const auto bits = static_cast<std::make_unsigned_t<Number>>(value);
  for (size_t i = 0; i < sizeof(Number); ++i) {
    at[i] = static_cast<std::byte>(static_cast<uint64_t>(bits) >> (8 * (sizeof(Number) - 1 - i)));
  }
}

}  // namespace ackord::protocol
