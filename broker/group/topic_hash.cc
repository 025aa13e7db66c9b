#include "broker/group/topic_hash.h"

#include <xxhash.h>

#include <map>
#include <string_view>

namespace ackord::group {
namespace {

// Bytes as hash4j's HashStream64 takes them: numbers in little endian, a text as UTF-16 with its
// length behind it.
class Stream {
 public:
  void byte(uint8_t value) { bytes_ += static_cast<char>(value); }
  void int32(int32_t value) { little_endian(static_cast<uint32_t>(value), 4); }
  void int64(uint64_t value) { little_endian(value, 8); }
  void text(std::string_view value) {
    for (const char c : value) little_endian(static_cast<uint8_t>(c), 2);
    int32(static_cast<int32_t>(value.size()));
  }
  uint64_t hash() const { return XXH3_64bits(bytes_.data(), bytes_.size()); }

 private:
  void little_endian(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) byte(static_cast<uint8_t>(value >> (8 * i)));
  }
  std::string bytes_;
};

constexpr uint8_t kMagic = 0;

uint64_t big_endian(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

uint64_t topic_hash(const SubscribedTopic& topic, const std::optional<std::string>& rack) {
  Stream stream;
  stream.byte(kMagic);
  stream.int64(big_endian(topic.id.bytes.data()));
  stream.int64(big_endian(topic.id.bytes.data() + 8));
  stream.text(topic.name.sv());
  stream.int32(topic.partitions);
  for (int32_t partition = 0; partition < topic.partitions; ++partition) {
    stream.int32(partition);
    if (!rack) continue;
    stream.int32(static_cast<int32_t>(rack->size()));
    stream.text(*rack);
  }
  return stream.hash();
}

}  // namespace

int64_t metadata_hash(const std::vector<SubscribedTopic>& topics,
                      const std::optional<std::string>& rack) {
  if (topics.empty()) return 0;
  std::map<std::string_view, uint64_t> hashes;
  for (const SubscribedTopic& topic : topics) hashes[topic.name.sv()] = topic_hash(topic, rack);
  Stream stream;
  for (const auto& [name, hash] : hashes) stream.int64(hash);
  return static_cast<int64_t>(stream.hash());
}

}  // namespace ackord::group
