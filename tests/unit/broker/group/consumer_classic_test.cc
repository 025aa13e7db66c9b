#include "broker/group/consumer_classic.h"

#include "broker/group/consumer_protocol.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/wire/writer.h"
#include "tests/unit/broker/group/consumer_fixture.h"

namespace ackord::group {
namespace {

using test::parts;
using test::topic_id;

class Migration : public test::ConsumerFixture {
 protected:
  static SharedBytes subscription(std::vector<int32_t> owned = {}) {
    protocol::ConsumerProtocolSubscription said;
    said.topics.emplace_back("t1");
    if (!owned.empty()) {
      said.owned_partitions.push_back({});
      said.owned_partitions.back().topic = TopicName("t1");
      said.owned_partitions.back().partitions = std::move(owned);
    }
    protocol::Writer out;
    out.int16(1);
    said.encode(out, 1);
    const std::vector<std::byte> bytes = out.finish().copy();
    return SharedBytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  JoinClassicGroup join_op(std::string member, std::vector<int32_t> owned = {}) {
    JoinClassicGroup op;
    op.join.group = GroupId("g");
    op.join.member = std::move(member);
    op.join.session_timeout_ms = 10'000;
    op.join.rebalance_timeout_ms = 20'000;
    op.join.protocol_type = "consumer";
    op.join.protocols = {{"range", subscription(std::move(owned))}};
    op.join.client_id = "c";
    op.join.client_host = "/127.0.0.1";
    op.ticket = ++ticket_;
    op.new_id_suffix = "new";
    op.consumers.emplace(ConsumerContext{topics(), limits_});
    return op;
  }
  // Of a consumer group: it is answered at once.
  ClassicJoinReply classic_join(std::string member, std::vector<int32_t> owned = {}) {
    auto answers = driver_.run(join_op(std::move(member), std::move(owned)));
    EXPECT_EQ(answers.size(), 1u);
    return std::get<ClassicJoinReply>(answers.front().reply);
  }
  ClassicSyncReply classic_sync(std::string member, int32_t generation, std::string bytes = {}) {
    SyncClassicGroup op;
    op.sync.who = {GroupId("g"), member, std::nullopt, generation};
    op.sync.protocol_type = "consumer";
    op.sync.protocol = "range";
    if (!bytes.empty()) op.sync.assignments = {{member, SharedBytes(bytes)}};
    op.ticket = ++ticket_;
    op.consumers.emplace(ConsumerContext{topics(), limits_});
    auto answers = driver_.run(op);
    EXPECT_EQ(answers.size(), 1u);
    return std::get<ClassicSyncReply>(answers.front().reply);
  }
  ErrorCode classic_beat(std::string member, int32_t generation) {
    return driver_
        .run(BeatClassicMember{{GroupId("g"), std::move(member), std::nullopt, generation}})
        .error;
  }
  NamedPartitions assigned(const ClassicSyncReply& reply) {
    EXPECT_EQ(reply.error, ErrorCode::NONE);
    return read_assignment(reply.assignment.sv())->partitions;
  }
  // A stable classic group at generation 1 whose one member has both partitions; its id.
  std::string classic_group() {
    driver_.run(join_op(""));
    driver_.advance(3000);
    const auto reply = driver_.run(coordinator::Tick{});
    EXPECT_EQ(reply.answers.size(), 1u);
    const auto joined = std::get<ClassicJoinReply>(reply.answers.front().reply);
    EXPECT_EQ(joined.generation, 1);
    classic_sync(joined.member, 1, write_assignment(1, {{"t1", {0, 1}}}));
    return joined.member;
  }

  Ticket ticket_ = 0;
};

TEST_F(Migration, AClassicGroupTurnsIntoAConsumerGroup) {
  const std::string id = classic_group();
  const auto decided = join("b");
  EXPECT_EQ(decided.reply.error, ErrorCode::NONE);
  EXPECT_EQ(decided.reply.assignment, std::vector<TopicPartitions>());
  EXPECT_EQ(driver_.last.front(), GroupRecord(classic_group_tombstone("g")));
  const ConsumerMember* classic = group().member(id);
  ASSERT_NE(classic, nullptr);
  EXPECT_TRUE(classic->classic.has_value());
  EXPECT_EQ(classic->epoch, 1);
  EXPECT_EQ(classic->assigned, since(1, 1, {0, 1}));
  EXPECT_EQ(group().epoch(), 2);
  EXPECT_EQ(group().classic_members(), 1);

  // The classic member is told to rejoin, lets one go, rejoins again, and the other one gets it.
  EXPECT_EQ(classic_beat(id, 1), ErrorCode::REBALANCE_IN_PROGRESS);
  auto joined = classic_join(id, {0, 1});
  EXPECT_EQ(joined.error, ErrorCode::NONE);
  EXPECT_EQ(joined.generation, 1);
  EXPECT_EQ(joined.protocol, "range");
  EXPECT_EQ(assigned(classic_sync(id, 1)).front().second.size(), 1u);
  const int32_t kept = group().member(id)->assigned.begin()->first.partition;
  EXPECT_EQ(classic_beat(id, 1), ErrorCode::REBALANCE_IN_PROGRESS);
  joined = classic_join(id, {kept});
  EXPECT_EQ(joined.generation, 2);
  EXPECT_EQ(assigned(classic_sync(id, 2)), (NamedPartitions{{"t1", {kept}}}));
  EXPECT_EQ(classic_beat(id, 2), ErrorCode::NONE);
  EXPECT_EQ(beat("b", decided.reply.member_epoch, {.owned = Assignment()}).reply.assignment,
            lists(1, {1 - kept}));
  EXPECT_EQ(group().state(), ConsumerGroupState::kStable);
}

TEST_F(Migration, WhatIsNoSubscriptionStaysClassic) {
  auto op = join_op("");
  op.join.protocols = {{"own", SharedBytes("x")}};
  driver_.run(op);
  driver_.advance(3000);
  driver_.run(coordinator::Tick{});
  EXPECT_EQ(join("b").reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(driver_.shard().consumer_group("g"), nullptr);
}

TEST_F(Migration, TheLastConsumerLeavesAClassicGroupBehind) {
  const std::string id = classic_group();
  join("b");
  driver_.advance(1000);
  EXPECT_EQ(beat("b", -1).reply.error, ErrorCode::NONE);
  EXPECT_EQ(driver_.shard().consumer_group("g"), nullptr);
  const auto& record = std::get<ClassicGroupMetadata>(driver_.last.back());
  ASSERT_TRUE(record.value);
  EXPECT_EQ(record.value->generation, 2);
  EXPECT_EQ(record.value->protocol, String("range"));
  ASSERT_EQ(record.value->members.size(), 1u);
  EXPECT_EQ(record.value->members[0].member_id, String(id));
  EXPECT_EQ(read_assignment(record.value->members[0].assignment.sv())->partitions.size(), 1u);
  EXPECT_EQ(driver_.run(DescribeClassicGroup{GroupId("g")}).state, "PreparingRebalance");
  EXPECT_EQ(classic_beat(id, 1), ErrorCode::ILLEGAL_GENERATION);
}

TEST_F(Migration, AClassicMemberThatReplacesTheLastConsumerMakesItAClassicGroup) {
  join("b", {.instance = "i"});
  const int32_t epoch = group().epoch();
  auto op = join_op("");
  op.join.instance = "i";
  const auto joined = std::get<ClassicJoinReply>(driver_.run(op).front().reply);
  EXPECT_EQ(joined.error, ErrorCode::NONE);
  EXPECT_EQ(joined.member, "new");
  EXPECT_EQ(driver_.shard().consumer_group("g"), nullptr);
  const auto& record = std::get<ClassicGroupMetadata>(driver_.last.back());
  ASSERT_TRUE(record.value);
  EXPECT_EQ(record.value->generation, joined.generation);
  EXPECT_GE(record.value->generation, epoch);
  ASSERT_EQ(record.value->members.size(), 1u);
  EXPECT_EQ(record.value->members[0].member_id, String("new"));
  EXPECT_EQ(record.value->members[0].group_instance_id, String("i"));
  EXPECT_EQ(read_assignment(record.value->members[0].assignment.sv())->partitions,
            (NamedPartitions{{"t1", {0, 1}}}));
  // Nobody has left: there is nothing to gather for.
  EXPECT_EQ(driver_.run(DescribeClassicGroup{GroupId("g")}).state, "Stable");
  EXPECT_EQ(assigned(classic_sync("new", joined.generation)), (NamedPartitions{{"t1", {0, 1}}}));
  EXPECT_EQ(classic_beat("new", joined.generation), ErrorCode::NONE);
  driver_.advance(11'000);
  driver_.run(coordinator::Tick{});
  EXPECT_EQ(driver_.run(DescribeClassicGroup{GroupId("g")}).state, "Empty") << "its session ends";
}

TEST_F(Migration, AReplacementStaysAConsumerGroupWhereThePolicySaysSo) {
  join("b", {.instance = "i"});
  limits_.may_downgrade = false;
  auto op = join_op("");
  op.join.instance = "i";
  EXPECT_EQ(std::get<ClassicJoinReply>(driver_.run(op).front().reply).error, ErrorCode::NONE);
  ASSERT_NE(driver_.shard().consumer_group("g"), nullptr);
  EXPECT_TRUE(group().member("new")->classic.has_value());
}

TEST_F(Migration, WhoIsToRejoinAndDoesNotIsFenced) {
  const std::string id = classic_group();
  join("b", {.rebalance_ms = 60'000});
  driver_.advance(5000);
  EXPECT_EQ(classic_beat(id, 1), ErrorCode::REBALANCE_IN_PROGRESS);
  for (int i = 0; i < 3; ++i) {
    driver_.advance(6000);
    classic_beat(id, 1);
    tick();
  }
  EXPECT_NE(group().member(id), nullptr);
  driver_.advance(2000);
  tick();
  EXPECT_EQ(group().member(id), nullptr);
}

TEST_F(Migration, APolicyThatForbidsIt) {
  const std::string id = classic_group();
  limits_.may_upgrade = false;
  const auto refused = join("b");
  EXPECT_EQ(refused.reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(refused.reply.message,
            "Cannot upgrade classic group g to consumer group because online upgrade is "
            "disabled.");
  limits_.may_upgrade = true;
  join("b");
  limits_.may_downgrade = false;
  beat("b", -1);
  EXPECT_NE(driver_.shard().consumer_group("g"), nullptr);
  limits_.may_mix = false;
  EXPECT_EQ(classic_join(id).error, ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
}

TEST_F(Migration, AClassicMemberOfAnotherTypeIsRefused) {
  join("a");
  auto op = join_op("");
  op.join.protocol_type = "connect";
  const auto answers = driver_.run(op);
  EXPECT_EQ(std::get<ClassicJoinReply>(answers.front().reply).error,
            ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  auto first = join_op("");
  first.join.wants_id_first = true;
  const auto told = std::get<ClassicJoinReply>(driver_.run(first).front().reply);
  EXPECT_EQ(told.error, ErrorCode::MEMBER_ID_REQUIRED);
  EXPECT_EQ(told.member, "new");
}

}  // namespace
}  // namespace ackord::group
