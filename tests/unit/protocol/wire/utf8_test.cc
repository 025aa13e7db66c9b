// The replacements are those of java.lang.String.
#include "protocol/wire/utf8.h"

#include <gtest/gtest.h>

#include "protocol/wire/reader.h"

namespace ackord::protocol {
namespace {

#define FFFD "\xef\xbf\xbd"

TEST(Utf8, GoodTextIsLeftAlone) {
  for (const std::string_view text :
       {"", "plain", "sixteen letters.", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
        "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf", "aaaaaaaaaaaa\xc3\xa9"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(repaired_utf8(text), text);
  }
}

TEST(Utf8, EachPartThatIsNoneIsReplaced) {
  struct Case {
    std::string_view bytes;
    std::string_view text;
  };
  for (const Case& one : {
           Case{"a\xb7z", "a" FFFD "z"},
           Case{"\xc0\xaf", FFFD FFFD},
           Case{"\xe2\x82", FFFD},
           Case{"\xe2\x82z", FFFD "z"},
           Case{"\xe0\x80\x80", FFFD FFFD FFFD},
           Case{"\xed\xa0\x80", FFFD},
           Case{"\xf0\x9f\x98", FFFD},
           Case{"\xf5z", FFFD "z"},
           Case{"aaaaaaaaaaaa\xff", "aaaaaaaaaaaa" FFFD},
       }) {
    EXPECT_FALSE(is_utf8(one.bytes));
    EXPECT_EQ(repaired_utf8(one.bytes), one.text);
  }
}

TEST(Utf8, AReaderRepairsWhatItReads) {
  const std::string bytes("\x00\x02\xb7z", 4);
  Reader in(std::as_bytes(std::span(bytes)));
  String text;
  read_text(in, text, Lengths::kClassic);
  EXPECT_EQ(text.sv(), FFFD "z");
}

}  // namespace
}  // namespace ackord::protocol
