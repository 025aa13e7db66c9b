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

}  // namespace
}  // namespace ackord::share
