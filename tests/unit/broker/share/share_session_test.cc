#include "broker/share/share_session.h"

#include <gtest/gtest.h>

namespace ackord::share {
namespace {

const Uuid kTopic{{1}};
TopicIdPartition part(int32_t partition) { return {kTopic, partition}; }

SessionRequest request(int32_t epoch, std::vector<TopicIdPartition> listed = {}) {
  SessionRequest out;
  out.group = GroupId("g");
  out.member = "m";
  out.epoch = epoch;
  out.listed = std::move(listed);
  out.connection_id = 7;
  return out;
}
SessionRequest acknowledge(int32_t epoch) {
  SessionRequest out = request(epoch);
  out.fetch = false;
  out.has_acknowledgements = true;
  return out;
}

ErrorCode code(const Result<SessionStep>& step) {
  return step ? ErrorCode::NONE : step.error().code;
}

TEST(ShareSession, OneCounterForFetchAndAcknowledge) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  EXPECT_EQ(code(sessions.accept(request(1))), ErrorCode::SHARE_SESSION_NOT_FOUND);
  EXPECT_EQ(code(sessions.accept(acknowledge(0))), ErrorCode::INVALID_SHARE_SESSION_EPOCH);
  EXPECT_EQ(code(sessions.accept(request(0, {part(0)}))), ErrorCode::NONE);
  EXPECT_EQ(code(sessions.accept(request(1))), ErrorCode::NONE);
  EXPECT_EQ(code(sessions.accept(acknowledge(2))), ErrorCode::NONE);
  EXPECT_EQ(code(sessions.accept(request(3))), ErrorCode::NONE);
  EXPECT_EQ(code(sessions.accept(request(2))), ErrorCode::INVALID_SHARE_SESSION_EPOCH);
  EXPECT_EQ(code(sessions.accept(request(9))), ErrorCode::INVALID_SHARE_SESSION_EPOCH);
  EXPECT_EQ(code(sessions.accept(request(4))), ErrorCode::NONE);
}

TEST(ShareSession, LaterSessionsHaveHigherNumbers) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  const auto first = sessions.accept(request(0));
  const auto second = sessions.accept(request(0));
  ASSERT_TRUE(first && second);
  EXPECT_GT(second->number, first->number);
  EXPECT_EQ(sessions.accept(request(1))->number, second->number);
  EXPECT_EQ(sessions.accept(request(kFinalSessionEpoch))->number, second->number);
  const auto third = sessions.accept(request(0));
  const auto closed = sessions.close_connection(7);
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(closed[0].number, third->number);
  EXPECT_GT(third->number, second->number);
}

TEST(ShareSession, AnOpeningRequestWithAcknowledgementsLeavesTheSessionAsItWas) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  ASSERT_TRUE(sessions.accept(request(0, {part(0)})));
  SessionRequest opening = request(0);
  opening.has_acknowledgements = true;
  EXPECT_EQ(code(sessions.accept(opening)), ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(code(sessions.accept(request(1))), ErrorCode::NONE);
}

TEST(ShareSession, ListedJoinAndForgottenLeave) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  ASSERT_TRUE(sessions.accept(request(0, {part(0), part(1)})));
  auto step = sessions.accept(request(1, {part(2), part(0)}));
  ASSERT_TRUE(step);
  EXPECT_EQ(*step->partitions, (std::vector{part(0), part(1), part(2)}));
  SessionRequest forgetting = request(2);
  forgetting.forgotten = {part(1)};
  step = sessions.accept(forgetting);
  ASSERT_TRUE(step);
  EXPECT_EQ(*step->partitions, (std::vector{part(0), part(2)}));
}

// What a fetch need not do again: as long as nothing joins and nothing leaves, it is the same list.
TEST(ShareSession, TheListIsMadeAnewOnlyWhenItChanges) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  const auto first = sessions.accept(request(0, {part(0), part(1)}));
  const auto second = sessions.accept(request(1, {part(1)}));
  EXPECT_EQ(first->partitions, second->partitions);
  EXPECT_EQ(first->watch, second->watch);
  const auto third = sessions.accept(request(2, {part(2)}));
  EXPECT_NE(third->partitions, second->partitions);
  EXPECT_EQ(first->partitions->size(), 2u) << "who has it keeps it";
  EXPECT_EQ(first->watch, third->watch);
}

