// Writer: encodes fields into an OutputChain.
//
// Ownership: everything is copied into the writer's own chunks, except the pieces of a Records
// field. Of those, shared buffers, file ranges and borrowed views of kLinkSize bytes or more are
// linked: see OutputChain for how long a borrowed one must live. Errors: none; what a wire type
// cannot express is cut (see text()). Not thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/types/ids.h"
#include "protocol/types/records.h"
#include "protocol/types/string.h"
#include "protocol/wire/output_chain.h"
#include "protocol/wire/reader.h"

namespace ackord::protocol {

class Writer {
 public:
  // Below this a copy is cheaper than one more piece to send.
  static constexpr size_t kLinkSize = 4096;

  Writer() = default;
  // Keeps nothing and only counts: size() is what an encoding would take.
  static Writer counting();

  // Room for `size` more bytes in the current chunk.
  void reserve(size_t size);
  uint64_t size() const { return size_; }
  // The pieces written so far; the writer is empty afterwards.
  OutputChain finish();

  void int8(int8_t value) { fixed(static_cast<uint8_t>(value), 1); }
  void int16(int16_t value) { fixed(static_cast<uint16_t>(value), 2); }
  void int32(int32_t value) { fixed(static_cast<uint32_t>(value), 4); }
  void int64(int64_t value) { fixed(static_cast<uint64_t>(value), 8); }
  void uint16(uint16_t value) { fixed(value, 2); }
  void uint32(uint32_t value) { fixed(value, 4); }
  void float64(double value) { fixed(std::bit_cast<uint64_t>(value), 8); }
  void boolean(bool value) { fixed(value ? 1 : 0, 1); }
  void uuid(const Uuid& value);
  void unsigned_varint(uint32_t value);
  void varint(int32_t value);
  void varlong(int64_t value);
  void raw(std::span<const std::byte> bytes);

  // A classic string holds 32767 bytes at most; a longer text is cut there, so that the frame stays
  // well-formed.
  void text(std::string_view text, Lengths lengths);
  void blob(std::span<const std::byte> bytes, Lengths lengths);
  void records(const Records& records, Lengths lengths);
  void array_length(size_t count, Lengths lengths);
  void null_text(Lengths lengths);
  // Null for an array, a byte string or records.
  void null_array(Lengths lengths);
  // The mark before a nullable struct.
  void struct_mark(bool present) { int8(present ? 1 : -1); }
  void tagged_struct_mark(bool present) { int8(present ? 1 : 0); }

  // A tagged field: what is written between the two is its value. They nest.
  struct Tag {
    uint32_t tag;
    uint64_t size;
    size_t piece;
    size_t offset;
  };
  Tag begin_tag(uint32_t tag) const;
  void end_tag(const Tag& tag);

 private:
  void fixed(uint64_t value, size_t size);
  void length(size_t size, Lengths lengths, size_t classic_size);
  void append(const std::byte* data, size_t size);
  void link(OutputChain::Piece piece);

  bool counting_ = false;
  uint64_t size_ = 0;
  OutputChain chain_;
  OutputChain::Owned chunk_;
};

// Optional fields: nullopt is written as null where that is allowed, else as empty.
template <class Text>
void write_text(Writer& out, const std::optional<Text>& text, Lengths lengths, Null null) {
  if (text.has_value() || null == Null::kForbidden) {
    out.text(text.has_value() ? text->sv() : std::string_view(), lengths);
  } else {
    out.null_text(lengths);
  }
}
void write_blob(Writer& out, const std::optional<Bytes>& bytes, Lengths lengths, Null null);
void write_records(Writer& out, const std::optional<Records>& records, Lengths lengths, Null null);

}  // namespace ackord::protocol
