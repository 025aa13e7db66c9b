// OffsetForLeaderEpoch: where an epoch of the log ends, which is how clients find truncation.
#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("leader_epochs", "OffsetForLeaderEpoch (KIP-320)");

struct Asked {
  int32_t epoch = 0;
  int32_t partition = 0;
  int32_t current = -1;
  int32_t replica = -1;
};

static Value end_of(Kit& kit, const Topic& topic, const Asked& asked) {
  Object request;
  if (kit.version() >= 3) request["replicaId"] = asked.replica;
  request["topics"] = list(Object{{"topic", topic.name},
                                  {"partitions", list(Object{{"partition", asked.partition},
                                                             {"currentLeaderEpoch", asked.current},
                                                             {"leaderEpoch", asked.epoch}})}});
  const Value answer = kit.ask("OffsetForLeaderEpoch", kit.version(), request);
  answer["topics"].has_size(1);
  answer["topics"][0]["topic"].is(json::value(topic.name));
  return answer["topics"][0]["partitions"][0];
}

static void is_end(const Value& partition, int64_t epoch, int64_t offset) {
  partition["errorCode"].is_none();
  partition["leaderEpoch"].is(epoch);
  partition["endOffset"].is(offset);
}

CASE(current_epoch, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Topic topic = create_topic(kit, 2);
  produce(kit, topic, numbered(3), {.partition = 1});
  is_end(end_of(kit, topic, {.partition = 1}), 0, 3);
  produce(kit, topic, numbered(2), {.partition = 1});
  is_end(end_of(kit, topic, {.partition = 1}), 0, 5);
}

// The log has no epoch yet, or has one that ends where it began.
CASE(empty_log, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  is_end(end_of(kit, create_topic(kit), {}), 0, 0);
}

CASE(future_epoch, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  for (const int32_t epoch : {1, 9, INT32_MAX})
    is_end(end_of(kit, topic, {.epoch = epoch}), -1, -1);
}

CASE(undefined_epoch, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  is_end(end_of(kit, topic, {.epoch = -1}), -1, -1);
}

CASE(current_leader_epoch, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  is_end(end_of(kit, topic, {.current = 0}), 0, 3);
  const Value newer = end_of(kit, topic, {.current = 6});
  newer["errorCode"].is(ErrorCode::UNKNOWN_LEADER_EPOCH);
  newer["endOffset"].is(-1);
  newer["leaderEpoch"].is(-1);
}

// Consumers say -1; tools say -2.
CASE(any_consumer, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 3, .last = 4) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  for (const int32_t replica : {-1, -2}) is_end(end_of(kit, topic, {.replica = replica}), 0, 3);
}

CASE(after_deleted_records, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(5));
  delete_records(kit, topic, 5);
  is_end(end_of(kit, topic, {}), 0, 5);
}

CASE(unknown_topic, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Value partition = end_of(kit, ghost_topic(kit), {});
  partition["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  partition["endOffset"].is(-1);
}

CASE(unknown_partition, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Topic topic = create_topic(kit);
  for (const int32_t index : {7, -1}) {
    const Value partition = end_of(kit, topic, {.partition = index});
    partition["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    partition["partition"].is(index);
  }
}

CASE(no_topics, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  Object request{{"topics", list()}};
  kit.ask("OffsetForLeaderEpoch", kit.version(), request)["topics"].has_size(0);
}

CASE(several_partitions, "KIP-320", .api = "OffsetForLeaderEpoch", .first = 2, .last = 4) {
  const Topic topic = create_topic(kit, 3);
  for (const int32_t i : {0, 1, 2}) produce(kit, topic, numbered(i + 1), {.partition = i});
  const auto ask = [](int32_t partition) {
    return Object{{"partition", partition}, {"leaderEpoch", 0}};
  };
  const Value answer =
      kit.ask("OffsetForLeaderEpoch", kit.version(),
              {{"topics", list(Object{{"topic", topic.name},
                                      {"partitions", list(ask(2), ask(0), ask(9), ask(1))}})}});
  const Value partitions = answer["topics"][0]["partitions"];
  partitions.has_size(4);
  for (const int i : {0, 1, 2}) is_end(partitions.with("partition", i), 0, i + 1);
  partitions.with("partition", 9)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

}  // namespace ackord::conform
