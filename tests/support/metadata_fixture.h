// The real metadata service over logs in memory, on one test core: what tests of the services above
// it build on.
//   test::MetadataFixture broker;
//   auto topic = broker.create_topic("t", 3);
//   broker.metadata().image().topic("t");   broker.logs.partition("t", 0).batches();
// restart() is a crash and a new process: what was not durable is gone, the logs are read again.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/metadata/metadata_service.h"
#include "tests/support/fake_partition.h"
#include "tests/support/local_file_system.h"
#include "tests/support/test_executor.h"

namespace ackord::test {

inline metadata::MetadataSettings metadata_settings() {
  metadata::MetadataSettings settings;
  settings.listeners = {{"PLAINTEXT", "localhost", 9092, 0}};
  // State topics with few partitions keep tests readable.
  settings.broker.offsets_topic_num_partitions = 2;
  settings.broker.transaction_state_log_num_partitions = 2;
  settings.broker.share_coordinator_state_topic_num_partitions = 2;
  return settings;
}

class MetadataFixture {
 public:
  TestCore core;
  LocalFileSystem files;
  SeededRandom random;
  io::Environment environment{{core.core()}, files, random};
  FakeLogService logs{environment};

  explicit MetadataFixture(metadata::MetadataSettings settings = metadata_settings())
      : settings_(std::move(settings)) {
    start();
  }

  metadata::MetadataService& metadata() { return *metadata_; }
  metadata::MetadataSettings& settings() { return settings_; }

  void restart() {
    logs.lose_undurable();
    start();
  }
  // As restart(), for a start that is expected to fail.
  Result<void> try_start() {
    metadata_ = metadata::make_metadata_service(environment, logs, settings_);
    return core.run(metadata_->load(logs.found()));
  }

  std::shared_ptr<const metadata::TopicImage> create_topic(std::string name, int32_t partitions = 1,
                                                           metadata::ConfigMap configs = {}) {
    std::vector<metadata::CreateTopic> topics(1);
    topics.front().name = TopicName(name);
    topics.front().partitions = partitions;
    topics.front().configs = std::move(configs);
    auto created = core.run(metadata_->create_topics(std::move(topics), false));
    EXPECT_EQ(created.front().error, ErrorCode::NONE) << created.front().message;
    return created.front().topic;
  }
  Result<void> set_config(metadata::ResourceType type, std::string resource, std::string name,
                          std::string value) {
    std::vector<metadata::ConfigChange> changes(1);
    changes.front().name = std::move(name);
    changes.front().value = std::move(value);
    return core.run(metadata_->alter_configs(type, std::move(resource), std::move(changes), false));
  }

 private:
  void start() {
    Result<void> started = try_start();
    EXPECT_TRUE(started.has_value()) << started.error().message;
  }

  metadata::MetadataSettings settings_;
  std::unique_ptr<metadata::MetadataService> metadata_;
};

}  // namespace ackord::test
