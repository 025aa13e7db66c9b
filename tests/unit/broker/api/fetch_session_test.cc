#include "broker/api/fetch_session.h"

#include <gtest/gtest.h>

namespace ackord::api {
namespace {

FetchTarget target(const char* topic, int32_t partition, Offset offset = 0) {
  FetchTarget out;
  out.topic = TopicName(topic);
  out.partition = partition;
  out.fetch_offset = offset;
  return out;
}

std::vector<int32_t> order(FetchSession& session) {
  std::vector<int32_t> out;
  for (const FetchTarget& one : session.targets()) out.push_back(one.partition);
  return out;
}

TEST(FetchSession, AddsUpdatesForgetsAndRotates) {
  FetchSession session(1, false);
  for (const int32_t partition : {0, 1, 2}) session.add(target("t", partition));
  session.targets().front().told = true;
  session.add(target("t", 0, 50));
  EXPECT_EQ(order(session), (std::vector{0, 1, 2}));
  EXPECT_EQ(session.targets().front().fetch_offset, 50);
  EXPECT_TRUE(session.targets().front().told);
  session.move_to_end(session.targets().begin());
  EXPECT_EQ(order(session), (std::vector{1, 2, 0}));
  session.forget(TopicName("t"), Uuid(), 2);
  EXPECT_EQ(order(session), (std::vector{1, 0}));
  session.add(target("t", 1, 9));
  EXPECT_EQ(session.targets().front().fetch_offset, 9);
}

TEST(FetchSessions, EpochsAndErrors) {
  FetchSessions sessions(1, 4, 10);
  auto session = sessions.create(false, 12345, 0);
  ASSERT_TRUE(session);
  EXPECT_GT(session->id(), 0);
  EXPECT_EQ(session->id() % 4, 1);
  const int32_t id = session->id();
  // While one request has it, another one does not get it.
  EXPECT_EQ(sessions.take(id, 1, false).error().code, ErrorCode::INVALID_FETCH_SESSION_EPOCH);
  sessions.put_back(std::move(session), 0);
  EXPECT_EQ(sessions.take(id, 9, false).error().code, ErrorCode::INVALID_FETCH_SESSION_EPOCH);
  EXPECT_EQ(sessions.take(id + 4, 1, false).error().code, ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
  EXPECT_EQ(sessions.take(id, 1, true).error().code, ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
  auto taken = sessions.take(id, 1, false);
  ASSERT_TRUE(taken);
  EXPECT_TRUE(sessions.remove(id));
  // Removed while it was out: putting it back does not bring it back.
  sessions.put_back(std::move(*taken), 0);
  EXPECT_EQ(sessions.size(), 0u);
}

TEST(FetchSessions, TheEpochWrapsToOne) {
  FetchSession session(1, false);
  EXPECT_EQ(session.epoch(), 1);
  session.advance_epoch();
  EXPECT_EQ(session.epoch(), 2);
}

TEST(FetchSessions, EvictsOnlyWhatHasBeenIdle) {
  FetchSessions sessions(0, 1, 2);
  auto first = sessions.create(false, 1, 0);
  auto second = sessions.create(false, 2, 0);
  const int32_t first_id = first->id();
  sessions.put_back(std::move(first), 1000);
  sessions.put_back(std::move(second), 1000);
  EXPECT_FALSE(sessions.create(false, 3, 100'000));
  EXPECT_TRUE(sessions.create(false, 3, 121'000));
  EXPECT_FALSE(sessions.remove(first_id));
  EXPECT_EQ(sessions.size(), 2u);
}

TEST(FetchSessions, NoSlotsNoSessions) {
  FetchSessions sessions(0, 1, 0);
  EXPECT_FALSE(sessions.create(true, 1, 0));
}

}  // namespace
}  // namespace ackord::api
