// A ShareFetch that waits is woken, at once, by everything that can help it.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "broker/share/share_service.h"
#include "tests/support/metadata_fixture.h"

namespace ackord::share {
namespace {

using Ranges = std::vector<AcquiredRecords>;
constexpr int32_t kLongWaitMs = 3600000;

class ShareWakesTest : public ::testing::Test {
 protected:
  ShareWakesTest() {
    service_ = make_share_service(broker_.environment, broker_.logs, broker_.metadata());
    EXPECT_TRUE(run(service_->load()).has_value());
    topic_ = broker_.create_topic("t");
    set_group("share.auto.offset.reset", "earliest");
    set_group("share.partition.max.record.locks", "100");
    EXPECT_EQ(run(service_->initialize_state({key(), 1, 0})), PartitionError());
  }
  ~ShareWakesTest() override { broker_.core.executor.destroy_spawned(); }

  template <class T>
  T run(io::Task<T> task) {
    return broker_.core.run(std::move(task));
  }
  SharePartitionKey key() const { return {group_, topic_->id, 0}; }
  test::FakePartition& source() { return broker_.logs.partition("t", 0); }
  void set_group(const std::string& name, const std::string& value) {
    EXPECT_TRUE(broker_.set_config(metadata::ResourceType::kGroup, "g", name, value));
    broker_.core.run_until_idle();
  }
  void produce(int count, std::optional<log::ProducerStamp> producer = {}) {
    const std::vector<log::EncodedRecord> records(static_cast<size_t>(count));
    source().append_records(records, producer, 0);
    broker_.core.run_until_idle();
  }
  ShareFetch fetch_of(const std::string& member, int32_t max_wait_ms) {
    ShareFetch call;
    call.group = group_;
    call.member = member;
    call.session_epoch = epochs_[member]++;
    call.max_wait_ms = max_wait_ms;
    call.min_bytes = min_bytes_;
    call.max_bytes = 1 << 20;
    call.max_records = call.batch_size = 100;
    call.connection_id = std::hash<std::string>()(member);
    if (call.session_epoch == 0) call.listed.push_back({{topic_->id, 0}, {}});
    return call;
  }
  static Ranges acquired(const ShareFetchReply& reply) {
    return reply.partitions.empty() ? Ranges() : reply.partitions.front().acquired;
  }
  Ranges acquire(const std::string& member) {
    return acquired(run(service_->fetch(fetch_of(member, 0))));
  }
  // "n" waits from now on.
  void wait() {
    broker_.core.spawn(waiting(this, fetch_of("n", kLongWaitMs)));
    broker_.core.run_until_idle();
    ASSERT_FALSE(reply_.has_value()) << "there is nothing for it yet";
  }
  static io::Task<void> waiting(ShareWakesTest* self, ShareFetch call) {
    auto fetching = self->service_->fetch(std::move(call));
    self->reply_ = co_await std::move(fetching);
  }
  // What "n" was answered, without any time having passed.
  Ranges answered() {
    broker_.core.run_until_idle();
    EXPECT_TRUE(reply_.has_value()) << "still waiting";
    return reply_ ? acquired(*reply_) : Ranges();
  }
  void acknowledge(const std::string& member, Offset first, Offset last, int8_t type) {
    ShareAcknowledgeCall call;
    call.group = group_;
    call.member = member;
    call.session_epoch = epochs_[member]++;
    call.partitions.push_back({{topic_->id, 0}, {{first, last, {type}}}});
    const auto reply = run(service_->acknowledge(std::move(call)));
    EXPECT_TRUE(reply.error_code == ErrorCode::NONE && reply.partitions.at(0).ok());
  }
  // "m" holds all there is.
  void hold(int count) {
    produce(count);
    ASSERT_EQ(acquire("m"), (Ranges{{0, count - 1, 1}}));
  }

