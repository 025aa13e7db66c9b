#include "broker/group/classic_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/unit/broker/group/classic_driver.h"

namespace ackord::group {
namespace {

using test::JoinAs;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Classic : public ::testing::Test {
 protected:
  // A new member's id, which it is given by its first request.
  std::string id(const JoinAs& as = {}) {
    const auto reply = driver_.joined(driver_.join(as));
    EXPECT_EQ(reply->error, ErrorCode::MEMBER_ID_REQUIRED);
    return reply->member;
  }
  // The group's only member, synced; generation 1.
  std::string first(JoinAs as = {}) {
    as.member = id();
    const Ticket ticket = driver_.join(as);
    driver_.pass(3000);
    EXPECT_EQ(driver_.joined(ticket)->generation, 1);
    driver_.sync(as.member, 1, {{as.member, "for 1"}});
    return as.member;
  }
  // Two members, the first leading; generation 2.
  std::pair<std::string, std::string> two() {
    const std::string a = first(), b = id();
    const Ticket of_b = driver_.join({.member = b});
    driver_.join({.member = a});
    EXPECT_EQ(driver_.joined(of_b)->generation, 2);
    driver_.sync(a, 2, {{a, "for a"}, {b, "for b"}});
    driver_.sync(b, 2);
    return {a, b};
  }
  std::string state() { return driver_.describe().state; }

  test::ClassicDriver driver_;
};

ClassicGroupMetadata record_of(const std::vector<GroupRecord>& records) {
  EXPECT_EQ(records.size(), 1u);
  return std::get<ClassicGroupMetadata>(records.at(0));
}

// ---- joining

TEST_F(Classic, AGroupIsLoggedWhenItIsMade) {
  const Ticket ticket = driver_.join({});
  const ClassicGroupMetadata record = record_of(driver_.last);
  EXPECT_EQ(record.key.group, "g");
  EXPECT_EQ(record.value->protocol_type, "");
  EXPECT_EQ(record.value->generation, 0);
  EXPECT_EQ(record.value->protocol, std::nullopt);
  EXPECT_EQ(record.value->leader, std::nullopt);
  EXPECT_EQ(record.value->current_state_timestamp, driver_.now.wall_ms);
  EXPECT_TRUE(record.value->members.empty());
  EXPECT_EQ(driver_.joined(ticket)->member, "client-1");
  EXPECT_EQ(state(), "Empty");
}

TEST_F(Classic, TheFirstMembersAreWaitedForAndAgainWhenMoreCome) {
  const Ticket a = driver_.join({.version = 3});
  driver_.pass(2999);
  EXPECT_FALSE(driver_.answered(a));
  const Ticket b = driver_.join({.version = 3});
  driver_.pass(3000);
  EXPECT_FALSE(driver_.answered(a)) << "b came";
  driver_.pass(1);
  ASSERT_TRUE(driver_.answered(a));
  EXPECT_EQ(driver_.joined(a)->members.size(), 2u);
  EXPECT_EQ(driver_.joined(a)->leader, driver_.joined(a)->member);
  EXPECT_EQ(driver_.joined(b)->leader, driver_.joined(a)->member);
  EXPECT_THAT(driver_.joined(b)->members, IsEmpty());
}

TEST_F(Classic, NewMembersDoNotPutItOffForLongerThanARebalance) {
  const Ticket a = driver_.join({.version = 3, .rebalance_ms = 7000});
  for (int i = 0; i < 7; ++i) {
    driver_.pass(1000);
    driver_.join({.version = 3, .rebalance_ms = 1000});
  }
  EXPECT_TRUE(driver_.answered(a));
}

TEST_F(Classic, OnlyTheLeaderAssignsAndTheAssignmentIsLogged) {
  const std::string a = first(), b = id();
  const Ticket of_b = driver_.join({.member = b, .protocols = {{"x", "bx"}, {"range", "br"}}});
  EXPECT_EQ(state(), "PreparingRebalance");
  EXPECT_EQ(driver_.beat(a, 1), ErrorCode::REBALANCE_IN_PROGRESS);
  const Ticket of_a = driver_.join({.member = a});
  const TimeMs since = driver_.now.wall_ms;
  ASSERT_TRUE(driver_.answered(of_b));
  EXPECT_EQ(driver_.joined(of_a)->protocol, "range");
  EXPECT_THAT(driver_.joined(of_a)->members,
              ElementsAre(ClassicJoinReply::Member{a, std::nullopt, SharedBytes("metadata")},
                          ClassicJoinReply::Member{b, std::nullopt, SharedBytes("br")}));
  EXPECT_THAT(driver_.last, IsEmpty()) << "gathering is not logged";
  driver_.advance(5);
  const Ticket sync_b = driver_.sync(b, 2, {{b, "mine"}});
  EXPECT_FALSE(driver_.answered(sync_b));
  const Ticket sync_a = driver_.sync(a, 2, {{a, "1"}, {b, "2"}, {"nobody", "3"}});
  EXPECT_EQ(driver_.synced(sync_a)->assignment.sv(), "1");
  EXPECT_EQ(driver_.synced(sync_b)->assignment.sv(), "2");
  EXPECT_EQ(driver_.synced(sync_b)->protocol, "range");
  const ClassicGroupMetadata record = record_of(driver_.last);
  EXPECT_EQ(record.value->generation, 2);
  EXPECT_EQ(record.value->protocol_type, "consumer");
  EXPECT_EQ(record.value->protocol, "range");
  EXPECT_EQ(record.value->leader, a.c_str());
  EXPECT_EQ(record.value->current_state_timestamp, since) << "when the generation began";
  ASSERT_EQ(record.value->members.size(), 2u);
  const auto& of_b_in_it = record.value->members[1];
  EXPECT_EQ(of_b_in_it.member_id, b.c_str());
  EXPECT_EQ(of_b_in_it.client_id, "client");
  EXPECT_EQ(of_b_in_it.client_host, "/127.0.0.1");
  EXPECT_EQ(of_b_in_it.session_timeout, 10000);
  EXPECT_EQ(of_b_in_it.rebalance_timeout, 20000);
  EXPECT_EQ(of_b_in_it.subscription.sv(), "br");
  EXPECT_EQ(of_b_in_it.assignment.sv(), "2");
  EXPECT_EQ(GroupShard::encode(GroupRecord(record)).value->at(1), std::byte{3}) << "as Kafka's";
}

TEST_F(Classic, AProtocolThatMostPreferOfThoseThatAllKnow) {
  const Ticket a = driver_.join({.version = 3, .protocols = {{"p", ""}, {"q", ""}, {"r", ""}}});
  driver_.join({.version = 3, .protocols = {{"r", ""}, {"q", ""}}});
  driver_.join({.version = 3, .protocols = {{"r", ""}, {"q", ""}}});
  driver_.pass(60000);
  EXPECT_EQ(driver_.joined(a)->protocol, "r");
}

TEST_F(Classic, AGroupThatIsFullTakesNobody) {
  driver_ = test::ClassicDriver({.max_size = 2, .initial_rebalance_delay_ms = 3000});
  two();
  EXPECT_EQ(driver_.joined(driver_.join({}))->error, ErrorCode::GROUP_MAX_SIZE_REACHED);
}

TEST_F(Classic, WhoDoesNotComeBackIsGone) {
  const auto [a, b] = two();
  const std::string c = id();
  const Ticket of_c = driver_.join({.member = c, .session_ms = 60000});
  driver_.beat(a, 2);
  driver_.beat(b, 2);
  driver_.join({.member = b, .session_ms = 60000});
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(driver_.beat(a, 2), ErrorCode::REBALANCE_IN_PROGRESS);
    driver_.pass(5000);
  }
  ASSERT_TRUE(driver_.answered(of_c)) << "the rebalance timeout is over";
  EXPECT_NE(driver_.joined(of_c)->leader, a);
  EXPECT_EQ(driver_.describe().members.size(), 2u);
  EXPECT_EQ(driver_.beat(a, 2), ErrorCode::UNKNOWN_MEMBER_ID);
}

TEST_F(Classic, AMemberThatWaitsDoesNotLoseItsSession) {
  const std::string a = first({.session_ms = 60000}), b = id();
  const Ticket of_b = driver_.join({.member = b});
  driver_.pass(15000);
  EXPECT_FALSE(driver_.answered(of_b));
  driver_.join({.member = a});
  EXPECT_EQ(driver_.joined(of_b)->error, ErrorCode::NONE);
}

TEST_F(Classic, ANewMemberDoesNotWaitForEver) {
  const std::string a = first({.session_ms = 1800000, .rebalance_ms = 1800000}), b = id();
  const Ticket of_b = driver_.join({.member = b, .rebalance_ms = 1000});
  driver_.pass(kNewMemberJoinTimeoutMs);
  ASSERT_TRUE(driver_.answered(of_b));
  EXPECT_EQ(driver_.joined(of_b)->error, ErrorCode::UNKNOWN_MEMBER_ID);
}

TEST_F(Classic, AnIdThatWasGivenOutHoldsTheOthersUpForItsSession) {
  const std::string a = first(), b = id();
  driver_.join({.member = b});
  id({.session_ms = 6000});
  const Ticket of_a = driver_.join({.member = a});
  driver_.pass(5999);
  EXPECT_FALSE(driver_.answered(of_a));
  driver_.pass(1);
  EXPECT_TRUE(driver_.answered(of_a));
}

TEST_F(Classic, WhoDoesNotSyncIsRemoved) {
  const std::string a = first(), b = id();
  driver_.join({.member = b});
  driver_.join({.member = a});
  driver_.sync(a, 2, {});
  for (int i = 0; i < 3; ++i) {
    driver_.beat(a, 2);
    driver_.beat(b, 2);
    driver_.pass(7000);
  }
  EXPECT_EQ(driver_.beat(b, 2), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(driver_.beat(a, 2), ErrorCode::REBALANCE_IN_PROGRESS);
}

// ---- leaving

TEST_F(Classic, TheLastOneLeavesAnEmptyGroupOfTheNextGeneration) {
  const std::string a = first();
  EXPECT_THAT(driver_.leave({{a, std::nullopt}, {"nobody", std::nullopt}}),
              ElementsAre(ErrorCode::NONE, ErrorCode::UNKNOWN_MEMBER_ID));
  const ClassicGroupMetadata record = record_of(driver_.last);
  EXPECT_EQ(record.value->generation, 2);
  EXPECT_EQ(record.value->protocol_type, "consumer");
  EXPECT_EQ(record.value->protocol, std::nullopt);
  EXPECT_EQ(record.value->leader, std::nullopt);
  EXPECT_TRUE(record.value->members.empty());
  EXPECT_EQ(state(), "Empty");
}

TEST_F(Classic, WhoLeavesIsAnsweredWhatItWaitsFor) {
  const std::string a = first(), b = id();
  const Ticket of_b = driver_.join({.member = b});
  driver_.leave({{b, std::nullopt}});
  EXPECT_EQ(driver_.joined(of_b)->error, ErrorCode::UNKNOWN_MEMBER_ID);
  const Ticket of_a = driver_.join({.member = a});
  EXPECT_TRUE(driver_.answered(of_a));
}

TEST_F(Classic, ASessionEndsAndTheOthersGatherAgain) {
  const auto [a, b] = two();
  driver_.pass(6000);
  EXPECT_EQ(driver_.beat(a, 2), ErrorCode::NONE);
  driver_.pass(4000);
  EXPECT_EQ(driver_.beat(b, 2), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(driver_.beat(a, 2), ErrorCode::REBALANCE_IN_PROGRESS);
}

// ---- static members

TEST_F(Classic, AStaticMemberComesBackUnderANewIdWithoutARebalance) {
  const Ticket joined = driver_.join({.instance = "one"});
  driver_.pass(3000);
  const std::string old = driver_.joined(joined)->member;
  driver_.sync(old, 1, {{old, "for it"}});
  const ClassicJoinReply again = *driver_.joined(driver_.join({.instance = "one"}));
  EXPECT_EQ(again.error, ErrorCode::NONE);
  EXPECT_EQ(again.generation, 1);
  EXPECT_TRUE(again.skip_assignment);
  EXPECT_NE(again.member, old);
  EXPECT_EQ(again.leader, again.member);
  EXPECT_THAT(again.members,
              ElementsAre(ClassicJoinReply::Member{again.member, "one", SharedBytes("metadata")}));
  const ClassicGroupMetadata record = record_of(driver_.last);
  ASSERT_EQ(record.value->members.size(), 1u);
  EXPECT_EQ(record.value->members[0].member_id, again.member.c_str());
  EXPECT_EQ(record.value->members[0].assignment.sv(), "for it");
  EXPECT_EQ(driver_.beat(old, 1), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(driver_.beat(again.member, 1), ErrorCode::NONE);
  EXPECT_EQ(driver_.synced(driver_.sync(again.member, 1))->assignment.sv(), "for it");
  // Before version 9 it is not told that it leads.
  const ClassicJoinReply older = *driver_.joined(driver_.join({.instance = "one", .version = 8}));
  EXPECT_EQ(older.leader, again.member);
  EXPECT_THAT(older.members, IsEmpty());
  // The session that counts is the last one's.
  driver_.pass(9999);
  EXPECT_EQ(state(), "Stable");
  driver_.pass(1);
  EXPECT_EQ(state(), "Empty");
}

// ---- what is kept

TEST_F(Classic, AfterAStartMembersGoOn) {
  const auto [a, b] = two();
  const auto before = driver_.describe();
  driver_.restart();
  driver_.run(StartSessions{});
  const auto after = driver_.describe();
  EXPECT_EQ(after.state, "Stable");
  ASSERT_EQ(after.members.size(), before.members.size());
  for (size_t i = 0; i < after.members.size(); ++i) {
    EXPECT_EQ(after.members[i].id, before.members[i].id);
    EXPECT_EQ(after.members[i].client_host, before.members[i].client_host);
    EXPECT_EQ(after.members[i].metadata, before.members[i].metadata);
    EXPECT_EQ(after.members[i].assignment, before.members[i].assignment);
  }
  driver_.pass(9999);
  EXPECT_EQ(driver_.beat(a, 2), ErrorCode::NONE);
  driver_.pass(1);
  EXPECT_EQ(driver_.beat(b, 2), ErrorCode::UNKNOWN_MEMBER_ID) << "it had its whole session";
  EXPECT_EQ(driver_.beat(a, 2), ErrorCode::REBALANCE_IN_PROGRESS);
}

TEST_F(Classic, AGatheringThatTheStopCutOffBeginsWithWhatIsLogged) {
  const std::string a = first(), b = id();
  driver_.join({.member = b});
  driver_.restart();
  driver_.run(StartSessions{});
  EXPECT_EQ(state(), "Stable");
  EXPECT_EQ(driver_.beat(a, 1), ErrorCode::NONE);
  EXPECT_EQ(driver_.joined(driver_.join({.member = b}))->error, ErrorCode::UNKNOWN_MEMBER_ID);
}

TEST_F(Classic, DeletionTakesAnEmptyGroup) {
  const std::string a = first();
  EXPECT_EQ(driver_.run(BeginDeletion{GroupId("g")}).error, ErrorCode::NON_EMPTY_GROUP);
  driver_.leave({{a, std::nullopt}});
  EXPECT_EQ(driver_.run(BeginDeletion{GroupId("g")}).error, ErrorCode::NONE);
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(classic_group_tombstone("g"))));
  EXPECT_EQ(driver_.describe().error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(driver_.shard().next_deadline(), std::nullopt);
  driver_.restart();
  EXPECT_EQ(driver_.describe().error, ErrorCode::GROUP_ID_NOT_FOUND);
}

TEST_F(Classic, AnEmptyGroupWithoutOffsetsIsGoneAtTheNextCheck) {
  const std::string a = first();
  driver_.leave({{a, std::nullopt}});
  driver_.pass(600000);
  EXPECT_EQ(driver_.describe().error, ErrorCode::GROUP_ID_NOT_FOUND);
}

// ---- offsets

class ClassicOffsets : public Classic {
 protected:
  static OffsetsToCommit commit_by(const std::string& member, int32_t generation,
                                   const char* topic = "t") {
    OffsetsToCommit commit;
    commit.group = GroupId("g");
    commit.committer = {generation, member, std::nullopt};
    commit.offsets.push_back({TopicName(topic), {}, 0, 7, -1, ""});
    return commit;
  }
  ErrorCode commit(const std::string& member, int32_t generation, const char* topic = "t") {
    return driver_.run(CommitOffsets{commit_by(member, generation, topic)}).error;
  }
};

TEST_F(ClassicOffsets, AreCommittedByAMemberOfThisGeneration) {
  const std::string a = first();
  EXPECT_EQ(commit(a, 1), ErrorCode::NONE);
  EXPECT_EQ(commit(a, 2), ErrorCode::ILLEGAL_GENERATION);
  EXPECT_EQ(commit("nobody", 1), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(commit("", -1), ErrorCode::UNKNOWN_MEMBER_ID);
  const std::string b = id();
  driver_.join({.member = b});
  EXPECT_EQ(commit(a, 1), ErrorCode::NONE) << "before it joins again";
  driver_.join({.member = a});
  EXPECT_EQ(commit(a, 2), ErrorCode::REBALANCE_IN_PROGRESS) << "it has no assignment yet";
  driver_.leave({{a, std::nullopt}, {b, std::nullopt}});
  EXPECT_EQ(commit("", -1), ErrorCode::NONE) << "an empty group is anybody's";
}

TEST_F(ClassicOffsets, KeepTheSession) {
  const std::string a = first();
  driver_.pass(6000);
  commit(a, 1);
  driver_.pass(6000);
  EXPECT_EQ(driver_.beat(a, 1), ErrorCode::NONE);
}

std::string subscription_to(const std::string& topic) {
  std::string bytes{'\0', '\1', '\0', '\0', '\0', '\1', '\0', static_cast<char>(topic.size())};
  return bytes + topic + std::string{'\0', '\0', '\0', '\0'};
}

TEST_F(ClassicOffsets, OfATopicThatMembersReadStay) {
  const std::string a = first({.protocols = {{"range", subscription_to("read")}}});
  commit(a, 1, "read");
  commit(a, 1, "left");
  const DeletedOffsets reply =
      driver_.run(DeleteOffsets{GroupId("g"), {{TopicName("read"), 0}, {TopicName("left"), 0}}});
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  EXPECT_THAT(reply.in_use, ElementsAre(TopicName("read")));
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(offset_tombstone("g", {TopicName("left"), 0}))));
}

TEST_F(ClassicOffsets, MayBeInUseWhereTheSubscriptionCannotBeRead) {
  const std::string a = first();
  commit(a, 1);
  EXPECT_THAT(driver_.run(DeleteOffsets{GroupId("g"), {{TopicName("t"), 0}}}).in_use,
              ElementsAre(TopicName("t")));
}

TEST_F(ClassicOffsets, AgeFromWhenTheGroupBecameEmpty) {
  constexpr int64_t kRetentionMs = int64_t{10080} * 60000;
  const std::string a = first({.session_ms = 1800000});
  commit(a, 1);
  for (int i = 0; i < 800; ++i) {
    driver_.pass(kRetentionMs / 400);
    driver_.beat(a, 1);
  }
  driver_.leave({{a, std::nullopt}});
  driver_.pass(kRetentionMs - 600000);
  EXPECT_EQ(state(), "Empty");
  driver_.pass(1200000);
  EXPECT_EQ(driver_.describe().error, ErrorCode::GROUP_ID_NOT_FOUND);
}

// ---- anything that members may do

// Whatever happens, each request is answered once at most, and all that waits at the end is
// answered or gone with its member; memory is what the log says.
TEST_F(Classic, RandomLivesEndInOrder) {
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    driver_ = test::ClassicDriver({.max_size = 4, .initial_rebalance_delay_ms = 500});
    std::mt19937 random(seed);
    const auto below = [&random](uint32_t n) { return static_cast<int>(random() % n); };
    std::vector<std::string> ids{"nobody"};
    std::vector<Ticket> joins;
    size_t seen = 0;
    for (int step = 0; step < 300; ++step) {
      JoinAs as;
      as.member =
          below(3) == 0 ? "" : ids[static_cast<size_t>(below(static_cast<uint32_t>(ids.size())))];
      if (as.member.empty() && below(2) == 0) as.instance = "instance-" + std::to_string(below(3));
      as.version = static_cast<int16_t>(below(10));
      as.session_ms = 1000 + below(5) * 1000;
      as.rebalance_ms = 500 + below(4) * 1000;
      if (below(4) == 0) as.protocols = {{"x", "mx"}, {"range", "mr"}};
      const int generation = below(4) == 0 ? below(50) : -2;
      const auto phase_generation = [&] {
        int last = 0;
        for (const Ticket ticket : joins) {
          if (const auto reply = driver_.joined(ticket)) last = std::max(last, reply->generation);
        }
        return generation == -2 ? last : generation;
      };
      switch (below(6)) {
        case 0:
        case 1: joins.push_back(driver_.join(as)); break;
        case 2: driver_.sync(as.member, phase_generation(), {{as.member, "x"}}); break;
        case 3: driver_.beat(as.member, phase_generation()); break;
        case 4:
          if (below(3) == 0) driver_.leave({{as.member, as.instance}});
          break;
        default: driver_.pass(below(1500));
      }
      for (; seen < joins.size(); ++seen) {
        if (const auto reply = driver_.joined(joins[seen])) ids.push_back(reply->member);
      }
      const auto live = driver_.describe();
      if (live.state == "Stable") {
        GroupShard copy = driver_.replayed();
        const auto logged = std::as_const(copy).decide(DescribeClassicGroup{GroupId("g")}, {});
        EXPECT_EQ(logged.reply.members.size(), live.members.size());
        EXPECT_EQ(logged.reply.state, live.state);
      }
    }
    driver_.pass(kNewMemberJoinTimeoutMs + 60000);
    EXPECT_EQ(driver_.wrong_answers(), 0);
    EXPECT_THAT(driver_.describe().members, IsEmpty());
    EXPECT_EQ(driver_.shard().next_deadline().has_value(),
              driver_.describe().error == ErrorCode::NONE)
        << "nothing but the look for what is over is left to do";
  }
}

}  // namespace
}  // namespace ackord::group
