#include "tools/ackordctl/table.h"

#include <gtest/gtest.h>

namespace ackord::ctl {
namespace {

TEST(Table, AlignsColumnsAndEndsLinesWithTheirText) {
  EXPECT_EQ(aligned({{"A", "LONG", "C"}, {"aaa", "b", ""}}), "A    LONG  C\naaa  b\n");
}

TEST(Table, SmallTexts) {
  EXPECT_EQ(range_text(3, 3), "3");
  EXPECT_EQ(range_text(3, 5), "3-5");
  EXPECT_EQ(acknowledge_name(0), "gap");
  EXPECT_EQ(acknowledge_name(3), "reject");
  EXPECT_EQ(acknowledge_name(-1), "-1");
  EXPECT_EQ(acknowledge_name(9), "9");
  EXPECT_EQ(seconds_text(12345), "12.3 s");
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time_text(1'796'023'082'999), "2026-11-30T07:18:02Z");
  EXPECT_EQ(time_text(-1), "-");
}

}  // namespace
}  // namespace ackord::ctl
