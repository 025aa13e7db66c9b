#include "protocol/wire/writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "protocol/wire/records_equal.h"
#include "tests/unit/protocol/wire/bytes.h"

namespace ackord::protocol {
namespace {

// A file that holds its own offsets: the byte at n is n % 251.
class Numbers : public ByteSource {
 public:
  int native_handle() const override { return -1; }
  bool read_at(uint64_t position, std::span<std::byte> out) const override {
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>((position + i) % 251);
    return true;
  }
};

std::string written(Writer& out) {
  const uint64_t size = out.size();
  const std::vector<std::byte> bytes = out.finish().copy();
  EXPECT_EQ(size, bytes.size());
  return hex_of(bytes);
}

TEST(Writer, Numbers) {
  Writer out;
  out.int8(-1);
  out.int16(-2);
  out.int32(258);
  out.int64(-2);
  out.uint16(65535);
  out.uint32(7);
  out.float64(1.5);
  out.boolean(true);
  EXPECT_EQ(written(out), "fffffe00000102fffffffffffffffeffff000000073ff800000000000001");
}

TEST(Writer, Varints) {
  Writer out;
  out.unsigned_varint(300);
  out.varint(-1);
  out.varlong(INT64_MIN);
  EXPECT_EQ(written(out), "ac0201ffffffffffffffffff01");
}

TEST(Writer, Lengths) {
  Writer out;
  out.text("ab", Lengths::kClassic);
  out.text("ab", Lengths::kCompact);
  out.null_text(Lengths::kClassic);
  out.null_text(Lengths::kCompact);
  out.null_array(Lengths::kClassic);
  out.null_array(Lengths::kCompact);
  out.array_length(3, Lengths::kClassic);
  out.array_length(3, Lengths::kCompact);
  EXPECT_EQ(written(out), "00026162036162ffff00ffffffff000000000304");
}

TEST(Writer, AClassicStringIsCutAtItsLongest) {
  Writer out;
  out.text(std::string(40000, 'x'), Lengths::kClassic);
  const std::vector<std::byte> bytes = out.finish().copy();
  EXPECT_EQ(bytes.size(), 2U + 32767U);
  EXPECT_EQ(hex_of({bytes.begin(), bytes.begin() + 2}), "7fff");
}

TEST(Writer, NullWhereItIsForbiddenIsEmpty) {
  Writer out;
  write_text(out, std::optional<String>(), Lengths::kCompact, Null::kForbidden);
  write_text(out, std::optional<String>(), Lengths::kCompact, Null::kAllowed);
  write_blob(out, std::nullopt, Lengths::kCompact, Null::kForbidden);
  write_records(out, std::nullopt, Lengths::kCompact, Null::kAllowed);
  EXPECT_EQ(written(out), "01000100");
}

TEST(Writer, TagsNest) {
  Writer out;
  out.int8(9);
  const Writer::Tag outer = out.begin_tag(1);
  out.int8(5);
  const Writer::Tag inner = out.begin_tag(300);
  out.int16(6);
  out.end_tag(inner);
  out.end_tag(outer);
  EXPECT_EQ(written(out),
            "09"
            "01"
            "06"
            "05"
            "ac02"
            "02"
            "0006");
}

TEST(Writer, RecordsAreLinked) {
  const auto source = std::make_shared<Numbers>();
  const auto shared =
      std::make_shared<const std::vector<std::byte>>(Writer::kLinkSize, std::byte{1});
  const std::vector<std::byte> borrowed(Writer::kLinkSize, std::byte{2});
  Records records;
  records.append(shared);
  records.append(FileRange{source, 1000, 10});
  Writer out;
  out.int8(7);
  out.records(records, Lengths::kClassic);
  out.records(Records::view(borrowed), Lengths::kClassic);
  out.int8(8);
  const uint64_t size = out.size();
  const OutputChain chain = out.finish();
  ASSERT_EQ(chain.pieces.size(), 6U);
  EXPECT_EQ(std::get<SharedBuffer>(chain.pieces[1]), shared) << "not a copy";
  EXPECT_EQ(std::get<FileRange>(chain.pieces[2]).position, 1000U);
  EXPECT_EQ(std::get<OutputChain::Borrowed>(chain.pieces[4]).data(), borrowed.data());
  EXPECT_EQ(chain.size(), size);
  EXPECT_EQ(size, 1 + 4 + 4096 + 10 + 4 + 4096 + 1U);
  const std::vector<std::byte> bytes = chain.copy();
  ASSERT_EQ(bytes.size(), size);
  EXPECT_EQ(bytes[1 + 4 + 4096], std::byte{1000 % 251});
  EXPECT_EQ(bytes.back(), std::byte{8});
}

TEST(Writer, SmallRecordsAreCopied) {
  const std::vector<std::byte> small(Writer::kLinkSize - 1, std::byte{3});
  Writer out;
  out.records(Records::view(small), Lengths::kClassic);
  const OutputChain chain = out.finish();
  ASSERT_EQ(chain.pieces.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<OutputChain::Owned>(chain.pieces[0]));
}

TEST(Writer, ATagAroundLinkedRecords) {
  const auto shared =
      std::make_shared<const std::vector<std::byte>>(Writer::kLinkSize, std::byte{1});
  Records records;
  records.append(shared);
  for (const bool something_before : {true, false}) {
    Writer out;
    if (something_before) out.int8(9);
    const Writer::Tag tag = out.begin_tag(0);
    out.records(records, Lengths::kCompact);
    out.end_tag(tag);
    const std::vector<std::byte> bytes = out.finish().copy();
    const size_t at = something_before ? 1 : 0;
    // Tag 0, its size 4098, then the length 4096 + 1.
    EXPECT_EQ(hex_of({bytes.begin() + static_cast<std::ptrdiff_t>(at),
                      bytes.begin() + static_cast<std::ptrdiff_t>(at) + 6}),
              "008220812001");
  }
}

TEST(Writer, CountingKeepsNothing) {
  Writer out = Writer::counting();
  out.text("abc", Lengths::kCompact);
  const Writer::Tag tag = out.begin_tag(0);
  out.int64(1);
  out.end_tag(tag);
  EXPECT_EQ(out.size(), 4 + 2 + 8U);
  EXPECT_TRUE(out.finish().pieces.empty());
}

TEST(RecordsEqual, ByBytesNotByPieces) {
  const auto one = std::make_shared<const std::vector<std::byte>>(1, std::byte{1});
  const auto two = std::make_shared<const std::vector<std::byte>>(2, std::byte{1});
  Records a;
  a.append(one);
  a.append(one);
  Records b;
  b.append(two);
  EXPECT_TRUE(a == b);
  b.append(one);
  EXPECT_FALSE(a == b);
}

}  // namespace
}  // namespace ackord::protocol
