#include "tools/conform/differential/normalise.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <map>
#include <vector>

#include "tools/conform/kit/batches.h"
#include "tools/conform/kit/failure.h"
#include "tools/conform/kit/json.h"
#include "tools/conform/kit/show.h"

namespace ackord::conform::differential {
namespace {

constexpr int64_t kDay = 86'400'000;
constexpr const char* kZeroId = "AAAAAAAAAAAAAAAAAAAAAA";

enum class Rule : int8_t {
  kDrop,        // says nothing about behaviour
  kText,        // only whether it is null, empty or more
  kNode,        // -1 stays -1
  kId,          // the placeholder, or that it is another
  kSession,     // the same of a fetch session; 0 stays
  kTime,        // -1 stays, times of the story's records stay, others are "time"
  kSign,        // -1, 0 or more
  kSome,        // only whether it is empty
  kRecords,     // decoded
  kOurs,        // only items that name something of the story
  kSortedText,  // a list of texts in no order
};

struct FieldRule {
  const char* api;  // "": all
  const char* field;
  Rule rule;
};

constexpr FieldRule kRules[] = {
    // Quotas and times of the broker.
    {"", "throttleTimeMs", Rule::kDrop},
    {"", "transactionStartTimeMs", Rule::kTime},
    {"", "logAppendTimeMs", Rule::kTime},
    {"", "timestamp", Rule::kTime},
    {"", "lastTimestamp", Rule::kTime},
    // Texts are the broker's own.
    {"", "errorMessage", Rule::kText},
    {"", "acknowledgeErrorMessage", Rule::kText},
    {"", "batchIndexErrorMessage", Rule::kText},
    {"", "documentation", Rule::kText},
    // Who and where the brokers are.
    {"", "nodeId", Rule::kNode},
    {"", "brokerId", Rule::kNode},
    {"", "leaderId", Rule::kNode},
    {"", "controllerId", Rule::kNode},
    {"", "replicaNodes", Rule::kNode},
    {"", "isrNodes", Rule::kNode},
    {"", "host", Rule::kText},
    {"", "port", Rule::kNode},
    {"", "rack", Rule::kDrop},
    {"", "clusterId", Rule::kText},
    {"", "nodeEndpoints", Rule::kSome},
    // Ids that brokers give.
    {"", "topicId", Rule::kId},
    {"", "producerId", Rule::kId},
    {"", "ongoingTxnProducerId", Rule::kId},
    {"Fetch", "sessionId", Rule::kSession},
    {"JoinGroup", "memberId", Rule::kText},
    {"JoinGroup", "leader", Rule::kText},
    // How fast a group's epochs rise depends on when its assignments are made.
    {"ShareGroupHeartbeat", "memberEpoch", Rule::kSign},
    {"ShareGroupHeartbeat", "assignment", Rule::kDrop},
    {"ShareGroupDescribe", "memberEpoch", Rule::kSign},
    {"ShareGroupDescribe", "groupEpoch", Rule::kSign},
    {"ShareGroupDescribe", "assignmentEpoch", Rule::kSign},
    {"ConsumerGroupHeartbeat", "assignment", Rule::kDrop},
    // Each broker has its own limits.
    {"ApiVersions", "apiKeys", Rule::kSome},
    {"ApiVersions", "supportedFeatures", Rule::kDrop},
    {"ApiVersions", "finalizedFeatures", Rule::kDrop},
    {"ApiVersions", "finalizedFeaturesEpoch", Rule::kDrop},
    {"ApiVersions", "zkMigrationReady", Rule::kDrop},
    // Defaults, and what they come from, are a matter of each broker's configuration.
    {"DescribeConfigs", "synonyms", Rule::kDrop},
    {"CreateTopics", "configs", Rule::kSome},
    {"ListOffsets", "leaderEpoch", Rule::kSign},
    // Records.
    {"", "records", Rule::kRecords},
    // Lists of all that there is.
    {"Metadata", "topics", Rule::kOurs},
    {"DescribeTopicPartitions", "topics", Rule::kOurs},
    {"DescribeTopicPartitions", "nextCursor", Rule::kDrop},
    {"ListGroups", "groups", Rule::kOurs},
    {"ListTransactions", "transactionStates", Rule::kOurs},
    {"ListTransactions", "unknownStateFilters", Rule::kSortedText},
};

const FieldRule* rule_of(std::string_view api, std::string_view field) {
  const FieldRule* general = nullptr;
  for (const FieldRule& one : kRules) {
    if (field != one.field) continue;
    if (api == one.api) return &one;
    if (*one.api == '\0') general = &one;
  }
  return general;
}

class Pass {
 public:
  Pass(std::string_view api, const Normaliser& with) : api_(api), with_(with) {}