TEST(ShareSession, AnotherConnectionWatchesForItself) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  const auto first = sessions.accept(request(0, {part(0)}));
  EXPECT_EQ(sessions.accept(acknowledge(1))->watch, nullptr);
  SessionRequest other = request(2);
  other.connection_id = 8;
  const auto second = sessions.accept(other);
  ASSERT_TRUE(second->watch);
  EXPECT_NE(first->watch, second->watch);
}

TEST(ShareSession, TheFinalEpochSaysWhatTheSessionHad) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  ASSERT_TRUE(sessions.accept(request(0, {part(0), part(1)})));
  const auto step = sessions.accept(request(-1));
  ASSERT_TRUE(step);
  EXPECT_TRUE(step->final);
  EXPECT_TRUE(step->last_of_group);
  EXPECT_EQ(*step->partitions, (std::vector{part(0), part(1)}));
  EXPECT_EQ(code(sessions.accept(request(-1))), ErrorCode::SHARE_SESSION_NOT_FOUND);
}

TEST(ShareSession, GoesWithItsConnection) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  SessionRequest other = request(0, {part(1)});
  other.member = "n";
  other.connection_id = 8;
  ASSERT_TRUE(sessions.accept(request(0, {part(0)})));
  ASSERT_TRUE(sessions.accept(other));
  auto closed = sessions.close_connection(7);
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_EQ(closed[0].member, "m");
  EXPECT_FALSE(closed[0].last_of_group);
  EXPECT_EQ(code(sessions.accept(request(1))), ErrorCode::SHARE_SESSION_NOT_FOUND);
  closed = sessions.close_connection(8);
  ASSERT_EQ(closed.size(), 1u);
  EXPECT_TRUE(closed[0].last_of_group);
  EXPECT_EQ(sessions.size(), 0u);
}

TEST(ShareSession, AFullCacheRefusesNewSessionsButNotReplacements) {
  SessionSlots slots(1);
  ShareSessions sessions(slots);
  ASSERT_TRUE(sessions.accept(request(0)));
  SessionRequest other = request(0);
  other.member = "n";
  EXPECT_EQ(code(sessions.accept(other)), ErrorCode::SHARE_SESSION_LIMIT_REACHED);
  EXPECT_EQ(code(sessions.accept(request(0))), ErrorCode::NONE);
  EXPECT_EQ(sessions.size(), 1u);
}

TEST(ShareSession, TheSlotsAreSharedByAllCores) {
  SessionSlots slots(1);
  ShareSessions here(slots);
  ShareSessions there(slots);
  ASSERT_TRUE(here.accept(request(0)));
  EXPECT_EQ(code(there.accept(request(0))), ErrorCode::SHARE_SESSION_LIMIT_REACHED);
  here.close_connection(7);
  EXPECT_EQ(code(there.accept(request(0))), ErrorCode::NONE);
}

TEST(ShareSession, NothingIsForgottenInAnOpeningRequest) {
  SessionSlots slots(1);
  ShareSessions sessions(slots);
  SessionRequest opening = request(0, {part(0)});
  opening.forgotten = {part(0)};
  EXPECT_EQ(*sessions.accept(opening)->partitions, std::vector{part(0)});
}

TEST(ShareSession, AReplacedSessionBelongsToTheNewConnection) {
  SessionSlots slots(10);
  ShareSessions sessions(slots);
  ASSERT_TRUE(sessions.accept(request(0, {part(0)})));
  SessionRequest again = request(0, {part(1)});
  again.connection_id = 8;
  ASSERT_TRUE(sessions.accept(again));
  EXPECT_TRUE(sessions.close_connection(7).empty());
  EXPECT_EQ(sessions.close_connection(8).size(), 1u);
}

}  // namespace
}  // namespace ackord::share
