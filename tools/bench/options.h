// What a benchmark is asked to do. Plain data.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/compression/compression.h"

namespace ackord::bench {

struct Options {
  std::string bootstrap = "localhost:9092";
  std::string topic;  // that is used and stays; empty: one of its own, deleted at the end
  int partitions = 1;
  int active = 0;  // of these partitions, those that records go to; 0: all
  int groups = 1;  // groups
  int connections = 1;
  int in_flight = 5;  // requests on the way on each connection
  int64_t records = 1'000'000;
  int64_t warmup = 0;  // records, of the same work, that are not measured
  int record_size = 100;
  int batch = 160;  // records in a request
  int16_t acks = -1;
  protocol::Codec codec = protocol::Codec::kNone;
  double rate = 0;                   // records a second; 0: as fast as answers come
  int max_records = 500;             // of one share fetch
  int fetch_bytes = 1 << 20;         // of a partition in a fetch
  int max_wait_ms = 500;             // of a fetch that finds nothing
  int txn_records = 1;               // of one transaction
  int hold_s = 0;                    // connections: stay connected
  int64_t prefill_mb = 0;            // partitions, produce, fetch: what the topic has before
  bool alternate = false;            // in-flight: accept every other record
  bool stay = false;                 // keep what was made until standard input ends
  int runs = 5;                      // startup
  std::string prepare;               // startup: a shell command that makes {directory} ready
  std::vector<std::string> command;  // startup
  pid_t pid = 0;                     // the broker's, for what it uses; 0: unknown
  bool json = false;
};

}  // namespace ackord::bench
