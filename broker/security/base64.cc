#include "broker/security/base64.h"

#include <array>
#include <cstdint>

namespace ackord::security {
namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr size_t kGroup = 4;  // characters for three bytes

constexpr std::array<int8_t, 256> values_of(std::string_view alphabet) {
  std::array<int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<uint8_t>(alphabet[i])] = static_cast<int8_t>(i);
  return values;
}
constexpr auto kStandardValues = values_of(kStandard);
constexpr auto kUrlValues = values_of(kUrl);

std::string encode(std::string_view bytes, std::string_view alphabet) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * kGroup);
  uint32_t bits = 0;
  int held = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(byte);
    for (held += 8; held >= 6; held -= 6) out += alphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) out += alphabet[bits << (6 - held) & 63];
  return out;
}

std::optional<std::string> decode(std::string_view text, const std::array<int8_t, 256>& values) {
  if (text.size() % kGroup == 1) return std::nullopt;
  std::string out;
  out.reserve(text.size() / kGroup * 3 + 2);
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int8_t value = values[static_cast<uint8_t>(c)];
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 255);
  }
  // What is left over is part of no byte.
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;
  return out;
}

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string out = encode(bytes, kStandard);
  out.append((kGroup - out.size() % kGroup) % kGroup, '=');
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % kGroup != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return decode(text, kStandardValues);
}

std::string to_base64url(std::string_view bytes) { return encode(bytes, kUrl); }

std::optional<std::string> from_base64url(std::string_view text) {
  return decode(text, kUrlValues);
}

}  // namespace ackord::security