  test::MetadataFixture broker_;
  std::unique_ptr<ShareService> service_;
  std::shared_ptr<const metadata::TopicImage> topic_;
  GroupId group_{"g"};
  int32_t min_bytes_ = 1;
  std::map<std::string, int32_t> epochs_;
  std::optional<ShareFetchReply> reply_;
};

TEST_F(ShareWakesTest, Produce) {
  wait();
  produce(3);
  EXPECT_EQ(answered(), (Ranges{{0, 2, 1}}));
}

TEST_F(ShareWakesTest, DurabilityOfWhatWasProduced) {
  wait();
  source().hold_durability();
  produce(3);
  ASSERT_FALSE(reply_.has_value());
  source().release_durability();
  EXPECT_EQ(answered(), (Ranges{{0, 2, 1}}));
}

TEST_F(ShareWakesTest, EndOfATransactionOnTheSource) {
  set_group("share.isolation.level", "read_committed");
  wait();
  const log::ProducerStamp producer{ProducerId(7), 0};
  produce(3, producer);
  ASSERT_FALSE(reply_.has_value());
  source().append_marker({producer, true, 0, 0}, 0);
  EXPECT_EQ(answered(), (Ranges{{0, 3, 1}}));
}

TEST_F(ShareWakesTest, AcknowledgementWhereTheLimitOfLocksWasReached) {
  hold(100);
  produce(5);
  wait();
  acknowledge("m", 0, 9, 1);
  EXPECT_EQ(answered(), (Ranges{{100, 104, 1}}));
}

TEST_F(ShareWakesTest, Release) {
  hold(5);
  wait();
  acknowledge("m", 2, 3, 2);
  EXPECT_EQ(answered(), (Ranges{{2, 3, 2}}));
}

TEST_F(ShareWakesTest, EndOfALock) {
  hold(5);
  wait();
  broker_.core.advance(30000);
  EXPECT_EQ(answered(), (Ranges{{0, 4, 2}}));
}

TEST_F(ShareWakesTest, EndOfASession) {
  hold(5);
  wait();
  service_->connection_closed(std::hash<std::string>()("m"));
  EXPECT_EQ(answered(), (Ranges{{0, 4, 2}}));
}

TEST_F(ShareWakesTest, AbortOfAStage) {
  hold(5);
  const Owner owner{ProducerId(9), 0, TransactionalId("t"), 0};
  const int32_t index = state_partition_of(key(), 2);
  const auto guards = run(service_->take_guards({ProducerId(9), {}, {}}, {index}));
  const auto staged =
      run(service_->stage(group_, owner, "m", *guards, {{{topic_->id, 0}, {{0, 4, {1}}}}}, {}));
  ASSERT_TRUE(staged.front().error.ok());
  wait();
  EXPECT_EQ(run(service_->write_marker(index, {{ProducerId(9), 0}, false, 0, 0})), ErrorCode::NONE);
  EXPECT_EQ(answered(), (Ranges{{0, 4, 2}}));
}

TEST_F(ShareWakesTest, AlteredOffsets) {
  hold(5);
  wait();
  EXPECT_EQ(run(service_->initialize_state({key(), 2, 1})), PartitionError());
  EXPECT_EQ(answered(), (Ranges{{1, 4, 1}}));
}

TEST_F(ShareWakesTest, AStateWrittenFromOutside) {
  hold(5);
  wait();
  const Write write{key(), 1, 0, 0, 0, {{3, 4, RecordState::AVAILABLE, 2}}};
  EXPECT_EQ(run(service_->write_state(write)), PartitionError());
  EXPECT_EQ(answered(), (Ranges{{3, 4, 3}}));
}

TEST_F(ShareWakesTest, DeletionOfTheTopic) {
  wait();
  ASSERT_EQ(run(broker_.metadata().delete_topic(topic_->id)), ErrorCode::NONE);
  EXPECT_EQ(answered(), Ranges());
  ASSERT_EQ(reply_->partitions.size(), 1u);
  EXPECT_NE(reply_->partitions.front().error_code, ErrorCode::NONE);
}

TEST_F(ShareWakesTest, ConfigsOfTheGroup) {
  hold(100);
  produce(5);
  wait();
  set_group("share.partition.max.record.locks", "200");
  EXPECT_EQ(answered(), (Ranges{{100, 104, 1}}));
}

// The records that were in the way have left the log.
TEST_F(ShareWakesTest, AMoveOfTheLogStart) {
  hold(100);
  acknowledge("m", 1, 99, 1);
  produce(5);
  acknowledge("m", 0, 0, 2);
  ASSERT_EQ(acquire("m"), (Ranges{{0, 0, 2}}));
  wait();
  ASSERT_TRUE(run(source().delete_records(101)).has_value());
  ASSERT_FALSE(reply_.has_value()) << "record 0 is still somebody's";
  broker_.core.advance(30000);
  EXPECT_EQ(answered(), (Ranges{{101, 104, 1}}));
}

// Several partitions in one session, asked by requests that do not wait.
class ShareSessionCostTest : public ShareWakesTest {
 protected:
  ShareSessionCostTest() {
    topic_ = broker_.create_topic("many", kPartitions);
    for (int32_t i = 0; i < kPartitions; ++i)
      EXPECT_EQ(run(service_->initialize_state({{group_, topic_->id, i}, 1, 0})), PartitionError());
  }
  static constexpr int32_t kPartitions = 3;

