#include "broker/share/waiting_records.h"

#include <gtest/gtest.h>

namespace ackord::share {

std::ostream& operator<<(std::ostream& out, const WaitingRange& range) {
  return out << range.first_offset << "-" << range.last_offset << " until " << range.until_ms;
}

namespace {

using Ranges = std::vector<WaitingRange>;

TEST(RetryBackoff, GrowsWithTheDeliveryCountUpToItsMaximum) {
  const RetryBackoff backoff{1000, 2, 5000};
  EXPECT_EQ(backoff.delay_ms(1), 1000);
  EXPECT_EQ(backoff.delay_ms(2), 2000);
  EXPECT_EQ(backoff.delay_ms(3), 4000);
  EXPECT_EQ(backoff.delay_ms(4), 5000);
  EXPECT_EQ(backoff.delay_ms(INT16_MAX), 5000);
  EXPECT_EQ((RetryBackoff{1000, 1, 5000}).delay_ms(9), 1000);
  EXPECT_EQ((RetryBackoff{1000, 2, 500}).delay_ms(1), 500);
  EXPECT_EQ((RetryBackoff{0, 2, 5000}).delay_ms(3), 0);
}

TEST(WaitingRecords, HandsOutWhatIsDueInTheOrderOfTime) {
  WaitingRecords waiting;
  EXPECT_EQ(waiting.earliest(), std::nullopt);
  waiting.add({0, 4, 300});
  waiting.add({5, 5, 100});
  waiting.add({6, 9, 200});
  EXPECT_EQ(waiting.earliest(), 100);
  EXPECT_EQ(waiting.take_due(99), Ranges());
  EXPECT_EQ(waiting.take_due(200), (Ranges{{5, 5, 100}, {6, 9, 200}}));
  EXPECT_EQ(waiting.earliest(), 300);
}

TEST(WaitingRecords, ALaterWaitTakesThePlaceOfAnEarlierOne) {
  WaitingRecords waiting;
  waiting.add({0, 9, 100});
  waiting.add({3, 5, 400});
  EXPECT_EQ(waiting.within(1, 7), (Ranges{{1, 2, 100}, {3, 5, 400}, {6, 7, 100}}));
  EXPECT_EQ(waiting.take_due(100), (Ranges{{0, 2, 100}, {6, 9, 100}}));
  waiting.remove(0, 4);
  EXPECT_EQ(waiting.within(0, 100), (Ranges{{5, 5, 400}}));
  waiting.remove(5, 5);
  EXPECT_TRUE(waiting.empty());
  EXPECT_EQ(waiting.earliest(), std::nullopt);
}

}  // namespace
}  // namespace ackord::share