  json::value value(const json::value& from, std::string_view field) const {
    if (const FieldRule* rule = rule_of(api_, field)) {
      if (rule->rule != Rule::kOurs) return apply(rule->rule, from);
      if (from.is_array()) return array(ours(from.get_array()), field);
    }
    return inner(from, field);
  }

  json::value with_records_read(const json::value& from, std::string_view field) const {
    if (const json::object* fields = from.if_object()) {
      json::object out;
      for (const auto& [name, value] : *fields) out[name] = with_records_read(value, name);
      return out;
    }
    if (const json::array* items = from.if_array())
      return list_of(*items, [&](const json::value& i) { return with_records_read(i, field); });
    if (field != "records" || !from.is_string()) return from;
    json::value read = records(from);
    return read.is_array() ? read : from;
  }

 private:
  json::value inner(const json::value& from, std::string_view field) const {
    if (const json::object* fields = from.if_object()) return object(*fields);
    if (const json::array* items = from.if_array()) return array(*items, field);
    return from;
  }

  json::value object(const json::object& fields) const {
    json::object out;
    for (const auto& [name, from] : fields) {
      const FieldRule* rule = rule_of(api_, name);
      if (rule != nullptr && rule->rule == Rule::kDrop) continue;
      out[name] = value(from, name);
    }
    // With an error it is no id but the field's 0, which some broker has given to a producer.
    if (fields.contains("errorCode") && fields.at("errorCode") != 0 &&
        fields.contains("producerId") && fields.at("producerId") == 0)
      out["producerId"] = 0;
    if (api_ == "DescribeConfigs" && out.contains("configSource")) {
      // Not set at the topic (1) or the group (8): the rest depends on the broker.
      const json::value& source = out.at("configSource");
      if (source != 1 && source != 8) {
        if (out.at("value").is_string()) out["value"] = "inherited";
        out["configSource"] = "inherited";
      }
    }
    return out;
  }

  json::array array(const json::array& items, std::string_view field) const {
    std::vector<json::value> out;
    for (const json::value& item : items) {
      json::value normal = inner(item, {});
      if (!left_out(normal, field, items.size())) out.push_back(std::move(normal));
    }
    if (!out.empty() && out[0].is_number())
      std::ranges::sort(out, {}, [](const json::value& one) { return one.to_number<int64_t>(); });
    if (!out.empty() && out[0].is_object()) {
      join(out);
      std::ranges::sort(out, {}, [](const json::value& item) { return json::serialize(item); });
    }
    return json::array(out.begin(), out.end());
  }

  // Items that say nothing: of a list of all configs those that were not set; of a ShareFetch the
  // partitions without records, which are named or not as they were ready or not.
  bool left_out(const json::value& item, std::string_view field, size_t items) const {
    constexpr size_t kMostAskedFor = 10;
    if (api_ == "DescribeConfigs" && field == "configs" && items > kMostAskedFor)
      return item.at("configSource") == "inherited";
    if (api_ != "ShareFetch") return false;
    if (field == "responses") return item.at("partitions").as_array().empty();
    return field == "partitions" && item.at("errorCode") == 0 &&
           item.at("acknowledgeErrorCode") == 0 && item.at("acquiredRecords").as_array().empty();
  }