  test::FakePartition& at(int32_t partition) { return broker_.logs.partition("many", partition); }
  void produce_to(int32_t partition, int count) {
    const std::vector<log::EncodedRecord> records(static_cast<size_t>(count));
    at(partition).append_records(records, {}, 0);
    broker_.core.run_until_idle();
  }
  // The partitions that gave something.
  std::vector<int32_t> fetch(int32_t max_records = 100) {
    ShareFetch call = fetch_of("m", 0);
    call.max_records = call.batch_size = max_records;
    call.mode = ShareAcquireMode::RECORD_LIMIT;
    if (call.session_epoch == 0) {
      call.listed.clear();
      for (int32_t i = 0; i < kPartitions; ++i) call.listed.push_back({{topic_->id, i}, {}});
    }
    std::vector<int32_t> partitions;
    for (const auto& one : run(service_->fetch(std::move(call))).partitions) {
      EXPECT_EQ(one.error_code, ErrorCode::NONE);
      partitions.push_back(one.partition.partition);
    }
    return partitions;
  }
};

TEST_F(ShareSessionCostTest, WhatWasEmptyIsLookedAtAgainOnlyWhenSomethingHappens) {
  EXPECT_EQ(fetch(), std::vector<int32_t>());
  for (int i = 0; i < 10; ++i) {
    produce_to(0, 1);
    EXPECT_EQ(fetch(), std::vector{0});
    EXPECT_EQ(fetch(), std::vector<int32_t>());
  }
  EXPECT_EQ(at(1).on_advance().size(), 1u) << "each look subscribes anew";
  produce_to(1, 1);
  produce_to(2, 1);
  EXPECT_EQ(fetch(), (std::vector{1, 2}));
}

TEST_F(ShareSessionCostTest, NoPartitionStarves) {
  for (int32_t i = 0; i < kPartitions; ++i) produce_to(i, 2);
  std::vector<int32_t> order;
  for (int i = 0; i < 2 * kPartitions; ++i) {
    for (const int32_t partition : fetch(1)) order.push_back(partition);
  }
  EXPECT_EQ(order, (std::vector{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(fetch(), std::vector<int32_t>());
}

TEST_F(ShareSessionCostTest, WhatIsForgottenIsNotLookedAt) {
  EXPECT_EQ(fetch(), std::vector<int32_t>());
  ShareFetch forgetting = fetch_of("m", 0);
  forgetting.forgotten = {{topic_->id, 1}};
  run(service_->fetch(std::move(forgetting)));
  for (int32_t i = 0; i < kPartitions; ++i) produce_to(i, 1);
  EXPECT_EQ(fetch(), (std::vector{0, 2}));
  ShareFetch joining = fetch_of("m", 0);
  joining.listed.push_back({{topic_->id, 1}, {}});
  EXPECT_EQ(run(service_->fetch(std::move(joining))).partitions.size(), 1u);
}

TEST_F(ShareWakesTest, MinBytes) {
  min_bytes_ = static_cast<int32_t>(source().size_bytes()) + 200;
  wait();
  produce(1);
  ASSERT_FALSE(reply_.has_value()) << "too few bytes";
  produce(30);
  EXPECT_EQ(answered(), (Ranges{{0, 30, 1}}));
}

TEST_F(ShareWakesTest, MinBytesThatDoNotCome) {
  min_bytes_ = 1 << 19;
  wait();
  produce(3);
  ASSERT_FALSE(reply_.has_value());
  broker_.core.advance(kLongWaitMs);
  EXPECT_EQ(answered(), (Ranges{{0, 2, 1}})) << "at the end of its time it takes what is there";
}

}  // namespace
}  // namespace ackord::share
