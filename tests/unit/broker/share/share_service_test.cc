// The service over logs in memory: what a removed topic leaves behind.
#include "broker/share/share_service.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "tests/support/metadata_fixture.h"

namespace ackord::share {
namespace {

class ShareServiceTest : public ::testing::Test {
 protected:
  ShareServiceTest() {
    make();
    topic_ = broker_.create_topic("t", 2);
    for (int32_t partition = 0; partition < 2; ++partition) {
      EXPECT_EQ(run(service_->initialize_state({key(partition), 1, 0})), PartitionError());
    }
  }
  ~ShareServiceTest() override { broker_.core.executor.destroy_spawned(); }

  void make() {
    service_ = make_share_service(broker_.environment, broker_.logs, broker_.metadata());
    EXPECT_TRUE(run(service_->load()).has_value());
  }
  template <class T>
  T run(io::Task<T> task) {
    return broker_.core.run(std::move(task));
  }
  SharePartitionKey key(int32_t partition) const { return {group_, topic_->id, partition}; }
  bool is_held(int32_t partition) {
    return run(service_->summarize_state({key(partition)})).initialized;
  }
  // The records of the key, in all state partitions.
  std::vector<ShareRecord> records_of(int32_t partition) {
    std::vector<ShareRecord> out;
    for (int32_t at = 0; at < 2; ++at) {
      for (const auto& encoded : broker_.logs.partition(metadata::kShareStateTopic, at).records()) {
        const auto record = decode(encoded.key, encoded.value);
        const auto* update = std::get_if<ShareUpdate>(&**record);
        const auto* snapshot = std::get_if<ShareSnapshot>(&**record);
        if ((update != nullptr && update->key.partition == partition) ||
            (snapshot != nullptr && snapshot->key.partition == partition))
          out.push_back(**record);
      }
    }
    return out;
  }

