// Bench: what every benchmark needs: the broker under test, topics that are deleted in the end,
// record data, the times at which work is due, and the broker's use of the machine.
//
// Errors: BenchError. One thread.
#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "client/cluster.h"
#include "tools/bench/options.h"
#include "tools/bench/report.h"
#include "tools/bench/wire.h"

namespace ackord::bench {

struct Topic {
  TopicName name;
  Uuid id;
  int32_t partitions = 0;
  Offset end = 0;  // of its first partition, when it was found
};

class Bench {
 public:
  explicit Bench(const Options& options);
  // Deletes the topics that it made, as far as the broker lets it.
  ~Bench();

  const Options& options() const { return options_; }
  const Target& target() const { return target_; }
  asio::io_context& context() { return context_; }

  // options().topic, or a new topic with a name of its own.
  Topic create_topic(int32_t partitions);
  // A name that no other run uses.
  std::string unique(const std::string& prefix) const;
  // Configs of a group.
  void configure_group(const std::string& group,
                       const std::vector<std::pair<std::string, std::string>>& configs);
  // Connections of the benchmark's own.
  std::vector<std::shared_ptr<Wire>> connect(int count);
  // Records spread evenly over the partitions (options().active of them), as fast as they go.
  void fill(const Topic& topic, int64_t records);
  // options().prefill_mb in large records, the same in each partition. Returns the end of each.
  Offset prefill(const Topic& topic);

  // Of the topic's partitions, those that records go to.
  int32_t active(const Topic& topic) const {
    return options_.active > 0 ? std::min(options_.active, topic.partitions) : topic.partitions;
  }

  // One request's records, ready to be sent any number of times.
  std::vector<std::byte> batch(int records) const { return batch(records, payload_); }

  // Something to do, or to keep, while the bench stays.
  void while_staying(Task<> task) { staying_.push_back(std::move(task)); }
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  // Until standard input ends.
  void stay();

  void run(std::vector<Task<>> tasks) { bench::run(context_, std::move(tasks)); }

  // Between the two lies the work that the report is about; its time ends at `at`.
  void begin();
  void end(Report& report, Clock::time_point at = Clock::now()) const;

 private:
  bool find_end(Topic& topic, const client::Deadline& deadline);
  std::vector<std::byte> batch(int records, const std::string& payload) const;

  Options options_;
  Target target_;
  asio::io_context context_;
  std::unique_ptr<client::Cluster> cluster_;
  std::vector<TopicName> topics_;
  std::string payload_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<Task<>> staying_;
  Clock::time_point began_;
  ProcessStats before_;
};

// When the next piece of work is due: at once, or at a steady rate from the first call on. A piece
// that starts late keeps its time: what it waited for belongs to its latency.
class Pacer {
 public:
  // `per_second` 0: at once.
  Pacer(asio::io_context& context, double per_second)
      : timer_context_(context), rate_(per_second) {}
  Task<Clock::time_point> next();

 private:
  asio::io_context& timer_context_;
  double rate_;
  int64_t given_ = 0;
  Clock::time_point start_;
};

// BenchError that names what was asked for.
void expect_none(ErrorCode code, const char* what);
// The same of every partition of an answer.
template <class Topics>
void expect_all_none(const Topics& topics, const char* what) {
  for (const auto& topic : topics) {
    for (const auto& partition : topic.partitions) expect_none(partition.error_code, what);
  }
}

}  // namespace ackord::bench
