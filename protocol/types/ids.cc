#include "protocol/types/ids.h"

#include <cstring>

namespace ackord {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kTextSize = 22;

int value_of(char c) {
  const size_t at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string Uuid::to_string() const {
  std::string text;
  text.reserve(kTextSize);
  uint32_t bits = 0;
  int count = 0;
  for (const uint8_t byte : bytes) {
    bits = (bits << 8) | byte;
    count += 8;
    while (count >= 6) {
      count -= 6;
      text.push_back(kAlphabet[(bits >> count) & 63]);
    }
  }
  text.push_back(kAlphabet[(bits << (6 - count)) & 63]);
  return text;
}

bool Uuid::parse(std::string_view text, Uuid& out) {
  if (text.size() != kTextSize) return false;
  Uuid parsed;
  uint32_t bits = 0;
  int count = 0;
  size_t at = 0;
  for (const char c : text) {
    const int value = value_of(c);
    if (value < 0) return false;
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      if (at < parsed.bytes.size()) parsed.bytes[at++] = static_cast<uint8_t>(bits >> count);
    }
  }
  out = parsed;
  return true;
}

}  // namespace ackord

size_t std::hash<ackord::Uuid>::operator()(const ackord::Uuid& id) const {
  // Topic ids are random, so any eight bytes of one are a hash.
  size_t h = 0;
  std::memcpy(&h, id.bytes.data() + 8, sizeof h);
  return h;
}
