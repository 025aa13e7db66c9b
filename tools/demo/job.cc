#include "tools/demo/job.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"

namespace ackord::demo {
namespace {

constexpr uint32_t kOneIn = 50;

uint32_t crc_of(std::string_view text) {
  return protocol::crc32c(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace

bool is_rejected(int32_t partition, Offset offset) {
  std::array<std::byte, 12> place{};
  protocol::store_big(place.data(), partition);
  protocol::store_big(place.data() + 4, offset);
  return protocol::crc32c(place) % kOneIn == 0;
}

std::string output_key(std::string_view topic, int32_t partition, Offset offset) {
  return fmt::format("{}-{}/{}", topic, partition, offset);
}

std::string output_value(std::string_view number, std::string_view line) {
  std::string value = fmt::format("{}\t{:08x}\t", number, crc_of(line));
  for (const char c : line)
    value.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  return value;
}

}  // namespace ackord::demo
