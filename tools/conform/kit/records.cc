#include "tools/conform/kit/records.h"

namespace ackord::conform {
namespace {

constexpr int32_t kTimeoutMs = 10000;
constexpr int16_t kProduceByTopicId = 13;
constexpr int16_t kFetchByTopicId = 13;
constexpr int16_t kFetchWithoutReplicaId = 15;

Connection& connection_of(Kit& kit, Connection* given) {
  return given == nullptr ? kit.first() : *given;
}

std::pair<const char*, std::string> topic_field(const Topic& topic, int16_t version,
                                                const char* name) {
  if (version >= kFetchByTopicId) return {"topicId", topic.id};
  return {name, topic.name};
}

// Partitions grouped by topic, in the order of the topics' first mention.
json::array by_topic(const std::vector<FetchPart>& parts, int16_t version,
                     json::value (*make)(const FetchPart&)) {
  json::array topics;
  std::map<std::string, size_t> places;
  for (const FetchPart& part : parts) {
    const auto [field, value] = topic_field(part.topic, version, "topic");
    const auto [place, is_new] = places.emplace(part.topic.name, topics.size());
    if (is_new) topics.emplace_back(Object{{field, value}, {"partitions", json::array()}});
    topics[place->second].at("partitions").as_array().push_back(make(part));
  }
  return topics;
}

json::value fetch_partition(const FetchPart& part) {
  return Object{{"partition", part.partition},
                {"currentLeaderEpoch", part.current_leader_epoch},
                {"fetchOffset", part.offset},
                {"partitionMaxBytes", part.max_bytes}};
}

}  // namespace

Object produce_request(const Topic& topic, const json::value& records,
                       const ProduceOptions& options) {
  Object data{{"partitionData", list(Object{{"index", options.partition}, {"records", records}})}};
  if (options.version >= kProduceByTopicId)
    data["topicId"] = topic.id;
  else
    data["name"] = topic.name;
  Object request{{"acks", options.acks}, {"timeoutMs", kTimeoutMs}, {"topicData", list(data)}};
  if (options.version >= 3) {
    request["transactionalId"] = nullptr;
    if (options.transactional_id) request["transactionalId"] = *options.transactional_id;
  }
  return request;
}

Value try_produce(Kit& kit, const Topic& topic, const std::vector<std::byte>& batch,
                  const ProduceOptions& options) {
  return connection_of(kit, options.connection)
      .ask("Produce", options.version, produce_request(topic, bytes(batch), options),
           options.limit)["responses"][0]["partitionResponses"][0];
}

int64_t produce(Kit& kit, const Topic& topic, const std::vector<std::byte>& batch,
                const ProduceOptions& options) {
  const Value answer = try_produce(kit, topic, batch, options);
  answer["errorCode"].is_none();
  return answer["baseOffset"].number();
}

int64_t produce(Kit& kit, const Topic& topic, const std::vector<std::string>& values,
                const ProduceOptions& options) {
  return produce(kit, topic, build_batch({.records = records_of(values)}), options);
}

Object fetch_request(const std::vector<FetchPart>& parts, const FetchOptions& options) {
  Object request{{"maxWaitMs", options.max_wait_ms}, {"minBytes", options.min_bytes}};
  const int16_t version = options.version;
  if (version < kFetchWithoutReplicaId) request["replicaId"] = -1;
  request["maxBytes"] = options.max_bytes;
  request["isolationLevel"] = options.isolation;
  const auto make = version >= 9 ? fetch_partition : [](const FetchPart& part) -> json::value {
    Object fields = fetch_partition(part).as_object();
    fields.erase("currentLeaderEpoch");
    return fields;
  };
  request["topics"] = by_topic(parts, version, make);
  if (version >= 7) {
    request["sessionId"] = options.session_id;
    request["sessionEpoch"] = options.session_epoch;
    request["forgottenTopicsData"] =
        by_topic(options.forgotten, version,
                 [](const FetchPart& part) -> json::value { return part.partition; });
  }
  return request;
}

Value fetch(Kit& kit, const std::vector<FetchPart>& parts, const FetchOptions& options) {
  return connection_of(kit, options.connection)
      .ask("Fetch", options.version, fetch_request(parts, options), options.limit);
}

Value fetch_one(Kit& kit, const FetchPart& part, const FetchOptions& options) {
  const Value answer = fetch(kit, {part}, options);
  if (options.version >= 7) answer["errorCode"].is_none();
  return answer["responses"][0]["partitions"][0];
}

std::vector<BatchRead> batches_of(const Value& partition) {
  const Value records = partition["records"];
  if (records.null()) return {};
  return parse_batches(records.bytes());
}

std::vector<BatchRead> read_all(Kit& kit, const Topic& topic, int32_t partition, int64_t from,
                                int8_t isolation) {
  std::vector<BatchRead> out;
  int64_t position = from;
  while (true) {
    const Value answer =
        fetch_one(kit, {.topic = topic, .partition = partition, .offset = position},
                  {.isolation = isolation});
    answer["errorCode"].is_none();
    const int64_t end = answer[isolation == 0 ? "highWatermark" : "lastStableOffset"].number();
    const int64_t before = position;
    for (BatchRead& batch : batches_of(answer)) {
      if (batch.header.last_offset() < position) continue;
      position = batch.header.next_offset();
      out.push_back(std::move(batch));
    }
    if (position >= end) return out;
    if (position == before)
      throw Failure(fmt::format("no data at offset {} although the end is {}", position, end));
  }
}

Value list_offset(Kit& kit, const Topic& topic, int64_t timestamp,
                  const ListOffsetsOptions& options) {
  Object partition{{"partitionIndex", options.partition}, {"timestamp", timestamp}};
  if (options.version >= 4) partition["currentLeaderEpoch"] = options.current_leader_epoch;
  Object request{{"replicaId", -1},
                 {"topics", list(Object{{"name", topic.name}, {"partitions", list(partition)}})}};
  if (options.version >= 2) request["isolationLevel"] = options.isolation;
  return kit.ask("ListOffsets", options.version, request)["topics"][0]["partitions"][0];
}

int64_t end_offset(Kit& kit, const Topic& topic, int32_t partition, int8_t isolation) {
  const Value answer =
      list_offset(kit, topic, kLatest, {.partition = partition, .isolation = isolation});
  answer["errorCode"].is_none();
  return answer["offset"].number();
}

}  // namespace ackord::conform
