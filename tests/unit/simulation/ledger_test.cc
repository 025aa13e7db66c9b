// What the simulator's ledger calls a finding, and what it does not.
#include "tests/simulation/ledger.h"

#include <gtest/gtest.h>

namespace ackord::simulation {
namespace {

constexpr const char* kGroup = "job";
const SourceRecord kRecord{1, 13};

Ledger settled_at(int64_t at_us, int16_t count) {
  Ledger ledger;
  ledger.produced(kRecord, "line");
  ledger.delivered(kGroup, {kRecord, "line", count, "worker", at_us - 20});
  ledger.settled(kGroup, {kRecord}, at_us);
  return ledger;
}

TEST(Ledger, WhatIsFinalIsNotDeliveredAgain) {
  Ledger ledger = settled_at(100, 1);
  ledger.delivered(kGroup, {kRecord, "line", 2, "other", 150});
  ASSERT_EQ(ledger.findings().size(), 1u);
  EXPECT_EQ(ledger.findings()[0].substr(0, 3), "I3:");
}

// A crash may take a delivery count back, so a low one alone excuses nothing.
TEST(Ledger, ALowCountAfterTheEndIsAFinding) {
  Ledger ledger = settled_at(100, 2);
  ledger.delivered(kGroup, {kRecord, "line", 1, "other", 150});
  EXPECT_EQ(ledger.findings().size(), 1u);
}

TEST(Ledger, ALaterDeliveryIsAFindingWheneverItWasAskedFor) {
  Ledger ledger = settled_at(100, 1);
  ledger.delivered(kGroup, {kRecord, "line", 2, "other", 50});
  EXPECT_EQ(ledger.findings().size(), 1u);
}

// The session of the first one ended, the record went to the second and was acknowledged, and only
// then did the first one's answer arrive.
TEST(Ledger, AnAnswerThatWasOvertakenIsNone) {
  Ledger ledger = settled_at(100, 2);
  ledger.delivered(kGroup, {kRecord, "line", 1, "first", 50});
  EXPECT_TRUE(ledger.findings().empty());
}

// What it was handed out with its session is not counted.
TEST(Ledger, AnAnswerThatWasOvertakenMayHaveTheSameCount) {
  Ledger ledger = settled_at(100, 2);
  ledger.delivered(kGroup, {kRecord, "line", 2, "first", 50});
  EXPECT_TRUE(ledger.findings().empty());
  ledger.delivered(kGroup, {kRecord, "line", 2, "worker", 50});
  EXPECT_EQ(ledger.findings().size(), 1u) << "its own, twice";
}

TEST(Ledger, WhatIsDoneWithWasDecided) {
  Ledger ledger;
  ledger.produced(kRecord, "line");
  ledger.delivered(kGroup, {kRecord, "line", 1, "worker", 10});
  if (!is_rejected(kRecord)) ledger.output(kRecord);
  Ledger undecided = ledger;
  ledger.check(kGroup);
  ASSERT_EQ(ledger.findings().size(), 1u);
  EXPECT_EQ(ledger.findings()[0].substr(0, 3), "I2:");
  undecided.undecided(kGroup, {kRecord});
  undecided.check(kGroup);
  EXPECT_TRUE(undecided.findings().empty());
}

TEST(Ledger, OutputsAgreeRecordForRecord) {
  Ledger ledger = settled_at(100, 1);
  ASSERT_FALSE(is_rejected(kRecord));
  Ledger twice = ledger;
  ledger.check(kGroup);
  ASSERT_EQ(ledger.findings().size(), 1u);
  EXPECT_EQ(ledger.findings()[0].substr(0, 3), "I5:");
  twice.output(kRecord);
  twice.output(kRecord);
  twice.check(kGroup);
  EXPECT_EQ(twice.findings().size(), 1u);
}

}  // namespace
}  // namespace ackord::simulation
