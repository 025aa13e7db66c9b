// LogCleaner: which partitions are looked at for compaction, and when. A partition gets here when
// something about it has changed (a segment was rolled, it was configured) and stays while it says
// that time alone can make it worth a compaction; nothing goes over all partitions.
// Threads: request() from any core; all else on `home`. Its workers run until the executor ends.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "broker/io/core.h"
#include "broker/io/signal.h"
#include "broker/io/task.h"
#include "protocol/types/ids.h"

namespace ackord::log {

class LogCleaner {
 public:
  // Looks at one partition; the result says after how many milliseconds to look again.
  using Look = std::function<io::Task<std::optional<int64_t>>(TopicPartition)>;

  // What is requested is looked at after `backoff_ms`, so that many changes are one look.
  LogCleaner(const io::Core& home, int64_t backoff_ms, Look look)
      : home_(home), backoff_ms_(backoff_ms), look_(std::move(look)) {}
  LogCleaner(const LogCleaner&) = delete;

  // As many partitions are compacted at a time; fewer than now when those that run have ended. Any
  // core.
  void configure(int32_t workers, int64_t backoff_ms);
  void request(TopicPartition partition);
  void stop();

 private:
  using Due = std::pair<int64_t, TopicPartition>;
  void schedule(const TopicPartition& partition, int64_t due_ms);
  std::optional<TopicPartition> take();
  static io::Task<void> work(LogCleaner* self);

  io::Core home_;
  int64_t backoff_ms_;
  Look look_;
  std::map<TopicPartition, int64_t> due_;  // the same as in order_
  std::set<Due> order_;
  std::set<TopicPartition> running_;
  io::Signal changed_;
  int32_t workers_ = 0;
  int32_t wanted_workers_ = 0;
  bool stopping_ = false;
};

}  // namespace ackord::log
