// SimBroker: one life of the real broker on the simulated machine: all services, the real log,
// dispatch and handlers; only cores, clock, disk and network are simulated. crash() ends the life
// at once, wherever its coroutines stand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "broker/io/task.h"
#include "broker/log/types.h"
#include "broker/metadata/configs.h"
#include "tests/simulation/scheduler.h"
#include "tests/simulation/sim_disk.h"

namespace ackord::api {
struct Client;
}

namespace ackord::simulation {

class SimBroker {
 public:
  SimBroker(SimScheduler& scheduler, SimDisk& disk, int cores, metadata::BrokerConfig config);
  ~SimBroker();

  // Opens the log and loads everything; `started` is called when requests can come. A start that
  // fails is a finding.
  void start(std::function<void(Result<void>)> started);
  bool running() const { return running_; }

  using Reply = std::function<void(std::optional<std::vector<std::byte>>)>;
  // A request frame arrives on a connection; `reply` gets the response frame, or nothing when the
  // broker closed the connection or died. Called on a core of the broker's.
  void receive(std::shared_ptr<api::Client> client, std::vector<std::byte> frame, Reply reply);
  std::shared_ptr<api::Client> connect();
  void disconnect(std::shared_ptr<api::Client> client);
  void repeat_marker(int32_t state_partition, log::EndMarker marker);

 private:
  struct Machine;
  io::Task<void> run(std::function<void(Result<void>)> started);
  io::Task<void> write_marker(int32_t state_partition, log::EndMarker marker);
  io::Task<void> serve(std::shared_ptr<api::Client> client,
                       std::shared_ptr<const std::vector<std::byte>> frame, Reply reply);

  SimScheduler& scheduler_;
  std::unique_ptr<Machine> machine_;
  bool running_ = false;
  uint64_t connections_ = 0;
};

}  // namespace ackord::simulation
