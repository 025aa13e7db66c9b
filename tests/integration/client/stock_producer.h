// What the tests of the client library share: the broker under test, and a stock librdkafka
// producer.
#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/cluster.h"

namespace ackord::client::testing {

// The broker's address; empty when there is none to test against.
std::string test_bootstrap();
// A name that no earlier run has used.
std::string fresh_name(const std::string& prefix);

struct DestroyProducer {
  void operator()(rd_kafka_t* producer) const { rd_kafka_destroy(producer); }
};
using StockProducer = std::unique_ptr<rd_kafka_t, DestroyProducer>;

// Transactional, and initialised, when an id is given. Fails the test on errors.
StockProducer make_producer(const std::string& transactional_id = "",
                            const std::string& codec = "none");
void produce(rd_kafka_t* producer, const std::string& topic, int32_t partition,
             const std::string& key, const std::string& value);
void flush(rd_kafka_t* producer);
// The values of a topic that a read_committed consumer sees.
std::vector<std::string> read_committed(const std::string& topic);

// A topic with some partitions and a share group that starts at its beginning.
struct Fixture {
  std::unique_ptr<Cluster> cluster;
  std::string topic;
  std::string group;
};
Fixture make_fixture(int32_t partitions);

#define SKIP_WITHOUT_BROKER()                                \
  if (::ackord::client::testing::test_bootstrap().empty()) { \
    GTEST_SKIP() << "ACKORD_TEST_BOOTSTRAP is not set";      \
  }

}  // namespace ackord::client::testing
