#include "tools/conform/differential/mutate.h"

#include <algorithm>
#include <map>

#include "protocol/json/json_message.h"
#include "protocol/record_batch/big_endian.h"

namespace ackord::conform::differential {
namespace {

constexpr int kTries = 12;
constexpr size_t kLongText = 300;
constexpr size_t kUuidText = 22;
constexpr const char* kZeroId = "AAAAAAAAAAAAAAAAAAAAAA";
constexpr const char* kMetadataId = "AAAAAAAAAAAAAAAAAAAAAQ";

// Fields that not every number may be put in: it would take too long, make too much, or change what
// all topics share.
const std::map<std::string, std::vector<int64_t>, std::less<>> kNumbersOf = {
    {"maxWaitMs", {-1, 0, 200, INT32_MIN}},
    {"numPartitions", {-2, -1, 0, 1, 3, 10001, INT32_MAX, INT32_MIN}},
    {"count", {-1, 0, 1, 10001, INT32_MAX}},
    {"transactionTimeoutMs", {-1, 0, 900001, INT32_MAX, INT32_MIN}},
    {"sessionTimeoutMs", {-1, 0, 1, INT32_MAX}},
    {"rebalanceTimeoutMs", {-1, 0, 1000}},
    {"timeoutMs", {1000, 5000, INT32_MAX}},
    {"resourceType", {0, 1, 2, 3, 16, 32, 127, -1}},
    {"minBytes", {-1, 0, 1, INT32_MAX}},
};
const std::vector<int64_t> kEdges = {-1,    0,         1,         2,        -2,        5,
                                     127,   -128,      128,       255,      32767,     -32768,
                                     32768, INT32_MAX, INT32_MIN, 1L << 31, INT64_MAX, INT64_MIN};

struct Leaf {
  std::string field;
  json::value* value;
};

// All values below it, arrays and objects in arrays too.
void collect(json::value& value, const std::string& field, std::vector<Leaf>& out) {
  if (json::object* fields = value.if_object()) {
    for (auto& [name, inner] : *fields) collect(inner, std::string(name), out);
    return;
  }
  out.push_back({field, &value});
  if (json::array* items = value.if_array())
    for (json::value& item : *items) collect(item, field, out);
}

json::value other_number(Random& random, const Leaf& leaf) {
  const auto limited = kNumbersOf.find(leaf.field);
  if (limited != kNumbersOf.end()) return random.of(limited->second);
  json::error_code none;
  const auto now = leaf.value->to_number<int64_t>(none);
  if (random.one_in(3)) return now + (random.one_in(2) ? 1 : -1);
  return random.of(kEdges);
}

json::value other_records(Random& random, const std::string& base64) {
  std::vector<std::byte> raw;
  if (!protocol::parse_base64(base64, raw)) return nullptr;
  switch (random.below(5)) {
    case 0: return nullptr;
    case 1: return "";
    case 2: raw.resize(random.below(raw.size() + 1)); break;
    case 3: {
      std::vector<std::byte> twice = raw;
      raw.insert(raw.end(), twice.begin(), twice.end());
      break;
    }
    default:
      if (!raw.empty()) raw[random.below(raw.size())] ^= std::byte{1};
  }
  return bytes(raw);
}

bool is_id(const std::string& field, std::string_view text) {
  return field == "topicId" && text.size() == kUuidText;
}

// What all topics and groups of the broker need is not to be deleted or changed.
bool may_name_internal(std::string_view api) {
  return !api.starts_with("Delete") && api.find("Alter") == std::string_view::npos;
}

json::value other_text(World& world, Random& random, std::string_view api, const Leaf& leaf) {
  const std::string now(leaf.value->get_string());
  if (leaf.field == "records") return other_records(random, now);
  if (is_id(leaf.field, now)) {
    switch (random.below(4)) {
      case 0: return kZeroId;
      case 1: return kMetadataId;
      default: return json::string(world.topic(random).id);
    }
  }
  // What is legal somewhere gets a name of this story behind it: brokers remember earlier ones.
  static const std::vector<std::string> kTexts = {
      "a/b", "with space", "é", "a:b", " ", "\x01", "-1", "99999999999999999999"};
  static const std::vector<std::string> kWhole = {"", ".", ".."};
  const bool remembered = leaf.field.ends_with("ransactionalId");
  switch (random.below(5)) {
    case 0: return nullptr;
    case 1: return json::string(world.new_name(std::string(kLongText, 'x')));
    case 2: return json::string(now + "x");
    case 3:
      if (!remembered && random.one_in(2)) return json::string(random.of(kWhole));
      return json::string(random.of(kTexts) + world.new_name(""));
    default:
      if (!remembered && may_name_internal(api) && random.one_in(8)) return "__consumer_offsets";
      return json::string(world.other_name(random));
  }
}

json::value other_array(Random& random, const json::array& now) {
  json::array out = now;
  switch (random.below(5)) {
    case 0: return nullptr;
    case 1: return json::array();
    case 2: out.insert(out.end(), now.begin(), now.end()); break;
    case 3: std::ranges::reverse(out); break;
    default:
      if (!now.empty()) out.push_back(now[random.below(now.size())]);
  }
  return out;
}

json::value other(World& world, Random& random, std::string_view api, const Leaf& leaf) {
  const json::value& now = *leaf.value;
  if (now.is_bool()) return !now.get_bool();
  if (now.is_number()) return other_number(random, leaf);
  if (now.is_string()) return other_text(world, random, api, leaf);
  if (now.is_array()) return other_array(random, now.get_array());
  // A null: what it is null instead of is not known here; the encoder knows.
  return random.one_in(2) ? json::value("") : json::value(json::array());
}

bool can_encode(std::string_view api, int16_t version, const Object& request) {
  const auto* message = protocol::find_json_message(std::string(api) + "Request");
  if (message == nullptr) return false;
  protocol::Writer out;
  return message->encode(request, version, out, protocol::Missing::kDefault).has_value();
}

}  // namespace

Object mutate(World& world, Random& random, std::string_view api, int16_t version,
              const Object& request) {
  for (int tries = 0; tries < kTries; ++tries) {
    json::value changed = request;
    std::vector<Leaf> leaves;
    collect(changed, {}, leaves);
    if (leaves.empty()) break;
    Leaf& leaf = random.of(leaves);
    *leaf.value = other(world, random, api, leaf);
    if (changed.get_object() != request && can_encode(api, version, changed.get_object()))
      return changed.get_object();
  }
  return request;
}

void spoil(std::vector<std::byte>& frame, Spoil how, uint64_t at) {
  constexpr size_t kVersionAt = 2;
  constexpr size_t kCorrelationEnd = 8;
  constexpr int16_t kVersions = 25;
  if (frame.size() <= kCorrelationEnd) return;
  const size_t choice = static_cast<size_t>(at);
  switch (how) {
    case Spoil::kNot: break;
    case Spoil::kTruncated:
      frame.resize(frame.size() - 1 - choice % (frame.size() - kCorrelationEnd));
      break;
    case Spoil::kLonger: frame.resize(frame.size() + 1 + choice % 16, std::byte{0x5a}); break;
    case Spoil::kFlipped: {
      // From the end: there the frames of both brokers are alike, whatever the ids before it.
      const size_t back = 1 + choice % (frame.size() - kCorrelationEnd);
      frame[frame.size() - back] ^= static_cast<std::byte>(1u << ((choice >> 16) % 8));
      break;
    }
    case Spoil::kVersion:
      protocol::store_big(frame.data() + kVersionAt, static_cast<int16_t>(choice % kVersions));
      break;
  }
}

}  // namespace ackord::conform::differential
