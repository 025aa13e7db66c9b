#include "broker/group/consumer_group.h"

#include "tests/unit/broker/group/consumer_fixture.h"

namespace ackord::group {
namespace {

using test::parts;
using test::topic_id;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A group that may hold offsets is looked at at once, when nobody has looked yet.
constexpr std::optional<int64_t> kLookForWhatIsOver = 0;

class ConsumerGroups : public test::ConsumerFixture {
 protected:
  // a has both partitions of t1 at epoch 2; b has joined and waits for one of them.
  void revocation_begins() {
    join("a");
    driver_.advance(1000);
    join("b");
    const auto told = beat("a", 2, {.owned = parts(1, {0, 1})});
    ASSERT_EQ(told.reply.assignment, lists(1, {0}));
    ASSERT_EQ(told.reply.member_epoch, 2);
  }
};

TEST_F(ConsumerGroups, FirstJoinIsAssignedAtOnce) {
  const auto decided = join("a");
  EXPECT_EQ(decided.reply.error, ErrorCode::NONE);
  EXPECT_EQ(decided.reply.member, "a");
  EXPECT_EQ(decided.reply.member_epoch, 2);
  EXPECT_EQ(decided.reply.heartbeat_interval_ms, 5000);
  EXPECT_EQ(decided.reply.assignment, lists(1, {0, 1}));
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(consumer_member_record("g", "a", member({"t1"}))),
                          GroupRecord(consumer_epoch_record("g", 2, hash({1}))),
                          GroupRecord(consumer_target_record("g", "a", parts(1, {0, 1}))),
                          GroupRecord(consumer_target_epoch_record("g", 2, driver_.now.wall_ms)),
                          GroupRecord(consumer_current_record(
                              "g", "a", member({"t1"}, 2, 0, since(2, 1, {0, 1}))))));
  EXPECT_EQ(group().state(), ConsumerGroupState::kStable);
}

TEST_F(ConsumerGroups, AHeartbeatThatChangesNothingIsNotLogged) {
  join("a");
  const auto decided = beat("a", 2, {.owned = parts(1, {0, 1})});
  EXPECT_EQ(decided.reply.member_epoch, 2);
  EXPECT_EQ(decided.reply.assignment, std::nullopt);
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ConsumerGroups, AFullRequestIsAnsweredWithTheAssignment) {
  join("a");
  const auto decided =
      beat("a", 2, {.topics = {{"t1"}}, .owned = parts(1, {0, 1}), .rebalance_ms = 30000});
  EXPECT_EQ(decided.reply.assignment, lists(1, {0, 1}));
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ConsumerGroups, PartitionsChangeHandsByRevocation) {
  revocation_begins();
  ConsumerMember a = member({"t1"}, 2, 2, since(2, 1, {0}));
  a.state = MemberState::kUnrevokedPartitions;
  a.pending_revocation = since(2, 1, {1});
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(consumer_current_record("g", "a", a))));
  EXPECT_EQ(group().state(), ConsumerGroupState::kReconciling);
  // As long as it owns what it must give up nobody else gets it.
  EXPECT_THAT(beat("b", 3, {.owned = Assignment()}).reply.assignment, std::nullopt);
  EXPECT_EQ(beat("a", 2, {.owned = parts(1, {0, 1})}).reply.member_epoch, 2);
  EXPECT_EQ(beat("a", 2).reply.member_epoch, 2);  // saying nothing is owning everything

  EXPECT_EQ(beat("a", 2, {.owned = parts(1, {0})}).reply.member_epoch, 3);
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(consumer_current_record(
                                "g", "a", member({"t1"}, 3, 2, since(2, 1, {0}))))));
  const auto given = beat("b", 3, {.owned = Assignment()});
  EXPECT_EQ(given.reply.assignment, lists(1, {1}));
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(consumer_current_record(
                                "g", "b", member({"t1"}, 3, 3, since(3, 1, {1}))))));
  EXPECT_EQ(group().state(), ConsumerGroupState::kStable);
}

