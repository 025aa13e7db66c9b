#include "broker/metadata/metadata_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "broker/coordinator/unserved_records.h"
#include "protocol/record_batch/batch_header.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::metadata {
namespace {

constexpr size_t kOffsetDigits = 20;
constexpr size_t kEpochDigits = 10;
constexpr std::string_view kSuffix = ".checkpoint";
constexpr std::string_view kBootstrapFile = "bootstrap.checkpoint";
// Behind the name of one that is being written, as Kafka has it.
constexpr std::string_view kPart = ".part";
// Far above any batch of a snapshot.
constexpr size_t kMaxUncompressed = 1u << 30;

Result<std::vector<std::byte>> read_file(io::FileSystem& files, const std::string& path) {
  auto file = files.open(path, io::OpenMode::kRead);
  if (!file) return file.error();
  const auto size = (*file)->size();
  if (!size) return size.error();
  std::vector<std::byte> bytes(*size);
  const auto read = (*file)->pread(bytes, 0);
  if (!read) return read.error();
  bytes.resize(*read);
  return bytes;
}

Result<void> apply_batch(const protocol::BatchHeader& header, std::span<const std::byte> bytes,
                         MetadataShard& shard, coordinator::UnservedRecords& unserved) {
  if (header.control()) return {};  // the snapshot's own header and footer
  std::vector<std::byte> buffer;
  const auto records = protocol::uncompressed_records(header, bytes, kMaxUncompressed, buffer);
  if (!records) return records.error();
  protocol::RecordReader reader(header, *records);
  protocol::Record record;
  while (reader.next(record)) {
    const auto decoded = MetadataShard::decode({}, record.value);
    if (!decoded) return decoded.error();
    if (*decoded) {
      shard.apply(**decoded, {record.offset, record.timestamp, std::nullopt});
    } else {
      unserved.add(MetadataShard::unserved_name({}, record.value));
    }
  }
  if (reader.failure()) return *reader.failure();
  return {};
}

}  // namespace

std::optional<std::pair<Offset, int32_t>> parse_snapshot_name(std::string_view name) {
  if (name.size() != kOffsetDigits + 1 + kEpochDigits + kSuffix.size() ||
      name[kOffsetDigits] != '-' || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  std::pair<Offset, int32_t> parsed;
  const char* offset_end = name.data() + kOffsetDigits;
  const char* epoch_end = offset_end + 1 + kEpochDigits;
  const auto offset = std::from_chars(name.data(), offset_end, parsed.first);
  const auto epoch = std::from_chars(offset_end + 1, epoch_end, parsed.second);
  if (offset.ec != std::errc() || offset.ptr != offset_end || epoch.ec != std::errc() ||
      epoch.ptr != epoch_end)
    return std::nullopt;
  return parsed;
}

std::string snapshot_name(Offset end, int32_t epoch) {
  return fmt::format("{:020}-{:010}{}", end, epoch, kSuffix);
}

Result<std::optional<StoredSnapshot>> read_newest_snapshot(io::FileSystem& files,
                                                           const std::string& directory) {
  std::optional<StoredSnapshot> none;
  if (!files.is_directory(directory)) return none;
  const auto names = files.list(directory);
  if (!names) return names.error();
  std::string newest;  // the names sort as their numbers do
  for (const std::string& name : *names) {
    if (parse_snapshot_name(name)) newest = std::max(newest, name);
  }
  if (newest.empty()) return none;
  StoredSnapshot found;
  found.path = directory + "/" + newest;
  found.end = parse_snapshot_name(newest)->first;
  auto bytes = read_file(files, found.path);
  if (!bytes) return bytes.error();
  found.bytes = std::move(*bytes);
  return std::optional<StoredSnapshot>(std::move(found));
}

Result<void> store_snapshot(io::FileSystem& files, const std::string& directory,
                            const std::string& name, std::span<const std::byte> bytes) {
  const std::string path = directory + "/" + name;
  const std::string part = path + std::string(kPart);
  auto file = files.open(part, io::OpenMode::kCreate);
  if (!file) return file.error();
  auto done = (*file)->truncate(0);
  if (done) done = (*file)->pwritev(std::span(&bytes, 1), 0);
  if (done) done = (*file)->datasync_now();
  if (done) done = files.rename(part, path);
  if (done) done = files.sync_directory_now(directory);
  return done;
}

Result<void> remove_old_snapshots(io::FileSystem& files, const std::string& directory, Offset end) {
  const auto names = files.list(directory);
  if (!names) return names.error();
  for (const std::string& name : *names) {
    const auto parsed = parse_snapshot_name(name);
    const bool old = (parsed && parsed->first < end) || name.ends_with(kPart);
    if (!old) continue;
    auto removed = files.remove(directory + "/" + name);
    if (!removed) return removed;
  }
  return {};
}

namespace {

Result<void> apply_batches(const std::string& path, std::span<const std::byte> bytes,
                           MetadataShard& shard) {
  coordinator::UnservedRecords unserved;
  std::span<const std::byte> left(bytes);
  while (!left.empty()) {
    const size_t at = bytes.size() - left.size();
    auto corrupt = [&path, at](std::string_view why) {
      return error(ErrorCode::CORRUPT_MESSAGE, fmt::format("{} at byte {}: {}", path, at, why));
    };
    const auto header = protocol::parse_header(left);
    if (!header || header->size() > left.size()) return corrupt("not a record batch");
    const auto batch = left.subspan(0, header->size());
    if (const auto whole = protocol::check_batch(*header, batch); !whole)
      return corrupt(whole.error().message);
    if (const auto applied = apply_batch(*header, batch, shard, unserved); !applied)
      return corrupt(applied.error().message);
    left = left.subspan(header->size());
  }
  unserved.log(path);
  return {};
}

}  // namespace

Result<void> load_snapshot(io::FileSystem& files, const std::string& directory,
                           MetadataShard& shard) {
  const auto newest = read_newest_snapshot(files, directory);
  if (!newest) return newest.error();
  if (!*newest) return {};
  auto applied = apply_batches((*newest)->path, (*newest)->bytes, shard);
  if (applied) shard.snapshot_loaded((*newest)->end);
  return applied;
}

Result<FeatureLevels> read_bootstrap_features(io::FileSystem& files,
                                              const std::string& log_directory) {
  const std::string path = fmt::format("{}/{}", log_directory, kBootstrapFile);
  if (!files.exists(path)) return FeatureLevels();
  const auto bytes = read_file(files, path);
  if (!bytes) return bytes.error();
  MetadataShard formatted{ShardIdentity{}};
  auto applied = apply_batches(path, *bytes, formatted);
  if (!applied) return applied.error();
  return formatted.image().features().levels;
}

}  // namespace ackord::metadata
