#include "protocol/wire/writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "protocol/wire/varint.h"

namespace ackord::protocol {

Writer Writer::counting() {
  Writer writer;
  writer.counting_ = true;
  return writer;
}

void Writer::reserve(size_t size) {
  if (!counting_) chunk_.reserve(chunk_.size() + size);
}

OutputChain Writer::finish() {
  if (!chunk_.empty()) chain_.pieces.emplace_back(std::exchange(chunk_, {}));
  size_ = 0;
  return std::exchange(chain_, {});
}

void Writer::append(const std::byte* data, size_t size) {
  size_ += size;
  if (!counting_) chunk_.insert(chunk_.end(), data, data + size);
}

void Writer::fixed(uint64_t value, size_t size) {
  std::array<std::byte, sizeof value> bytes;
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(value >> (8 * (size - 1 - i)));
  append(bytes.data(), size);
}

void Writer::uuid(const Uuid& value) { raw(std::as_bytes(std::span(value.bytes))); }

void Writer::unsigned_varint(uint32_t value) {
  std::array<std::byte, kMaxVarlongSize> bytes;
  append(bytes.data(), put_varint(bytes.data(), value));
}

void Writer::varint(int32_t value) { unsigned_varint(zigzag32(value)); }

void Writer::varlong(int64_t value) {
  std::array<std::byte, kMaxVarlongSize> bytes;
  append(bytes.data(), put_varint(bytes.data(), zigzag64(value)));
}

void Writer::raw(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }

void Writer::length(size_t size, Lengths lengths, size_t classic_size) {
  if (lengths == Lengths::kCompact) {
    unsigned_varint(static_cast<uint32_t>(size) + 1);
  } else {
    fixed(size, classic_size);
  }
}

void Writer::text(std::string_view text, Lengths lengths) {
  if (lengths == Lengths::kClassic) text = text.substr(0, INT16_MAX);
  length(text.size(), lengths, sizeof(int16_t));
  raw(std::as_bytes(std::span(text)));
}

void Writer::blob(std::span<const std::byte> bytes, Lengths lengths) {
  length(bytes.size(), lengths, sizeof(int32_t));
  raw(bytes);
}

void Writer::array_length(size_t count, Lengths lengths) {
  length(count, lengths, sizeof(int32_t));
}

void Writer::null_text(Lengths lengths) {
  if (lengths == Lengths::kCompact) {
    unsigned_varint(0);
  } else {
    int16(-1);
  }
}

void Writer::null_array(Lengths lengths) {
  if (lengths == Lengths::kCompact) {
    unsigned_varint(0);
  } else {
    int32(-1);
  }
}

void Writer::records(const Records& records, Lengths lengths) {
  length(records.size(), lengths, sizeof(int32_t));
  for (const Records::Piece& piece : records.pieces()) {
    if (piece.range.source) {
      link(piece.range);
    } else if (piece.size() < kLinkSize) {
      raw(piece.buffer ? std::span<const std::byte>(*piece.buffer) : piece.view);
    } else if (piece.buffer) {
      link(piece.buffer);
    } else {
      link(piece.view);
    }
  }
}

void Writer::link(OutputChain::Piece piece) {
  size_ += piece_size(piece);
  if (counting_) return;
  if (!chunk_.empty()) chain_.pieces.emplace_back(std::exchange(chunk_, {}));
  chain_.pieces.push_back(std::move(piece));
}

Writer::Tag Writer::begin_tag(uint32_t tag) const {
  return Tag{tag, size_, chain_.pieces.size(), chunk_.size()};
}

// The value's size is known only now, so its head is put before what has been written. The chunk
// that was current at begin_tag is either still current or, after a link, the piece that stands at
// the place of that time.
void Writer::end_tag(const Tag& tag) {
  std::array<std::byte, 2 * kMaxVarlongSize> head;
  size_t head_size = put_varint(head.data(), tag.tag);
  head_size += put_varint(head.data() + head_size, size_ - tag.size);
  size_ += head_size;
  if (counting_) return;
  OutputChain::Owned* chunk = &chunk_;
  if (tag.piece < chain_.pieces.size()) {
    chunk = std::get_if<OutputChain::Owned>(&chain_.pieces[tag.piece]);
    if (chunk == nullptr) {
      // The value begins with a linked piece and nothing stood before it in the chunk.
      const auto at = chain_.pieces.begin() + static_cast<std::ptrdiff_t>(tag.piece);
      chain_.pieces.emplace(at, OutputChain::Owned(head.begin(), head.begin() + head_size));
      return;
    }
  }
  chunk->insert(chunk->begin() + static_cast<std::ptrdiff_t>(tag.offset), head.begin(),
                head.begin() + head_size);
}

void write_blob(Writer& out, const std::optional<Bytes>& bytes, Lengths lengths, Null null) {
  if (bytes.has_value() || null == Null::kForbidden) {
    out.blob(bytes.has_value() ? bytes->span() : std::span<const std::byte>(), lengths);
  } else {
    out.null_array(lengths);
  }
}

void write_records(Writer& out, const std::optional<Records>& records, Lengths lengths, Null null) {
  if (records.has_value() || null == Null::kForbidden) {
    out.records(records.has_value() ? *records : Records(), lengths);
  } else {
    out.null_array(lengths);
  }
}

}  // namespace ackord::protocol
