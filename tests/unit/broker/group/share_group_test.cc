#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::group {
namespace {

using test::parts;
using test::ShardDriver;
using test::topic;
using test::topic_id;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ShareGroups : public ::testing::Test {
 protected:
  ShareHeartbeatOp op(std::string member, int32_t epoch,
                      std::optional<std::vector<TopicName>> topics = {}) {
    ShareHeartbeatOp op;
    op.heartbeat.group = GroupId("g");
    op.heartbeat.member = std::move(member);
    op.heartbeat.epoch = epoch;
    op.heartbeat.topics = std::move(topics);
    op.heartbeat.client_id = "c";
    op.heartbeat.client_host = "/127.0.0.1";
    op.topics = topics_;
    return op;
  }
  ShareHeartbeatDecision beat(std::string member, int32_t epoch,
                              std::optional<std::vector<TopicName>> topics = {}) {
    return driver_.run(op(std::move(member), epoch, std::move(topics)));
  }
  void initialized(std::vector<std::pair<TopicIdPartition, bool>> results) {
    driver_.run(ShareInitializationEnded{GroupId("g"), std::move(results)});
  }
  // m1 has joined, topic t1 is initialised, and m1 holds its two partitions at epoch 3.
  void join_first() {
    beat("m1", 0, {{TopicName("t1")}});
    initialized({{{topic_id(1), 0}, true}, {{topic_id(1), 1}, true}});
    ASSERT_EQ(beat("m1", 2).reply.member_epoch, 3);
    driver_.advance(1000);
  }

  static ShareMember member(std::set<std::string, std::less<>> topics, int32_t epoch = 0,
                            int32_t previous = 0, Assignment assigned = {}) {
    ShareMember m;
    m.client_id = "c";
    m.client_host = "/127.0.0.1";
    m.topics = std::move(topics);
    m.epoch = epoch;
    m.previous_epoch = previous;
    m.assigned = std::move(assigned);
    return m;
  }
  static HeldTopics held(std::set<int32_t> partitions) {
    return {{topic_id(1), {"t1", std::move(partitions)}}};
  }
  int64_t hash() const { return metadata_hash(topics_); }
  const ShareGroup& group() const { return *driver_.shard().share_group("g"); }

  ShardDriver driver_;
  std::vector<SubscribedTopic> topics_{topic(1, 2)};
};

TEST_F(ShareGroups, FirstJoinGetsEpochTwoAndNothingYet) {
  const auto decided = beat("m1", 0, {{TopicName("t1")}});
  EXPECT_EQ(decided.reply.error, ErrorCode::NONE);
  EXPECT_EQ(decided.reply.member, "m1");
  EXPECT_EQ(decided.reply.member_epoch, 2);
  EXPECT_EQ(decided.reply.heartbeat_interval_ms, 5000);
  EXPECT_EQ(decided.reply.assignment, std::vector<TopicPartitions>());
  EXPECT_EQ(decided.state_epoch, 2);
  EXPECT_THAT(decided.initialize, ElementsAre(ShareInitialization{{topic_id(1), 0}, -1},
                                              ShareInitialization{{topic_id(1), 1}, -1}));
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(member_metadata_record("g", "m1", member({"t1"}))),
                          GroupRecord(group_metadata_record("g", 2, hash())),
                          GroupRecord(target_member_record("g", "m1", {})),
                          GroupRecord(target_metadata_record("g", 2, driver_.now.wall_ms)),
                          GroupRecord(current_assignment_record("g", "m1", member({"t1"}, 2, 0))),
                          GroupRecord(state_partitions_record("g", held({0, 1}), {}))));
  EXPECT_EQ(group().state(), ShareGroupState::kStable);
  EXPECT_EQ(std::get<ShareGroupMemberMetadata>(driver_.last[0]).value->rack_id, std::nullopt);
}

