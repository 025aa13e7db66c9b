#include "client/in_flight.h"

#include <gmock/gmock.h>

namespace ackord::client {
namespace {

const TopicIdPartition kSource{Uuid{{1}}, 2};

// A fetch of one record; its copy is delivered at once where it may be.
InFlight::Moment fetch(InFlight& book, Offset offset, int16_t delivery_count, bool expected) {
  const InFlight::Moment sent = book.next_moment();
  EXPECT_EQ(book.acquired(kSource, offset, delivery_count, sent), expected);
  return sent;
}

// A record that the application has in its hands.
void deliver(InFlight& book, Offset offset, int16_t delivery_count = 1) {
  fetch(book, offset, delivery_count, true);
  book.delivered(kSource, offset);
}

void decide(InFlight& book, Offset offset, AcknowledgeType type) {
  ASSERT_TRUE(book.decide(kSource, offset, 1, type));
}

std::vector<AcknowledgementBatch> of_source(const PartitionAcknowledgements& all) {
  const auto found = all.find(kSource);
  return found == all.end() ? std::vector<AcknowledgementBatch>() : found->second;
}

using Fate = InFlight::Fate;
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
  fetch(book, 1, 1, true);
  EXPECT_EQ(book.decide(kSource, 1, 1, AcknowledgeType::kAccept).error().code,
            ErrorCode::INVALID_RECORD_STATE);
  book.delivered(kSource, 1);
  EXPECT_EQ(book.decide(kSource, 1, 2, AcknowledgeType::kAccept).error().code,
            ErrorCode::INVALID_RECORD_STATE);
  EXPECT_EQ(book.decide(kSource, 9, 1, AcknowledgeType::kAccept).error().code,
            ErrorCode::INVALID_RECORD_STATE);
  // Outside transactions a second copy takes the place of the first.
  fetch(book, 1, 2, true);
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
  const InFlight::Moment second = fetch(book, 1, 2, false);
  EXPECT_TRUE(book.refuses_commit(7));
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kWait);
  book.aborted(7);
  EXPECT_FALSE(book.refuses_commit(8));
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kTakeUp);
  EXPECT_TRUE(book.acquired(kSource, 1, 2, second));
  book.delivered(kSource, 1);
  EXPECT_TRUE(book.decide(kSource, 1, 2, AcknowledgeType::kAccept));
}

// A record that is staged in this transaction.
void stage(InFlight& book, Offset offset, TransactionToken transaction) {
  decide(book, offset, AcknowledgeType::kAccept);
  const PartitionAcknowledgements taken = *book.hand_over(false);
  book.joined(taken, transaction);
  book.staged(taken);
}

TEST(InFlight, ASecondCopyOfARecordInATransactionConcernsThatOneOnly) {
  InFlight book(true);
  deliver(book, 1);
  stage(book, 1, 7);
  const InFlight::Moment second = fetch(book, 1, 2, false);
  EXPECT_TRUE(book.refuses_commit(7));
  EXPECT_FALSE(book.refuses_commit(8));
  book.aborted(8);
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kWait);
  book.aborted(7);
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kTakeUp);
}

// Otherwise the third copy were the second one of the next transaction, and so on for ever.
TEST(InFlight, ACopyWhoseAcquisitionAStageHasUsedUpIsDropped) {
  InFlight book(true);
  deliver(book, 1);
  const InFlight::Moment second = fetch(book, 1, 1, false);
  stage(book, 1, 7);
  EXPECT_TRUE(book.refuses_commit(7));
  book.aborted(7);
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kDrop);
  deliver(book, 1);
  stage(book, 1, 8);
  EXPECT_FALSE(book.refuses_commit(8));
}

TEST(InFlight, ACopyThatWasFetchedBeforeTheStageAndCameAfterItIsDroppedToo) {
  InFlight book(true);
  deliver(book, 1);
  const InFlight::Moment second = book.next_moment();
  stage(book, 1, 7);
  EXPECT_FALSE(book.acquired(kSource, 1, 2, second));
  book.aborted(7);
  // The broker's next one may come before the void one has met its fate.
  const InFlight::Moment third = fetch(book, 1, 2, true);
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kDrop);
  EXPECT_LT(second, third);
  book.delivered(kSource, 1);
  EXPECT_TRUE(book.decide(kSource, 1, 2, AcknowledgeType::kAccept));
}

TEST(InFlight, ACopyOfARecordWhoseStageFailedIsTakenUp) {
  InFlight book(true);
  deliver(book, 1);
  const InFlight::Moment second = fetch(book, 1, 2, false);
  decide(book, 1, AcknowledgeType::kAccept);
  book.joined(*book.hand_over(false), 7);
  book.aborted(7);
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kTakeUp);
}

TEST(InFlight, ANoteOnAVoidCopyLeavesWithTheSession) {
  InFlight book(true);
  deliver(book, 1);
  const InFlight::Moment second = fetch(book, 1, 2, false);
  stage(book, 1, 7);
  book.aborted(7);
  book.drop_buffered(kSource);
  EXPECT_EQ(book.fate_of(kSource, 1, second), Fate::kTakeUp) << "nothing is known of it";
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
  fetch(book, 1, 1, true);
}

TEST(InFlight, BufferedCopiesAreReplacedAndDropped) {
  InFlight book(true);
  fetch(book, 1, 1, true);
  fetch(book, 1, 2, true);
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
