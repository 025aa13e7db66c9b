// Directories of a Kafka that cannot be taken over as they are: Ackord says why, and changes
// nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/integration/kafka_data/kafka_data.h"

namespace ackord::integration {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class KafkaDataRefused : public ::testing::Test {
 protected:
  // Output of a start that must fail.
  std::string start(const Settings& settings = {}) {
    std::vector<std::string> arguments{
        "--set", "listeners=PLAINTEXT://127.0.0.1:" + std::to_string(free_port()), "--set",
        "log.dirs=" + directory_.data()};
    for (const auto& [name, value] : settings) {
      arguments.push_back("--set");
      arguments.push_back(name + "=" + value);
    }
    const Ended ended = run_ackord(arguments);
    EXPECT_NE(ended.status, 0);
    return ended.output;
  }
  // Oldest first.
  std::vector<fs::path> checkpoints() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(directory_.data() + "/__cluster_metadata-0")) {
      if (entry.path().extension() == ".checkpoint") found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  KafkaDirectory directory_{"clean"};
};

TEST_F(KafkaDataRefused, AnotherNodesDirectory) {
  EXPECT_THAT(start({{"node.id", "2"}}), HasSubstr("belongs to node 1, but node.id is 2"));
}

TEST_F(KafkaDataRefused, WithoutMetaProperties) {
  fs::remove(directory_.data() + "/meta.properties");
  EXPECT_THAT(start(), HasSubstr("meta.properties is missing"));
}

TEST_F(KafkaDataRefused, AMetadataLogThatBeginsAboveEverySnapshot) {
  ASSERT_FALSE(checkpoints().empty());
  for (const fs::path& one : checkpoints()) fs::remove(one);
  EXPECT_THAT(start(), HasSubstr("no snapshot reaches it"));
}

TEST_F(KafkaDataRefused, ATornSnapshot) {
  const fs::path newest = checkpoints().back();
  fs::resize_file(newest, fs::file_size(newest) - 10);
  EXPECT_THAT(start(), HasSubstr(newest.filename().string()));
}

TEST_F(KafkaDataRefused, WithoutTheMetadataLog) {
  fs::remove_all(directory_.data() + "/__cluster_metadata-0");
  EXPECT_THAT(start(), HasSubstr("the directory has topics, but its metadata log says nothing"));
}

}  // namespace
}  // namespace ackord::integration
