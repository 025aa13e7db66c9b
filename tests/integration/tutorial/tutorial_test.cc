// What docs/TUTORIAL.md says that its programs do.
#include <algorithm>
#include <filesystem>

#include "protocol/generated/produce_response.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/tutorial/example.h"

namespace ackord::integration {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;
using Strings = std::vector<std::string>;

// ---------------------------------------------------------------- a queue

class Queue : public TutorialTest {};

TEST_F(Queue, ImplicitAcceptsWithTheNextPoll) {
  produce(client_, topic_, 0, numbered_values(3));
  Example consumer(SHARE_CONSUMER, arguments({"orders"}));
  consumer.await("orders-0@2, delivery 1: v2\n");
  await_all_done();
  EXPECT_EQ(consumer.end(SIGTERM), 0) << consumer.output();
}

TEST_F(Queue, ExplicitReleasesAndRejects) {
  protocol::BatchBuilder records({});
  for (const char* value : {"now", "later"}) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(value, strlen(value)));
    records.add(1'700'000'000'000, std::nullopt, bytes);
  }
  records.add(1'700'000'000'000, std::nullopt, std::nullopt);
  const std::vector<std::byte> batch = records.build();
  auto answer = client_.call<protocol::ProduceResponse>(produce_request(topic_, 0, batch), 11);
  require_none(answer.message.responses.at(0).partition_responses.at(0).error_code, "Produce");
  Example consumer(SHARE_CONSUMER, arguments({"orders"}, {"share.acknowledgement.mode=explicit"}));
  consumer.await("orders-0@1, delivery 3: later\n");
  await_all_done();
  EXPECT_EQ(consumer.end(SIGTERM), 0);
  EXPECT_THAT(consumer.output(), HasSubstr("orders-0@0, delivery 1: now\n"));
  EXPECT_THAT(consumer.output(), Not(HasSubstr("orders-0@2"))) << "rejected";
}

TEST_F(Queue, AnOptionThatThereIsNotIsRefused) {
  Example consumer(SHARE_CONSUMER, arguments({"orders"}, {"share.acknowledgement.mode=maybe"}));
  EXPECT_EQ(consumer.wait_for_end(), 1);
  EXPECT_EQ(consumer.output(), "INVALID_CONFIG: share.acknowledgement.mode cannot be 'maybe'\n");
}

// ---------------------------------------------------------------- transactions of a producer

class Worker : public TutorialTest {
 protected:
  Example start(const std::string& id) {
    return Example(TRANSACTIONAL_WORKER, arguments({"orders", "shipped", id}));
  }
  void expect_each_once(int count) {
    EXPECT_THAT(read_values(client_, output_, 0, Isolation::kReadCommitted),
                UnorderedElementsAreArray(numbered_values(count, "V")));
  }
};

TEST_F(Worker, OutputAndAcknowledgementsCommitTogetherThroughAKill) {
  produce(client_, topic_, 0, numbered_values(50));
  {
    Example killed = start("worker-1");
    killed.await("committed ");
    produce(client_, topic_, 0, [] {
      Strings more = numbered_values(100);
      more.erase(more.begin(), more.begin() + 50);
      return more;
    }());
    EXPECT_EQ(killed.end(SIGKILL), kKilled);
  }
  Example worker = start("worker-1");
  await_all_done();
  EXPECT_EQ(worker.end(SIGTERM), 0) << worker.output();
  expect_each_once(100);
}

TEST_F(Worker, ASecondOneOfTheSameIdFencesTheFirst) {
  produce(client_, topic_, 0, numbered_values(1));
  Example first = start("worker-1");
  first.await("committed ");
  Example second = start("worker-1");
  int count = 1;
  // Until the first one has met a record: any of the two may get it.
  poll_until("the first has ended", [&] {
    if (count < 200) produce(client_, topic_, 0, {"v" + std::to_string(count++)});
    std::this_thread::sleep_for(Millis(50));
    return first.said("FENCED") || first.said("INVALID_PRODUCER_EPOCH");
  });
  EXPECT_EQ(first.wait_for_end(), 3) << first.output();
  await_all_done();
  EXPECT_EQ(second.end(SIGTERM), 0) << second.output();
  expect_each_once(count);
}

// ---------------------------------------------------------------- batch transactions

class Batches : public TutorialTest {
 protected:
  Example start(const Strings& more = {}) {
    return Example(BATCH_JOB, arguments({"orders", directory_ / "results"}, more));
  }
  Strings results() const {
    Strings lines;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "results")) {
      if (!entry.is_regular_file() || entry.path().extension() == ".part") continue;
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) lines.push_back(line);
    }
    return lines;
  }
  void killed_after(const std::string& step, bool counts) {
    produce(client_, topic_, 0, numbered_values(20));
    Example killed = start({"die.after=" + step});
    EXPECT_EQ(killed.wait_for_end(), kKilled) << killed.output();
    EXPECT_EQ(results().size(), counts ? 20u : 0u);
    Example next = start();
    next.await(counts ? ": committed\n" : ": aborted\n");
    produce(client_, topic_, 0, {"v20"});
    await_all_done();
    EXPECT_EQ(next.end(SIGTERM), 0) << next.output();
    EXPECT_THAT(results(), UnorderedElementsAreArray(numbered_values(21)));
  }

  test::TempDirectory directory_;
};

TEST_F(Batches, KilledAfterPrepareItsRecordsComeAgain) { killed_after("prepare", false); }
TEST_F(Batches, KilledAfterItsResultsAreDurableItCounts) { killed_after("results", true); }

TEST_F(Batches, OneJobAtATimeHasTheResults) {
  produce(client_, topic_, 0, numbered_values(5));
  Example first = start();
  first.await(": 5 records\n");
  Example second = start();
  EXPECT_EQ(second.wait_for_end(), 1);
  EXPECT_THAT(second.output(), testing::HasSubstr("another job works in "));
  EXPECT_EQ(first.end(SIGTERM), 0) << first.output();
  EXPECT_THAT(results(), UnorderedElementsAreArray(numbered_values(5)));
}

}  // namespace
}  // namespace ackord::integration
