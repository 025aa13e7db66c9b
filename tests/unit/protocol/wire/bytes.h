// Byte strings written as hex, for tests.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ackord::protocol {

inline std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  std::string digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits.push_back(c);
    if (digits.size() < 2) continue;
    bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

inline std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text.push_back("0123456789abcdef"[static_cast<size_t>(byte) >> 4]);
    text.push_back("0123456789abcdef"[static_cast<size_t>(byte) & 15]);
  }
  return text;
}

}  // namespace ackord::protocol