TEST_F(ConsumerGroups, WhoWaitsForAPartitionIsUnreleased) {
  join("a");
  driver_.advance(1000);
  const auto decided = join("b");
  EXPECT_EQ(decided.reply.member_epoch, 3);
  EXPECT_EQ(decided.reply.assignment, std::vector<TopicPartitions>());
  ASSERT_NE(group().member("b"), nullptr);
  EXPECT_EQ(group().member("b")->state, MemberState::kUnreleasedPartitions);
}

TEST_F(ConsumerGroups, WhoDoesNotRevokeInTimeIsFenced) {
  revocation_begins();
  driver_.advance(29'999);
  beat("a", 2, {.owned = parts(1, {0, 1})});
  beat("b", 3, {.owned = Assignment()});
  tick();
  EXPECT_NE(group().member("a"), nullptr);
  driver_.advance(1);
  tick();
  EXPECT_EQ(group().member("a"), nullptr);
  EXPECT_EQ(beat("a", 2).reply.error, ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(beat("b", 3, {.owned = Assignment()}).reply.assignment, lists(1, {0, 1}));
}

TEST_F(ConsumerGroups, AssignmentIsNotMadeSoonerThanTheInterval) {
  join("a");
  driver_.advance(999);
  EXPECT_EQ(join("b").reply.member_epoch, 2);
  EXPECT_EQ(group().state(), ConsumerGroupState::kAssigning);
  EXPECT_EQ(group().epoch(), 3);
  driver_.advance(1);
  EXPECT_EQ(beat("b", 2).reply.member_epoch, 3);
  EXPECT_EQ(group().assignment_epoch(), 3);
}

TEST_F(ConsumerGroups, EpochsAreFenced) {
  make_topic(2, 1);
  join("a");
  driver_.advance(1000);
  ASSERT_EQ(beat("a", 2, {.topics = {{"t1", "t2"}}}).reply.member_epoch, 3);
  const auto fenced = [this](int32_t epoch, std::optional<Assignment> owned) {
    return beat("a", epoch, {.owned = std::move(owned)}).reply.error;
  };
  EXPECT_EQ(fenced(4, {}), ErrorCode::FENCED_MEMBER_EPOCH);
  EXPECT_EQ(fenced(2, {}), ErrorCode::FENCED_MEMBER_EPOCH);
  EXPECT_EQ(fenced(2, parts(1, {0, 1, 2})), ErrorCode::FENCED_MEMBER_EPOCH);
  EXPECT_EQ(fenced(1, Assignment()), ErrorCode::FENCED_MEMBER_EPOCH);
  // The previous one, with what it has: the answer was lost.
  EXPECT_EQ(fenced(2, parts(1, {0, 1})), ErrorCode::NONE);
  EXPECT_EQ(beat("a", 9).reply.message,
            "The consumer group member has a greater member epoch (9) than the one known by the "
            "group coordinator (3). The member must abandon all its partitions and rejoin.");
}

TEST_F(ConsumerGroups, UnknownGroupAndMember) {
  auto decided = beat("a", 3);
  EXPECT_EQ(decided.reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(decided.reply.message, "Consumer group g not found.");
  decided = beat("a", -1);
  EXPECT_EQ(decided.reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(decided.reply.message, "Group g not found.");
  join("a");
  for (const int32_t epoch : {2, -1}) {
    decided = beat("b", epoch);
    EXPECT_EQ(decided.reply.error, ErrorCode::UNKNOWN_MEMBER_ID);
    EXPECT_EQ(decided.reply.message, "Member b is not a member of group g.");
  }
  EXPECT_THAT(driver_.last, IsEmpty());
}

TEST_F(ConsumerGroups, FullGroupTakesNoOneElse) {
  join("a");
  limits_.max_size = 1;
  EXPECT_EQ(join("b").reply.error, ErrorCode::GROUP_MAX_SIZE_REACHED);
  EXPECT_EQ(join("a").reply.error, ErrorCode::NONE);
}

TEST_F(ConsumerGroups, LastMemberLeaves) {
  join("a");
  const auto decided = beat("a", -1);
  EXPECT_EQ(decided.reply.member_epoch, -1);
  std::vector<GroupRecord> expected;
  add_member_tombstones("g", "a", expected);
  expected.emplace_back(consumer_epoch_record("g", 3, 0));
  expected.emplace_back(consumer_target_epoch_record("g", 3, 0));
  EXPECT_EQ(driver_.last, expected);
  EXPECT_EQ(group().state(), ConsumerGroupState::kEmpty);
  EXPECT_EQ(driver_.shard().next_deadline(), kLookForWhatIsOver);
  // The next one is assigned to at once.
  EXPECT_EQ(join("b").reply.assignment, lists(1, {0, 1}));
}

TEST_F(ConsumerGroups, SessionEnds) {
  join("a");
  driver_.advance(44'999);
  tick();
  EXPECT_NE(group().member("a"), nullptr);
  driver_.advance(1);
  tick();
  EXPECT_EQ(group().state(), ConsumerGroupState::kEmpty);
}

TEST_F(ConsumerGroups, AHeartbeatComesBeforeTheFence) {
  join("a");
  driver_.advance(45'000);
  const auto reply = driver_.run(coordinator::Tick{});
  ASSERT_EQ(reply.fence_consumers.size(), 1u);
  EXPECT_EQ(beat("a", 2).reply.error, ErrorCode::NONE);
  driver_.run(FenceConsumers{"g", {"a"}, {topics(), limits_}});
  EXPECT_THAT(driver_.last, IsEmpty());
  EXPECT_EQ(driver_.shard().next_deadline(), driver_.now.steady_ms + 45'000);
}

TEST_F(ConsumerGroups, SessionsStartAnewAfterARestart) {
  revocation_begins();
  driver_.restart();
  EXPECT_EQ(driver_.shard().next_deadline(), kLookForWhatIsOver);
  driver_.run(StartSessions{{{"g", 45000}}});
  EXPECT_EQ(driver_.shard().next_deadline(), driver_.now.steady_ms + 30'000);
  EXPECT_EQ(beat("a", 2, {.owned = parts(1, {0})}).reply.member_epoch, 3);
  EXPECT_EQ(driver_.shard().next_deadline(), driver_.now.steady_ms + 45'000);
}

TEST_F(ConsumerGroups, TopicsThatChangeMoveTheEpoch) {
  join("a", {.topics = {{"t1", "t2"}}});
  EXPECT_EQ(group().metadata_hash(), hash({1}));
  driver_.advance(1000);
  make_topic(2, 1);
  const auto decided = beat("a", 2, {.owned = parts(1, {0, 1})});
  EXPECT_EQ(decided.reply.member_epoch, 3);
  EXPECT_EQ(decided.reply.assignment,
            (std::vector<TopicPartitions>{{topic_id(1), {0, 1}}, {topic_id(2), {0}}}));
  EXPECT_EQ(group().metadata_hash(), hash({1, 2}));
  driver_.advance(1000);
  remove_topic(1);
  beat("a", 3, {.owned = parts(1, {0, 1})});
  EXPECT_EQ(group().epoch(), 4);
  EXPECT_EQ(beat("a", 3, {.owned = parts(2, {0})}).reply.member_epoch, 4);
  EXPECT_EQ(group().metadata_hash(), hash({2}));
}

TEST_F(ConsumerGroups, AssignorIsThatOfTheMajority) {
  join("a", {.assignor = "range"});
  const auto described = [this] {
    return driver_.run(DescribeConsumerGroup{GroupId("g"), "uniform"}).assignor;
  };
  EXPECT_EQ(described(), "range");
  join("b", {.assignor = "uniform"});
  EXPECT_EQ(described(), "uniform");  // one each: the default
  join("c", {.assignor = "range"});
  EXPECT_EQ(described(), "range");
}

TEST_F(ConsumerGroups, DescribedWithTarget) {
  revocation_begins();
  const auto described = driver_.run(DescribeConsumerGroup{GroupId("g"), "uniform"});
  EXPECT_EQ(described.state, "Reconciling");
  EXPECT_EQ(described.epoch, 3);
  EXPECT_EQ(described.assignment_epoch, 3);
  ASSERT_EQ(described.members.size(), 2u);
  EXPECT_EQ(described.members[0].id, "a");
  EXPECT_EQ(described.members[0].assigned, lists(1, {0, 1}));
  EXPECT_EQ(described.members[0].target, lists(1, {0}));
  EXPECT_EQ(described.members[1].assigned, std::vector<TopicPartitions>());
  EXPECT_EQ(driver_.run(DescribeConsumerGroup{GroupId("h"), "uniform"}).error,
            ErrorCode::GROUP_ID_NOT_FOUND);
}

TEST_F(ConsumerGroups, DeletedWhenEmpty) {
  join("a");
  EXPECT_EQ(driver_.run(BeginDeletion{GroupId("g")}).error, ErrorCode::NON_EMPTY_GROUP);
  beat("a", -1);
  EXPECT_EQ(driver_.run(BeginDeletion{GroupId("g")}).error, ErrorCode::NONE);
  EXPECT_EQ(driver_.last, consumer_group_tombstones("g", ConsumerGroup()));
  EXPECT_EQ(driver_.shard().consumer_group("g"), nullptr);
}

TEST_F(ConsumerGroups, NameBelongsToOneKind) {
  join("a");
  ShareHeartbeatOp share;
  share.heartbeat.group = GroupId("g");
  share.heartbeat.member = "s";
  share.heartbeat.topics = {TopicName("t1")};
  EXPECT_EQ(driver_.run(share).reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_THAT(driver_.run(ListGroups{}),
              ElementsAre(ListedGroup{GroupId("g"), "consumer", "Stable", "consumer"}));
  share.heartbeat.group = GroupId("s");
  driver_.run(share);
  auto consumer = op("a", 0, {.topics = {{"t1"}}});
  consumer.heartbeat.group = GroupId("s");
  const auto refused = driver_.run(consumer);
  EXPECT_EQ(refused.reply.error, ErrorCode::GROUP_ID_NOT_FOUND);
  EXPECT_EQ(refused.reply.message, "Group s is not a consumer group.");
}

TEST_F(ConsumerGroups, ReplayGivesTheSameGroup) {
  revocation_begins();
  join("s", {.instance = "i"});
  beat("s", -2, {.instance = "i"});
  const GroupShard again = driver_.replayed();
  const ConsumerGroup* copy = again.consumer_group("g");
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copy->state(), group().state());
  EXPECT_EQ(copy->epoch(), group().epoch());
  EXPECT_EQ(copy->assignment_epoch(), group().assignment_epoch());
  EXPECT_EQ(copy->metadata_hash(), group().metadata_hash());
  EXPECT_EQ(copy->members(), group().members());
  EXPECT_EQ(copy->target(), group().target());
  EXPECT_EQ(copy->partition_epoch({topic_id(1), 1}), group().partition_epoch({topic_id(1), 1}));
}

// ---- static members

TEST_F(ConsumerGroups, StaticMemberGoesAndComesBack) {
  join("a", {.instance = "i"});
  auto decided = join("b", {.instance = "i"});
  EXPECT_EQ(decided.reply.error, ErrorCode::UNRELEASED_INSTANCE_ID);
  decided = beat("a", -2, {.instance = "i"});
  EXPECT_EQ(decided.reply.member_epoch, -2);
  ConsumerMember away = member({"t1"}, -2, 0, since(0, 1, {0, 1}));
  EXPECT_THAT(driver_.last, ElementsAre(GroupRecord(consumer_current_record("g", "a", away))));

  decided = join("b", {.instance = "i"});
  EXPECT_EQ(decided.reply.member_epoch, 2);
  EXPECT_EQ(decided.reply.assignment, lists(1, {0, 1}));
  std::vector<GroupRecord> expected;
  add_member_tombstones("g", "a", expected);
  ConsumerMember b = member({"t1"}, 0, 0, since(0, 1, {0, 1}));
  b.instance = "i";
  expected.emplace_back(consumer_member_record("g", "b", b));
  expected.emplace_back(consumer_target_record("g", "b", parts(1, {0, 1})));
  expected.emplace_back(consumer_current_record("g", "b", b));
  b.epoch = 2;
  expected.emplace_back(consumer_current_record("g", "b", b));
  EXPECT_EQ(driver_.last, expected);
  EXPECT_EQ(beat("a", 2, {.instance = "i"}).reply.error, ErrorCode::FENCED_INSTANCE_ID);
  EXPECT_EQ(beat("a", -1, {.instance = "i"}).reply.error, ErrorCode::FENCED_INSTANCE_ID);
  EXPECT_EQ(beat("c", 2, {.instance = "j"}).reply.message, "Instance id j is unknown.");
}

TEST_F(ConsumerGroups, StaticMemberThatIsAwayHasNoMoreThanItsSession) {
  join("a", {.instance = "i"});
  driver_.advance(40'000);
  beat("a", -2, {.instance = "i"});
  driver_.advance(5'000);
  tick();
  EXPECT_EQ(group().state(), ConsumerGroupState::kEmpty);
}

// ---- patterns

class Patterns : public ConsumerGroups {
 protected:
  void resolve(std::string regex, Names topics) {
    ResolvedRegex found{std::move(topics), image_.version(), driver_.now.wall_ms};
    driver_.run(PatternsResolved{GroupId("g"), {{std::move(regex), found}}, this->topics()});
  }
  // A heartbeat of a with its epoch.
  ConsumerHeartbeatDecision stay(const Beat& how = {}) {
    auto decided = beat("a", group().member("a")->epoch, how);
    EXPECT_EQ(decided.reply.error, ErrorCode::NONE);
    return decided;
  }
};

TEST_F(Patterns, AreResolvedBehindTheAnswer) {
  const auto decided = join("a", {.regex = "t.*"});
  EXPECT_EQ(decided.reply.error, ErrorCode::NONE);
  EXPECT_EQ(decided.reply.assignment, std::vector<TopicPartitions>());
  EXPECT_THAT(decided.resolve, ElementsAre("t.*"));
  EXPECT_EQ(decided.reply.member_epoch, 1);  // nothing to move the epoch for yet
  EXPECT_THAT(stay().resolve, IsEmpty());    // it is on its way
  driver_.advance(1000);
  resolve("t.*", {"t1"});
  const int32_t epoch = group().epoch();
  EXPECT_THAT(driver_.last,
              ElementsAre(GroupRecord(consumer_regex_record(
                              "g", "t.*", {{"t1"}, image_.version(), driver_.now.wall_ms})),
                          GroupRecord(consumer_epoch_record("g", epoch, hash({1})))));
  EXPECT_EQ(stay().reply.assignment, lists(1, {0, 1}));
  // Nothing new: no look, and no record of one.
  driver_.advance(10'001);
  EXPECT_THAT(stay().resolve, IsEmpty());
  make_topic(2, 1);
  EXPECT_THAT(stay().resolve, ElementsAre("t.*"));
}

TEST_F(Patterns, AreLookedAtAgainAfterTheInterval) {
  join("a", {.regex = "t.*"});
  resolve("t.*", {"t1"});
  make_topic(2, 1);
  driver_.advance(10'000);
  EXPECT_THAT(stay().resolve, IsEmpty());  // no sooner than 10 s after the last look
  resolve("t.*", {"t1", "t2"});
  stay();
  driver_.advance(600'000);
  EXPECT_THAT(stay().resolve, IsEmpty());
  driver_.advance(1);
  EXPECT_THAT(stay().resolve, ElementsAre("t.*"));
}

TEST_F(Patterns, GoWithTheirLastMember) {
  join("a", {.regex = "t.*"});
  resolve("t.*", {"t1"});
  EXPECT_EQ(stay({.regex = ""}).reply.error, ErrorCode::NONE);
  EXPECT_EQ(driver_.last[1], GroupRecord(consumer_regex_tombstone("g", "t.*")));
  EXPECT_EQ(driver_.last[2], GroupRecord(consumer_epoch_record("g", group().epoch(), 0)));
  EXPECT_THAT(group().resolved(), IsEmpty());
  EXPECT_THAT(group().subscribed_topics(), IsEmpty());
}

TEST_F(Patterns, ABadOneIsRefused) {
  const auto decided = join("a", {.regex = "("});
  EXPECT_EQ(decided.reply.error, ErrorCode::INVALID_REGULAR_EXPRESSION);
  EXPECT_THAT(decided.reply.message, ::testing::HasSubstr("SubscribedTopicRegex `(`"));
  EXPECT_THAT(driver_.last, IsEmpty());
  EXPECT_EQ(driver_.shard().consumer_group("g"), nullptr);
}

// ---- offsets

TEST_F(ConsumerGroups, CommitsByEpochOfThePartition) {
  revocation_begins();
  beat("a", 2, {.owned = parts(1, {0})});
  const auto commit = [this](std::string who, int32_t epoch, int32_t partition,
                             bool new_client = true) {
    OffsetsToCommit commit;
    commit.group = GroupId("g");
    commit.committer = {epoch, std::move(who), std::nullopt};
    commit.offsets = {{TopicName("t1"), topic_id(1), partition, 7, -1, ""}};
    commit.knows_group_id_not_found = new_client;
    return driver_.run(CommitOffsets{std::move(commit)}).error;
  };
  EXPECT_EQ(commit("a", 3, 0), ErrorCode::NONE);
  EXPECT_EQ(commit("a", 2, 0), ErrorCode::NONE);  // it has had 0 since then
  EXPECT_EQ(commit("a", 2, 1), ErrorCode::STALE_MEMBER_EPOCH);
  EXPECT_EQ(commit("a", 1, 0), ErrorCode::STALE_MEMBER_EPOCH);
  EXPECT_EQ(commit("a", 4, 0), ErrorCode::STALE_MEMBER_EPOCH);
  EXPECT_EQ(commit("nobody", 3, 0), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(commit("", -1, 0), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(commit("a", 3, 0, false), ErrorCode::UNSUPPORTED_VERSION);
  beat("a", -1);
  beat("b", -1);
  EXPECT_EQ(commit("", -1, 0), ErrorCode::NONE);
}

TEST_F(ConsumerGroups, FetchesByExactEpoch) {
  join("a");
  const auto fetch = [this](std::optional<std::string> who, int32_t epoch) {
    return driver_.run(FetchOffsets{{GroupId("g"), {}, std::move(who), epoch}}).error;
  };
  EXPECT_EQ(fetch({}, -1), ErrorCode::NONE);
  EXPECT_EQ(fetch("a", 2), ErrorCode::NONE);
  EXPECT_EQ(fetch("a", 1), ErrorCode::STALE_MEMBER_EPOCH);
  EXPECT_EQ(fetch("b", 2), ErrorCode::UNKNOWN_MEMBER_ID);
  EXPECT_EQ(fetch({}, 2), ErrorCode::UNKNOWN_MEMBER_ID);
}

}  // namespace
}  // namespace ackord::group
