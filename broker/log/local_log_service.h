// LocalLogService: the LogService of one data directory on this broker's disk.
// Each core has its own map of partitions, touched by that core alone; what is shared is set at
// start-up or atomic.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/log/data_directory.h"
#include "broker/log/journal.h"
#include "broker/log/journal_replay.h"
#include "broker/log/local_partition.h"
#include "broker/log/log_cleaner.h"
#include "broker/log/log_service.h"
#include "broker/log/offset_checkpoint.h"
#include "broker/log/recovery.h"

namespace ackord::log {

class LocalLogService : public LogService, private DataDirectory {
 public:
  LocalLogService(io::Environment& environment, LogSettings settings);

  Result<std::vector<FoundPartition>> open() override;
  io::Task<void> close() override;
  const std::string& cluster_id() const override { return cluster_id_; }
  const io::Core& core_of(const TopicPartition& name) const override;
  std::shared_ptr<Partition> find(const TopicPartition& name) override;
  io::Task<Result<void>> create(TopicPartition name, Uuid topic_id, LogConfig config) override;
  io::Task<Result<void>> create_all(std::vector<TopicPartition> names, Uuid topic_id,
                                    LogConfig config) override;
  io::Task<Result<void>> remove(TopicPartition name) override;
  io::Task<void> configure(TopicPartition name, LogConfig config) override;
  bool online() const override { return online_.load(std::memory_order_acquire); }
  void configure_cleaner(CleanerConfig config) override;

 private:
  using PartitionPtr = std::shared_ptr<LocalPartition>;
  using PartitionMap = std::unordered_map<TopicPartition, PartitionPtr>;
  // A partition's folder that was made ready on a pool thread.
  struct Prepared {
    TopicPartition name;
    std::optional<Recovered> log;
  };

  // ---- DataDirectory
  io::FileSystem& files() override { return environment_.files; }
  bool sync_on_ack() const override { return settings_.sync_on_ack; }
  Journal& journal() override { return *journals_[static_cast<size_t>(environment_.here().index)]; }
  void fail(const Error& why) override;
  io::Task<Result<void>> set_recovery_point(TopicPartition name, Offset offset) override;
  io::Task<Result<void>> set_log_start(TopicPartition name, Offset offset) override;
  io::Task<Result<void>> set_cleaned(TopicPartition name, Offset offset) override;
  void request_cleaning(const TopicPartition& name) override;
  void remove_later(std::vector<std::string> paths, int64_t delay_ms) override;

  // ---- start-up (directory_open.cc)
  Result<void> open_meta_properties(bool has_partitions);
  struct LastStop {
    bool clean = false;
    bool own = false;  // the last broker was this one
  };
  Result<FoundPartition> open_partition(const TopicPartition& name, const std::string& folder,
                                        LastStop last_stop, const Journals& journals);
  Result<void> finish_open(bool clean);

  size_t index_of(const TopicPartition& name) const;
  PartitionPtr add(const TopicPartition& name, Uuid topic_id, std::string folder,
                   PartitionLog::Contents contents);
  // Blocking: the folder, partition.metadata, the first segment; all but the folder's own name is
  // durable.
  Result<Recovered> prepare_folder(const std::string& folder, Uuid topic_id, TimeMs now_ms);
  static io::Task<Result<bool>> exists(LocalLogService* self, TopicPartition name, Uuid topic_id);
  static io::Task<Result<bool>> adopt(LocalLogService* self, TopicPartition name, Uuid topic_id,
                                      LogConfig config, std::shared_ptr<Prepared> prepared);
  using PreparedList = std::shared_ptr<std::vector<std::shared_ptr<Prepared>>>;
  static io::Task<Result<void>> prepare_lane(LocalLogService* self, PreparedList missing,
                                             size_t lane, Uuid topic_id);
  static io::Task<Result<void>> create_missing(LocalLogService* self,
                                               std::vector<TopicPartition> names, Uuid topic_id,
                                               LogConfig config);
  static io::Task<Result<void>> remove_here(LocalLogService* self, TopicPartition name);
  static io::Task<Result<bool>> configure_here(LocalLogService* self, TopicPartition name,
                                               LogConfig config);
  static io::Task<void> delete_later(LocalLogService* self, io::Clock* clock, std::string path);
  static io::Task<void> remove_files(LocalLogService* self, io::Clock* clock,
                                     std::vector<std::string> paths, int64_t delay_ms);
  static io::Task<std::optional<int64_t>> clean(LocalLogService* self, TopicPartition name);
  static io::Task<std::optional<int64_t>> clean_here(LocalLogService* self, TopicPartition name);
  static io::Task<void> background(LocalLogService* self, size_t core);
  static io::Task<void> checkpoint_core(LocalLogService* self, size_t core);
  static io::Task<Result<bool>> close_core(LocalLogService* self, size_t core);

  io::Environment& environment_;
  LogSettings settings_;
  std::string cluster_id_;
  std::unique_ptr<io::DirectoryLock> lock_;
  OffsetCheckpointFile recovery_points_;
  OffsetCheckpointFile log_starts_;
  OffsetCheckpointFile cleaned_;
  const HashSecret cleaner_secret_;
  std::vector<LocalPartition::CleanerLimits> cleaner_limits_;  // by core
  LogCleaner cleaner_;
  std::vector<std::unique_ptr<Journal>> journals_;  // by core
  std::vector<PartitionMap> cores_;
  std::atomic<bool> online_{true};
  std::atomic<bool> closing_{false};
  bool opened_ = false;  // a directory that could not be opened is not marked as cleanly stopped
};

}  // namespace ackord::log
