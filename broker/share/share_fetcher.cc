#include "broker/share/share_fetcher.h"

#include <algorithm>
#include <utility>

#include "broker/metadata/durations.h"
#include "broker/share/aborted_ranges.h"

namespace ackord::share {
namespace {

// How often a fetch looks again when others were quicker.
constexpr int kAttempts = 4;

log::Isolation isolation_of(const metadata::GroupConfig& config) {
  return config.share_isolation_level == "read_committed" ? log::Isolation::kReadCommitted
                                                          : log::Isolation::kReadUncommitted;
}

Offset bound_of(const log::Partition& partition, log::Isolation isolation) {
  return isolation == log::Isolation::kReadCommitted ? partition.last_stable_offset()
                                                     : partition.high_watermark();
}

// The whole batches of `read` that hold offsets from `first` to `last`.
Records covering(const log::ReadResult& read, Offset first, Offset last) {
  uint64_t skip = 0;
  uint64_t take = 0;
  for (const log::BatchInfo& batch : read.batches) {
    if (batch.last_offset < first) {
      skip += batch.size;
    } else if (batch.base_offset <= last) {
      take += batch.size;
    }
  }
  return read.records.slice(skip, take);
}

}  // namespace

io::Task<FetchedOne> ShareFetcher::fetch(FetchOne request) {
  io::Executor& executor = log_.core_of(request.source).executor;
  auto fetching = io::on(executor, fetch_here(std::move(request)));
  FetchedOne fetched = co_await std::move(fetching);
  co_return fetched;
}

io::Task<FetchedOne> ShareFetcher::fetch_here(FetchOne request) {
  FetchedOne out;
  const std::shared_ptr<log::Partition> source = log_.find(request.source);
  if (!source) {
    out.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    co_return out;
  }
  const int32_t index = shards_.index_of(request.key);
  const log::Isolation isolation = isolation_of(request.config);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto asking = next_offset(index, request, *source);
    const NextFetch::Reply next = co_await std::move(asking);
    out.error_code = next.error.error_code;
    if (!next.error.ok() || !next.offset || *next.offset >= bound_of(*source, isolation))
      co_return out;
    auto reading = source->read({*next.offset, request.max_bytes, true, isolation, true});
    const log::ReadResult read = co_await std::move(reading);
    if (read.error == ErrorCode::OFFSET_OUT_OF_RANGE)
      continue;  // the log start has moved: NextFetch learns of it
    if (read.error != ErrorCode::NONE) {
      out.error_code = read.error;
      co_return out;
    }
    if (read.batches.empty()) break;
    Acquire acquire;
    acquire.key = request.key;
    acquire.holder = request.holder;
    for (const log::BatchInfo& batch : read.batches)
      acquire.request.batches.push_back({batch.base_offset, batch.last_offset});
    acquire.request.fetch_offset = *next.offset;
    acquire.request.log_start_offset = source->log_start_offset();
    acquire.request.aborted = aborted_ranges(read.batches, read.aborted);
    acquire.request.max_records = request.max_records;
    acquire.request.batch_size = request.batch_size;
    acquire.request.mode = request.mode;
    acquire.request.max_record_locks = request.config.share_partition_max_record_locks;
    acquire.request.limit = request.limit;
    acquire.request.lock_duration_ms = request.config.share_record_lock_duration_ms;
    auto acquiring = shards_.run(index, std::move(acquire));
    Result<Acquire::Reply> acquired = co_await std::move(acquiring);
    if (!acquired || !acquired->error.ok()) {
      out.error_code = acquired ? acquired->error.error_code : acquired.error().code;
      co_return out;
    }
    if (acquired->acquired.empty()) continue;
    out.records = covering(read, acquired->acquired.front().first_offset,
                           acquired->acquired.back().last_offset);
    out.acquired = std::move(acquired->acquired);
    out.record_count = acquired->record_count;
    co_return out;
  }
  out.undecided = true;
  co_return out;
}

io::Task<std::optional<int64_t>> ShareFetcher::available_bytes(FetchOne request) {
  io::Executor& executor = log_.core_of(request.source).executor;
  auto looking = io::on(executor, available_here(std::move(request)));
  std::optional<int64_t> bytes = co_await std::move(looking);
  co_return bytes;
}