  test::MetadataFixture broker_;
  std::unique_ptr<ShareService> service_;
  std::shared_ptr<const metadata::TopicImage> topic_;
  GroupId group_{"g"};
};

TEST_F(ShareServiceTest, TheStateOfARemovedTopicGoesWithIt) {
  ASSERT_TRUE(is_held(0) && is_held(1));
  ASSERT_EQ(run(broker_.metadata().delete_topic(topic_->id)), ErrorCode::NONE);
  broker_.core.run_until_idle();
  for (int32_t partition = 0; partition < 2; ++partition) {
    EXPECT_FALSE(is_held(partition));
    const auto records = records_of(partition);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_FALSE(std::get<ShareSnapshot>(records.back()).value.has_value()) << "a tombstone";
  }
}

// Of two share partitions one is written to often: its old records go, what they said stays.
TEST_F(ShareServiceTest, OldRecordsArePrunedAndARestartKnowsAllTheSame) {
  const auto state_bytes = [this] {
    uint64_t bytes = 0;
    for (int32_t at = 0; at < 2; ++at)
      bytes += broker_.logs.partition(metadata::kShareStateTopic, at).size_bytes();
    return bytes;
  };
  const auto batches = [this](int32_t partition) {
    return run(service_->read_state({key(partition), 0})).state_batches;
  };
  Write idle{key(1), 1, 0, 0, 1, {{3, 3, RecordState::ACKNOWLEDGED, 1}}};
  ASSERT_EQ(run(service_->write_state(idle)), PartitionError());
  std::vector<uint64_t> sizes;
  for (int round = 0; round < 4; ++round) {
    for (Offset at = 0; at < 1200; ++at) {
      Write write{key(0), 1, 0, at, 0, {{at, at, RecordState::ACKNOWLEDGED, 1}}};
      ASSERT_EQ(run(service_->write_state(write)), PartitionError());
    }
    broker_.core.advance(300000);
    broker_.core.advance(300000);
    sizes.push_back(state_bytes());
  }
  EXPECT_LT(sizes.back(), sizes.front() * 2) << "what is kept does not grow";
  EXPECT_LT(sizes.back(), 600 * 200u) << "less than the updates of one snapshot";
  const auto before = std::pair(batches(0), batches(1));
  EXPECT_EQ(before.second, (std::vector<StateBatch>{{3, 3, RecordState::ACKNOWLEDGED, 1}}));
  broker_.core.executor.destroy_spawned();
  service_.reset();
  broker_.restart();
  make();
  EXPECT_EQ(std::pair(batches(0), batches(1)), before);
}

// Its end is still to come, and needs what was staged.
TEST_F(ShareServiceTest, AnOpenTransactionHoldsBackThePruning) {
  const int32_t index = state_partition_of(key(0), 2);
  auto& log = broker_.logs.partition(metadata::kShareStateTopic, index);
  const Offset first = log.log_end_offset();
  const std::vector<log::EncodedRecord> none{encode(ShareUpdate{{GroupId("x"), {}, 0}})};
  log.append_records(none, log::ProducerStamp{ProducerId(7), 0}, 0);
  for (Offset at = 0; at < 1200; ++at) {
    Write write{key(0), 1, 0, at, 0, {}};
    ASSERT_EQ(run(service_->write_state(write)), PartitionError());
  }
  broker_.core.advance(300000);
  EXPECT_EQ(log.log_start_offset(), first);
  log.append_marker({{ProducerId(7), 0}, false, 0, 0}, 0);
  ASSERT_EQ(run(service_->write_state(Write{key(0), 1, 0, 1200, 0, {}})), PartitionError());
  broker_.core.advance(300000);
  EXPECT_GT(log.log_start_offset(), first);
}

TEST_F(ShareServiceTest, ACrashBetweenTheTwoIsMadeUpForAtTheNextStart) {
  broker_.core.run_until_idle();
  broker_.core.executor.destroy_spawned();
  service_.reset();
  broker_.restart();
  ASSERT_EQ(run(broker_.metadata().delete_topic(topic_->id)), ErrorCode::NONE);
  broker_.restart();
  make();
  EXPECT_FALSE(is_held(0));
  EXPECT_EQ(records_of(0).size(), 2u);
}

// Of a record that nobody has acquired: what it is refused with says how far a stage came.
class ShareStageTest : public ShareServiceTest {
 protected:
  ErrorCode stage(StageCheck check = {}) {
    const Owner owner{ProducerId(7), 0, TransactionalId("txn"), 0};
    const auto where = run(service_->state_partitions(group_, {{topic_->id, 0}}));
    auto guards = run(service_->take_guards({owner.producer_id, {}, {}}, *where));
    std::vector<AcknowledgePartition> partitions;
    partitions.push_back({{topic_->id, 0}, {{0, 0, {1}}}});
    const auto replies = run(service_->stage(group_, owner, "member", std::move(*guards),
                                             std::move(partitions), std::move(check)));
    EXPECT_EQ(replies.size(), 1u);
    if (replies[0].error.error_code != kDecided) {
      EXPECT_FALSE(replies[0].dooms);
    }
    return replies[0].error.error_code;
  }
  static constexpr ErrorCode kDecided = ErrorCode::INVALID_RECORD_STATE;
};

TEST_F(ShareStageTest, IsRefusedWhenItsTransactionWasKeptMeanwhile) {
  EXPECT_EQ(stage(), kDecided);
  int asked = 0;
  EXPECT_EQ(stage([&asked] {
              ++asked;
              return ErrorCode::PRODUCER_FENCED;
            }),
            ErrorCode::PRODUCER_FENCED);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(stage([] { return ErrorCode::NONE; }), kDecided);
}

TEST_F(ShareStageTest, IsRefusedWhileStagingIsClosed) {
  run(service_->close_staging());
  run(service_->close_staging());
  EXPECT_EQ(stage(), ErrorCode::COORDINATOR_NOT_AVAILABLE);
  run(service_->open_staging());
  EXPECT_EQ(stage(), ErrorCode::COORDINATOR_NOT_AVAILABLE);
  run(service_->open_staging());
  EXPECT_EQ(stage(), kDecided);
}

// What passed the first look at the level before it went down.
TEST_F(ShareStageTest, IsRefusedOnceTheLevelHasGoneDown) {
  using Kind = metadata::FeatureUpdate::Kind;
  ASSERT_TRUE(
      run(broker_.metadata().update_features({{"share.version", 2, Kind::kSafeDowngrade}}, false))
          .has_value());
  EXPECT_EQ(stage(), ErrorCode::UNSUPPORTED_VERSION);
}

// As a stage: one that begins while the level goes down is counted, or refused.
class BatchTxnBeginTest : public ShareServiceTest {
 protected:
  BatchTxnReply begin(const char* id) {
    return run(service_->batch_transactions().begin({group_, TransactionalId(id)}, 60000));
  }
  int64_t live() { return *run(service_->batch_transactions().live(std::nullopt)); }
};

TEST_F(BatchTxnBeginTest, IsRefusedWhileStagingIsClosed) {
  ASSERT_TRUE(begin("before").error.ok());
  run(service_->close_staging());
  EXPECT_EQ(live(), 1);
  for (const char* id : {"meanwhile", "before"}) {
    const BatchTxnReply refused = begin(id);
    EXPECT_EQ(refused.error.error_code, ErrorCode::COORDINATOR_NOT_AVAILABLE);
    EXPECT_FALSE(refused.state.has_value());
  }
  EXPECT_EQ(live(), 1);
  run(service_->open_staging());
  EXPECT_EQ(begin("before").state, BatchTxnState::ONGOING);
  EXPECT_EQ(begin("after").state, BatchTxnState::ONGOING);
  EXPECT_EQ(live(), 2);
}

// What passed the first look at the level before it went down.
TEST_F(BatchTxnBeginTest, IsRefusedOnceTheLevelHasGoneDown) {
  using Kind = metadata::FeatureUpdate::Kind;
  ASSERT_TRUE(
      run(broker_.metadata().update_features({{"share.version", 2, Kind::kSafeDowngrade}}, false))
          .has_value());
  EXPECT_EQ(begin("late").error.error_code, ErrorCode::UNSUPPORTED_VERSION);
  EXPECT_EQ(live(), 0);
}

}  // namespace
}  // namespace ackord::share
