// What administrators do to share groups: exact records and answers.
#include "broker/group/share_admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::group {
namespace {

using test::ShardDriver;
using test::topic;
using test::topic_id;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const GroupId kGroup("g");

HeldTopics held(uint8_t topic, std::set<int32_t> partitions) {
  return {{topic_id(topic), {"t" + std::to_string(topic), std::move(partitions)}}};
}

class ShareAdmin : public ::testing::Test {
 protected:
  ShareHeartbeatReply beat(int32_t epoch) {
    ShareHeartbeatOp op;
    op.heartbeat.group = kGroup;
    op.heartbeat.member = "m";
    op.heartbeat.epoch = epoch;
    if (epoch == 0) op.heartbeat.topics = {TopicName("t1")};
    op.topics = {topic(1, 2)};
    return driver_.run(op).reply;
  }
  // The group has state of t1-0 and t1-1 and no members.
  void make_group() {
    beat(0);
    driver_.run(
        ShareInitializationEnded{kGroup, {{{topic_id(1), 0}, true}, {{topic_id(1), 1}, true}}});
    beat(-1);
  }
  static ShareOffset offset(uint8_t topic, int32_t partition, Offset start) {
    return {TopicName("t" + std::to_string(topic)), {topic_id(topic), partition}, start};
  }
  BeginAlterShareOffsets::Reply begin_alter(std::vector<ShareOffset> offsets) {
    return driver_.run(BeginAlterShareOffsets{kGroup, std::move(offsets)});
  }
  BeginDeleteShareOffsets::Reply begin_delete(std::vector<Uuid> topics) {
    return driver_.run(BeginDeleteShareOffsets{kGroup, std::move(topics)});
  }
  const ShareGroup& group() const { return *driver_.shard().share_group("g"); }

  ShardDriver driver_;
};

TEST_F(ShareAdmin, AnAlterMakesTheGroup) {
  EXPECT_EQ(begin_alter({}).error, ErrorCode::NONE);
  EXPECT_EQ(driver_.shard().share_group("g"), nullptr) << "nothing to alter, no group";
  const auto begun = begin_alter({offset(1, 0, 4)});
  EXPECT_EQ(begun.error, ErrorCode::NONE);
  EXPECT_EQ(begun.state_epoch, 1);
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(group_metadata_record("g", 1, 0)),
                          GroupRecord(state_partitions_record("g", held(1, {0}), {}))));
  driver_.run(EndAlterShareOffsets{kGroup, {{{topic_id(1), 0}, true}}});
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(state_partitions_record("g", {}, held(1, {0})))));
  EXPECT_EQ(group().state(), ShareGroupState::kEmpty);
}

// A partition that has state keeps its mark: its state is replaced in one step, or not at all.
TEST_F(ShareAdmin, AnAlterMarksOnlyWhatHasNoState) {
  make_group();
  const auto begun = begin_alter({offset(1, 0, 4), offset(2, 0, 4)});
  EXPECT_EQ(begun.state_epoch, group().epoch());
  EXPECT_THAT(
      driver_.last,
      ElementsAre(GroupRecord(state_partitions_record("g", held(2, {0}), held(1, {0, 1})))));
  driver_.run(EndAlterShareOffsets{kGroup, {{{topic_id(1), 0}, false}, {{topic_id(2), 0}, false}}});
  EXPECT_EQ(group().initialized(), held(1, {0, 1}));
  EXPECT_THAT(group().initializing(), IsEmpty());
}

