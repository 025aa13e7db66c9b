#include "protocol/wire/reader.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/wire/bytes.h"

namespace ackord::protocol {
namespace {

TEST(Reader, Numbers) {
  const auto bytes =
      bytes_of("ff 8000 00000102 fffffffffffffffe ffff fffffffe 3ff8000000000000 01 00");
  Reader in(bytes);
  EXPECT_EQ(in.int8(), -1);
  EXPECT_EQ(in.int16(), INT16_MIN);
  EXPECT_EQ(in.int32(), 258);
  EXPECT_EQ(in.int64(), -2);
  EXPECT_EQ(in.uint16(), 65535);
  EXPECT_EQ(in.uint32(), 4294967294U);
  EXPECT_EQ(in.float64(), 1.5);
  EXPECT_TRUE(in.boolean());
  EXPECT_FALSE(in.boolean());
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.remaining(), 0U);
}

TEST(Reader, Varints) {
  const auto bytes = bytes_of("00 7f 8001 ffffffff0f 01 feffffff0f ffffffffffffffffff01");
  Reader in(bytes);
  EXPECT_EQ(in.unsigned_varint(), 0U);
  EXPECT_EQ(in.unsigned_varint(), 127U);
  EXPECT_EQ(in.unsigned_varint(), 128U);
  EXPECT_EQ(in.unsigned_varint(), UINT32_MAX);
  EXPECT_EQ(in.varint(), -1);
  EXPECT_EQ(in.varint(), INT32_MAX);
  EXPECT_EQ(in.varlong(), INT64_MIN);
  EXPECT_TRUE(in.ok());
}

TEST(Reader, AVarintThatIsTooLong) {
  for (const char* hex : {"ffffffffff0f", "ffffffff1f", "ffff", ""}) {
    const auto bytes = bytes_of(hex);
    Reader in(bytes);
    EXPECT_EQ(in.unsigned_varint(), 0U) << hex;
    EXPECT_FALSE(in.ok()) << hex;
  }
}

TEST(Reader, TheFirstFailureLatches) {
  const auto bytes = bytes_of("00 00");
  Reader in(bytes);
  in.int8();
  EXPECT_EQ(in.int32(), 0);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.int8(), 0) << "what is left is not readable any more";
  in.fail("something else");
  const Error error = in.error("Foo", 3);
  EXPECT_EQ(error.code, ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(error.message, "Foo v3: the message ends within a number at byte 1");
}

TEST(Reader, StringsBorrow) {
  const auto bytes = bytes_of("0002 6162 ffff 03 6364 00 0000 01");
  Reader in(bytes);
  std::string_view text;
  EXPECT_TRUE(in.text(text, Lengths::kClassic, Null::kForbidden));
  EXPECT_EQ(text, "ab");
  EXPECT_EQ(reinterpret_cast<const std::byte*>(text.data()), bytes.data() + 2);
  EXPECT_FALSE(in.text(text, Lengths::kClassic, Null::kAllowed));
  EXPECT_TRUE(in.text(text, Lengths::kCompact, Null::kForbidden));
  EXPECT_EQ(text, "cd");
  EXPECT_FALSE(in.text(text, Lengths::kCompact, Null::kAllowed));
  EXPECT_TRUE(in.text(text, Lengths::kClassic, Null::kForbidden));
  EXPECT_TRUE(in.text(text, Lengths::kCompact, Null::kForbidden));
  EXPECT_TRUE(in.ok());
}

TEST(Reader, ANullThatIsNotAllowed) {
  const auto bytes = bytes_of("00");
  std::string_view text;
  std::span<const std::byte> blob;
  Reader a(bytes);
  EXPECT_FALSE(a.text(text, Lengths::kCompact, Null::kForbidden));
  EXPECT_FALSE(a.ok());
  Reader b(bytes);
  EXPECT_FALSE(b.blob(blob, Lengths::kCompact, Null::kForbidden));
  EXPECT_FALSE(b.ok());
  Reader c(bytes);
  EXPECT_EQ(c.array_length(Lengths::kCompact, Null::kForbidden, 1), 0);
  EXPECT_FALSE(c.ok());
  Reader d(bytes);
  EXPECT_EQ(d.array_length(Lengths::kCompact, Null::kAllowed, 1), -1);
  EXPECT_TRUE(d.ok());
}

TEST(Reader, LengthsBeyondTheMessage) {
  std::string_view text;
  std::span<const std::byte> blob;
  const auto classic = bytes_of("7fff ffff 00");
  Reader a(classic);
  EXPECT_FALSE(a.text(text, Lengths::kClassic, Null::kAllowed));
  EXPECT_FALSE(a.ok());
  Reader b(classic);
  EXPECT_FALSE(b.blob(blob, Lengths::kClassic, Null::kAllowed));
  EXPECT_FALSE(b.ok());
  Reader c(classic);
  EXPECT_EQ(c.array_length(Lengths::kClassic, Null::kAllowed, 1), 0);
  EXPECT_FALSE(c.ok());
  const auto compact = bytes_of("ffffffff0f 00");
  Reader d(compact);
  EXPECT_EQ(d.array_length(Lengths::kCompact, Null::kAllowed, 1), 0);
  EXPECT_FALSE(d.ok());
}

TEST(Reader, ACountIsHeldAgainstTheSizeOfAnElement) {
  const auto bytes = bytes_of("00000002 00000000000000");
  Reader fits(bytes);
  EXPECT_EQ(fits.array_length(Lengths::kClassic, Null::kForbidden, 3), 2);
  Reader does_not(bytes);
  EXPECT_EQ(does_not.array_length(Lengths::kClassic, Null::kForbidden, 4), 0);
  EXPECT_FALSE(does_not.ok());
}

TEST(TaggedFieldReader, SkipsAndReads) {
  const auto bytes = bytes_of("02 00 02 1234 8101 04 00000007 55");
  Reader in(bytes);
  int32_t value = 0;
  for (TaggedFieldReader tags(in); tags.next();) {
    if (tags.tag() == 129) {
      value = in.int32();
    } else {
      tags.skip();
    }
  }
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(value, 7);
  EXPECT_EQ(in.int8(), 0x55) << "behind the tagged fields the message goes on";
}

TEST(TaggedFieldReader, AValueCannotReachBeyondItsField) {
  const auto bytes = bytes_of("01 00 02 0000 0000");
  Reader in(bytes);
  for (TaggedFieldReader tags(in); tags.next();) in.int32();
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.remaining(), 0U);
}

TEST(TaggedFieldReader, AFieldIsReadToItsEnd) {
  const auto bytes = bytes_of("01 00 04 0000 0000");
  Reader in(bytes);
  for (TaggedFieldReader tags(in); tags.next();) in.int16();
  EXPECT_FALSE(in.ok());
}

TEST(TaggedFieldReader, HugeCountsAndSizes) {
  for (const char* hex : {"ffffffff0f", "ffffffff0f 00 00", "01 00 ffffffff0f 00", "01 00 02 00"}) {
    const auto bytes = bytes_of(hex);
    Reader in(bytes);
    skip_tagged_fields(in);
    EXPECT_FALSE(in.ok()) << hex;
  }
}

}  // namespace
}  // namespace ackord::protocol