TEST_F(ShareGroups, InitializedPartitionsComeWithTheNextEpoch) {
  beat("m1", 0, {{TopicName("t1")}});
  initialized({{{topic_id(1), 0}, true}, {{topic_id(1), 1}, true}});
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(state_partitions_record("g", {}, held({0, 1})))));
  const auto decided = beat("m1", 2);
  EXPECT_EQ(decided.reply.member_epoch, 3);
  EXPECT_EQ(decided.reply.assignment, (std::vector<TopicPartitions>{{topic_id(1), {0, 1}}}));
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(group_metadata_record("g", 3, hash())),
                          GroupRecord(target_member_record("g", "m1", parts(1, {0, 1}))),
                          GroupRecord(target_metadata_record("g", 3, driver_.now.wall_ms)),
                          GroupRecord(current_assignment_record(
                              "g", "m1", member({"t1"}, 3, 2, parts(1, {0, 1}))))));
  EXPECT_EQ(beat("m1", 3).reply.assignment, std::nullopt);
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ShareGroups, AFullRequestIsAnsweredWithTheAssignment) {
  join_first();
  const std::vector<TopicPartitions> all{{topic_id(1), {0, 1}}};
  EXPECT_EQ(beat("m1", 3, {{TopicName("t1")}}).reply.assignment, all);
  const auto rejoined = beat("m1", 0, {{TopicName("t1")}});
  EXPECT_EQ(rejoined.reply.assignment, all);
  EXPECT_EQ(rejoined.reply.member_epoch, 3);
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ShareGroups, SecondMemberWaitsForTheAssignmentInterval) {
  join_first();
  beat("m1", 3);
  driver_.advance(-500);
  auto decided = beat("m2", 0, {{TopicName("t1")}});
  EXPECT_EQ(decided.reply.member_epoch, 3);
  EXPECT_EQ(decided.reply.assignment, std::vector<TopicPartitions>());
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(member_metadata_record("g", "m2", member({"t1"}))),
                          GroupRecord(group_metadata_record("g", 4, hash())),
                          GroupRecord(current_assignment_record("g", "m2", member({"t1"}, 3, 0)))));
  driver_.advance(500);
  decided = beat("m2", 3);
  EXPECT_EQ(decided.reply.member_epoch, 4);
  ASSERT_TRUE(decided.reply.assignment);
  EXPECT_EQ(decided.reply.assignment->size(), 1u);
  decided = beat("m1", 3);
  EXPECT_EQ(decided.reply.member_epoch, 4);
  EXPECT_EQ(decided.reply.assignment->front().partitions.size(), 1u);
}

