#include "client/staged_offsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

namespace ackord::client {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t at = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
  }
  return parts;
}

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  return failure == std::errc() && end == text.data() + text.size() && out >= 0;
}

}  // namespace

void StagedOffsets::add(const PartitionAcknowledgements& acknowledgements) {
  for (const auto& [partition, batches] : acknowledgements) {
    for (const AcknowledgementBatch& batch : batches)
      add(partitions_[partition], batch.first, batch.last);
  }
}

void StagedOffsets::add(const StagedOffsets& other) {
  overlaps_ = overlaps_ || other.overlaps_;
  for (const auto& [partition, ranges] : other.partitions_) {
    for (const auto& [first, last] : ranges) add(partitions_[partition], first, last);
  }
}

void StagedOffsets::add(Ranges& ranges, Offset first, Offset last) {
  // Those that it overlaps, or touches, become one with it.
  auto at = ranges.upper_bound(first);
  if (at != ranges.begin() && std::prev(at)->second >= first - 1) --at;
  while (at != ranges.end() && at->first - 1 <= last) {
    overlaps_ = overlaps_ || (at->first <= last && first <= at->second);
    first = std::min(first, at->first);
    last = std::max(last, at->second);
    at = ranges.erase(at);
  }
  ranges.emplace(first, last);
}

int64_t StagedOffsets::size() const {
  int64_t size = 0;
  for (const auto& [partition, ranges] : partitions_) {
    for (const auto& [first, last] : ranges) size += last - first + 1;
  }
  return size;
}

// TOPIC-ID:PARTITION:FIRST-LAST,FIRST-LAST,…;TOPIC-ID:…
Result<std::string> StagedOffsets::to_text() const {
  if (overlaps_) return error(ErrorCode::TRANSACTION_ABORTABLE, "a record was staged twice");
  std::string text;
  for (const auto& [partition, ranges] : partitions_) {
    text += fmt::format("{}{}:{}:", text.empty() ? "" : ";", partition.topic_id.to_string(),
                        partition.partition);
    for (const auto& [first, last] : ranges)
      text += fmt::format("{}{}-{}", text.back() == ':' ? "" : ",", first, last);
  }
  return text;
}

Result<StagedOffsets> StagedOffsets::from_text(std::string_view text) {
  const auto bad = [](std::string_view part) {
    return error(ErrorCode::INVALID_REQUEST, fmt::format("'{}' are no staged offsets", part));
  };
  StagedOffsets offsets;
  for (const std::string_view entry : split(text, ';')) {
    const std::vector<std::string_view> fields = split(entry, ':');
    TopicIdPartition partition;
    if (fields.size() != 3 || !Uuid::parse(fields[0], partition.topic_id) ||
        !read_number(fields[1], partition.partition))
      return bad(entry);
    Ranges& ranges = offsets.partitions_[partition];
    for (const std::string_view range : split(fields[2], ',')) {
      const std::vector<std::string_view> ends = split(range, '-');
      Offset first = 0;
      Offset last = 0;
      if (ends.size() != 2 || !read_number(ends[0], first) || !read_number(ends[1], last) ||
          last < first)
        return bad(range);
      offsets.add(ranges, first, last);
    }
  }
  if (offsets.overlaps_) return bad(text);
  return offsets;
}

}  // namespace ackord::client
