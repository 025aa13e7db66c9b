#include "tools/conform/differential/symbols.h"

#include "protocol/record_batch/batch_format.h"
#include "protocol/record_batch/big_endian.h"
#include "protocol/record_batch/crc32c.h"
#include "protocol/types/ids.h"
#include "tools/conform/kit/json.h"

namespace ackord::conform::differential {
namespace {

namespace format = protocol::batch_format;

constexpr uint8_t kUuidFill = 0xd1;

template <class Map, class Key>
auto value_or_same(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? key : found->second;
}

int64_t range_of(int64_t placeholder) {
  for (const int64_t range : {kProducerIds, kSessionIds})
    if (placeholder >= range) return range;
  return kMemberEpochs;
}

uint32_t crc_of(std::span<const std::byte> batch) {
  return protocol::crc32c(batch.subspan(format::kAttributes));
}

}  // namespace

std::string Placeholders::uuid() {
  Uuid id;
  id.bytes.fill(kUuidFill);
  const int32_t number = ++used_;
  for (size_t i = 0; i < sizeof number; ++i)
    id.bytes[id.bytes.size() - 1 - i] = static_cast<uint8_t>(number >> (8 * i));
  return id.to_string();
}

void Symbols::learn(const std::string& placeholder, const std::string& real) {
  texts_[placeholder] = real;
  text_places_[real] = placeholder;
}

void Symbols::learn(int64_t placeholder, int64_t real) {
  numbers_[placeholder] = real;
  number_places_[{range_of(placeholder), real}] = placeholder;
}

std::string Symbols::placeholder(const std::string& real) const {
  return value_or_same(text_places_, real);
}

int64_t Symbols::placeholder(int64_t range, int64_t real) const {
  const auto found = number_places_.find({range, real});
  return found == number_places_.end() ? real : found->second;
}

json::value Symbols::real(const json::value& value, std::string_view field) const {
  if (const json::object* fields = value.if_object()) {
    json::object out;
    for (const auto& [name, inner] : *fields) out[name] = real(inner, name);
    return out;
  }
  if (const json::array* items = value.if_array()) {
    json::array out;
    for (const json::value& item : *items) out.push_back(real(item, field));
    return out;
  }
  if (const json::string* text = value.if_string()) {
    const std::string plain(*text);
    return json::string(field == "records" ? real_records(plain) : value_or_same(texts_, plain));
  }
  json::error_code none;
  const auto number = value.to_number<int64_t>(none);
  if (!value.is_number() || none) return value;
  return value_or_same(numbers_, number);
}

std::string Symbols::real_records(const std::string& base64) const {
  std::vector<std::byte> bytes;
  if (!protocol::parse_base64(base64, bytes) || bytes.size() < format::kHeaderSize) return base64;
  const auto id = protocol::load_big<int64_t>(bytes.data() + format::kProducerId);
  if (!numbers_.contains(id)) return base64;
  const bool sound = protocol::load_big<uint32_t>(bytes.data() + format::kCrc) == crc_of(bytes);
  protocol::store_big(bytes.data() + format::kProducerId, numbers_.at(id));
  if (sound) protocol::store_big(bytes.data() + format::kCrc, crc_of(bytes));
  return protocol::base64_of(bytes);
}

}  // namespace ackord::conform::differential