TEST_F(ShareGroups, EpochsAreFenced) {
  join_first();
  EXPECT_EQ(beat("m1", 2).reply.error, ErrorCode::NONE);  // the previous one: its answer was lost
  auto decided = beat("m1", 8);
  EXPECT_EQ(decided.reply.error, ErrorCode::FENCED_MEMBER_EPOCH);
  EXPECT_EQ(decided.reply.message,
            "The share group member has a greater member epoch (8) than the one known by the group "
            "coordinator (3). "
            "The member must abandon all its partitions and rejoin.");
  decided = beat("m1", 1);
  EXPECT_EQ(decided.reply.error, ErrorCode::FENCED_MEMBER_EPOCH);
  EXPECT_EQ(decided.reply.message,
            "The share group member has a smaller member epoch (1) than the one known by the group "
            "coordinator (3), "
            "and it does not match the previous member epoch (2). The member must abandon all its "
            "partitions and "
            "rejoin.");
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ShareGroups, UnknownGroupAndMember) {
  auto decided = beat("m1", 3);
  EXPECT_EQ(decided.reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(decided.reply.message, "Share group g not found.");
  decided = beat("m1", -1);
  EXPECT_EQ(decided.reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(decided.reply.message, "Group g not found.");
  join_first();
  for (const int32_t epoch : {3, -1}) {
    decided = beat("m2", epoch);
    EXPECT_EQ(decided.reply.error, ErrorCode::UNKNOWN_MEMBER_ID);
    EXPECT_EQ(decided.reply.message, "Member m2 is not a member of group g.");
  }
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ShareGroups, GroupOfOffsetsIsNoShareGroup) {
  driver_.run(CommitOffsets{{GroupId("g"), {}, {{TopicName("t1"), topic_id(1), 0, 5, -1, ""}}}});
  const auto decided = beat("m1", 0, {{TopicName("t1")}});
  EXPECT_EQ(decided.reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(decided.reply.message, "Group g is not a share group.");
}

TEST_F(ShareGroups, FullGroupTakesNoOneElse) {
  join_first();
  auto full = op("m2", 0, {{TopicName("t1")}});
  full.limits.max_size = 1;
  EXPECT_EQ(driver_.run(full).reply.error, ErrorCode::GROUP_MAX_SIZE_REACHED);
  auto known = op("m1", 0, {{TopicName("t1")}});
  known.limits.max_size = 1;
  EXPECT_EQ(driver_.run(known).reply.error, ErrorCode::NONE);
}

TEST_F(ShareGroups, LastMemberLeaves) {
  join_first();
  const auto decided = beat("m1", -1);
  EXPECT_EQ(decided.reply.error, ErrorCode::NONE);
  EXPECT_EQ(decided.reply.member_epoch, -1);
  EXPECT_EQ(decided.reply.heartbeat_interval_ms, 0);
  ShareGroupCurrentMemberAssignment current;
  current.key.group_id = "g";
  current.key.member_id = "m1";
  ShareGroupTargetAssignmentMember target;
  target.key.group_id = "g";
  target.key.member_id = "m1";
  ShareGroupMemberMetadata metadata;
  metadata.key.group_id = "g";
  metadata.key.member_id = "m1";
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(current), GroupRecord(target), GroupRecord(metadata),
                          GroupRecord(group_metadata_record("g", 4, 0)),
                          GroupRecord(target_metadata_record("g", 4, 0))));
  EXPECT_EQ(group().state(), ShareGroupState::kEmpty);
  EXPECT_EQ(driver_.shard().next_deadline(), std::nullopt);
  // Who comes next is assigned to at once: the state is still there.
  const auto joined = beat("m2", 0, {{TopicName("t1")}});
  EXPECT_EQ(joined.reply.member_epoch, 5);
  EXPECT_EQ(joined.reply.assignment, (std::vector<TopicPartitions>{{topic_id(1), {0, 1}}}));
  EXPECT_THAT(joined.initialize, IsEmpty());
}

TEST_F(ShareGroups, SubscriptionChangeTakesEffectAtOnce) {
  join_first();
  driver_.advance(-500);
  const auto decided = beat("m1", 3, {{TopicName("other")}});
  EXPECT_EQ(decided.reply.member_epoch, 3);
  EXPECT_EQ(decided.reply.assignment, std::vector<TopicPartitions>());
  EXPECT_THAT(
      driver_.last,
      ElementsAre(GroupRecord(member_metadata_record("g", "m1", member({"other"}))),
                  GroupRecord(group_metadata_record("g", 4, 0)),
                  GroupRecord(current_assignment_record("g", "m1", member({"other"}, 3, 2)))));
}

TEST_F(ShareGroups, AddedPartitionsStartAtZero) {
  join_first();
  topics_ = {topic(1, 3)};
  const auto decided = beat("m1", 3);
  EXPECT_EQ(decided.reply.member_epoch, 4);
  EXPECT_EQ(decided.state_epoch, 4);
  EXPECT_THAT(decided.initialize, ElementsAre(ShareInitialization{{topic_id(1), 2}, 0}));
  EXPECT_EQ(driver_.last.back(),
            GroupRecord(state_partitions_record("g", held({2}), held({0, 1}))));
  initialized({{{topic_id(1), 2}, true}});
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(state_partitions_record("g", {}, held({0, 1, 2})))));
}

TEST_F(ShareGroups, FailedInitializationIsTriedAgain) {
  beat("m1", 0, {{TopicName("t1")}});
  EXPECT_THAT(beat("m1", 2).initialize, IsEmpty());
  initialized({{{topic_id(1), 0}, true}, {{topic_id(1), 1}, false}});
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(state_partitions_record("g", {}, held({0})))));
  EXPECT_THAT(beat("m1", 2).initialize, ElementsAre(ShareInitialization{{topic_id(1), 1}, 0}));
}

