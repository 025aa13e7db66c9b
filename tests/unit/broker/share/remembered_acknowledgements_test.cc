#include "broker/share/remembered_acknowledgements.h"

#include <gtest/gtest.h>

namespace ackord::share {
namespace {

constexpr auto kAccept = AcknowledgeType::ACCEPT;
constexpr auto kRelease = AcknowledgeType::RELEASE;
using End = std::optional<Offset>;

TEST(RememberedAcknowledgements, AreOfOneMemberAndOneType) {
  RememberedAcknowledgements known;
  known.add("m1", kAccept, 3, 7);
  EXPECT_EQ(known.same_until("m1", kAccept, 3), End(7));
  EXPECT_EQ(known.same_until("m1", kAccept, 7), End(7));
  EXPECT_EQ(known.same_until("m1", kAccept, 2), End());
  EXPECT_EQ(known.same_until("m1", kAccept, 8), End());
  EXPECT_EQ(known.same_until("m1", kRelease, 5), End());
  EXPECT_EQ(known.same_until("m2", kAccept, 5), End());
}

TEST(RememberedAcknowledgements, NeighboursAreOneRangeAndTheLatestCounts) {
  RememberedAcknowledgements known;
  for (Offset at = 0; at < 5000; ++at) known.add("m1", kAccept, at, at);
  EXPECT_EQ(known.size(), 1u);
  known.add("m2", kRelease, 10, 19);
  EXPECT_EQ(known.same_until("m1", kAccept, 0), End(9));
  EXPECT_EQ(known.same_until("m2", kRelease, 10), End(19));
  EXPECT_EQ(known.same_until("m1", kAccept, 20), End(4999));
}

TEST(RememberedAcknowledgements, AreForgottenByRangeAndByMember) {
  RememberedAcknowledgements known;
  known.add("m1", kAccept, 0, 9);
  known.add("m2", kAccept, 10, 19);
  known.forget(4, 5);
  EXPECT_EQ(known.same_until("m1", kAccept, 0), End(3));
  EXPECT_EQ(known.same_until("m1", kAccept, 4), End());
  EXPECT_EQ(known.same_until("m1", kAccept, 6), End(9));
  known.forget_member("m1");
  EXPECT_EQ(known.same_until("m1", kAccept, 0), End());
  EXPECT_EQ(known.same_until("m2", kAccept, 12), End(19));
  known.clear();
  EXPECT_TRUE(known.empty());
}

TEST(RememberedAcknowledgements, TheOldestRangesGoFirst) {
  RememberedAcknowledgements known;
  const auto most = static_cast<Offset>(RememberedAcknowledgements::kMaxRanges);
  for (Offset at = 0; at < most + 10; ++at) known.add("m1", kAccept, at * 2, at * 2);
  EXPECT_EQ(known.size(), RememberedAcknowledgements::kMaxRanges);
  EXPECT_EQ(known.same_until("m1", kAccept, 18), End());
  EXPECT_EQ(known.same_until("m1", kAccept, 20), End(20));
}

}  // namespace
}  // namespace ackord::share
