// LocalLogService::open(): what happens to a data directory at start-up.
#include <fmt/format.h>

#include "broker/base/logging.h"
#include "broker/log/continuity.h"
#include "broker/log/local_log_service.h"
#include "broker/log/log_names.h"
#include "broker/log/recovery.h"

namespace ackord::log {
namespace {

Error refused(std::string text) { return error(ErrorCode::KAFKA_STORAGE_ERROR, std::move(text)); }

std::string parent_of(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A folder counts only once the one that holds its name is synced; so does each missing one above
// it. The data directory's own name is synced until it has been formatted: an earlier start may
// have died in between.
Result<void> make_root(io::FileSystem& disk, const std::string& root) {
  std::vector<std::string> to_sync;
  if (!disk.exists(names::join(root, names::kMetaProperties))) to_sync.push_back(parent_of(root));
  for (std::string missing = parent_of(root); !disk.is_directory(missing);
       missing = parent_of(missing)) {
    to_sync.push_back(parent_of(missing));
  }
  auto made = disk.create_directories(root);
  if (made.has_error()) return made;
  for (const std::string& folder : to_sync) {
    auto synced = disk.sync_directory_now(folder);
    if (synced.has_error()) return synced;
  }
  return {};
}

}  // namespace

Result<std::vector<FoundPartition>> LocalLogService::open() {
  const std::string& root = settings_.directory;
  io::FileSystem& disk = files();
  auto made = make_root(disk, root);
  if (made.has_error()) return made.error();
  auto lock = disk.lock(names::join(root, names::kLock));
  if (lock.has_error()) {
    return refused(fmt::format("log directory {} is in use by another process: {}", root,
                               lock.error().message));
  }
  lock_ = std::move(*lock);
  auto listed = disk.list(root);
  if (listed.has_error()) return listed.error();
  std::vector<std::pair<TopicPartition, std::string>> folders;
  for (const std::string& name : *listed) {
    const std::string path = names::join(root, name);
    if (!disk.is_directory(path)) continue;
    if (name.ends_with(names::kDeleteSuffix)) {
      auto removed = disk.remove_all(path);
      if (removed.has_error()) return removed.error();
    } else if (auto parsed = names::parse_folder_name(name)) {
      folders.emplace_back(std::move(*parsed), path);
    } else {
      base::log_warn("folder ignored path={}", path);
    }
  }
  auto meta = open_meta_properties(!folders.empty());
  if (meta.has_error()) return meta.error();
  auto loaded = recovery_points_.load();
  if (loaded.has_error()) return loaded.error();
  loaded = log_starts_.load();
  if (loaded.has_error()) return loaded.error();
  loaded = cleaned_.load();
  if (loaded.has_error()) return loaded.error();
  const bool clean = disk.exists(names::join(root, names::kCleanShutdown));
  const bool own = disk.exists(names::join(root, names::kOpened));
  Result<Journals> journals = Journals();
  if (!clean) journals = read_journals(disk, root);
  if (journals.has_error()) return journals.error();
  std::vector<FoundPartition> found;
  for (const auto& [name, folder] : folders) {
    auto opened = open_partition(name, folder, {clean, own}, *journals);
    if (opened.has_error()) return opened.error();
    found.push_back(std::move(*opened));
  }
  auto finished = finish_open(clean);
  if (finished.has_error()) return finished.error();
  base::log_info("log directory opened path={} partitions={} clean={}", root, found.size(), clean);
  return found;
}

Result<void> LocalLogService::open_meta_properties(bool has_partitions) {
  const std::string path = names::join(settings_.directory, names::kMetaProperties);
  auto text = read_text_file(files(), path);
  if (text.has_error()) return text.error();
  if (*text) {
    auto properties = parse_meta_properties(**text, path);
    if (properties.has_error()) return properties.error();
    if (properties->node_id != settings_.broker_id) {
      return refused(fmt::format("{} belongs to node {}, but node.id is {}", path,
                                 properties->node_id, settings_.broker_id));
    }
    if (!settings_.cluster_id.empty() && settings_.cluster_id != properties->cluster_id) {
      return refused(fmt::format("{} belongs to cluster {}, but cluster.id is {}", path,
                                 properties->cluster_id, settings_.cluster_id));
    }
    cluster_id_ = properties->cluster_id;
    return {};
  }
  if (has_partitions) {
    return refused(
        fmt::format("{} is missing, but {} holds partitions", path, settings_.directory));
  }
  MetaProperties properties;
  properties.cluster_id =
      settings_.cluster_id.empty() ? environment_.random.uuid().to_string() : settings_.cluster_id;
  properties.node_id = settings_.broker_id;
  properties.directory_id = environment_.random.uuid();
  cluster_id_ = properties.cluster_id;
  return replace_file(files(), settings_.directory, names::kMetaProperties,
                      format_meta_properties(properties));
}

Result<FoundPartition> LocalLogService::open_partition(const TopicPartition& name,
                                                       const std::string& folder,
                                                       LastStop last_stop,
                                                       const Journals& journals) {
  const std::string path = names::join(folder, names::kPartitionMetadata);
  auto text = read_text_file(files(), path);
  if (text.has_error()) return text.error();
  FoundPartition found{name, Uuid{}};
  if (*text) {
    auto id = parse_partition_metadata(**text, path);
    if (id.has_error()) return id.error();
    found.topic_id = *id;
  }
  const auto offset_in = [&name](const OffsetCheckpoint& offsets) {
    const auto at = offsets.find(name);
    return at == offsets.end() ? Offset{0} : at->second;
  };
  RecoveryInput input;
  input.directory = folder;
  input.recovery_point = offset_in(recovery_points_.offsets());
  input.log_start = offset_in(log_starts_.offsets());
  input.clean = last_stop.clean;
  input.own = last_stop.own;
  const auto journaled = journals.find({found.topic_id, name.partition});
  if (journaled != journals.end()) input.journaled = &journaled->second;
  input.epoch_on_unclean = !settings_.sync_on_ack;
  input.now_ms = environment_.cores.front().clock.now().wall_ms;
  auto recovered = recover(files(), input);
  if (recovered.has_error()) return recovered.error();
  KnownExtent known;
  known.recovery_point = input.recovery_point;
  if (log_starts_.offsets().contains(name)) known.log_start = input.log_start;
  known.compacted = cleaned_.offsets().contains(name);
  auto whole = check_continuity(files(), folder, recovered->contents, known);
  if (whole.has_error()) return whole.error();
  if (recovered->cut_bytes > 0) {
    base::log_warn("torn end of a log removed partition={} bytes={} log_end={}",
                   names::folder_name(name), recovered->cut_bytes, recovered->contents.log_end);
  }
  add(name, found.topic_id, folder, std::move(recovered->contents));
  return found;
}

// Everything that was read is durable by now, so the recovery points are the logs' ends. The mark
// of a clean stop goes last: until then a crash here changes nothing.
Result<void> LocalLogService::finish_open(bool clean) {
  OffsetCheckpoint ends;
  OffsetCheckpoint starts;
  OffsetCheckpoint cleaned;
  for (const PartitionMap& partitions : cores_) {
    for (const auto& [name, partition] : partitions) {
      ends[name] = partition->log_end_offset();
      starts[name] = partition->log_start_offset();
      const auto known = cleaned_.offsets().find(name);
      // Above the end it is about records that a cut has taken.
      if (known == cleaned_.offsets().end() || known->second > partition->log_end_offset())
        continue;
      cleaned[name] = known->second;
      partition->set_cleaned_up_to(known->second);
    }
  }
  auto done = recovery_points_.replace(std::move(ends));
  if (done.has_error()) return done;
  done = log_starts_.replace(std::move(starts));
  if (done.has_error()) return done;
  if (cleaned != cleaned_.offsets()) done = cleaned_.replace(std::move(cleaned));
  if (done.has_error()) return done;
  if (clean) {
    done = files().remove(names::join(settings_.directory, names::kCleanShutdown));
    if (done.has_error()) return done;
  }
  // What they held is in the logs.
  done = remove_journals(files(), settings_.directory);
  if (done.has_error()) return done;
  done = write_file(files(), names::join(settings_.directory, names::kOpened), "");
  if (done.has_error()) return done;
  done = files().sync_directory_now(settings_.directory);
  if (done.has_error()) return done;
  opened_ = true;
  for (size_t core = 0; core < environment_.cores.size(); ++core) {
    io::spawn(environment_.cores[core].executor, background(this, core));
  }
  if (settings_.cleaner_enable)
    cleaner_.configure(settings_.cleaner.threads, settings_.cleaner.backoff_ms);
  return {};
}

}  // namespace ackord::log
