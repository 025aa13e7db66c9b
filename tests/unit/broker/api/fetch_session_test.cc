#include "broker/api/fetch_session.h"

#include <gtest/gtest.h>

#include "tests/support/test_executor.h"

namespace ackord::api {
namespace {

FetchTarget target(const char* topic, int32_t partition, Offset offset = 0) {
  FetchTarget out;
  out.topic = TopicName(topic);
  out.partition = partition;
  out.fetch_offset = offset;
  return out;
}

class FetchSessionTest : public ::testing::Test {
 protected:
  FetchSessionTest() {
    session_.follow(core_.executor);
    for (const int32_t partition : {0, 1, 2}) session_.add(target("t", partition));
  }
  FetchTarget& at(int32_t partition) {
    for (FetchTarget& one : session_.targets()) {
      if (one.partition == partition) return one;
    }
    throw std::out_of_range("no such partition");
  }
  std::vector<int32_t> ready(size_t most = 100) {
    std::vector<int32_t> out;
    for (const FetchTarget* one : session_.take_ready(most)) out.push_back(one->partition);
    return out;
  }
  using Order = std::vector<int32_t>;

  test::TestCore core_;
  FetchSession session_{1, false};
};

TEST_F(FetchSessionTest, AddsUpdatesForgetsAndRotates) {
  EXPECT_EQ(ready(), (Order{0, 1, 2}));
  at(0).told = true;
  session_.add(target("t", 0, 50));
  EXPECT_EQ(at(0).fetch_offset, 50);
  EXPECT_TRUE(at(0).told);
  session_.move_to_end(at(0));
  session_.look_again(at(1));
  EXPECT_EQ(ready(), (Order{1, 0})) << "what is asked for anew is looked at";
  session_.forget(TopicName("t"), Uuid(), 2);
  EXPECT_EQ(session_.size(), 2u);
  session_.look_again(at(0));
  session_.look_again(at(1));
  EXPECT_EQ(ready(), (Order{1, 0})) << "an update keeps the place";
}

TEST_F(FetchSessionTest, WhatWasLookedAtComesBackByItsSignalAlone) {
  io::Signal signal;
  EXPECT_EQ(ready(), (Order{0, 1, 2}));
  signal.subscribe(session_.watch(at(1)));
  EXPECT_EQ(ready(), Order());
  core_.executor.inside([&] { signal.notify(); });
  EXPECT_EQ(ready(), Order{1});
}

TEST_F(FetchSessionTest, AForgottenPartitionIsNotLookedAt) {
  io::Signal signal;
  signal.subscribe(session_.watch(at(1)));
  session_.forget(TopicName("t"), Uuid(), 1);
  core_.executor.inside([&] { signal.notify(); });
  EXPECT_EQ(ready(), (Order{0, 2}));
}

TEST_F(FetchSessionTest, PortionsTakeTurns) {
  EXPECT_EQ(ready(2), (Order{0, 1}));
  session_.look_again(at(1));
  session_.look_again(at(0));
  EXPECT_EQ(ready(2), (Order{1, 2}));
  EXPECT_EQ(ready(2), Order{0});
}

TEST_F(FetchSessionTest, AnotherViewLooksAtAll) {
  EXPECT_EQ(ready(), (Order{0, 1, 2}));
  session_.look_as({log::Isolation::kReadUncommitted, false});
  EXPECT_EQ(ready(), Order());
  session_.look_as({log::Isolation::kReadCommitted, false});
  EXPECT_EQ(ready(), (Order{0, 1, 2}));
  session_.look_as({log::Isolation::kReadCommitted, true});
  EXPECT_EQ(ready(), (Order{0, 1, 2}));
}

TEST_F(FetchSessionTest, AnotherCoreLooksAtAll) {
  EXPECT_EQ(ready(), (Order{0, 1, 2}));
  session_.follow(core_.executor);
  EXPECT_EQ(ready(), Order());
  test::TestCore other;
  session_.follow(other.executor);
  EXPECT_EQ(ready(), (Order{0, 1, 2}));
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
