#include "broker/main/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ackord::main {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::vector<std::pair<std::string, std::string>> pairs(std::string_view text) {
  auto parsed = parse_properties(text, "file");
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& property : parsed.value()) out.emplace_back(property.name, property.value);
  return out;
}

TEST(Properties, Separators) {
  EXPECT_THAT(
      pairs("a=1\nb:2\nc 3\nd = 4\n\te\t:\t5\nf\ng=\nh==8\ni = = 9"),
      ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "3"), Pair("d", "4"), Pair("e", "5"),
                  Pair("f", ""), Pair("g", ""), Pair("h", "=8"), Pair("i", "= 9")));
}

TEST(Properties, CommentsAndBlankLines) {
  EXPECT_THAT(pairs("# one\n  ! two\n\n \t \na=1 # part of the value\n#b=2\\\nc=3"),
              ElementsAre(Pair("a", "1 # part of the value"), Pair("c", "3")));
}

TEST(Properties, ContinuedLines) {
  EXPECT_THAT(
      pairs("a=one,\\\n   two,\\\r\n\tthree\nb=x\\\\\nc=\\\n\nd=1\\"),
      ElementsAre(Pair("a", "one,two,three"), Pair("b", "x\\"), Pair("c", ""), Pair("d", "1")));
}

TEST(Properties, Escapes) {
  EXPECT_THAT(pairs("a\\=b=1\nc\\ d 2\ne=\\t\\n\\r\\f\\q\\\\\nf=\\u00e4\\u20AC\\ud83d\\ude00\ng=ä"),
              ElementsAre(Pair("a=b", "1"), Pair("c d", "2"), Pair("e", "\t\n\r\fq\\"),
                          Pair("f", "ä€😀"), Pair("g", "ä")));
}

TEST(Properties, LineEnds) {
  EXPECT_THAT(pairs("a=1\rb=2\r\nc=3"),
              ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "3")));
  EXPECT_TRUE(pairs("").empty());
}

TEST(Properties, TellsTheLine) {
  const auto parsed = parse_properties("a=1\\\n2\n# x\nb=3", "server.properties").value();
  EXPECT_EQ(parsed[0].origin, "server.properties:1");
  EXPECT_EQ(parsed[1].origin, "server.properties:4");
}

TEST(Properties, BrokenUnicodeEscapes) {
  for (const char* text : {"a=1\nb=\\u12", "a=1\nb=\\u12g4", "a=1\nb=\\ud83d",
                           "a=1\nb=\\ud83d\\u0041", "a=1\n\\u=1"}) {
    const auto parsed = parse_properties(text, "file");
    ASSERT_TRUE(parsed.has_error()) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("file:2"));
  }
}

TEST(Properties, Assignments) {
  const auto property = parse_assignment(" a.b = c=d ").value();
  EXPECT_EQ(property.name, "a.b");
  EXPECT_EQ(property.value, "c=d");
  EXPECT_EQ(parse_assignment("a=").value().value, "");
  EXPECT_TRUE(parse_assignment("a").has_error());
  EXPECT_TRUE(parse_assignment("=a").has_error());
}

}  // namespace
}  // namespace ackord::main