  // Fetch answers may name a topic once or several times.
  static void join(std::vector<json::value>& items) {
    std::map<std::string, json::value*> places;
    std::vector<json::value> kept;
    kept.reserve(items.size());
    for (json::value& item : items) {
      json::object rest = item.get_object();
      std::string list;
      int lists = 0;
      for (const auto& [name, from] : item.get_object()) {
        if (!from.is_array()) continue;
        list = name;
        ++lists;
      }
      if (lists != 1) {
        kept.push_back(item);
        continue;
      }
      rest.erase(list);
      const auto [place, is_new] = places.emplace(json::serialize(rest) + list, nullptr);
      if (is_new) {
        kept.push_back(item);
        place->second = &kept.back();
        continue;
      }
      json::array& all = place->second->at(list).as_array();
      const json::array& more = item.at(list).as_array();
      all.insert(all.end(), more.begin(), more.end());
      if (!all.empty() && all[0].is_object()) {
        std::vector<json::value> sorted(all.begin(), all.end());
        std::ranges::sort(sorted, {}, [](const json::value& one) { return json::serialize(one); });
        all = json::array(sorted.begin(), sorted.end());
      }
    }
    items = std::move(kept);
  }

  json::array ours(const json::array& items) const {
    json::array out;
    for (const json::value& item : items)
      if (json::serialize(item).find(with_.run) != std::string::npos || !names_internal(item))
        out.push_back(item);
    return out;
  }
  // Topics and groups of others. What has an error is an answer to what was asked.
  static bool names_internal(const json::value& item) {
    const json::object& fields = item.as_object();
    const json::value* error = fields.if_contains("errorCode");
    return error == nullptr || error->to_number<int64_t>() == 0;
  }

  json::value apply(Rule rule, const json::value& from) const {
    switch (rule) {
      case Rule::kText:
        if (from.is_string()) return from.get_string().empty() ? "" : "text";
        return from;
      case Rule::kNode: return node(from);
      case Rule::kId: return id(from);
      case Rule::kSession: {
        const auto id = from.to_number<int64_t>();
        if (id == 0) return from;
        if (with_.symbols.has(kSessionIds, id)) return with_.symbols.placeholder(kSessionIds, id);
        return "another";
      }
      case Rule::kTime: return time(from);
      case Rule::kSign: {
        const auto number = from.to_number<int64_t>();
        return number > 0 ? json::value("positive") : json::value(number);
      }
      case Rule::kSome:
        if (from.is_array()) return from.get_array().empty() ? "empty" : "some";
        return from;
      case Rule::kRecords: return records(from);
      case Rule::kSortedText: {
        std::vector<std::string> texts;
        for (const json::value& one : from.as_array()) texts.emplace_back(one.as_string());
        std::ranges::sort(texts);
        return list_of(texts, [](const std::string& text) { return json::string(text); });
      }
      case Rule::kDrop:
      case Rule::kOurs: break;
    }
    return from;
  }

  static json::value node(const json::value& from) {
    if (from.is_array())
      return list_of(from.get_array(), [](const json::value& one) { return node(one); });
    return from.to_number<int64_t>() < 0 ? from : json::value("node");
  }

  json::value id(const json::value& from) const {
    if (from.is_string()) {
      const std::string text(from.get_string());
      if (text == kZeroId) return "zero";
      return with_.symbols.has(text) ? json::string(with_.symbols.placeholder(text))
                                     : json::string("another");
    }
    const auto number = from.to_number<int64_t>();
    if (number >= kProducerIds) return number;  // a request's own
    if (with_.symbols.has(kProducerIds, number))
      return with_.symbols.placeholder(kProducerIds, number);
    return number < 0 ? json::value(number) : json::value("another");
  }

