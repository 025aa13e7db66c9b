// Templates of Produce, Fetch and what reads logs.
#include "tools/conform/differential/templates.h"
#include "tools/conform/kit/batches.h"

namespace ackord::conform::differential {
namespace {

constexpr int16_t kByTopicId = 13;
constexpr size_t kMostSessions = 4;
constexpr size_t kLongValue = 1500;

std::pair<const char*, std::string> topic_field(const TopicState& topic, int16_t version,
                                                const char* name) {
  if (version >= kByTopicId) return {"topicId", topic.id};
  return {name, topic.name};
}

std::vector<RecordSpec> some_records(World& world, Random& random) {
  std::vector<RecordSpec> records;
  for (size_t left = 1 + random.below(4); left > 0; --left) {
    RecordSpec record;
    record.value = random.one_in(20) ? std::string(kLongValue, 'x')
                                     : "value " + std::to_string(random.below(1000));
    if (random.one_in(2)) record.key = "key " + std::to_string(random.below(4));
    if (random.one_in(10)) record.value.reset();
    if (random.one_in(6)) record.headers = {{"h", "1"}, {"h", std::nullopt}};
    record.timestamp = world.base_time() + random.number(1000);
    records.push_back(std::move(record));
  }
  return records;
}

// One thing in the header that is not so.
void spoil(BatchSpec& batch, World& world, Random& random) {
  switch (random.below(10)) {
    case 0: batch.bad_crc = true; break;
    case 1: batch.magic = static_cast<int8_t>(random.below(4)); break;
    case 2: batch.attributes = static_cast<int16_t>(1 << random.below(8)); break;
    case 3: batch.last_offset_delta = random.number(6) - 1; break;
    case 4: batch.records_count = random.number(6) - 1; break;
    case 5: batch.base_offset = random.number(100) - 1; break;
    case 6: batch.max_timestamp = world.base_time() + (random.one_in(2) ? 86'400'000L : -5L); break;
    case 7: batch.base_timestamp = random.one_in(2) ? -1 : world.base_time() + 86'400'000L; break;
    case 8: batch.control = true; break;
    default: batch.leader_epoch = random.number(5); break;
  }
}

void give_producer(BatchSpec& batch, const ProducerState& producer, Random& random,
                   const std::string& topic, int32_t partition) {
  batch.producer_id = producer.id;
  batch.producer_epoch = producer.epoch;
  const auto next = producer.next_sequence.find({topic, partition});
  batch.base_sequence = next == producer.next_sequence.end() ? 0 : next->second;
  if (random.one_in(10)) batch.producer_epoch += static_cast<int16_t>(random.number(3) - 1);
  if (random.one_in(8))
    batch.base_sequence = std::max(0, batch.base_sequence + random.number(5) - 3);
}

json::value some_batch(World& world, Random& random, const ProducerState* producer,
                       const std::string& topic, int32_t partition) {
  BatchSpec batch{.records = some_records(world, random)};
  if (random.one_in(4)) batch.codec = static_cast<Codec>(random.below(5));
  if (producer != nullptr) {
    give_producer(batch, *producer, random, topic, partition);
    batch.transactional = !producer->transactional_id.empty();
  }
  if (random.one_in(10)) spoil(batch, world, random);
  return bytes(build_batch(batch));
}

Object produce(World& world, Random& random, int16_t version) {
  ProducerState producer;
  const bool has_producer = random.one_in(2);
  if (has_producer) producer = world.producer(random, random.one_in(2));
  const bool transactional = has_producer && !producer.transactional_id.empty();
  const auto topic_data = [&] {
    const TopicState topic = world.topic(random);
    const auto [field, value] = topic_field(topic, version, "name");
    const int32_t partition = some_partition(random, topic);
    return Object{
        {field, value},
        {"partitionData",
         list(Object{{"index", partition},
                     {"records", some_batch(world, random, has_producer ? &producer : nullptr,
                                            topic.name, partition)}})}};
  };
  return Body(version)
      .field("transactionalId",
             transactional ? json::value(producer.transactional_id) : json::value(nullptr))
      .field("acks", random.one_in(20) ? 0 : (random.one_in(5) ? 1 : -1))
      .field("timeoutMs", 5000)
      .field("topicData", random.one_in(6) ? some(random, topic_data) : list(topic_data()))
      .take();
}

const json::value& topic_of(const json::object& part) {
  return part.contains("name") ? part.at("name") : part.at("topicId");
}

bool took(const json::object& answer, const json::value& topic, int64_t index) {
  for (const json::value& one : answer.at("responses").as_array()) {
    if (topic_of(one.as_object()) != topic) continue;
    for (const json::value& partition : one.at("partitionResponses").as_array())
      if (partition.at("index").as_int64() == index)
        return partition.at("errorCode").as_int64() == 0;
  }
  return false;
}

// The sequences that were taken.
void produced(World& world, const Answered& answered) {
  for (const json::value& topic : answered.request.at("topicData").as_array()) {
    const json::value& name = topic_of(topic.as_object());
    const TopicState* known = world.find_topic(std::string(name.as_string()));
    if (known == nullptr) continue;
    for (const json::value& partition : topic.at("partitionData").as_array()) {
      const int64_t index = partition.at("index").as_int64();
      std::vector<std::byte> raw;
      if (!took(answered.answer, name, index) || !partition.at("records").is_string() ||
          !protocol::parse_base64(partition.at("records").as_string(), raw))
        continue;
      const auto header = protocol::parse_header(raw);
      if (!header || !header->has_producer()) continue;
      ProducerState* producer = world.find_producer(header->producer_id.value);
      if (producer == nullptr || producer->epoch != header->producer_epoch) continue;
      int32_t& next = producer->next_sequence[{known->name, static_cast<int32_t>(index)}];
      next = std::max(next, header->base_sequence + header->records_count);
    }
  }
}

Object fetch(World& world, Random& random, int16_t version) {
  int64_t session = 0;
  int32_t epoch = -1;
  if (version >= 7 && random.one_in(2)) {
    epoch = 0;
    if (!world.sessions.empty() && !random.one_in(4)) {
      const FetchSessionState& known = random.of(world.sessions);
      session = known.id;
      epoch = known.next_epoch + (random.one_in(15) ? random.number(3) - 1 : 0);
    }
  }
  const auto partition = [&](const TopicState& topic) {
    return Body(version)
        .field("partition", some_partition(random, topic))
        .field("fetchOffset",
               random.number(random.one_in(3) ? 30 : 3) - (random.one_in(20) ? 1 : 0))
        .field("partitionMaxBytes", random.one_in(4) ? random.number(400) : 1 << 20)
        .since(5, "logStartOffset", -1)
        .since(9, "currentLeaderEpoch", random.one_in(4) ? random.number(2) : -1)
        .since(12, "lastFetchedEpoch", -1)
        .take();
  };
  const auto topic = [&] {
    const TopicState one = world.topic(random);
    const auto [field, value] = topic_field(one, version, "topic");
    return Object{{field, value}, {"partitions", list(partition(one))}};
  };
  json::array forgotten;
  if (session != 0 && random.one_in(4)) {
    const TopicState one = world.topic(random);
    const auto [field, value] = topic_field(one, version, "topic");
    forgotten.push_back(Object{{field, value}, {"partitions", list(0)}});
  }
  return Body(version)
      .until(14, "replicaId", -1)
      .field("maxWaitMs", random.one_in(8) ? 60 : 0)
      .field("minBytes", random.number(3))
      .field("maxBytes", random.one_in(4) ? random.number(500) : 1 << 20)
      .field("isolationLevel", random.number(2))
      .since(7, "sessionId", session)
      .since(7, "sessionEpoch", epoch)
      .field("topics", session != 0 && random.one_in(2) ? json::array() : some(random, topic))
      .since(7, "forgottenTopicsData", forgotten)
      .since(11, "rackId", "")
      .take();
}

void fetched(World& world, const Answered& answered) {
  const json::value* id = answered.request.if_contains("sessionId");
  if (id == nullptr || answered.answer.at("errorCode").as_int64() != 0) return;
  const int64_t epoch = answered.request.at("sessionEpoch").as_int64();
  if (FetchSessionState* session = world.find_session(id->as_int64())) {
    if (epoch > 0) session->next_epoch = static_cast<int32_t>(epoch) + 1;
    // It was ended, or another one took its place.
    if (epoch <= 0)
      std::erase_if(world.sessions, [&](const auto& s) { return s.id == id->as_int64(); });
  }
  const int64_t first = answered.first.at("sessionId").as_int64();
  const int64_t second = answered.second.at("sessionId").as_int64();
  if (epoch != 0 || first == 0 || second == 0) return;
  if (world.sessions.size() >= kMostSessions) world.sessions.erase(world.sessions.begin());
  const int64_t place = world.placeholders().number(kSessionIds);
  answered.first_symbols.learn(place, first);
  answered.second_symbols.learn(place, second);
  world.sessions.push_back({place, 1});
}

Object list_offsets(World& world, Random& random, int16_t version) {
  const auto timestamp = [&]() -> int64_t {
    if (random.one_in(3)) return world.base_time() + random.number(1100);
    return -1 - random.number(7);
  };
  const auto topic = [&] {
    const TopicState one = world.topic(random);
    const auto partition = [&] {
      return Body(version)
          .field("partitionIndex", some_partition(random, one))
          .since(4, "currentLeaderEpoch", random.one_in(4) ? random.number(2) : -1)
          .field("timestamp", timestamp())
          .take();
    };
    return Object{{"name", one.name}, {"partitions", some(random, partition)}};
  };
  return Body(version)
      .field("replicaId", -1)
      .since(2, "isolationLevel", random.number(2))
      .field("topics", some(random, topic))
      .since(10, "timeoutMs", 1000)
      .take();
}

Object delete_records(World& world, Random& random, int16_t) {
  const TopicState topic = world.topic(random);
  return {{"topics",
           list(Object{{"name", topic.name},
                       {"partitions", list(Object{{"partitionIndex", some_partition(random, topic)},
                                                  {"offset", random.number(8) - 1}})}})},
          {"timeoutMs", 5000}};
}

Object offset_for_leader_epoch(World& world, Random& random, int16_t version) {
  const TopicState topic = world.topic(random);
  return Body(version)
      .since(3, "replicaId", random.one_in(3) ? -2 : -1)
      .field("topics",
             list(Object{{"topic", topic.name},
                         {"partitions", list(Object{{"partition", some_partition(random, topic)},
                                                    {"currentLeaderEpoch", random.number(3) - 1},
                                                    {"leaderEpoch", random.number(3) - 1}})}}))
      .take();
}

Object describe_producers(World& world, Random& random, int16_t) {
  const TopicState topic = world.topic(random);
  return {{"topics", list(Object{{"name", topic.name},
                                 {"partitionIndexes", list(some_partition(random, topic))}})}};
}

}  // namespace

std::vector<Template> record_templates() {
  return {
      {"Produce", 14, false, produce, produced},
      {"Fetch", 10, false, fetch, fetched},
      {"ListOffsets", 6, true, list_offsets},
      {"DeleteRecords", 2, false, delete_records},
      {"OffsetForLeaderEpoch", 3, true, offset_for_leader_epoch},
      {"DescribeProducers", 3, true, describe_producers},
  };
}

}  // namespace ackord::conform::differential
