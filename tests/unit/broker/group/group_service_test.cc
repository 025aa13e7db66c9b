#include "broker/group/group_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/metadata_fixture.h"

namespace ackord::group {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps each call until the test answers it.
class HeldInitializer : public ShareStateKeeper {
 public:
  struct Call {
    std::string group;
    TopicIdPartition partition;
    int32_t state_epoch;
    Offset start_offset;
    friend bool operator==(const Call&, const Call&) = default;
  };

  explicit HeldInitializer(test::TestCore& core) : core_(core) {}

  io::Task<ErrorCode> initialize(GroupId group, Uuid topic_id, int32_t partition,
                                 int32_t state_epoch, Offset start_offset) override {
    calls.push_back({group.str(), {topic_id, partition}, state_epoch, start_offset});
    auto waiting = gate_->reached(1);
    auto unused = co_await std::move(waiting);
    (void)unused;
    co_return answer;
  }
  io::Task<ErrorCode> replace(GroupId group, Uuid topic_id, int32_t partition, int32_t state_epoch,
                              Offset start_offset) override {
    replaced.push_back({group.str(), {topic_id, partition}, state_epoch, start_offset});
    co_return replacement;
  }
  io::Task<ErrorCode> remove(GroupId group, Uuid topic_id, int32_t partition) override {
    removed.push_back({group.str(), {topic_id, partition}, 0, 0});
    co_return removal;
  }
  void release(ErrorCode error) {
    answer = error;
    core_.executor.inside([this] { gate_->advance(1); });
    core_.run_until_idle();
    gate_ = std::make_unique<io::PositionGate>(0);
  }

  std::vector<Call> calls;
  std::vector<Call> replaced;
  std::vector<Call> removed;
  ErrorCode answer = ErrorCode::NONE;
  ErrorCode replacement = ErrorCode::NONE;
  ErrorCode removal = ErrorCode::NONE;

 private:
  test::TestCore& core_;
  std::unique_ptr<io::PositionGate> gate_ = std::make_unique<io::PositionGate>(0);
};

class Service : public ::testing::Test {
 protected:
  Service() {
    make();
    topic_ = broker_.create_topic("t", 2);
  }
  ~Service() override { broker_.core.executor.destroy_spawned(); }
  void make() {
    service_ =
        make_group_service(broker_.environment, broker_.logs, broker_.metadata(), initializer_);
    const Result<void> loaded = run(service_->load());
    EXPECT_TRUE(loaded.has_value());
  }
  void restart() {
    broker_.core.executor.destroy_spawned();
    service_.reset();
    broker_.restart();
    make();
  }
  template <class T>
  T run(io::Task<T> task) {
    return broker_.core.run(std::move(task));
  }
  ShareHeartbeatReply beat(int32_t epoch, bool subscribe = false) {
    ShareHeartbeat heartbeat;
    heartbeat.group = GroupId("g");
    heartbeat.member = "m";
    heartbeat.epoch = epoch;
    if (subscribe) heartbeat.topics = {TopicName("t")};
    auto reply = run(service_->share_heartbeat(std::move(heartbeat)));
    broker_.core.run_until_idle();
    return reply;
  }
  ErrorCode commit(Offset offset, std::optional<uint64_t> guard) {
    TxnOffsetCommit commit;
    commit.commit.group = GroupId("offsets");
    commit.producer = {ProducerId(7), 0};
    commit.commit.offsets = {{TopicName("t"), topic_->id, 0, offset, -1, ""}};
    return run(service_->txn_offset_commit(std::move(commit), guard, check_));
  }
  std::optional<uint64_t> guard() {
    return *run(service_->begin_txn_offset_commit(GroupId("offsets"), {ProducerId(7), 0}));
  }
  ErrorCode marker(bool commit, int16_t epoch = 1) {
    const int32_t at = *run(service_->partition_of(GroupId("offsets")));
    return run(service_->write_marker(at, {{ProducerId(7), epoch}, commit, 0, 2}));
  }
  CommittedOffset committed() {
    std::vector<TopicPartition> asked{{TopicName("t"), 0}};
    auto fetched = run(service_->fetch_offsets({GroupId("offsets"), std::move(asked)}));
    return fetched->at(0).second;
  }

