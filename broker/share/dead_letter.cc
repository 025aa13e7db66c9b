#include "broker/share/dead_letter.h"

#include <array>
#include <string>
#include <utility>

namespace ackord::share {
namespace {

using Bytes = std::optional<std::span<const std::byte>>;

// No varint of a record is longer; with it a record's size is bounded without encoding it.
constexpr size_t kMaxVarint = 10;

std::string_view message_of(ArchiveReason reason) {
  if (reason == ArchiveReason::kRejected) return "Offset rejected by client.";
  if (reason == ArchiveReason::kDeliveryLimit)
    return "Offset delivery count exceeded the threshold.";
  return {};
}

size_t size_of(const Bytes& bytes) { return kMaxVarint + (bytes ? bytes->size() : 0); }

size_t most_bytes(const DeadLetter& letter, std::span<const protocol::RecordHeader> headers) {
  size_t bytes = 5 * kMaxVarint + size_of(letter.key) + size_of(letter.value);
  for (const protocol::RecordHeader& header : headers)
    bytes += kMaxVarint + header.key.size() + size_of(header.value);
  return bytes;
}

}  // namespace

bool LetterBatch::add(const DeadLetter& letter) {
  const std::string partition = std::to_string(letter.partition);
  const std::string offset = std::to_string(letter.offset);
  const std::string count = std::to_string(letter.delivery_count);
  const std::string_view message = message_of(letter.reason);
  const std::array<std::pair<std::string_view, std::string_view>, 6> texts{{
      {"__dlq.errors.topic", letter.topic},
      {"__dlq.errors.partition", partition},
      {"__dlq.errors.offset", offset},
      {"__dlq.errors.group", letter.group},
      {"__dlq.errors.delivery.count", count},
      {"__dlq.errors.message", message},
  }};
  std::vector<protocol::RecordHeader> headers;
  for (const auto& [name, text] : texts) {
    if (text.data() != nullptr) headers.push_back({name, std::as_bytes(std::span(text))});
  }
  const size_t used = protocol::batch_format::kHeaderSize + builder_.records_size();
  const bool fits =
      used + most_bytes(letter, headers) <= static_cast<size_t>(std::max<int64_t>(0, max_bytes_));
  if (!fits && !empty()) return false;
  builder_.add(timestamp_, fits ? letter.key : Bytes(), fits ? letter.value : Bytes(), headers);
  return true;
}

std::vector<std::byte> LetterBatch::build() {
  std::vector<std::byte> batch = builder_.build();
  builder_ = protocol::BatchBuilder({});
  return batch;
}

}  // namespace ackord::share
