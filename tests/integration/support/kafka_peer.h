// A stock Apache Kafka on a directory, until the object goes away (tests/peers/kafka). For targets
// that define ACKORD_KAFKA_PEER.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/integration/support/broker_process.h"

namespace ackord::integration {

class Kafka {
 public:
  // The status of a start where there is no Kafka.
  static constexpr int kNone = 77;

  // Its data is in `directory`/data. `setting`: one more, name=value.
  explicit Kafka(const std::string& directory, const std::string& setting = {})
      : directory_(directory), port_(free_port()) {
    status_ =
        run("start '" + directory_ + "' " + std::to_string(port_) +
            " offsets.retention.minutes=10000000" + " transactional.id.expiration.ms=2147483647" +
            " transaction.max.timeout.ms=2147483647 " + setting + " >/dev/null");
  }
  Kafka(const Kafka&) = delete;
  ~Kafka() { run("stop '" + directory_ + "'"); }

  int status() const { return status_; }
  uint16_t port() const { return port_; }

 private:
  static int run(const std::string& command) {
    const int status = std::system((std::string(ACKORD_KAFKA_PEER) + "/" + command).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string directory_;
  uint16_t port_;
  int status_ = 0;
};

// A suite on one Kafka, skipped where there is none. Its SetUpTestSuite() calls start_kafka().
class KafkaSuite : public ::testing::Test {
 protected:
  static void start_kafka(const std::string& setting = {}) {
    directory_ = std::make_unique<test::TempDirectory>();
    kafka_ = std::make_unique<Kafka>(*directory_ / "kafka", setting);
  }
  static void TearDownTestSuite() {
    kafka_.reset();
    directory_.reset();
  }
  void SetUp() override {
    if (kafka_->status() == Kafka::kNone) GTEST_SKIP() << "no Apache Kafka";
    ASSERT_EQ(kafka_->status(), 0);
  }
  static uint16_t port() { return kafka_->port(); }
  static const test::TempDirectory& directory() { return *directory_; }

 private:
  static inline std::unique_ptr<test::TempDirectory> directory_;
  static inline std::unique_ptr<Kafka> kafka_;
};

}  // namespace ackord::integration
