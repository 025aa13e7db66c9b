// The engine on a network that loses, holds, delays and cuts: requests, answers, parts of them, one
// direction or both. Whatever happens, each input has one result in the end.
#include "tests/integration/checkpoint_engine/engine_network.h"

#include <random>

#include "protocol/generated/abort_batch_txn_request.h"
#include "protocol/generated/batch_txn_acknowledge_request.h"
#include "protocol/generated/begin_batch_txn_request.h"
#include "protocol/generated/commit_batch_txn_request.h"
#include "protocol/generated/list_batch_txns_request.h"
#include "protocol/generated/prepare_batch_txn_request.h"
#include "protocol/generated/share_fetch_request.h"

namespace ackord::integration {
namespace {

using Meanwhile = Proxy::Meanwhile;

constexpr int16_t kBegin = protocol::BeginBatchTxnRequest::kApiKey;
constexpr int16_t kStage = protocol::BatchTxnAcknowledgeRequest::kApiKey;
constexpr int16_t kPrepare = protocol::PrepareBatchTxnRequest::kApiKey;
constexpr int16_t kCommit = protocol::CommitBatchTxnRequest::kApiKey;
constexpr int16_t kAbort = protocol::AbortBatchTxnRequest::kApiKey;
constexpr int16_t kList = protocol::ListBatchTxnsRequest::kApiKey;
constexpr int16_t kFetch = protocol::ShareFetchRequest::kApiKey;

// ---------------------------------------------------------------- one frame, by its API

struct FrameHarm {
  const char* name;
  Way way;
  Harm harm;
};

std::ostream& operator<<(std::ostream& out, const FrameHarm& harm) { return out << harm.name; }

constexpr FrameHarm kFrameHarms[] = {
    {"RequestIsCutOff", Way::kRequests, Harm::kCutBefore},
    {"RequestVanishes", Way::kRequests, Harm::kVanish},
    {"HalfARequest", Way::kRequests, Harm::kCutInside},
    {"RequestIsTheLastThingThatPasses", Way::kRequests, Harm::kCutAfter},
    {"RequestArrivesAfterItsRepetition", Way::kRequests, Harm::kHold},
    {"AnswerIsCutOff", Way::kAnswers, Harm::kCutBefore},
    {"AnswerVanishes", Way::kAnswers, Harm::kVanish},
    {"HalfAnAnswer", Way::kAnswers, Harm::kCutInside},
    {"AnswerComesTooLate", Way::kAnswers, Harm::kHold},
};

std::string name_of_harm(const testing::TestParamInfo<FrameHarm>& info) { return info.param.name; }

class CoordinatorFrames : public EngineNetwork, public testing::WithParamInterface<FrameHarm> {};
class ExecutorFrames : public EngineNetwork, public testing::WithParamInterface<FrameHarm> {};

// Each request of the coordinator is met once. It is sent again; the job does not even notice.
TEST_P(CoordinatorFrames, TheJobGoesOn) {
  const std::vector<int16_t> apis{kList, kBegin, kPrepare, kCommit};
  for (const int16_t api_key : apis)
    coordinator_network.inject({GetParam().way, GetParam().harm, api_key});
  feed(40);
  ChildProcess engine = start_engine();
  const std::optional<int> status = await_first_result(engine);
  // What was held comes now: late, in the middle of later checkpoints.
  coordinator_network.release();
  feed(20);
  EXPECT_EQ(status ? *status : end_of(engine), 0) << story();
  EXPECT_EQ(coordinator_network.struck(), static_cast<int>(apis.size())) << story();
  expect_each_input_once_in_the_end();
  EXPECT_EQ(count_of("ONGOING") + count_of("PREPARE"), 0) << "nothing is left open";
}

// The same of an executor: of the acknowledgements that it stages, and of its fetches.
TEST_P(ExecutorFrames, TheJobGoesOn) {
  executor_network.inject({GetParam().way, GetParam().harm, kStage, 2});
  executor_network.inject({GetParam().way, GetParam().harm, kFetch, 2, 6});
  feed(40);
  ChildProcess engine = start_engine();
  poll_until("faults", [&] { return executor_network.struck() == 4; }, kRunLimit);
  const std::optional<int> status = await_first_result(engine);
  executor_network.release();
  feed(20);
  EXPECT_EQ(status ? *status : end_of(engine), 0) << story();
  expect_each_input_once_in_the_end();
}

INSTANTIATE_TEST_SUITE_P(Every, CoordinatorFrames, testing::ValuesIn(kFrameHarms), name_of_harm);
INSTANTIATE_TEST_SUITE_P(Every, ExecutorFrames, testing::ValuesIn(kFrameHarms), name_of_harm);

// ---------------------------------------------------------------- partitions

class EnginePartition : public EngineNetwork, public testing::WithParamInterface<Meanwhile> {
 protected:
  // Until a frame of this kind is on its way, and does not arrive; then nothing passes any more.
  void partition_at(Proxy& network, Way way, int16_t api_key) {
    const int before = network.struck();
    network.inject({way, Harm::kHold, api_key});
    poll_until("the frame", [&] { return network.struck() > before; }, kRunLimit);
    network.partition({Way::kRequests, Way::kAnswers});
  }
  // The same with a frame of the coordinator's that belongs to a checkpoint which has staged
  // something: the answer of a stage is kept back until the trap is set.
  void partition_coordinator_at(Way way, int16_t api_key) {
    const int before = coordinator_network.struck();
    executor_network.inject({Way::kAnswers, Harm::kHold, kStage});
    poll_until("a stage", [&] { return executor_network.waiting() == 1; }, kRunLimit);
    coordinator_network.inject({way, Harm::kHold, api_key});
    executor_network.release();
    poll_until("the frame", [&] { return coordinator_network.struck() > before; }, kRunLimit);
    coordinator_network.partition({Way::kRequests, Way::kAnswers});
  }
  void heal(Proxy& network) {
    network.heal(GetParam());
    network.release();
  }
};

class CoordinatorPartition : public EnginePartition {};
class ExecutorPartition : public EnginePartition {};

// The coordinator is cut off with everything staged, for longer than the transaction may last: the
// broker aborts it, and the Prepare that arrives then, or its repetition, changes nothing.
TEST_P(CoordinatorPartition, OutlastsTheTransaction) {
  feed(40);
  ChildProcess engine = start_engine(kShortTransaction);
  partition_coordinator_at(Way::kRequests, kPrepare);
  EXPECT_EQ(results().size(), 0u);
  poll_until("the timeout", [&] { return count_of("ABORTED") >= 1; });
  heal(coordinator_network);
  end_of(engine);
  EXPECT_EQ(count_of("PREPARE"), 0) << story();
  expect_each_input_once_in_the_end();
}

// It is cut off with the checkpoint prepared: no time ends that one.
TEST_P(CoordinatorPartition, InPrepareIsWaitedFor) {
  feed(40);
  ChildProcess engine = start_engine(kShortTransaction);
  partition_coordinator_at(Way::kAnswers, kPrepare);
  const auto until = std::chrono::steady_clock::now() + kShortTransaction + kRequestTimeout;
  poll_until("the timeout that must not come", [&] {
    EXPECT_EQ(count_of("PREPARE"), 1);
    return std::chrono::steady_clock::now() > until;
  });
  EXPECT_EQ(results().size(), 0u);
  heal(coordinator_network);
  end_of(engine);
  expect_each_input_once_in_the_end();
}

// The sink has the results, the broker has the Commit or not, and the job dies before it knows.
TEST_P(CoordinatorPartition, AtTheCommitThenItIsKilled) {
  for (const Way way : {Way::kRequests, Way::kAnswers}) {
    feed(30);
    const size_t before = results().size();
    ChildProcess engine = start_engine();
    partition_coordinator_at(way, kCommit);
    EXPECT_GT(results().size(), before);
    engine.signal(SIGKILL);
    ASSERT_EQ(end_of(engine), 128 + SIGKILL);
    EXPECT_EQ(count_of("PREPARE"), way == Way::kRequests ? 1 : 0) << story();
    heal(coordinator_network);
  }
  expect_each_input_once_in_the_end();
}

// Executors are cut off with records that nobody has acknowledged, until their locks are over.
TEST_P(ExecutorPartition, OutlastsTheRecordLock) {
  feed(40);
  ChildProcess engine = start_engine(kShortTransaction);
  partition_at(executor_network, Way::kRequests, kStage);
  RawClient client(broker_.port());
  poll_until("the locks", [&] {
    for (int32_t partition = 0; partition < kPartitions; ++partition) {
      if (share_state(client, group_, topic_, partition).find("ACQUIRED") != std::string::npos)
        return false;
    }
    return true;
  });
  heal(executor_network);
  end_of(engine);
  expect_each_input_once_in_the_end();
}

// Some acknowledgements are staged, their answers are lost, and the transaction's time is over.
TEST_P(ExecutorPartition, OutlastsTheTransaction) {
  feed(40);
  ChildProcess engine = start_engine(kShortTransaction);
  partition_at(executor_network, Way::kAnswers, kStage);
  poll_until("the timeout", [&] { return count_of("ABORTED") >= 1; });
  heal(executor_network);
  end_of(engine);
  expect_each_input_once_in_the_end();
}

// Everybody is cut off from the broker, which is killed meanwhile.
TEST_P(ExecutorPartition, AndOfTheCoordinatorAndTheBrokerIsKilled) {
  feed(40);
  ChildProcess engine = start_engine();
  partition_coordinator_at(Way::kAnswers, kPrepare);
  executor_network.partition({Way::kRequests, Way::kAnswers});
  broker_.crash();
  EXPECT_EQ(count_of("PREPARE"), 1) << "it was answered";
  heal(coordinator_network);
  heal(executor_network);
  end_of(engine);
  expect_each_input_once_in_the_end();
}

// An executor's acknowledgements never get through: each checkpoint is aborted, and the aborts are
// lost, too, at first.
TEST_P(ExecutorPartition, RequestsOnly) {
  feed(40);
  ChildProcess engine = start_engine(kShortTransaction);
  executor_network.inject({Way::kRequests, Harm::kCutBefore, kStage, kAlways});
  coordinator_network.inject({Way::kRequests, Harm::kCutBefore, kAbort});
  coordinator_network.inject({Way::kAnswers, Harm::kVanish, kAbort});
  poll_until("both aborts", [&] { return coordinator_network.struck() == 2; }, kRunLimit);
  executor_network.partition({Way::kRequests});
  executor_network.clear();
  EXPECT_EQ(results().size(), 0u);
  heal(executor_network);
  end_of(engine);
  expect_each_input_once_in_the_end();
}

std::string name_of_meanwhile(const testing::TestParamInfo<Meanwhile>& info) {
  return info.param == Meanwhile::kArrives ? "ArrivesLate" : "IsLost";
}

INSTANTIATE_TEST_SUITE_P(Every, CoordinatorPartition,
                         testing::Values(Meanwhile::kArrives, Meanwhile::kLost), name_of_meanwhile);
INSTANTIATE_TEST_SUITE_P(Every, ExecutorPartition,
                         testing::Values(Meanwhile::kArrives, Meanwhile::kLost), name_of_meanwhile);

// ---------------------------------------------------------------- mixtures

class EngineWeather : public EngineNetwork, public testing::WithParamInterface<uint64_t> {};

// Everything at once, by chance, with a job and a broker that are killed in between.
TEST_P(EngineWeather, EachInputOnce) {
  constexpr int kCheckpoints = 20;
  std::mt19937_64 random(GetParam());
  const Weather weather{0.01, 0.01, 0.01, 0.004, 0.1, Millis(300)};
  coordinator_network.set_weather(random(), weather);
  executor_network.set_weather(random(), weather);
  int lives = 0;
  while (coordinator_network.passed(Way::kAnswers, kBegin) < kCheckpoints) {
    feed(10);
    ChildProcess engine = start_engine();
    const int begun = coordinator_network.passed(Way::kAnswers, kBegin);
    const int ends_after = 1 + static_cast<int>(random() % 8);
    std::optional<int> status;
    poll_until(
        "checkpoints",
        [&] {
          status = engine.poll_end();
          return status || coordinator_network.passed(Way::kAnswers, kBegin) >= begun + ends_after;
        },
        kRunLimit);
    if (random() % 3 == 0) broker_.crash();
    if (random() % 4 == 0) coordinator_network.cut_all();
    if (!status && random() % 2 == 0) engine.signal(SIGKILL);
    if (!status) end_of(engine);
    ++lives;
  }
  EXPECT_GT(coordinator_network.struck() + executor_network.struck(), 0);
  RecordProperty("lives", lives);
  expect_each_input_once_in_the_end();
}

INSTANTIATE_TEST_SUITE_P(Seed, EngineWeather, testing::Values(1, 2, 3),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace ackord::integration
