#include "broker/log/continuity.h"

#include <fmt/format.h>

#include <array>

#include "broker/log/batch_scanner.h"
#include "broker/log/index_format.h"
#include "broker/log/log_names.h"
#include "protocol/record_batch/big_endian.h"

namespace ackord::log {
namespace {

Error incomplete(std::string text) {
  return error(ErrorCode::KAFKA_STORAGE_ERROR, std::move(text));
}

// Where the last batch that the offset index knows begins; 0 when there is no such entry.
Result<uint64_t> last_indexed_position(io::FileSystem& files, const Segment& segment,
                                       uint64_t log_size) {
  const std::string path = segment.path(names::kIndex);
  if (!files.exists(path)) return uint64_t{0};
  auto file = files.open(path, io::OpenMode::kRead);
  if (file.has_error()) return file.error();
  auto size = (*file)->size();
  if (size.has_error()) return size.error();
  std::array<std::byte, index_format::kOffsetEntrySize> entry;
  if (*size < entry.size()) return uint64_t{0};
  auto got = (*file)->pread(entry, *size / entry.size() * entry.size() - entry.size());
  if (got.has_error()) return got.error();
  const auto position = protocol::load_big<int32_t>(entry.data() + sizeof(int32_t));
  const bool within = position > 0 && static_cast<uint64_t>(position) < log_size;
  return within ? static_cast<uint64_t>(position) : 0;
}

// Behind the segment's last batch. An index that leads astray is no fault of the log's.
Result<Offset> end_of(io::FileSystem& files, const Segment& segment) {
  auto size = segment.file()->size();
  if (size.has_error()) return size.error();
  auto from = last_indexed_position(files, segment, *size);
  if (from.has_error()) return from.error();
  for (uint64_t position = *from;; position = 0) {
    Offset end = segment.base_offset();
    BatchScanner scan(*segment.file(), position, *size, BatchScanner::Check::kHeaders);
    while (scan.next()) end = scan.header().next_offset();
    if (scan.io_error()) return *scan.io_error();
    if (scan.failure().empty() && end >= segment.base_offset()) return end;
    if (position != 0) continue;
    return incomplete(fmt::format("{}: no valid batch at position {}, though it was durable: {}",
                                  segment.path(names::kLog), scan.position(), scan.failure()));
  }
}

}  // namespace

Result<void> check_continuity(io::FileSystem& files, const std::string& directory,
                              const PartitionLog::Contents& contents, const KnownExtent& known) {
  const auto& segments = contents.segments;
  if (contents.log_end < known.recovery_point) {
    return incomplete(fmt::format("{}: the log ends at offset {}, but was durable up to {}",
                                  segments.rbegin()->second->path(names::kLog), contents.log_end,
                                  known.recovery_point));
  }
  const Offset first = segments.begin()->first;
  if (known.log_start && *known.log_start < first) {
    return incomplete(
        fmt::format("{}: the first segment begins at offset {}, but the log at {}: "
                    "segment files are missing",
                    directory, first, *known.log_start));
  }
  if (known.compacted) return {};
  for (auto next = std::next(segments.begin()); next != segments.end(); ++next) {
    const Segment& segment = *std::prev(next)->second;
    auto end = end_of(files, segment);
    if (end.has_error()) return end.error();
    if (*end == next->first) continue;
    return incomplete(fmt::format(
        "{} ends at offset {}, but the next segment begins at {}: {}", segment.path(names::kLog),
        *end, next->first, *end < next->first ? "segment files are missing" : "segments overlap"));
  }
  return {};
}

}  // namespace ackord::log
