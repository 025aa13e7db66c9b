// EngineNetwork: EngineTest with a spoilt network: one proxy between the coordinator and the
// broker, one between the executors and the broker. The tests' own requests go past both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/integration/checkpoint_engine/engine_fixture.h"
#include "tests/integration/support/proxy.h"

namespace ackord::integration {

struct EngineProxies {
  const uint16_t coordinators_port = free_port();
  const uint16_t executors_port = free_port();
  Proxy coordinator_network{coordinators_port};
  Proxy executor_network{executors_port};
};

class EngineNetwork : protected EngineProxies, public EngineTest {
 protected:
  static constexpr Millis kRequestTimeout{1000};
  static constexpr Millis kTransactionTimeout{15000};
  // Where it is to be over.
  static constexpr Millis kShortTransaction{3000};
  static constexpr Millis kRecordLock{2000};

  EngineNetwork();

  // In the background, with the timeouts above.
  ChildProcess start_engine(Millis transaction_timeout = kTransactionTimeout);
  // Until the file has a result; the exit status when the engine has ended before.
  std::optional<int> await_first_result(ChildProcess& engine);
  // Its exit status; fails when it does not end.
  int end_of(ChildProcess& engine);
  // What a supervisor does, on a network that is sound again.
  void expect_each_input_once_in_the_end();
  // States of the group's batch transactions, as "PREPARE", …; of all that it remembers.
  std::vector<std::string> transaction_states();
  int count_of(const std::string& state);
  // All that went wrong, for messages.
  std::string story() const;
};

}  // namespace ackord::integration
