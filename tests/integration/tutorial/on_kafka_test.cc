// The programs of the tutorial on a broker that has no transactional share acknowledgements: they
// do not start, or fall back with a warning.
#include "tests/integration/support/kafka_peer.h"
#include "tests/integration/tutorial/example.h"

namespace ackord::integration {
namespace {

using ::testing::EndsWith;
using ::testing::UnorderedElementsAreArray;

class TutorialOnKafka : public KafkaSuite {
 protected:
  static void SetUpTestSuite() { start_kafka(); }
  std::vector<std::string> arguments(std::vector<std::string> first,
                                     const std::vector<std::string>& more = {}) const {
    first.push_back("bootstrap.servers=127.0.0.1:" + std::to_string(port()));
    first.emplace_back("group.id=tutorial");
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
};

TEST_F(TutorialOnKafka, WithoutAFallbackNothingStarts) {
  Example worker(TRANSACTIONAL_WORKER, arguments({"orders", "shipped", "worker-0"}));
  EXPECT_EQ(worker.wait_for_end(), 1);
  EXPECT_THAT(worker.output(),
              EndsWith("UNSUPPORTED_VERSION: the broker has no transactional share "
                       "acknowledgements (key 95, share.version 3)\n"));
  Example job(BATCH_JOB, arguments({"orders", directory() / "results"}));
  EXPECT_EQ(job.wait_for_end(), 1);
  EXPECT_EQ(job.output(),
            "coordinator: UNSUPPORTED_VERSION: the broker has no batch transactions\n");
}

TEST_F(TutorialOnKafka, WithAFallbackItWarnsAndWorks) {
  RawClient client(port());
  const Topic orders = create_topic(client, "orders");
  const Topic shipped = create_topic(client, "shipped");
  set_group_configs(client, "tutorial", {{"share.auto.offset.reset", "earliest"}});
  produce(client, orders, 0, numbered_values(10));
  Example worker(TRANSACTIONAL_WORKER, arguments({"orders", "shipped", "worker-0"},
                                                 {"share.acknowledgement.fallback=explicit"}));
  worker.await("committed ");
  EXPECT_TRUE(worker.said("sent plainly after each commit")) << worker.output();
  poll_until("all of it", [&] {
    return read_values(client, shipped, 0, Isolation::kReadCommitted).size() == 10;
  });
  EXPECT_EQ(worker.end(SIGTERM), 0) << worker.output();
  EXPECT_THAT(read_values(client, shipped, 0, Isolation::kReadCommitted),
              UnorderedElementsAreArray(numbered_values(10, "V")));
}

}  // namespace
}  // namespace ackord::integration
