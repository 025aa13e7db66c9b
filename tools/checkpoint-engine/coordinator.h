// Coordinator: the engine's job manager. It starts the executors and runs one batch transaction per
// checkpoint, so that the results in the sink and the acknowledgements of the records they were
// made of become final together.
//
//   begin → executors work → they stage and report → prepare(sum) → sink → commit
//
// Anything that fails before the sink's commit aborts the checkpoint; many that are aborted in a
// row, an executor that dies, and a later attempt, which the sink knows of, end the job. A start
// first settles what an earlier one has left. Errors: std::runtime_error. One thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/batch_transactions.h"
#include "tools/checkpoint-engine/channel.h"
#include "tools/checkpoint-engine/sink.h"

namespace ackord::engine {

struct CoordinatorOptions {
  std::string bootstrap = "localhost:9092";
  std::string executor_bootstrap;  // as executors reach the broker; empty: as the coordinator does
  std::string group;
  std::string topic;
  std::string database;
  std::string job = "job";
  int executors = 4;
  int checkpoint_ms = 1000;
  int transaction_timeout_ms = 60000;
  int request_timeout_ms = 5000;
  // Ends after so many committed checkpoints in a row without a result; 0: never.
  int end_after_idle = 0;
  // For tests: after which step of the first checkpoint with results the process is killed: "acks",
  // "prepare", "sink", "commit".
  std::string die_at;
  std::string stop_at;  // the same, but it only stops (SIGSTOP)
  std::string program;  // this executable
};

class Coordinator {
 public:
  explicit Coordinator(CoordinatorOptions options);
  ~Coordinator();
  // Returns when it has been idle for long enough.
  void run();

 private:
  struct Worker {
    pid_t pid = -1;
    Channel channel;
  };
  struct Reports {
    client::StagedOffsets staged;
    std::vector<Result> results;
    std::optional<std::string> failure;
  };

  void recover();
  void start_executor();
  // How many results it has made durable; nothing when it was aborted.
  std::optional<size_t> checkpoint();
  void work(const std::string& id);
  Reports collect();
  void tell_all(const boost::json::object& message);
  void reach(std::string_view step, const Reports& reports) const;
  void commit_to_sink(const std::string& id, const Reports& reports);

  CoordinatorOptions options_;
  Sink sink_;
  std::unique_ptr<client::BatchTransactionCoordinator> transactions_;
  std::string prefix_;
  int64_t attempt_ = 0;
  int checkpoint_ = 0;
  int aborted_ = 0;  // checkpoints in a row
  std::vector<Worker> workers_;
};

}  // namespace ackord::engine