  CommitCheck check_;
  test::MetadataFixture broker_;
  HeldInitializer initializer_{broker_.core};
  std::shared_ptr<const metadata::TopicImage> topic_;
  std::unique_ptr<GroupService> service_;
};

TEST_F(Service, AJoinIsAnsweredBeforeItsPartitionsAreInitialized) {
  auto reply = beat(0, true);
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  EXPECT_EQ(reply.member_epoch, 2);
  EXPECT_EQ(reply.assignment, std::vector<TopicPartitions>());
  EXPECT_THAT(initializer_.calls, ElementsAre(HeldInitializer::Call{"g", {topic_->id, 0}, 2, -1},
                                              HeldInitializer::Call{"g", {topic_->id, 1}, 2, -1}));
  EXPECT_EQ(beat(2).assignment, std::nullopt);
  initializer_.release(ErrorCode::NONE);
  reply = beat(2);
  EXPECT_EQ(reply.member_epoch, 3);
  EXPECT_EQ(reply.assignment, (std::vector<TopicPartitions>{{topic_->id, {0, 1}}}));
  const auto held = run(service_->share_group_partitions(GroupId("g")));
  EXPECT_THAT(held.initialized, ElementsAre(ShareGroupTopic{topic_->id, TopicName("t"), {0, 1}}));
  EXPECT_EQ(run(service_->check_share_member(GroupId("g"), "m", 3)), ErrorCode::NONE);
}

TEST_F(Service, AFailedInitializationIsTriedWithALaterHeartbeat) {
  beat(0, true);
  initializer_.release(ErrorCode::COORDINATOR_NOT_AVAILABLE);
  initializer_.calls.clear();
  beat(2);
  EXPECT_EQ(initializer_.calls.size(), 2u);
}

TEST_F(Service, AGroupOutlivesARestartAndItsMemberHasTimeToComeBack) {
  beat(0, true);
  initializer_.release(ErrorCode::NONE);
  beat(2);
  restart();
  broker_.core.advance(44'000);
  auto reply = beat(3);
  EXPECT_EQ(reply.error, ErrorCode::NONE);
  broker_.core.advance(45'000);
  EXPECT_EQ(beat(3).error, ErrorCode::UNKNOWN_MEMBER_ID);
}

TEST_F(Service, AnInterruptedInitializationIsBegunAgainAfterARestart) {
  beat(0, true);
  restart();
  initializer_.calls.clear();
  EXPECT_EQ(beat(2).error, ErrorCode::NONE);
  EXPECT_EQ(initializer_.calls.size(), 2u);
}

TEST_F(Service, ADeletedTopicIsForgotten) {
  beat(0, true);
  initializer_.release(ErrorCode::NONE);
  EXPECT_EQ(beat(2).assignment->size(), 1u);
  EXPECT_EQ(run(service_->commit_offsets(
                {GroupId("offsets"), {}, {{TopicName("t"), topic_->id, 0, 5, -1, ""}}})),
            ErrorCode::NONE);
  EXPECT_EQ(run(broker_.metadata().delete_topic(topic_->id)), ErrorCode::NONE);
  broker_.core.run_until_idle();
  EXPECT_THAT(run(service_->share_group_partitions(GroupId("g"))).initialized, IsEmpty());
  EXPECT_EQ(committed().offset, -1);
  broker_.core.advance(1000);
  EXPECT_EQ(beat(3).assignment, std::vector<TopicPartitions>());
}

TEST_F(Service, NothingIsAnsweredBeforeItIsDurable) {
  EXPECT_TRUE(run(service_->ensure_ready()).has_value());
  broker_.logs.hold_durability();
  bool answered = false;
  ShareHeartbeat join;
  join.group = GroupId("g");
  join.member = "m";
  join.topics = {TopicName("t")};
  struct Flag {
    static io::Task<void> run(io::Task<ShareHeartbeatReply> task, bool& done) {
      co_await std::move(task);
      done = true;
    }
  };
  broker_.core.spawn(Flag::run(service_->share_heartbeat(std::move(join)), answered));
  broker_.core.run_until_idle();
  EXPECT_FALSE(answered);
  EXPECT_THAT(initializer_.calls, IsEmpty());
  broker_.core.executor.inside([this] { broker_.logs.release_durability(); });
  broker_.core.run_until_idle();
  EXPECT_TRUE(answered);
}

TEST_F(Service, ATransactionalCommitLivesThroughARestart) {
  EXPECT_EQ(commit(50, guard()), ErrorCode::NONE);
  EXPECT_EQ(committed().offset, -1);
  restart();
  EXPECT_TRUE(committed().unstable);
  EXPECT_EQ(marker(true), ErrorCode::NONE);
  EXPECT_EQ(committed().offset, 50);
  EXPECT_EQ(marker(true), ErrorCode::NONE);  // the sender did not hear of it
  restart();
  EXPECT_EQ(committed().offset, 50);
  EXPECT_FALSE(committed().unstable);
  EXPECT_EQ(commit(60, guard()), ErrorCode::INVALID_PRODUCER_EPOCH);
}

TEST_F(Service, ALateCommitDoesNotJoinTheNextTransaction) {
  const auto late = guard();
  EXPECT_EQ(marker(false), ErrorCode::NONE);
  EXPECT_NE(commit(50, late), ErrorCode::NONE);
  EXPECT_FALSE(committed().unstable);
}

TEST_F(Service, MarkersForPartitionsThatAreNotThere) {
  const log::EndMarker marker{{ProducerId(7), 1}, true, 0, 2};
  EXPECT_EQ(run(service_->write_marker(0, marker)), ErrorCode::NOT_LEADER_OR_FOLLOWER);
  EXPECT_TRUE(run(service_->ensure_ready()).has_value());
  EXPECT_EQ(run(service_->write_marker(2, marker)), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  EXPECT_EQ(run(service_->write_marker(-1, marker)), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  broker_.logs.fail_storage();
  EXPECT_EQ(run(service_->write_marker(0, marker)), ErrorCode::NOT_LEADER_OR_FOLLOWER);
  EXPECT_EQ(beat(0, true).error, ErrorCode::COORDINATOR_NOT_AVAILABLE);
}

TEST_F(Service, TheEmptyNameIsAGroupOfOffsets) {
  OffsetsToCommit commit;
  commit.offsets = {{TopicName("t"), topic_->id, 0, 5, -1, ""}};
  EXPECT_EQ(run(service_->commit_offsets(std::move(commit))), ErrorCode::NONE);
  EXPECT_EQ(run(service_->delete_offsets({}, {{TopicName("t"), 0}})).error,
            ErrorCode::INVALID_GROUP_ID);
  EXPECT_TRUE(run(service_->delete_group({})).has_value());
  EXPECT_EQ(run(service_->delete_group({})).error().code, ErrorCode::GROUP_ID_NOT_FOUND);
}

TEST_F(Service, AShareGroupIsDeletedWithItsState) {
  beat(0, true);
  initializer_.release(ErrorCode::NONE);
  beat(2);
  EXPECT_EQ(run(service_->delete_group(GroupId("g"))).error().code, ErrorCode::NON_EMPTY_GROUP);
  EXPECT_THAT(initializer_.removed, IsEmpty());
  beat(-1);
  EXPECT_TRUE(run(service_->delete_group(GroupId("g"))).has_value());
  EXPECT_THAT(initializer_.removed, ElementsAre(HeldInitializer::Call{"g", {topic_->id, 0}, 0, 0},
                                                HeldInitializer::Call{"g", {topic_->id, 1}, 0, 0}));
  EXPECT_THAT(*run(service_->list_groups()), IsEmpty());
  restart();
  EXPECT_THAT(*run(service_->list_groups()), IsEmpty());
}

TEST_F(Service, AGroupWhoseStateStaysIsNotDeleted) {
  beat(0, true);
  initializer_.release(ErrorCode::NONE);
  beat(2);
  beat(-1);
  for (const auto& [removal, answer] :
       {std::pair{ErrorCode::NON_EMPTY_GROUP, ErrorCode::NON_EMPTY_GROUP},
        std::pair{ErrorCode::COORDINATOR_NOT_AVAILABLE, ErrorCode::GROUP_DELETION_FAILED}}) {
    initializer_.removal = removal;
    EXPECT_EQ(run(service_->delete_group(GroupId("g"))).error().code, answer);
    const auto held = run(service_->share_group_partitions(GroupId("g")));
    EXPECT_THAT(held.initialized, ElementsAre(ShareGroupTopic{topic_->id, TopicName("t"), {0, 1}}));
  }
  EXPECT_EQ(beat(0, true).error, ErrorCode::NONE) << "it takes members again";
}

TEST_F(Service, OffsetsOfAShareGroupAreAlteredAndDeleted) {
  const GroupId group("admin");
  const ShareOffset offset{topic_->name, {topic_->id, 1}, 7};
  const auto altered = run(service_->alter_share_offsets(group, {offset}));
  EXPECT_EQ(altered.error, ErrorCode::NONE);
  EXPECT_THAT(altered.partitions, ElementsAre(ErrorCode::NONE));
  EXPECT_THAT(initializer_.replaced,
              ElementsAre(HeldInitializer::Call{"admin", {topic_->id, 1}, 1, 7}));
  EXPECT_EQ(run(service_->describe_share_group(group)).state, "Empty");
  initializer_.replacement = ErrorCode::NON_EMPTY_GROUP;
  EXPECT_THAT(run(service_->alter_share_offsets(group, {offset})).partitions,
              ElementsAre(ErrorCode::NON_EMPTY_GROUP));
  const Uuid other{{5}};
  initializer_.removal = ErrorCode::NON_EMPTY_GROUP;
  EXPECT_THAT(run(service_->delete_share_offsets(group, {other, topic_->id})).topics,
              ElementsAre(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, ErrorCode::NON_EMPTY_GROUP));
  initializer_.removal = ErrorCode::NONE;
  EXPECT_THAT(run(service_->delete_share_offsets(group, {topic_->id})).topics,
              ElementsAre(ErrorCode::NONE));
  EXPECT_THAT(run(service_->share_group_partitions(group)).initialized, IsEmpty());
}

TEST_F(Service, OffsetsExpireAtTheNextCheck) {
  OffsetsToCommit commit;
  commit.group = GroupId("offsets");
  commit.offsets = {{TopicName("t"), topic_->id, 0, 5, -1, ""}};
  commit.retention_ms = 1000;
  EXPECT_EQ(run(service_->commit_offsets(std::move(commit))), ErrorCode::NONE);
  broker_.core.clock.advance(1);  // the first check
  broker_.core.run_until_idle();
  broker_.core.clock.advance(599000);
  broker_.core.run_until_idle();
  EXPECT_EQ(committed().offset, 5) << "not before the check";
  broker_.core.clock.advance(1000);
  broker_.core.run_until_idle();
  EXPECT_EQ(committed().offset, -1);
  EXPECT_THAT(*run(service_->list_groups()), IsEmpty());
}

TEST_F(Service, ATransactionThatWasKeptMeanwhileTakesNoMoreOffsets) {
  const auto mine = guard();
  check_ = [] { return ErrorCode::INVALID_PRODUCER_EPOCH; };
  EXPECT_EQ(commit(5, mine), ErrorCode::INVALID_PRODUCER_EPOCH);
  check_ = {};
  EXPECT_EQ(commit(6, mine), ErrorCode::NONE);
  EXPECT_EQ(marker(true), ErrorCode::NONE);
  EXPECT_EQ(committed().offset, 6);
}

}  // namespace
}  // namespace ackord::group