  json::value time(const json::value& from) const {
    const auto number = from.to_number<int64_t>();
    if (number < 0) return number;
    // Records of the story are as old as it is, at most two days to either side.
    const int64_t since = number - with_.base_time;
    if (since >= -10 && since < 1100) return json::string("base+" + std::to_string(since));
    return since > -kDay && since < kDay ? json::value("now") : json::value(number);
  }

  json::value records(const json::value& from) const {
    if (!from.is_string()) return "none";
    std::vector<std::byte> raw;
    if (!protocol::parse_base64(from.get_string(), raw)) return from;
    try {
      json::array batches;
      for (const BatchRead& batch : parse_batches(raw)) batches.push_back(of_batch(batch));
      return batches.empty() ? json::value("none") : json::value(batches);
    } catch (const Failure& failure) {
      return json::string(failure.what());
    }
  }

  json::value of_batch(const BatchRead& batch) const {
    const auto& header = batch.header;
    json::array records;
    for (const RecordRead& record : batch.records) {
      json::array headers;
      for (const auto& [key, value] : record.headers) headers.push_back(list(key, text(value)));
      Object out{{"offset", record.offset}, {"timestamp", time(record.timestamp)}};
      if (!header.control()) {
        out["key"] = text(record.key);
        out["value"] = text(record.value);
        out["headers"] = headers;
      } else {
        // The value has the coordinator's epoch.
        out["type"] = record.key && record.key->size() == 4
                          ? (*record.key)[3] == 1 ? "commit" : "abort"
                          : "?";
      }
      records.push_back(out);
    }
    return Object{{"baseOffset", header.base_offset},
                  {"lastOffsetDelta", header.last_offset_delta},
                  {"leaderEpoch", header.leader_epoch},
                  {"attributes", header.attributes},
                  {"crcOk", batch.crc_ok},
                  {"baseTimestamp", time(header.base_timestamp)},
                  {"maxTimestamp", time(header.max_timestamp)},
                  {"producerId", id(header.producer_id.value)},
                  {"producerEpoch", header.producer_epoch},
                  {"baseSequence", header.base_sequence},
                  {"records", records}};
  }

  static json::value text(const std::optional<std::string>& from) {
    return from ? json::value(json::string(*from)) : json::value(nullptr);
  }

  std::string_view api_;
  const Normaliser& with_;
};

}  // namespace

json::value normalise(std::string_view api, const json::value& answer, const Normaliser& with) {
  return Pass(api, with).value(answer, {});
}

json::value with_records_read(const json::value& request, const Normaliser& with) {
  return Pass({}, with).with_records_read(request, {});
}

std::optional<std::string> first_difference(const json::value& one, const json::value& other,
                                            const std::string& path) {
  if (one == other) return std::nullopt;
  if (one.is_object() && other.is_object()) {
    for (const auto& [name, value] : one.get_object()) {
      const json::value* there = other.get_object().if_contains(name);
      const std::string inner = path.empty() ? std::string(name) : path + "." + std::string(name);
      if (there == nullptr) return inner + ": " + show(value) + " ≠ nothing";
      if (auto found = first_difference(value, *there, inner)) return found;
    }
    for (const auto& [name, value] : other.get_object())
      if (!one.get_object().contains(name))
        return path + "." + std::string(name) + ": nothing ≠ " + show(value);
  }
  if (one.is_array() && other.is_array()) {
    const json::array& a = one.get_array();
    const json::array& b = other.get_array();
    if (a.size() != b.size())
      return path + ": " + std::to_string(a.size()) + " items ≠ " + std::to_string(b.size());
    for (size_t i = 0; i < a.size(); ++i)
      if (auto found = first_difference(a[i], b[i], path + "[" + std::to_string(i) + "]"))
        return found;
  }
  return path + ": " + show(one) + " ≠ " + show(other);
}

}  // namespace ackord::conform::differential
