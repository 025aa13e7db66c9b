#include "protocol/wire/reader.h"

#include "protocol/wire/varint.h"

namespace ackord::protocol {

Error Reader::error(std::string_view message, int16_t version) const {
  std::string text(message);
  text += " v" + std::to_string(version) + ": " + (failure_ ? failure_ : "no failure") +
          " at byte " + std::to_string(failed_at_);
  return ackord::error(ErrorCode::INVALID_REQUEST, std::move(text));
}

void Reader::fail(const char* reason) {
  if (failure_ != nullptr) return;
  failure_ = reason;
  failed_at_ = position();
  // Nothing is left to read: later reads fail at their own bounds check, which costs the good path
  // nothing.
  at_ = end_;
}

Uuid Reader::uuid() {
  Uuid id;
  const std::span<const std::byte> bytes = raw(id.bytes.size());
  if (!bytes.empty()) std::memcpy(id.bytes.data(), bytes.data(), id.bytes.size());
  return id;
}

std::span<const std::byte> Reader::raw(size_t size) {
  if (remaining() < size) {
    fail("the message ends within a field");
    return {};
  }
  const std::span<const std::byte> bytes(at_, size);
  at_ += size;
  return bytes;
}

uint64_t Reader::varint_of(size_t max_size) {
  uint64_t value = 0;
  for (size_t i = 0; i < max_size; ++i) {
    if (at_ == end_) {
      fail("the message ends within a varint");
      return 0;
    }
    const auto byte = static_cast<uint8_t>(*at_++);
    value |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) return value;
  }
  fail("a varint is too long");
  return 0;
}

uint32_t Reader::unsigned_varint() {
  const uint64_t value = varint_of(kMaxVarintSize);
  if (value > UINT32_MAX) {
    fail("a varint is too large");
    return 0;
  }
  return static_cast<uint32_t>(value);
}

int32_t Reader::varint() { return unzigzag32(unsigned_varint()); }

int64_t Reader::varlong() { return unzigzag64(varint_of(kMaxVarlongSize)); }

// The length, or -1 for null; any other negative number counts as null too, as in Kafka.
int64_t Reader::length(Lengths lengths, size_t classic_size) {
  if (lengths == Lengths::kCompact) return static_cast<int64_t>(unsigned_varint()) - 1;
  const int64_t size = classic_size == sizeof(int16_t) ? int16() : int32();
  return size < 0 ? -1 : size;
}

bool Reader::text(std::string_view& out, Lengths lengths, Null null) {
  const int64_t size = length(lengths, sizeof(int16_t));
  out = {};
  if (size < 0) {
    if (null == Null::kForbidden) fail("a string is null");
    return false;
  }
  if (static_cast<uint64_t>(size) > remaining()) {
    fail("a string is longer than the message");
    return false;
  }
  out = {reinterpret_cast<const char*>(at_), static_cast<size_t>(size)};
  at_ += size;
  return true;
}

bool Reader::blob(std::span<const std::byte>& out, Lengths lengths, Null null) {
  const int64_t size = length(lengths, sizeof(int32_t));
  out = {};
  if (size < 0) {
    if (null == Null::kForbidden) fail("a byte string is null");
    return false;
  }
  if (static_cast<uint64_t>(size) > remaining()) {
    fail("a byte string is longer than the message");
    return false;
  }
  out = {at_, static_cast<size_t>(size)};
  at_ += size;
  return true;
}

int32_t Reader::array_length(Lengths lengths, Null null, size_t min_element_size) {
  const int64_t count = length(lengths, sizeof(int32_t));
  if (!ok()) return 0;
  if (count < 0) {
    if (null == Null::kAllowed) return -1;
    fail("an array is null");
    return 0;
  }
  if (count > INT32_MAX || static_cast<uint64_t>(count) > remaining() / min_element_size) {
    fail("an array has more elements than the message can hold");
    return 0;
  }
  return static_cast<int32_t>(count);
}

TaggedFieldReader::TaggedFieldReader(Reader& in)
    : in_(in), outer_end_(in.end_), left_(in.unsigned_varint()) {}

bool TaggedFieldReader::next() {
  if (open_) {
    if (in_.at_ != in_.end_) in_.fail("a tagged field is longer than its value");
    open_ = false;
    // After a failure nothing may be readable, so the inner end stays.
    if (!in_.ok()) return false;
    in_.end_ = outer_end_;
  }
  if (left_ == 0 || !in_.ok()) return false;
  --left_;
  tag_ = in_.unsigned_varint();
  const uint32_t size = in_.unsigned_varint();
  if (size > in_.remaining()) in_.fail("a tagged field is longer than the message");
  if (!in_.ok()) return false;
  in_.end_ = in_.at_ + size;
  open_ = true;
  return true;
}

void TaggedFieldReader::skip() { in_.at_ = in_.end_; }

void skip_tagged_fields(Reader& in) {
  for (TaggedFieldReader tags(in); tags.next();) tags.skip();
}

void read_blob(Reader& in, Bytes& out, Lengths lengths) {
  std::span<const std::byte> bytes;
  in.blob(bytes, lengths, Null::kForbidden);
  out = Bytes::view(bytes);
}

void read_blob(Reader& in, std::optional<Bytes>& out, Lengths lengths, Null null) {
  std::span<const std::byte> bytes;
  if (in.blob(bytes, lengths, null)) {
    out = Bytes::view(bytes);
  } else {
    out.reset();
  }
}

void read_records(Reader& in, Records& out, Lengths lengths) {
  std::span<const std::byte> bytes;
  in.blob(bytes, lengths, Null::kForbidden);
  out = Records::view(bytes);
}

void read_records(Reader& in, std::optional<Records>& out, Lengths lengths, Null null) {
  std::span<const std::byte> bytes;
  if (in.blob(bytes, lengths, null)) {
    out = Records::view(bytes);
  } else {
    out.reset();
  }
}

template void read_text(Reader&, String&, Lengths);
template void read_text(Reader&, TopicName&, Lengths);
template void read_text(Reader&, GroupId&, Lengths);
template void read_text(Reader&, TransactionalId&, Lengths);
template void read_text(Reader&, std::optional<String>&, Lengths, Null);
template void read_text(Reader&, std::optional<TopicName>&, Lengths, Null);
template void read_text(Reader&, std::optional<GroupId>&, Lengths, Null);
template void read_text(Reader&, std::optional<TransactionalId>&, Lengths, Null);

}  // namespace ackord::protocol