TEST_F(ShareGroups, LostInitializationIsTriedAgainAfterItsTimeOrARestart) {
  beat("m1", 0, {{TopicName("t1")}});
  driver_.advance(29'999);
  EXPECT_THAT(beat("m1", 2).initialize, IsEmpty());
  driver_.advance(1);
  EXPECT_EQ(beat("m1", 2).initialize.size(), 2u);
  EXPECT_THAT(driver_.last, IsEmpty());  // the record says it already
  driver_.restart();
  EXPECT_THAT(beat("m1", 2).initialize, ElementsAre(ShareInitialization{{topic_id(1), 0}, -1},
                                                    ShareInitialization{{topic_id(1), 1}, -1}));
}

TEST_F(ShareGroups, SessionEnds) {
  join_first();
  beat("m1", 3);
  driver_.advance(500);
  beat("m2", 0, {{TopicName("t1")}});
  ASSERT_EQ(driver_.shard().next_deadline(), driver_.now.steady_ms + 44'500);
  driver_.advance(44'499);
  driver_.run(coordinator::Tick{});
  EXPECT_THAT(driver_.last, IsEmpty());
  driver_.advance(1);
  const int32_t epoch = group().epoch();
  driver_.run(coordinator::Tick{});
  EXPECT_EQ(driver_.last.size(), 4u);
  EXPECT_EQ(driver_.last.back(), GroupRecord(group_metadata_record("g", epoch + 1, hash())));
  EXPECT_EQ(group().member("m1"), nullptr);
  EXPECT_NE(group().member("m2"), nullptr);
  EXPECT_EQ(beat("m1", 3).reply.error, ErrorCode::UNKNOWN_MEMBER_ID);
  driver_.advance(500);
  driver_.run(coordinator::Tick{});
  EXPECT_EQ(group().state(), ShareGroupState::kEmpty);
  EXPECT_EQ(driver_.last.back(), GroupRecord(target_metadata_record("g", epoch + 2, 0)));
}

TEST_F(ShareGroups, SessionsStartAnewAfterARestart) {
  join_first();
  driver_.restart();
  EXPECT_EQ(driver_.shard().next_deadline(), std::nullopt);
  driver_.run(StartSessions{{{"g", 45000}}});
  EXPECT_EQ(driver_.shard().next_deadline(), driver_.now.steady_ms + 45000);
  EXPECT_EQ(beat("m1", 3).reply.error, ErrorCode::NONE);
}

TEST_F(ShareGroups, RemovedTopicLosesItsState) {
  join_first();
  driver_.run(TopicsRemoved{{{TopicName("t1"), topic_id(1)}}});
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(state_partitions_record("g", {}, {}))));
  topics_ = {};
  const auto decided = beat("m1", 3);
  EXPECT_EQ(decided.reply.member_epoch, 4);
  EXPECT_EQ(decided.reply.assignment, std::vector<TopicPartitions>());
  // One of the same name is another topic.
  topics_ = {{TopicName("t1"), topic_id(9), 1}};
  EXPECT_THAT(beat("m1", 4).initialize, ElementsAre(ShareInitialization{{topic_id(9), 0}, -1}));
}

TEST_F(ShareGroups, AnInitializationThatEndsTooLateChangesNothing) {
  beat("m1", 0, {{TopicName("t1")}});
  driver_.run(TopicsRemoved{{{TopicName("t1"), topic_id(1)}}});
  initialized({{{topic_id(1), 0}, true}});
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ShareGroups, MembershipForAcknowledgements) {
  join_first();
  const auto check = [this](std::string group, std::string member, int32_t epoch) {
    return driver_.run(CheckShareMember{GroupId(group), std::move(member), epoch}).error;
  };
  EXPECT_EQ(check("g", "m1", 3), ErrorCode::NONE);
  EXPECT_EQ(check("g", "m1", 1), ErrorCode::NONE);
  EXPECT_EQ(check("g", "m1", 4), ErrorCode::STALE_MEMBER_EPOCH);
  EXPECT_EQ(check("g", "m1", 0), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(check("g", "m2", 3), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(check("h", "m1", 3), ErrorCode::UNKNOWN_MEMBER_ID);
}

TEST_F(ShareGroups, DescribedPartitions) {
  EXPECT_EQ(driver_.run(DescribeShareGroup{GroupId("g")}).error, ErrorCode::GROUP_ID_NOT_FOUND);
  beat("m1", 0, {{TopicName("t1")}});
  initialized({{{topic_id(1), 1}, true}});
  const auto described = driver_.run(DescribeShareGroup{GroupId("g")});
  EXPECT_EQ(described.state, "Stable");
  EXPECT_THAT(described.initialized,
              ElementsAre(ShareGroupTopic{topic_id(1), TopicName("t1"), {1}}));
  EXPECT_THAT(described.initializing,
              ElementsAre(ShareGroupTopic{topic_id(1), TopicName("t1"), {0}}));
}

TEST_F(ShareGroups, ReplayGivesTheSameGroup) {
  join_first();
  beat("m2", 0, {{TopicName("t1")}});
  topics_ = {topic(1, 3)};
  beat("m1", 3);
  const GroupShard again = driver_.replayed();
  const ShareGroup* copy = again.share_group("g");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->epoch(), group().epoch());
  EXPECT_EQ(copy->assignment_epoch(), group().assignment_epoch());
  EXPECT_EQ(copy->metadata_hash(), group().metadata_hash());
  EXPECT_EQ(copy->target(), group().target());
  EXPECT_EQ(copy->initialized(), group().initialized());
  EXPECT_EQ(copy->initializing(), group().initializing());
  for (const auto& [id, member] : group().members()) {
    const ShareMember* same = copy->member(id);
    ASSERT_NE(same, nullptr);
    EXPECT_EQ(current_assignment_record("g", id, *same),
              current_assignment_record("g", id, member));
    EXPECT_EQ(member_metadata_record("g", id, *same), member_metadata_record("g", id, member));
  }
}

// Once a group is as it should be, a heartbeat without news costs a look-up; the topics are not
// even looked at. Any record of the group, or another version of the topics, ends that.
TEST_F(ShareGroups, AHeartbeatWithoutNewsOnlyRenewsTheSession) {
  join_first();
  beat("m1", 3);
  ShareHeartbeatOp plain = op("m1", 3);
  plain.topics.clear();
  EXPECT_TRUE(driver_.shard().only_renews(plain.heartbeat, 0));
  const ShareHeartbeatReply reply = driver_.run(plain).reply;
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  EXPECT_EQ(reply.member_epoch, 3);
  EXPECT_EQ(reply.heartbeat_interval_ms, plain.limits.heartbeat_interval_ms);
  EXPECT_FALSE(reply.assignment.has_value());
  EXPECT_THAT(driver_.last, IsEmpty());
  EXPECT_FALSE(driver_.shard().only_renews(plain.heartbeat, 1)) << "other topics";
  for (const int32_t epoch : {0, 2, 4, -1})
    EXPECT_FALSE(driver_.shard().only_renews(op("m1", epoch).heartbeat, 0)) << epoch;
  EXPECT_FALSE(driver_.shard().only_renews(op("m2", 3).heartbeat, 0)) << "not a member";
  EXPECT_FALSE(driver_.shard().only_renews(op("m1", 3, {{TopicName("t1")}}).heartbeat, 0));
  ShareHeartbeat elsewhere = plain.heartbeat;
  elsewhere.client_host = "/10.0.0.1";
  EXPECT_FALSE(driver_.shard().only_renews(elsewhere, 0));
  beat("m2", 0, {{TopicName("t1")}});
  EXPECT_FALSE(driver_.shard().only_renews(plain.heartbeat, 0)) << "the group has changed";
}

}  // namespace
}  // namespace ackord::group
