#include "broker/log/local_log_service.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "broker/base/assert.h"
#include "broker/base/logging.h"
#include "broker/log/log_names.h"
#include "broker/log/recovery.h"

namespace ackord::log {
namespace {

// An interval of 0 is none at all.
constexpr int64_t kMinIntervalMs = 100;
// No process lives longer, and no clock's arithmetic overflows.
constexpr int64_t kMaxDelayMs = int64_t{1} << 40;
constexpr int64_t kMinDedupeBytes = 1 << 20;
// What is prepared or closed at a time: the disk syncs several files for little more than one, but
// the pool's other threads are for those who produce meanwhile.
constexpr size_t kCreateLanes = 4;
constexpr size_t kCloseAtOnce = 8;
// Faster than any disk; a rate above is none.
constexpr double kMaxCleanerRate = 1e12;

LocalPartition::CleanerLimits limits_of(const CleanerConfig& config, const HashSecret& secret) {
  LocalPartition::CleanerLimits limits;
  limits.secret = secret;
  const int64_t threads = std::max(config.threads, 1);
  const auto bytes =
      static_cast<uint64_t>(std::max(config.dedupe_buffer_bytes / threads, kMinDedupeBytes));
  // KeyOffsets is three quarters full at most, and doubles.
  limits.max_keys = std::bit_floor(bytes / KeyOffsets::kSlotSize) / 4 * 3;
  limits.bytes_per_second =
      static_cast<uint64_t>(std::clamp(config.max_bytes_per_second, 1.0, kMaxCleanerRate));
  limits.backoff_ms = std::max(config.backoff_ms, kMinIntervalMs);
  return limits;
}

}  // namespace

std::unique_ptr<LogService> make_log_service(io::Environment& environment, LogSettings settings) {
  return std::make_unique<LocalLogService>(environment, std::move(settings));
}

LocalLogService::LocalLogService(io::Environment& environment, LogSettings settings)
    : environment_(environment),
      settings_(std::move(settings)),
      recovery_points_(environment.files, environment.cores.front().executor, settings_.directory,
                       std::string(names::kRecoveryPoints)),
      log_starts_(environment.files, environment.cores.front().executor, settings_.directory,
                  std::string(names::kLogStarts)),
      cleaned_(environment.files, environment.cores.front().executor, settings_.directory,
               std::string(names::kCleanerOffsets)),
      cleaner_secret_{environment.random.next(), environment.random.next()},
      cleaner_limits_(environment.cores.size(), limits_of(settings_.cleaner, cleaner_secret_)),
      cleaner_(environment.cores.front(), settings_.cleaner.backoff_ms,
               [this](TopicPartition name) { return clean(this, std::move(name)); }),
      cores_(environment.cores.size()) {
  for (const io::Core& core : environment.cores) {
    journals_.push_back(std::make_unique<Journal>(
        environment.files, core.executor, settings_.directory,
        "core-" + std::to_string(core.index) + "-", settings_.journal_file_bytes));
  }
}

size_t LocalLogService::index_of(const TopicPartition& name) const {
  return std::hash<TopicPartition>()(name) % environment_.cores.size();
}

const io::Core& LocalLogService::core_of(const TopicPartition& name) const {
  return environment_.cores[index_of(name)];
}

std::shared_ptr<Partition> LocalLogService::find(const TopicPartition& name) {
  const PartitionMap& partitions = cores_[index_of(name)];
  const auto found = partitions.find(name);
  return found == partitions.end() ? nullptr : found->second;
}

LocalLogService::PartitionPtr LocalLogService::add(const TopicPartition& name, Uuid topic_id,
                                                   std::string folder,
                                                   PartitionLog::Contents contents) {
  auto log = std::make_unique<PartitionLog>(files(), std::move(folder), name);
  log->open(std::move(contents));
  DataDirectory& self = *this;
  auto partition = std::make_shared<LocalPartition>(self, core_of(name), std::move(log), topic_id);
  cores_[index_of(name)].emplace(name, partition);
  return partition;
}

void LocalLogService::fail(const Error& why) {
  if (!online_.exchange(false)) return;
  base::log_error("log directory is offline path={} why=\"{}\"", settings_.directory, why.message);
  const Error answer = error(ErrorCode::KAFKA_STORAGE_ERROR, why.message);
  for (size_t core = 0; core < cores_.size(); ++core) {
    environment_.cores[core].executor.post([this, core, answer] {
      for (const auto& [name, partition] : cores_[core]) partition->went_offline(answer);
    });
  }
}

io::Task<Result<void>> LocalLogService::set_recovery_point(TopicPartition name, Offset offset) {
  return recovery_points_.set(std::move(name), offset);
}

io::Task<Result<void>> LocalLogService::set_log_start(TopicPartition name, Offset offset) {
  return log_starts_.set(std::move(name), offset);
}

io::Task<Result<void>> LocalLogService::set_cleaned(TopicPartition name, Offset offset) {
  return cleaned_.set(std::move(name), offset);
}

// ---- compaction, removal of files

void LocalLogService::request_cleaning(const TopicPartition& name) {
  if (settings_.cleaner_enable) cleaner_.request(name);
}

void LocalLogService::configure_cleaner(CleanerConfig config) {
  const LocalPartition::CleanerLimits limits = limits_of(config, cleaner_secret_);
  for (size_t core = 0; core < cores_.size(); ++core) {
    environment_.cores[core].executor.post(
        [this, core, limits] { cleaner_limits_[core] = limits; });
  }
  if (settings_.cleaner_enable) cleaner_.configure(config.threads, config.backoff_ms);
}

io::Task<std::optional<int64_t>> LocalLogService::clean(LocalLogService* self,
                                                        TopicPartition name) {
  io::Executor& executor = self->core_of(name).executor;
  return io::on(executor, clean_here(self, std::move(name)));
}

io::Task<std::optional<int64_t>> LocalLogService::clean_here(LocalLogService* self,
                                                             TopicPartition name) {
  const size_t core = self->index_of(name);
  const auto found = self->cores_[core].find(name);
  if (found == self->cores_[core].end() || self->closing_) co_return std::nullopt;
  const PartitionPtr partition = found->second;
  auto cleaning = LocalPartition::clean(partition, self->cleaner_limits_[core],
                                        &self->environment_.cores[core].clock);
  const std::optional<int64_t> again = co_await std::move(cleaning);
  co_return again;
}

void LocalLogService::remove_later(std::vector<std::string> paths, int64_t delay_ms) {
  if (paths.empty()) return;
  const io::Core& here = environment_.here();
  io::spawn(here.executor, remove_files(this, &here.clock, std::move(paths), delay_ms));
}

io::Task<void> LocalLogService::remove_files(LocalLogService* self, io::Clock* clock,
                                             std::vector<std::string> paths, int64_t delay_ms) {
  auto sleep = io::sleep_until(*clock, clock->now().steady_ms + std::min(delay_ms, kMaxDelayMs));
  co_await sleep;
  if (self->closing_) co_return;  // the next start removes them
  std::function<void()> work = [self, paths = std::move(paths)] {
    for (const std::string& path : paths) {
      if (!self->files().exists(path)) continue;
      auto removed = self->files().remove(path);
      if (removed.has_error()) base::log_warn("file stays why=\"{}\"", removed.error().message);
    }
  };
  auto removing = self->files().blocking(std::move(work));
  co_await std::move(removing);
}

// ---- creation

io::Task<Result<void>> LocalLogService::create(TopicPartition name, Uuid topic_id,
                                               LogConfig config) {
  std::vector<TopicPartition> names;
  names.push_back(std::move(name));
  return create_all(std::move(names), topic_id, std::move(config));
}

io::Task<Result<void>> LocalLogService::create_all(std::vector<TopicPartition> names, Uuid topic_id,
                                                   LogConfig config) {
  return create_missing(this, std::move(names), topic_id, std::move(config));
}

Result<Recovered> LocalLogService::prepare_folder(const std::string& folder, Uuid topic_id,
                                                  TimeMs now_ms) {
  auto made = files().create_directories(folder);
  if (made.has_error()) return made.error();
  auto written =
      swap_file(files(), folder, names::kPartitionMetadata, format_partition_metadata(topic_id));
  if (written.has_error()) return written.error();
  RecoveryInput input;
  input.directory = folder;
  input.folder_changed = true;
  input.now_ms = now_ms;
  return recover(files(), input);
}

io::Task<Result<bool>> LocalLogService::exists(LocalLogService* self, TopicPartition name,
                                               Uuid topic_id) {
  const auto found = self->find(name);
  if (!found) co_return false;
  if (found->topic_id() == topic_id) co_return true;
  co_return error(
      ErrorCode::INCONSISTENT_TOPIC_ID,
      names::folder_name(name) + " exists with topic id " + found->topic_id().to_string());
}

io::Task<Result<bool>> LocalLogService::adopt(LocalLogService* self, TopicPartition name,
                                              Uuid topic_id, LogConfig config,
                                              std::shared_ptr<Prepared> prepared) {
  // Made by another call meanwhile: both have prepared the same folder.
  if (self->find(name)) co_return true;
  const std::string folder = names::join(self->settings_.directory, names::folder_name(name));
  auto partition = self->add(name, topic_id, folder, std::move(prepared->log->contents));
  partition->configure(config);
  co_return true;
}

// Every kCreateLanes-th folder, from the one with the number `lane` on, on one pool thread.
io::Task<Result<void>> LocalLogService::prepare_lane(LocalLogService* self, PreparedList missing,
                                                     size_t lane, Uuid topic_id) {
  const TimeMs now_ms = self->environment_.here().clock.now().wall_ms;
  auto done = std::make_shared<Result<void>>();
  std::function<void()> work = [self, missing, lane, topic_id, now_ms, done] {
    for (size_t i = lane; i < missing->size() && done->has_value(); i += kCreateLanes) {
      Prepared& prepared = *(*missing)[i];
      const std::string folder =
          names::join(self->settings_.directory, names::folder_name(prepared.name));
      auto log = self->prepare_folder(folder, topic_id, now_ms);
      if (log.has_error()) {
        *done = log.error();
      } else {
        prepared.log = std::move(*log);
      }
    }
  };
  auto working = self->files().blocking(std::move(work));
  co_await std::move(working);
  co_return *done;
}

io::Task<Result<void>> LocalLogService::create_missing(LocalLogService* self,
                                                       std::vector<TopicPartition> names,
                                                       Uuid topic_id, LogConfig config) {
  if (!self->online())
    co_return error(ErrorCode::KAFKA_STORAGE_ERROR, "the log directory is offline");
  auto missing = std::make_shared<std::vector<std::shared_ptr<Prepared>>>();
  for (const TopicPartition& name : names) {
    auto asking = io::on(self->core_of(name).executor, exists(self, name, topic_id));
    auto there = co_await std::move(asking);
    if (there.has_error()) co_return there.error();
    if (*there) continue;
    auto prepared = std::make_shared<Prepared>();
    prepared->name = name;
    missing->push_back(std::move(prepared));
  }
  if (missing->empty()) co_return Result<void>();
  std::vector<io::Task<Result<void>>> lanes;
  for (size_t lane = 0; lane < std::min(kCreateLanes, missing->size()); ++lane) {
    lanes.push_back(prepare_lane(self, missing, lane, topic_id));
  }
  auto preparing = io::when_all(std::move(lanes));
  auto outcomes = co_await std::move(preparing);
  auto syncing = self->files().sync_directory(self->settings_.directory);
  outcomes.push_back(co_await std::move(syncing));
  for (const Result<void>& outcome : outcomes) {
    if (outcome.has_value()) continue;
    self->fail(outcome.error());
    co_return error(ErrorCode::KAFKA_STORAGE_ERROR, outcome.error().message);
  }
  for (auto& prepared : *missing) {
    auto adopting = io::on(self->core_of(prepared->name).executor,
                           adopt(self, prepared->name, topic_id, config, prepared));
    auto adopted = co_await std::move(adopting);
    if (adopted.has_error()) co_return adopted.error();
  }
  co_return Result<void>();
}

// ---- removal

io::Task<Result<void>> LocalLogService::remove(TopicPartition name) {
  io::Executor& executor = core_of(name).executor;
  return io::on(executor, remove_here(this, std::move(name)));
}

io::Task<Result<void>> LocalLogService::remove_here(LocalLogService* self, TopicPartition name) {
  const size_t core = self->index_of(name);
  const auto found = self->cores_[core].find(name);
  if (found == self->cores_[core].end()) co_return Result<void>();
  if (!self->online())
    co_return error(ErrorCode::KAFKA_STORAGE_ERROR, "the log directory is offline");
  const PartitionPtr partition = found->second;
  self->cores_[core].erase(found);
  partition->mark_removed();
  const std::string from = partition->directory();
  const std::string to =
      names::join(self->settings_.directory,
                  names::deleted_folder_name(name, self->environment_.random.uuid()));
  auto done = std::make_shared<Result<void>>();
  std::function<void()> work = [self, from, to, done] {
    *done = self->files().rename(from, to);
    if (done->has_value()) *done = self->files().sync_directory_now(self->settings_.directory);
  };
  auto renaming = self->files().blocking(std::move(work));
  co_await std::move(renaming);
  // A partition of the same name must not inherit its offsets.
  if (done->has_value()) {
    auto forgetting = self->recovery_points_.erase(name);
    *done = co_await std::move(forgetting);
  }
  if (done->has_value()) {
    auto forgetting = self->log_starts_.erase(name);
    *done = co_await std::move(forgetting);
  }
  if (done->has_value()) {
    auto forgetting = self->cleaned_.erase(name);
    *done = co_await std::move(forgetting);
  }
  if (done->has_error()) {
    self->fail(done->error());
    co_return *done;
  }
  const io::Core& here = self->environment_.cores[core];
  io::spawn(here.executor, delete_later(self, &here.clock, to));
  co_return Result<void>();
}

io::Task<void> LocalLogService::delete_later(LocalLogService* self, io::Clock* clock,
                                             std::string path) {
  auto sleep = io::sleep_until(*clock, clock->now().steady_ms + self->settings_.delete_delay_ms);
  co_await sleep;
  if (self->closing_) co_return;  // the next start removes it
  std::function<void()> work = [self, path] {
    auto removed = self->files().remove_all(path);
    if (removed.has_error()) base::log_warn("folder stays why=\"{}\"", removed.error().message);
  };
  auto removing = self->files().blocking(std::move(work));
  co_await std::move(removing);
}

io::Task<Result<bool>> LocalLogService::configure_here(LocalLogService* self, TopicPartition name,
                                                       LogConfig config) {
  const auto found = self->find(name);
  if (found) found->configure(config);
  co_return found != nullptr;
}

io::Task<void> LocalLogService::configure(TopicPartition name, LogConfig config) {
  auto there = io::on(core_of(name).executor, configure_here(this, name, config));
  (void)co_await std::move(there);
}

// ---- background and end

io::Task<void> LocalLogService::checkpoint_core(LocalLogService* self, size_t core) {
  OffsetCheckpoint offsets;
  for (const auto& [name, partition] : self->cores_[core]) {
    offsets[name] = partition->synced_offset();
  }
  if (offsets.empty()) co_return;
  auto merging = self->recovery_points_.merge(std::move(offsets));
  auto merged = co_await std::move(merging);
  if (merged.has_error()) self->fail(merged.error());
}

io::Task<void> LocalLogService::background(LocalLogService* self, size_t core) {
  io::Clock& clock = self->environment_.cores[core].clock;
  const LogSettings& settings = self->settings_;
  const int64_t checkpoints_ms = std::max(settings.checkpoint_interval_ms, kMinIntervalMs);
  const int64_t retention_ms = std::max(settings.retention_check_interval_ms, kMinIntervalMs);
  int64_t next_checkpoint = clock.now().steady_ms + checkpoints_ms;
  int64_t next_retention = clock.now().steady_ms + retention_ms;
  for (;;) {
    auto sleep = io::sleep_until(clock, std::min(next_checkpoint, next_retention));
    co_await sleep;
    if (self->closing_ || !self->online()) co_return;
    if (clock.now().steady_ms >= next_checkpoint) {
      auto checkpointing = checkpoint_core(self, core);
      co_await std::move(checkpointing);
      next_checkpoint = clock.now().steady_ms + checkpoints_ms;
    }
    if (clock.now().steady_ms < next_retention) continue;
    next_retention = clock.now().steady_ms + retention_ms;
    std::vector<PartitionPtr> partitions;
    for (const auto& [name, partition] : self->cores_[core]) partitions.push_back(partition);
    for (const PartitionPtr& partition : partitions) {
      if (self->closing_) co_return;
      auto retaining = LocalPartition::retain(partition, clock.now().wall_ms,
                                              self->settings_.producer_id_expiration_ms);
      co_await std::move(retaining);
    }
  }
}

io::Task<Result<bool>> LocalLogService::close_core(LocalLogService* self, size_t core) {
  OffsetCheckpoint ends;
  std::vector<PartitionPtr> partitions;
  for (const auto& [name, partition] : self->cores_[core]) partitions.push_back(partition);
  for (size_t begin = 0; begin < partitions.size(); begin += kCloseAtOnce) {
    const size_t end = std::min(partitions.size(), begin + kCloseAtOnce);
    std::vector<io::Task<Result<void>>> closings;
    for (size_t i = begin; i < end; ++i) closings.push_back(LocalPartition::close(partitions[i]));
    auto closing = io::when_all(std::move(closings));
    auto closed = co_await std::move(closing);
    for (const Result<void>& one : closed) {
      if (one.has_error()) co_return one.error();
    }
  }
  for (const auto& [name, partition] : self->cores_[core]) {
    ends[name] = partition->log_end_offset();
  }
  auto merging = self->recovery_points_.merge(std::move(ends));
  auto merged = co_await std::move(merging);
  if (merged.has_error()) co_return merged.error();
  co_return true;
}

io::Task<void> LocalLogService::close() {
  if (closing_.exchange(true)) co_return;
  cleaner_.stop();
  bool all = opened_ && online();
  for (size_t core = 0; core < cores_.size() && all; ++core) {
    auto closing = io::on(environment_.cores[core].executor, close_core(this, core));
    auto closed = co_await std::move(closing);
    all = closed.has_value();
  }
  if (all && online()) {
    auto done = std::make_shared<Result<void>>();
    std::function<void()> work = [this, done] {
      // Every log has its own files now. The mark syncs the names of both.
      *done = remove_journals(files(), settings_.directory);
      if (done->has_error()) return;
      const std::string opened = names::join(settings_.directory, names::kOpened);
      if (files().exists(opened)) *done = files().remove(opened);
      if (done->has_error()) return;
      *done =
          replace_file(files(), settings_.directory, names::kCleanShutdown, clean_shutdown_text());
    };
    auto marking = files().blocking(std::move(work));
    co_await std::move(marking);
    if (done->has_error()) base::log_error("no clean stop why=\"{}\"", done->error().message);
  }
  lock_.reset();
}

}  // namespace ackord::log
