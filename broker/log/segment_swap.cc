#include "broker/log/segment_swap.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "broker/base/logging.h"
#include "broker/log/batch_scanner.h"
#include "broker/log/checkpoint_files.h"
#include "broker/log/log_names.h"

namespace ackord::log {
namespace {

constexpr std::array kIndexes = {names::kIndex, names::kTimeIndex, names::kTxnIndex};
constexpr std::array kAll = {names::kIndex, names::kTimeIndex, names::kTxnIndex, names::kLog};

std::string with(std::string path, std::string_view suffix) { return path.append(suffix); }

Result<void> rename_if_there(io::FileSystem& files, const std::string& from, const std::string& to,
                             std::vector<std::string>* renamed) {
  if (!files.exists(from)) return {};
  auto done = files.rename(from, to);
  if (done.has_error()) return done;
  if (renamed != nullptr) renamed->push_back(to);
  return {};
}

// Step 3. `old`: the log files' names without `.log`, the new segment's among them or not.
Result<std::vector<std::string>> put_in_place(io::FileSystem& files, const std::string& directory,
                                              const std::vector<Offset>& old, Offset base) {
  std::vector<std::string> deleted;
  for (const Offset offset : old) {
    for (const auto suffix : kAll) {
      const std::string path = names::join(directory, names::file_name(offset, suffix));
      // Its old indexes go by being replaced, for an earlier attempt may have replaced them.
      if (offset == base && suffix != names::kLog) continue;
      auto done = rename_if_there(files, path, with(path, names::kDeleted), &deleted);
      if (done.has_error()) return done.error();
    }
    if (offset == base) continue;
    const std::string snapshot = names::join(directory, names::file_name(offset, names::kSnapshot));
    auto done = rename_if_there(files, snapshot, with(snapshot, names::kDeleted), &deleted);
    if (done.has_error()) return done.error();
  }
  for (const auto suffix : kIndexes) {
    const std::string path = names::join(directory, names::file_name(base, suffix));
    auto done = rename_if_there(files, with(path, names::kSwap), path, nullptr);
    if (done.has_error()) return done.error();
  }
  auto synced = files.sync_directory_now(directory);
  if (synced.has_error()) return synced.error();
  const std::string path = names::join(directory, names::file_name(base, names::kLog));
  auto done = files.rename(with(path, names::kSwap), path);
  if (done.has_error()) return done.error();
  synced = files.sync_directory_now(directory);
  if (synced.has_error()) return synced.error();
  return deleted;
}

// The base offset of "<base>.log.swap".
std::optional<Offset> swapped_base(std::string_view name) {
  if (!name.ends_with(names::kSwap)) return std::nullopt;
  name.remove_suffix(names::kSwap.size());
  return names::parse_file_name(name, names::kLog);
}

// Where the segment in "<base>.log.swap" ends.
Result<Offset> end_of_swap(io::FileSystem& files, const std::string& path, Offset base) {
  auto file = files.open(path, io::OpenMode::kRead);
  if (file.has_error()) return file.error();
  auto size = (*file)->size();
  if (size.has_error()) return size.error();
  Offset end = base;
  BatchScanner scan(**file, 0, *size, BatchScanner::Check::kHeaders);
  while (scan.next()) end = scan.header().next_offset();
  if (scan.io_error()) return *scan.io_error();
  if (!scan.failure().empty()) {
    return error(ErrorCode::KAFKA_STORAGE_ERROR,
                 fmt::format("{}: no valid batch at position {}, though it was durable: {}", path,
                             scan.position(), scan.failure()));
  }
  return end;
}

Result<void> complete_swap(io::FileSystem& files, const std::string& directory, Offset base,
                           const std::vector<std::string>& listed) {
  const std::string path =
      with(names::join(directory, names::file_name(base, names::kLog)), names::kSwap);
  auto end = end_of_swap(files, path, base);
  if (end.has_error()) return end.error();
  std::vector<Offset> old;
  for (const std::string& name : listed) {
    const auto offset = names::parse_file_name(name, names::kLog);
    if (offset && (*offset == base || (*offset > base && *offset < *end))) old.push_back(*offset);
  }
  auto deleted = put_in_place(files, directory, old, base);
  if (deleted.has_error()) return deleted.error();
  for (const std::string& file : *deleted) {
    auto removed = files.remove(file);
    if (removed.has_error()) return removed;
  }
  base::log_info("compaction completed file={} replaced={}", path, old.size());
  return {};
}

}  // namespace

Result<SegmentPtr> create_cleaned(io::FileSystem& files, const std::string& directory,
                                  Offset base_offset) {
  const std::string path =
      with(names::join(directory, names::file_name(base_offset, names::kLog)), names::kCleaned);
  auto file = files.open(path, io::OpenMode::kCreate);
  if (file.has_error()) return file.error();
  auto emptied = (*file)->truncate(0);
  if (emptied.has_error()) return emptied.error();
  return std::make_shared<Segment>(directory, base_offset, *file);
}

Result<void> finish_cleaned(io::FileSystem& files, const std::string& directory, Segment& cleaned) {
  auto done = cleaned.file()->datasync_now();
  if (done.has_error()) return done;
  cleaned.finish_time_index();
  done = write_file(files, with(cleaned.path(names::kIndex), names::kCleaned),
                    cleaned.indexes()->encode_offsets());
  if (done.has_error()) return done;
  done = write_file(files, with(cleaned.path(names::kTimeIndex), names::kCleaned),
                    cleaned.indexes()->encode_times());
  if (done.has_error()) return done;
  done = write_file(files, with(cleaned.path(names::kTxnIndex), names::kCleaned),
                    encode_aborted(cleaned.aborted()));
  if (done.has_error()) return done;
  return files.sync_directory_now(directory);
}

Result<void> discard_cleaned(io::FileSystem& files, const Segment& cleaned) {
  for (const auto suffix : kAll) {
    const std::string path = with(cleaned.path(suffix), names::kCleaned);
    if (!files.exists(path)) continue;
    auto removed = files.remove(path);
    if (removed.has_error()) return removed;
  }
  return {};
}

Result<std::vector<std::string>> swap_segments(io::FileSystem& files, const std::string& directory,
                                               const std::vector<SegmentPtr>& old,
                                               Segment& cleaned) {
  const auto to_swap = [&](std::string_view suffix) {
    const std::string path = cleaned.path(suffix);
    return files.rename(with(path, names::kCleaned), with(path, names::kSwap));
  };
  for (const auto suffix : kIndexes) {
    auto done = to_swap(suffix);
    if (done.has_error()) return done.error();
  }
  auto synced = files.sync_directory_now(directory);
  if (synced.has_error()) return synced.error();
  auto done = to_swap(names::kLog);
  if (done.has_error()) return done.error();
  synced = files.sync_directory_now(directory);
  if (synced.has_error()) return synced.error();
  std::vector<Offset> bases;
  for (const SegmentPtr& segment : old) bases.push_back(segment->base_offset());
  auto deleted = put_in_place(files, directory, bases, cleaned.base_offset());
  if (deleted.has_error()) return deleted.error();
  auto file = files.open(cleaned.path(names::kLog), io::OpenMode::kReadWrite);
  if (file.has_error()) return file.error();
  cleaned.use_file(*file);
  return deleted;
}

Result<std::vector<std::string>> mark_deleted(io::FileSystem& files,
                                              const std::vector<SegmentPtr>& segments) {
  std::vector<std::string> deleted;
  for (const SegmentPtr& segment : segments) {
    for (const auto suffix :
         {names::kSnapshot, names::kTxnIndex, names::kTimeIndex, names::kIndex, names::kLog}) {
      const std::string path = segment->path(suffix);
      auto done = rename_if_there(files, path, with(path, names::kDeleted), &deleted);
      if (done.has_error()) return done.error();
    }
  }
  return deleted;
}

Result<bool> settle_folder(io::FileSystem& files, const std::string& directory) {
  auto listed = files.list(directory);
  if (listed.has_error()) return listed.error();
  bool changed = false;
  for (const std::string& name : *listed) {
    const auto base = swapped_base(name);
    if (!base) continue;
    auto done = complete_swap(files, directory, *base, *listed);
    if (done.has_error()) return done.error();
    changed = true;
  }
  if (changed) {
    listed = files.list(directory);
    if (listed.has_error()) return listed.error();
  }
  for (const std::string& name : *listed) {
    // An index's `.swap` without its log's belongs to a compaction that does not count yet.
    const bool leftover = name.ends_with(names::kTemporary) || name.ends_with(names::kDeleted) ||
                          name.ends_with(names::kCleaned) || name.ends_with(names::kSwap);
    if (!leftover) continue;
    auto removed = files.remove(names::join(directory, name));
    if (removed.has_error()) return removed.error();
    changed = true;
  }
  return changed;
}

}  // namespace ackord::log
