#include <cstdint>

#include "broker/base/assert.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::metadata {
namespace {

// The UTF-16 units of a text, as java.lang.String.hashCode() sees it.
template <class Each>
void for_each_utf16(std::string_view text, Each each) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t point = length == 1 ? first : first & (0xffu >> (length + 1));
    for (size_t k = 1; k < length && i + k < text.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3f);
    i += length;
    if (point >= 0x10000) {
      each(0xd800 + ((point - 0x10000) >> 10));
      each(0xdc00 + ((point - 0x10000) & 0x3ff));
    } else {
      each(point);
    }
  }
}

}  // namespace

int32_t coordinator_partition(std::string_view key, int32_t partitions) {
  ACKORD_ASSERT(partitions > 0, "a state topic has partitions");
  uint32_t hash = 0;
  for_each_utf16(key, [&hash](uint32_t unit) { hash = hash * 31 + unit; });
  const auto number = static_cast<int32_t>(hash);
  const int32_t positive = number == INT32_MIN ? 0 : number < 0 ? -number : number;
  return positive % partitions;
}

}  // namespace ackord::metadata
