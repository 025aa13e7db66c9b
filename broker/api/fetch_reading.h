// What a Fetch reads of its partitions on one core, and the checks before it: who may read, and
// whether the reader's log has parted from this one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/io/signal.h"
#include "broker/io/task.h"
#include "broker/log/log_service.h"

namespace ackord::api {

struct FetchResult : log::ReadResult {
  // The epoch that the reader came from ended earlier than it thinks, or never was.
  std::optional<std::pair<int32_t, Offset>> diverging;
  int32_t leader_epoch = -1;  // with NOT_LEADER_OR_FOLLOWER
};

struct Read {
  TopicPartition partition;
  ErrorCode error = ErrorCode::NONE;  // known before the log is asked
  bool from_replica = false;
  int32_t current_leader_epoch = -1;  // negative: not given
  int32_t last_fetched_epoch = -1;    // likewise
  log::ReadSpec spec;
  std::shared_ptr<io::Subscriber> watch;  // subscribed before reading; null: nobody will wait
};

// On the partitions' core; the results are in the order of the reads.
struct Reading {
  log::LogService& logs;
  io::Task<std::vector<FetchResult>> operator()(std::vector<Read> reads);
};

}  // namespace ackord::api
