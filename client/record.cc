#include "client/record.h"

#include <algorithm>
#include <limits>

#include "protocol/record_batch/record_reader.h"

namespace ackord::client {
namespace {

std::optional<std::string> text_of(const std::optional<std::span<const std::byte>>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

const AcquiredRange* range_of(Offset offset, std::span<const AcquiredRange> acquired) {
  const auto range =
      std::find_if(acquired.begin(), acquired.end(), [offset](const AcquiredRange& candidate) {
        return candidate.first <= offset && offset <= candidate.last;
      });
  return range == acquired.end() ? nullptr : &*range;
}

ShareRecord owned_record(const protocol::Record& in, const TopicName& topic,
                         const TopicIdPartition& source, int16_t delivery_count) {
  ShareRecord out{topic,          source,          in.offset,         in.timestamp,
                  delivery_count, text_of(in.key), text_of(in.value), {}};
  for (const protocol::RecordHeader& header : in.headers) {
    out.headers.push_back({std::string(header.key), text_of(header.value)});
  }
  return out;
}

// Appends the batch's acquired records; false when it cannot be read, and then nothing is appended.
bool read_batch(const protocol::BatchHeader& header, std::span<const std::byte> batch,
                const TopicName& topic, const TopicIdPartition& source,
                std::span<const AcquiredRange> acquired, size_t limit,
                std::vector<ShareRecord>& out) {
  if (!protocol::check_batch(header, batch)) return false;
  std::vector<std::byte> buffer;
  Result<std::span<const std::byte>> plain =
      protocol::uncompressed_records(header, batch, limit, buffer);
  if (!plain) return false;
  std::vector<ShareRecord> records;
  protocol::RecordReader reader(header, *plain);
  protocol::Record record;
  while (reader.next(record)) {
    const AcquiredRange* range = range_of(record.offset, acquired);
    if (range != nullptr)
      records.push_back(owned_record(record, topic, source, range->delivery_count));
  }
  if (reader.failure()) return false;
  std::move(records.begin(), records.end(), std::back_inserter(out));
  return true;
}

}  // namespace

FetchedRecords read_records(const TopicName& topic, const TopicIdPartition& source,
                            std::span<const std::byte> bytes,
                            std::span<const AcquiredRange> acquired, size_t max_batch_size) {
  FetchedRecords fetched;
  std::vector<std::pair<Offset, Offset>> unreadable;
  Offset next_offset = 0;
  while (!bytes.empty()) {
    Result<protocol::BatchHeader> header = protocol::parse_header(bytes);
    if (!header || header->size() > bytes.size()) {
      unreadable.emplace_back(next_offset, std::numeric_limits<Offset>::max());
      break;
    }
    next_offset = header->next_offset();
    const std::span<const std::byte> batch = bytes.first(header->size());
    bytes = bytes.subspan(header->size());
    if (header->control()) continue;
    if (!read_batch(*header, batch, topic, source, acquired, max_batch_size, fetched.records)) {
      unreadable.emplace_back(header->base_offset, header->last_offset());
    }
  }
  std::stable_sort(fetched.records.begin(), fetched.records.end(),
                   [](const ShareRecord& a, const ShareRecord& b) { return a.offset < b.offset; });
  auto next = fetched.records.begin();
  for (const AcquiredRange& range : acquired) {
    for (Offset offset = range.first; offset <= range.last; ++offset) {
      while (next != fetched.records.end() && next->offset < offset) ++next;
      if (next != fetched.records.end() && next->offset == offset) continue;
      const bool corrupt = std::any_of(
          unreadable.begin(), unreadable.end(),
          [offset](const auto& batch) { return batch.first <= offset && offset <= batch.second; });
      (corrupt ? fetched.corrupt : fetched.gaps).push_back(offset);
    }
  }
  return fetched;
}

}  // namespace ackord::client
