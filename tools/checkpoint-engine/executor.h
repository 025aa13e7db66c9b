// Executor: one worker of the engine, a process of its own. It takes records of the share group,
// makes results of them, and at a checkpoint stages its acknowledgements in the batch transaction.
//
// What it is told (channel.h):               What it answers:
//   {"do": "work", "id": ID}                 nothing; it works until the next message
//   {"do": "checkpoint"}                     {"staged": TEXT, "results": [[input, value], …]}, or
//                                            {"error": TEXT}: the transaction must be aborted
//   {"do": "ended", "committed": true}       nothing
// It ends when the coordinator is gone.
#pragma once

#include <string>
#include <vector>

#include "client/batch_transactions.h"
#include "client/share_consumer.h"
#include "tools/checkpoint-engine/channel.h"
#include "tools/checkpoint-engine/sink.h"

namespace ackord::engine {

struct ExecutorOptions {
  std::string bootstrap;
  std::string group;
  std::string topic;
  int request_timeout_ms = 5000;
  int transaction_timeout_ms = 60000;  // after it there is nothing left to stage in
};

class Executor {
 public:
  // Errors: std::runtime_error.
  Executor(const ExecutorOptions& options, Channel channel);
  void run();

 private:
  void take();
  void checkpoint();

  Channel channel_;
  const client::Millis stage_timeout_;
  std::unique_ptr<client::ShareConsumer> consumer_;
  std::unique_ptr<client::BatchTransactionExecutor> transactions_;
  std::string id_;
  bool working_ = false;  // between "work" and "checkpoint"
  std::vector<Result> results_;
  std::string failure_;  // of this transaction
};

}  // namespace ackord::engine
