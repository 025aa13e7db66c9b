// ShareFetcher: takes records of one share partition for one member: where to read (shard), reading
// (log), acquiring (shard). Between the steps another member may take the same records; then it
// tries again.
//
// Threads: fetch() from any core; it works on the data partition's core. What it answers is
// durable.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/state_shards.h"

namespace ackord::share {

struct FetchOne {
  SharePartitionKey key;
  TopicPartition source;
  Holder holder;
  int64_t max_bytes = 0;
  int32_t max_records = 0;
  int32_t batch_size = 0;
  ShareAcquireMode mode = ShareAcquireMode::BATCH_OPTIMIZED;
  metadata::GroupConfig config;
  DeliveryLimit limit;
  // Subscribed to everything that can bring records, before looking.
  std::shared_ptr<io::Subscriber> watch;
};

struct FetchedOne {
  ErrorCode error_code = ErrorCode::NONE;
  Records records;
  std::vector<AcquiredRecords> acquired;
  int64_t record_count = 0;
  // With nothing acquired: there may be records all the same, of which no signal tells.
  bool undecided = false;
};

class ShareFetcher {
 public:
  ShareFetcher(io::Environment& environment, log::LogService& log, StateShards& shards)
      : environment_(environment), log_(log), shards_(shards) {}

  io::Task<FetchedOne> fetch(FetchOne request);
  // How many bytes fetch() would read now, for MinBytes; nothing is acquired. nullopt: it would
  // answer an error.
  io::Task<std::optional<int64_t>> available_bytes(FetchOne request);

 private:
  io::Task<FetchedOne> fetch_here(FetchOne request);
  io::Task<std::optional<int64_t>> available_here(FetchOne request);
  // Where to read next, if anywhere; makes the soft state if need be. Subscribes first.
  io::Task<NextFetch::Reply> next_offset(int32_t index, const FetchOne& request,
                                         log::Partition& source);
  io::Task<Result<NextFetch::Reply>> next_fetch(int32_t index, NextFetch op,
                                                std::shared_ptr<io::Subscriber> watch);
  io::Task<PartitionError> activate(int32_t index, const FetchOne& request, log::Partition& source);
  io::Task<Result<Offset>> reset_offset(const FetchOne& request, log::Partition& source);

  io::Environment& environment_;
  log::LogService& log_;
  StateShards& shards_;
};

}  // namespace ackord::share