TEST_F(ShareAdmin, WithMembersNothingChanges) {
  beat(0);
  EXPECT_EQ(begin_alter({offset(1, 0, 4)}).error, ErrorCode::NON_EMPTY_GROUP);
  EXPECT_EQ(begin_alter({}).error, ErrorCode::NON_EMPTY_GROUP);
  EXPECT_EQ(begin_delete({topic_id(1)}).error, ErrorCode::NON_EMPTY_GROUP);
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ShareAdmin, OneChangeAtATime) {
  make_group();
  ASSERT_EQ(begin_alter({offset(1, 0, 4)}).error, ErrorCode::NONE);
  EXPECT_EQ(begin_alter({offset(1, 0, 5)}).error, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
  EXPECT_EQ(begin_delete({topic_id(1)}).error, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
  EXPECT_EQ(driver_.run(BeginDeletion{kGroup}).error, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
  EXPECT_EQ(beat(0).error, ErrorCode::COORDINATOR_LOAD_IN_PROGRESS);
  driver_.run(EndAlterShareOffsets{kGroup, {{{topic_id(1), 0}, true}}});
  EXPECT_EQ(beat(0).error, ErrorCode::NONE);
}

TEST_F(ShareAdmin, DeletedOffsetsLeaveTheOtherTopics) {
  make_group();
  begin_alter({offset(2, 0, 4)});
  driver_.run(EndAlterShareOffsets{kGroup, {{{topic_id(2), 0}, true}}});
  const auto begun = begin_delete({topic_id(1), topic_id(9)});
  const ShareGroupTopic first{topic_id(1), TopicName("t1"), {0, 1}};
  EXPECT_THAT(begun.states, ElementsAre(first));
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(deleting_record("g", {}, held(2, {0}), {first}))));
  driver_.run(EndDeleteShareOffsets{kGroup, {}});
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(state_partitions_record("g", {}, held(2, {0})))));
}

TEST_F(ShareAdmin, WhatCouldNotBeDeletedIsHeldAgain) {
  make_group();
  begin_delete({topic_id(1)});
  EXPECT_THAT(group().initialized(), IsEmpty());
  driver_.run(EndDeleteShareOffsets{kGroup, {{topic_id(1), TopicName("t1"), {1}}}});
  EXPECT_EQ(group().initialized(), held(1, {1}));
}

// After a crash between the two steps the next member has the state initialised that is left.
TEST_F(ShareAdmin, ADeletionThatACrashCutsOffIsInitializedAgain) {
  make_group();
  begin_delete({topic_id(1)});
  driver_.restart();
  ShareHeartbeatOp op;
  op.heartbeat = {kGroup, "m", 0, {}, {{TopicName("t1")}}, "c", "/h"};
  op.topics = {topic(1, 2)};
  EXPECT_EQ(driver_.run(op).initialize.size(), 2u);
}

TEST_F(ShareAdmin, NothingHeldOfTheTopicIsNoChange) {
  EXPECT_EQ(begin_delete({}).error, ErrorCode::GROUP_ID_NOT_FOUND);
  make_group();
  const auto begun = begin_delete({topic_id(7)});
  EXPECT_EQ(begun.error, ErrorCode::NONE);
  EXPECT_THAT(begun.states, IsEmpty());
  EXPECT_THAT(driver_.last, IsEmpty());
  EXPECT_EQ(beat(0).error, ErrorCode::NONE) << "no change is under way";
}

TEST_F(ShareAdmin, MembersAreDescribed) {
  make_group();
  beat(0);
  driver_.advance(1000);
  const ShareHeartbeatReply reply = beat(0);
  const DescribedShareGroup answer = driver_.run(DescribeShareMembers{kGroup});
  EXPECT_EQ(answer.state, "Stable");
  EXPECT_EQ(answer.epoch, group().epoch());
  EXPECT_EQ(answer.assignment_epoch, group().assignment_epoch());
  const DescribedShareMember member{
      "m", {}, reply.member_epoch, "", "", {TopicName("t1")}, {{topic_id(1), {0, 1}}}};
  EXPECT_THAT(answer.members, ElementsAre(member));
  EXPECT_EQ(driver_.run(DescribeShareMembers{GroupId("x")}).error, ErrorCode::GROUP_ID_NOT_FOUND);
}

}  // namespace
}  // namespace ackord::group
