// Reader: decodes the fields of one frame.
//
// Ownership: borrows the bytes; what text(), blob() and records() return borrows them too.
// Errors: the first failure latches. From then on ok() is false, remaining() is 0 and every read
// answers zero, null or empty, so a decoder may read on and ask once at the end. A length or count
// is compared with the bytes that are present before anything is allocated. Not thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/types/ids.h"
#include "protocol/types/records.h"
#include "protocol/types/result.h"
#include "protocol/types/string.h"
#include "protocol/wire/utf8.h"

namespace ackord::protocol {

// How a length stands on the wire: a fixed signed number (-1: null), or an unsigned varint one too
// large (0: null).
enum class Lengths : bool { kClassic = false, kCompact = true };
enum class Null : bool { kForbidden = false, kAllowed = true };

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes)
      : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  bool ok() const { return failure_ == nullptr; }
  size_t position() const { return static_cast<size_t>(at_ - begin_); }
  // Within a tagged field: what is left of that field.
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  // INVALID_REQUEST with "<message> v<version>: <reason> at byte <n>". Only after a failure.
  Error error(std::string_view message, int16_t version) const;
  // Latches a failure that the caller has found; `reason` has static storage.
  void fail(const char* reason);

  int8_t int8() { return fixed<int8_t>(); }
  int16_t int16() { return fixed<int16_t>(); }
  int32_t int32() { return fixed<int32_t>(); }
  int64_t int64() { return fixed<int64_t>(); }
  uint16_t uint16() { return fixed<uint16_t>(); }
  uint32_t uint32() { return fixed<uint32_t>(); }
  double float64() { return std::bit_cast<double>(fixed<uint64_t>()); }
  bool boolean() { return fixed<int8_t>() != 0; }
  Uuid uuid();
  uint32_t unsigned_varint();
  int32_t varint();
  int64_t varlong();
  // The next `size` bytes; empty on failure.
  std::span<const std::byte> raw(size_t size);

  // False for null, which is a failure unless it is allowed.
  bool text(std::string_view& out, Lengths lengths, Null null);
  bool blob(std::span<const std::byte>& out, Lengths lengths, Null null);
  // Elements that follow, -1 for an allowed null, 0 on failure. `min_element_size` (≥ 1) is the
  // least that one element takes on the wire: a count that cannot fit in the remaining bytes is a
  // failure.
  int32_t array_length(Lengths lengths, Null null, size_t min_element_size);
  // The mark before a nullable struct: whether one follows.
  bool struct_follows() { return int8() >= 0; }
  // The same where the struct is a tagged field: there Kafka writes null as 0 (KIP-893's -1 is
  // understood too).
  bool tagged_struct_follows() { return int8() > 0; }

 private:
  friend class TaggedFieldReader;

  template <class Number>
  Number fixed() {
    if (remaining() < sizeof(Number)) {
      fail("the message ends within a number");
      return 0;
    }
    using Bits = std::conditional_t<
        sizeof(Number) == 1, uint8_t,
        std::conditional_t<sizeof(Number) == 2, uint16_t,
                           std::conditional_t<sizeof(Number) == 4, uint32_t, uint64_t>>>;
    Bits bits = 0;
    std::memcpy(&bits, at_, sizeof bits);
    at_ += sizeof bits;
    if constexpr (std::endian::native == std::endian::little) {
      if constexpr (sizeof bits == 2) bits = __builtin_bswap16(bits);
      if constexpr (sizeof bits == 4) bits = __builtin_bswap32(bits);
      if constexpr (sizeof bits == 8) bits = __builtin_bswap64(bits);
    }
    return static_cast<Number>(bits);
  }
  uint64_t varint_of(size_t max_size);
  int64_t length(Lengths lengths, size_t classic_size);

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  const char* failure_ = nullptr;
  size_t failed_at_ = 0;
};

// Walks the tagged fields at the end of a struct of a flexible version; reads are confined to the
// current one.
//   for (TaggedFieldReader tags(in); tags.next();)
//     switch (tags.tag()) { case 0: …read…; break; default: tags.skip(); }
// A field that was neither skipped nor read to its end is a failure.
class TaggedFieldReader {
 public:
  explicit TaggedFieldReader(Reader& in);
  bool next();
  uint32_t tag() const { return tag_; }
  void skip();

 private:
  Reader& in_;
  const std::byte* outer_end_;
  uint32_t left_;
  uint32_t tag_ = 0;
  bool open_ = false;
};

// The tagged fields of a struct that knows none.
void skip_tagged_fields(Reader& in);

// A field of a text type, a byte string or records, straight into its C++ type. A text borrows, but
// for one that is no UTF-8: it is repaired as in Java (utf8.h), and owns its characters.
// The optional forms hold nullopt for null; where null is forbidden it fails.
template <class Text>
void read_text(Reader& in, Text& out, Lengths lengths) {
  std::string_view text;
  in.text(text, lengths, Null::kForbidden);
  out = is_utf8(text) ? Text::view(text) : Text(repaired_utf8(text));
}
template <class Text>
void read_text(Reader& in, std::optional<Text>& out, Lengths lengths, Null null) {
  std::string_view text;
  if (in.text(text, lengths, null)) {
    out = is_utf8(text) ? Text::view(text) : Text(repaired_utf8(text));
  } else {
    out.reset();
  }
}
void read_blob(Reader& in, Bytes& out, Lengths lengths);
void read_blob(Reader& in, std::optional<Bytes>& out, Lengths lengths, Null null);
void read_records(Reader& in, Records& out, Lengths lengths);
void read_records(Reader& in, std::optional<Records>& out, Lengths lengths, Null null);

extern template void read_text(Reader&, String&, Lengths);
extern template void read_text(Reader&, TopicName&, Lengths);
extern template void read_text(Reader&, GroupId&, Lengths);
extern template void read_text(Reader&, TransactionalId&, Lengths);
extern template void read_text(Reader&, std::optional<String>&, Lengths, Null);
extern template void read_text(Reader&, std::optional<TopicName>&, Lengths, Null);
extern template void read_text(Reader&, std::optional<GroupId>&, Lengths, Null);
extern template void read_text(Reader&, std::optional<TransactionalId>&, Lengths, Null);

}  // namespace ackord::protocol
