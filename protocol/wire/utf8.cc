#include "protocol/wire/utf8.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ackord::protocol {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

uint8_t byte_at(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]); }

struct Character {
  size_t size;  // bytes taken, ≥ 1
  bool good;
};

bool is_second(uint8_t lead, uint8_t second) {
  switch (lead) {
    case 0xe0: return second >= 0xa0 && second <= 0xbf;
    case 0xf0: return second >= 0x90 && second <= 0xbf;
    case 0xf4: return second >= 0x80 && second <= 0x8f;
    default: return second >= 0x80 && second <= 0xbf;
  }
}

Character character_at(std::string_view text, size_t at) {
  const uint8_t lead = byte_at(text, at);
  if (lead < 0x80) return {1, true};
  const size_t size = lead >= 0xc2 && lead <= 0xdf   ? 2
                      : lead >= 0xe0 && lead <= 0xef ? 3
                      : lead >= 0xf0 && lead <= 0xf4 ? 4
                                                     : 0;
  if (size == 0) return {1, false};
  for (size_t i = 1; i < size; ++i) {
    if (at + i == text.size()) return {i, false};
    const uint8_t next = byte_at(text, at + i);
    if (i == 1 ? !is_second(lead, next) : (next & 0xc0) != 0x80) return {i, false};
  }
  const bool surrogate = lead == 0xed && byte_at(text, at + 1) >= 0xa0;
  return {size, !surrogate};
}

// Bytes of ASCII at the beginning, or fewer; by whole words.
size_t ascii_words(std::string_view text) {
  size_t at = 0;
  for (uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  return at;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t at = ascii_words(text); at < text.size();) {
    const Character one = character_at(text, at);
    if (!one.good) return false;
    at += one.size;
  }
  return true;
}

std::string repaired_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size() + kReplacement.size());
  for (size_t at = 0; at < text.size();) {
    const Character one = character_at(text, at);
    out += one.good ? text.substr(at, one.size) : kReplacement;
    at += one.size;
  }
  return out;
}

}  // namespace ackord::protocol
