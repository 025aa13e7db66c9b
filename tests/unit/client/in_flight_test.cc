#include "client/in_flight.h"

#include <gmock/gmock.h>

namespace ackord::client {
namespace {

const TopicIdPartition kSource{Uuid{{1}}, 2};

// A record that the application has in its hands.
void deliver(InFlight& book, Offset offset, int16_t delivery_count = 1) {
  ASSERT_TRUE(book.acquired(kSource, offset, delivery_count));
  book.delivered(kSource, offset);
}

void decide(InFlight& book, Offset offset, AcknowledgeType type) {
  ASSERT_TRUE(book.decide(kSource, offset, 1, type));
}

std::vector<AcknowledgementBatch> of_source(const PartitionAcknowledgements& all) {
  const auto found = all.find(kSource);
  return found == all.end() ? std::vector<AcknowledgementBatch>() : found->second;
}

using Batches = std::vector<AcknowledgementBatch>;

TEST(InFlight, PlainVerdictsBecomeRanges) {
  InFlight book(false);
  for (const Offset offset : {1, 2, 3, 5}) deliver(book, offset);
  EXPECT_FALSE(book.all_decided());
  decide(book, 1, AcknowledgeType::kAccept);
  decide(book, 2, AcknowledgeType::kAccept);
  decide(book, 3, AcknowledgeType::kReject);
  decide(book, 5, AcknowledgeType::kRelease);
  EXPECT_TRUE(book.all_decided());
  EXPECT_EQ(of_source(book.take_decided()), (Batches{{1, 3, {1, 1, 3}}, {5, 5, {2}}}));
  EXPECT_TRUE(book.take_decided().empty());
}

TEST(InFlight, ARenewedRecordStaysWithoutVerdict) {
  InFlight book(false);
  deliver(book, 1);
  decide(book, 1, AcknowledgeType::kRenew);
  EXPECT_TRUE(book.take_decided().empty());
  EXPECT_EQ(of_source(book.take_decided(AcknowledgeType::kRenew)), (Batches{{1, 1, {4}}}));
  EXPECT_FALSE(book.all_decided());
  decide(book, 1, AcknowledgeType::kAccept);
  EXPECT_EQ(of_source(book.take_decided()), (Batches{{1, 1, {1}}}));
}

TEST(InFlight, AVerdictIsForTheCopyThatWasDelivered) {
  InFlight book(false);
  ASSERT_TRUE(book.acquired(kSource, 1, 1));
  EXPECT_EQ(book.decide(kSource, 1, 1, AcknowledgeType::kAccept).error().code,
            ErrorCode::INVALID_RECORD_STATE);
  book.delivered(kSource, 1);
  EXPECT_EQ(book.decide(kSource, 1, 2, AcknowledgeType::kAccept).error().code,
            ErrorCode::INVALID_RECORD_STATE);
  EXPECT_EQ(book.decide(kSource, 9, 1, AcknowledgeType::kAccept).error().code,
            ErrorCode::INVALID_RECORD_STATE);
  // Outside transactions a second copy takes the place of the first.
  ASSERT_TRUE(book.acquired(kSource, 1, 2));
  book.delivered(kSource, 1);
  EXPECT_EQ(book.decide(kSource, 1, 1, AcknowledgeType::kAccept).error().code,
            ErrorCode::INVALID_RECORD_STATE);
  EXPECT_TRUE(book.decide(kSource, 1, 2, AcknowledgeType::kAccept));
}

TEST(InFlight, HandsOverWhatIsDecidedAndKeepsTheRest) {
  InFlight book(true);
  for (const Offset offset : {1, 2, 3}) deliver(book, offset);
  decide(book, 1, AcknowledgeType::kAccept);
  decide(book, 3, AcknowledgeType::kReject);
  EXPECT_EQ(of_source(*book.hand_over(false)), (Batches{{1, 1, {1}}, {3, 3, {3}}}));
  EXPECT_TRUE(book.hand_over(false)->empty());
  decide(book, 2, AcknowledgeType::kAccept);
  EXPECT_EQ(of_source(*book.hand_over(false)), (Batches{{2, 2, {1}}}));
}

TEST(InFlight, ReleasesAndRenewalsAreNoPartOfATransaction) {
  for (const AcknowledgeType type : {AcknowledgeType::kRelease, AcknowledgeType::kRenew}) {
    InFlight book(true);
    deliver(book, 1);
    deliver(book, 2);
    decide(book, 1, AcknowledgeType::kAccept);
    decide(book, 2, type);
    EXPECT_EQ(book.hand_over(false).error().code, ErrorCode::INVALID_RECORD_STATE);
    decide(book, 2, AcknowledgeType::kAccept);
    EXPECT_EQ(of_source(*book.hand_over(false)), (Batches{{1, 2, {1}}}))
        << "nothing had been taken";
  }
}

TEST(InFlight, ASecondCopyOfAnUndecidedRecordForbidsTheCommit) {
  InFlight book(true);
  deliver(book, 1);
  EXPECT_FALSE(book.refuses_commit(7));
  EXPECT_FALSE(book.acquired(kSource, 1, 2));
  EXPECT_TRUE(book.refuses_commit(7));
  EXPECT_FALSE(book.may_deliver(kSource, 1, 2));
  book.aborted(7);
  EXPECT_FALSE(book.refuses_commit(8));
  EXPECT_TRUE(book.may_deliver(kSource, 1, 2));
  book.delivered(kSource, 1);
  EXPECT_TRUE(book.decide(kSource, 1, 2, AcknowledgeType::kAccept));
}

TEST(InFlight, ASecondCopyOfARecordInATransactionConcernsThatOneOnly) {
  InFlight book(true);
  deliver(book, 1);
  decide(book, 1, AcknowledgeType::kAccept);
  book.joined(*book.hand_over(false), 7);
  EXPECT_FALSE(book.acquired(kSource, 1, 2));
  EXPECT_TRUE(book.refuses_commit(7));
  EXPECT_FALSE(book.refuses_commit(8));
  book.aborted(8);
  EXPECT_FALSE(book.may_deliver(kSource, 1, 2));
  book.aborted(7);
  EXPECT_TRUE(book.may_deliver(kSource, 1, 2));
}

TEST(InFlight, AnAbortLetsUndecidedRecordsGoOn) {
  InFlight book(true);
  deliver(book, 1);
  deliver(book, 2);
  decide(book, 1, AcknowledgeType::kAccept);
  book.joined(*book.hand_over(false), 7);
  book.aborted(7);
  EXPECT_FALSE(book.decide(kSource, 1, 1, AcknowledgeType::kAccept));
  EXPECT_TRUE(book.decide(kSource, 2, 1, AcknowledgeType::kAccept));
}

TEST(InFlight, ACommitSettlesItsRecords) {
  InFlight book(true);
  deliver(book, 1);
  decide(book, 1, AcknowledgeType::kAccept);
  book.joined(*book.hand_over(false), 7);
  book.committed(7);
  EXPECT_TRUE(book.acquired(kSource, 1, 1)) << "nothing is held of it";
}

TEST(InFlight, BufferedCopiesAreReplacedAndDropped) {
  InFlight book(true);
  ASSERT_TRUE(book.acquired(kSource, 1, 1));
  EXPECT_TRUE(book.acquired(kSource, 1, 2));
  EXPECT_FALSE(book.refuses_commit(7));
  book.drop_buffered(kSource);
  deliver(book, 1, 3);
  book.drop_buffered(kSource);
  EXPECT_TRUE(book.decide(kSource, 1, 3, AcknowledgeType::kAccept))
      << "a delivered one is not dropped";
}

TEST(InFlight, TheImplicitFallbackAcceptsTheUndecided) {
  InFlight book(true);
  deliver(book, 1);
  EXPECT_EQ(of_source(*book.hand_over(true)), (Batches{{1, 1, {1}}}));
}

TEST(InFlight, WhatIsSentPlainlyIsTakenOnce) {
  InFlight book(true);
  book.send_plainly(kSource, 4, AcknowledgeType::kGap);
  book.send_plainly(PartitionAcknowledgements{{kSource, {{5, 6, {1, 3}}}}});
  EXPECT_EQ(of_source(book.take_plain()), (Batches{{4, 6, {0, 1, 3}}}));
  EXPECT_TRUE(book.take_plain().empty());
}

}  // namespace
}  // namespace ackord::client
