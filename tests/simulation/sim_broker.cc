#include "tests/simulation/sim_broker.h"

#include <string>
#include <utility>

#include "broker/main/assembly.h"

namespace ackord::simulation {
namespace {

constexpr const char* kDirectory = "/var/data";
// Its two files are full, and taken into use again, several times in a run.
constexpr uint64_t kJournalFileBytes = 6 * io::kBlock;

}  // namespace

// Declared in the order of need: what is below goes first when the machine stops.
struct SimBroker::Machine {
  std::vector<std::unique_ptr<SimExecutor>> executors;
  std::vector<std::unique_ptr<SimClock>> clocks;
  SimFileSystem files;
  std::vector<io::Core> cores;
  std::unique_ptr<io::Environment> environment;
  std::unique_ptr<main::Assembly> assembly;

  Machine(SimScheduler& scheduler, SimDisk& disk, int count) : files(scheduler, disk) {
    for (int i = 0; i < count; ++i) {
      executors.push_back(std::make_unique<SimExecutor>(scheduler));
      clocks.push_back(std::make_unique<SimClock>(scheduler, *executors.back()));
      cores.push_back(io::Core{i, *executors.back(), *clocks.back()});
    }
    environment =
        std::make_unique<io::Environment>(io::Environment{cores, files, scheduler.random});
  }
  ~Machine() {
    // The power is gone: nothing that was to run runs, and coroutines end where they stand.
    for (auto& executor : executors) executor->drop();
    for (auto& executor : executors) executor->destroy_spawned();
    for (auto& executor : executors) executor->drop();
  }
};

SimBroker::SimBroker(SimScheduler& scheduler, SimDisk& disk, int cores,
                     metadata::BrokerConfig config)
    : scheduler_(scheduler), machine_(std::make_unique<Machine>(scheduler, disk, cores)) {
  main::AssemblySettings settings;
  settings.log.directory = kDirectory;
  settings.log.journal_file_bytes = kJournalFileBytes;
  settings.log.cleaner.backoff_ms = 100;
  settings.metadata = main::local_metadata_settings(std::move(config), "localhost", 9092);
  settings.metadata.properties["log.cleaner.backoff.ms"] = "100";
  machine_->assembly =
      std::make_unique<main::Assembly>(*machine_->environment, std::move(settings));
}

SimBroker::~SimBroker() = default;

void SimBroker::start(std::function<void(Result<void>)> started) {
  io::spawn(*machine_->executors.front(), run(std::move(started)));
}

io::Task<void> SimBroker::run(std::function<void(Result<void>)> started) {
  auto starting = machine_->assembly->start();
  Result<void> result = co_await std::move(starting);
  running_ = result.has_value();
  started(std::move(result));
}

std::shared_ptr<api::Client> SimBroker::connect() {
  auto client = std::make_shared<api::Client>();
  client->connection_id = ++connections_;
  client->host = "/127.0.0.1";
  client->listener = "PLAINTEXT";
  return client;
}

void SimBroker::receive(std::shared_ptr<api::Client> client, std::vector<std::byte> frame,
                        Reply reply) {
  auto shared = std::make_shared<const std::vector<std::byte>>(std::move(frame));
  const size_t core = client->connection_id % machine_->cores.size();
  io::spawn(*machine_->executors[core],
            serve(std::move(client), std::move(shared), std::move(reply)));
}

io::Task<void> SimBroker::serve(std::shared_ptr<api::Client> client,
                                std::shared_ptr<const std::vector<std::byte>> frame, Reply reply) {
  api::Call call{frame, *frame, std::move(client), [] {}};
  auto handling = machine_->assembly->dispatch().handle(std::move(call));
  api::Answer answer = co_await std::move(handling);
  if (answer.kind == api::Answer::Kind::kSend) {
    reply(answer.bytes.copy());
  } else {
    reply(std::nullopt);
  }
}

void SimBroker::repeat_marker(int32_t state_partition, log::EndMarker marker) {
  io::spawn(*machine_->executors.front(), write_marker(state_partition, marker));
}

io::Task<void> SimBroker::write_marker(int32_t state_partition, log::EndMarker marker) {
  auto writing = machine_->assembly->share().write_marker(state_partition, marker);
  (void)co_await std::move(writing);
}

void SimBroker::disconnect(std::shared_ptr<api::Client> client) {
  const size_t core = client->connection_id % machine_->cores.size();
  machine_->executors[core]->post(
      [this, client] { machine_->assembly->dispatch().connection_closed(*client); });
}

}  // namespace ackord::simulation