io::Task<std::optional<int64_t>> ShareFetcher::available_here(FetchOne request) {
  const std::shared_ptr<log::Partition> source = log_.find(request.source);
  if (!source) co_return std::nullopt;
  const int32_t index = shards_.index_of(request.key);
  auto asking = next_offset(index, request, *source);
  const NextFetch::Reply next = co_await std::move(asking);
  if (!next.error.ok()) co_return std::nullopt;
  const log::Isolation isolation = isolation_of(request.config);
  if (!next.offset || *next.offset >= bound_of(*source, isolation)) co_return int64_t{0};
  auto reading = source->read({*next.offset, request.max_bytes, true, isolation, true});
  const log::ReadResult read = co_await std::move(reading);
  if (read.error != ErrorCode::NONE) co_return std::nullopt;
  co_return static_cast<int64_t>(read.records.size());
}

io::Task<NextFetch::Reply> ShareFetcher::next_offset(int32_t index, const FetchOne& request,
                                                     log::Partition& source) {
  NextFetch::Reply reply;
  source.on_advance().subscribe(request.watch);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    NextFetch where{request.key, source.log_start_offset(),
                    request.config.share_partition_max_record_locks};
    auto asking = io::on(shards_.runner(index).core().executor,
                         next_fetch(index, std::move(where), request.watch));
    const Result<NextFetch::Reply> next = co_await std::move(asking);
    if (!next) {
      reply.error = {next.error().code, next.error().message};
      co_return reply;
    }
    reply = *next;
    if (!reply.inactive) co_return reply;
    auto activating = activate(index, request, source);
    reply.error = co_await std::move(activating);
    if (!reply.error.ok()) co_return reply;
  }
  co_return reply;
}

// Only a place to read from: nothing of it is answered, so it need not wait for the disk.
io::Task<Result<NextFetch::Reply>> ShareFetcher::next_fetch(int32_t index, NextFetch op,
                                                            std::shared_ptr<io::Subscriber> watch) {
  shards_.waiting(index, op.key).subscribe(watch);
  co_return shards_.runner(index).run_without_waiting(op);
}

io::Task<PartitionError> ShareFetcher::activate(int32_t index, const FetchOne& request,
                                                log::Partition& source) {
  Summary summary;
  summary.key = request.key;
  auto asking = shards_.run(index, std::move(summary));
  const Result<Summary::Reply> known = co_await std::move(asking);
  if (!known) co_return PartitionError{known.error().code, known.error().message};
  Activate activate;
  activate.key = request.key;
  activate.leader_epoch = source.leader_epoch();
  if (known->start_offset < 0) {
    auto resetting = reset_offset(request, source);
    const Result<Offset> start = co_await std::move(resetting);
    if (!start) co_return PartitionError{start.error().code, start.error().message};
    activate.resolved_start_offset = *start;
  }
  auto activating = shards_.run(index, std::move(activate));
  const Result<Activate::Reply> activated = co_await std::move(activating);
  if (!activated) co_return PartitionError{activated.error().code, activated.error().message};
  co_return activated->error;
}

// share.auto.offset.reset for a group that has never held this partition.
io::Task<Result<Offset>> ShareFetcher::reset_offset(const FetchOne& request,
                                                    log::Partition& source) {
  const std::string& policy = request.config.share_auto_offset_reset;
  const log::Isolation isolation = isolation_of(request.config);
  if (policy == "earliest") co_return source.log_start_offset();
  if (policy == "latest") co_return bound_of(source, isolation);
  const std::optional<int64_t> age_ms = metadata::by_duration_ms(policy);
  if (!age_ms) co_return error(ErrorCode::INVALID_CONFIG, "share.auto.offset.reset=" + policy);
  const TimeMs from = environment_.here().clock.now().wall_ms - *age_ms;
  auto finding = source.offset_for_timestamp(from, isolation);
  const Result<log::TimestampedOffset> found = co_await std::move(finding);
  if (!found) co_return found.error();
  if (found->offset < 0) co_return bound_of(source, isolation);
  co_return found->offset;
}

}  // namespace ackord::share
