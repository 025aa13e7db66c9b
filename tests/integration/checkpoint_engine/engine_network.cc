#include "tests/integration/checkpoint_engine/engine_network.h"

#include <algorithm>

#include "protocol/generated/list_batch_txns_request.h"
#include "protocol/generated/list_batch_txns_response.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

std::string local(uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

}  // namespace

EngineNetwork::EngineNetwork()
    : EngineTest({{coordinators_port, coordinator_network.port()},
                  {executors_port, executor_network.port()}}) {
  // Faults take time.
  idle_checkpoints_ = 10;
  bootstrap_ = local(coordinator_network.port());
  RawClient client(broker_.port());
  set_group_configs(client, group_,
                    {{"share.record.lock.duration.ms", std::to_string(kRecordLock.count())}});
}

ChildProcess EngineNetwork::start_engine(Millis transaction_timeout) {
  return start({"--executor-bootstrap", local(executor_network.port()), "--request-timeout-ms",
                std::to_string(kRequestTimeout.count()), "--transaction-timeout-ms",
                std::to_string(transaction_timeout.count())});
}

std::optional<int> EngineNetwork::await_first_result(ChildProcess& engine) {
  std::optional<int> status;
  const auto there = [&] {
    status = engine.poll_end();
    return status || !results().empty();
  };
  try {
    poll_until("a result", there, kRunLimit);
  } catch (const std::exception& late) {
    throw std::runtime_error(std::string(late.what()) + "\n" + story());
  }
  return status;
}

int EngineNetwork::end_of(ChildProcess& engine) {
  const std::optional<int> status = engine.wait_for_end(kRunLimit);
  require(status.has_value(), "the engine does not end\n" + story());
  return *status;
}

void EngineNetwork::expect_each_input_once_in_the_end() {
  for (Proxy* network : {&coordinator_network, &executor_network}) {
    network->clear();
    network->refuse(false);
    network->release();
    network->heal(Proxy::Meanwhile::kArrives);
  }
  const auto all_done = [&] {
    if (results().size() < static_cast<size_t>(fed_)) {
      ChildProcess engine = start_engine();
      end_of(engine);
    }
    return results().size() >= static_cast<size_t>(fed_);
  };
  try {
    poll_until("all results", all_done, kRunLimit);
  } catch (const std::exception& late) {
    throw std::runtime_error(std::string(late.what()) + "\n" + story());
  }
  expect_each_input_once();
  if (HasFailure()) ADD_FAILURE() << story();
}

std::vector<std::string> EngineNetwork::transaction_states() {
  RawClient client(broker_.port());
  protocol::ListBatchTxnsRequest request;
  request.group_id = GroupId(group_);
  std::vector<std::string> states;
  poll_until("ListBatchTxns", [&] {
    auto answer = client.call<protocol::ListBatchTxnsResponse>(request, 0);
    if (is_starting(answer.message.error_code)) return false;
    require_none(answer.message.error_code, "ListBatchTxns");
    for (const auto& one : answer.message.transactions) states.push_back(one.state.str());
    return true;
  });
  return states;
}

int EngineNetwork::count_of(const std::string& state) {
  const std::vector<std::string> states = transaction_states();
  return static_cast<int>(std::count(states.begin(), states.end(), state));
}

std::string EngineNetwork::story() const {
  return "--- coordinator's network:\n" + coordinator_network.story() +
         "--- executors' network:\n" + executor_network.story() + "--- engine:\n" + engine_output();
}

}  // namespace ackord::integration
