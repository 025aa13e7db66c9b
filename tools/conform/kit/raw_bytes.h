// RawBytes: bytes written by hand, in the protocol's order, for frames that no encoder would write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace ackord::conform {

class RawBytes {
 public:
  RawBytes() = default;
  RawBytes(std::initializer_list<int> bytes) { these(bytes); }

  RawBytes& int16(int64_t value) { return number(value, 2); }
  RawBytes& int32(int64_t value) { return number(value, 4); }
  RawBytes& these(std::initializer_list<int> bytes) {
    for (const int byte : bytes) bytes_.push_back(static_cast<std::byte>(byte));
    return *this;
  }
  RawBytes& text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  // A classic string: its length in two bytes, then the text.
  RawBytes& classic_text(std::string_view value) {
    return int16(static_cast<int64_t>(value.size())).text(value);
  }
  RawBytes& raw(const std::vector<std::byte>& bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  RawBytes& repeat(int byte, size_t count) {
    bytes_.insert(bytes_.end(), count, static_cast<std::byte>(byte));
    return *this;
  }
  RawBytes& cut_to(size_t size) {
    bytes_.resize(size);
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  RawBytes& number(int64_t value, int size) {
    for (int shift = (size - 1) * 8; shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<std::byte>((value >> shift) & 0xff));
    return *this;
  }

  std::vector<std::byte> bytes_;
};

constexpr int32_t kRawCorrelationId = 77;

// A request header of the given version, 1 or 2, with client id "x".
inline RawBytes raw_header(int16_t api_key, int16_t api_version, int header_version) {
  RawBytes out;
  out.int16(api_key).int16(api_version).int32(kRawCorrelationId).classic_text("x");
  if (header_version >= 2) out.these({0});
  return out;
}

}  // namespace ackord::conform
