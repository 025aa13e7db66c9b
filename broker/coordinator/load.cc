#include "broker/coordinator/load.h"

#include <fmt/format.h>

#include <utility>

#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/batch_header.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::coordinator {
namespace {

constexpr int64_t kReadBytes = 4 << 20;
// A coordinator's own batch: far above any that it writes.
constexpr size_t kMaxUncompressed = 1u << 30;

struct Place {
  const log::Partition& partition;
  Error corrupt(Offset offset, std::string_view why) const {
    return error(ErrorCode::CORRUPT_MESSAGE,
                 fmt::format("{}-{} offset {}: {}", partition.name().topic.sv(),
                             partition.name().partition, offset, why));
  }
};

Result<void> replay_batch(const Place& place, const protocol::BatchHeader& header,
                          std::span<const std::byte> bytes,
                          const std::function<Result<void>(const LoadedBatch&)>& replay) {
  // What the disk has changed must not become state.
  const auto whole = protocol::check_batch(header, bytes);
  if (!whole) return place.corrupt(header.base_offset, whole.error().message);
  LoadedBatch batch;
  batch.base_offset = header.base_offset;
  batch.timestamp_ms = header.max_timestamp;
  if (header.transactional())
    batch.transaction = log::ProducerStamp{header.producer_id, header.producer_epoch};
  std::vector<std::byte> buffer;
  const auto records = protocol::uncompressed_records(header, bytes, kMaxUncompressed, buffer);
  if (!records) return place.corrupt(header.base_offset, records.error().message);
  protocol::RecordReader reader(header, *records);
  protocol::Record record;
  while (reader.next(record)) {
    if (header.control()) {
      // Other control records (leader change, snapshot bounds) say nothing to a coordinator.
      const auto marker = protocol::parse_end_marker(record);
      if (!marker) return place.corrupt(header.base_offset, marker.error().message);
      if (*marker) {
        batch.marker = log::EndMarker{{header.producer_id, header.producer_epoch},
                                      (*marker)->commit,
                                      (*marker)->coordinator_epoch,
                                      0};
      }
      continue;
    }
    if (!record.key && !record.value) continue;
    batch.records.push_back(
        {record.offset, record.key.value_or(std::span<const std::byte>()), record.value});
  }
  if (reader.failure()) return place.corrupt(header.base_offset, reader.failure()->message);
  Result<void> done = replay(batch);
  if (!done) return place.corrupt(header.base_offset, done.error().message);
  return {};
}

}  // namespace

io::Task<Result<void>> load_partition(log::Partition& partition,
                                      std::function<Result<void>(const LoadedBatch&)> replay) {
  const Place place{partition};
  Offset next = partition.log_start_offset();
  while (next < partition.log_end_offset()) {
    auto reading = partition.read_all(next, kReadBytes);
    log::ReadResult read = co_await std::move(reading);
    if (read.error != ErrorCode::NONE) co_return place.corrupt(next, name_of(read.error));
    const std::vector<std::byte> bytes = read.records.copy();
    std::span<const std::byte> left(bytes);
    if (left.empty()) co_return place.corrupt(next, "nothing can be read");
    while (!left.empty()) {
      const auto header = protocol::parse_header(left);
      if (!header || header->size() > left.size())
        co_return place.corrupt(next, "not a record batch");
      if (header->last_offset() >= next) {
        Result<void> done = replay_batch(place, *header, left.subspan(0, header->size()), replay);
        if (!done) co_return done;
        next = header->next_offset();
      }
      left = left.subspan(header->size());
    }
  }
  co_return Result<void>();
}

}  // namespace ackord::coordinator
