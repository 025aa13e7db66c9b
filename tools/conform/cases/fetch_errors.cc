// Fetches that cannot be served: per partition, and the others are not touched.
#include <map>

#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("fetch.errors", "Errors of Fetch");

// Nothing of the log is in an answer that has an error.
static void is_error(const Value& partition, ErrorCode error) {
  partition["errorCode"].is(error);
  expect_equal(batches_of(partition).size(), size_t{0}, "how many batches");
}

CASE(unknown_topic, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 12) {
  const Topic ghost = ghost_topic(kit);
  const Value answer = fetch(kit, {{.topic = ghost}}, {.version = kit.version()});
  answer["responses"][0]["topic"].is(json::value(ghost.name));
  const Value partition = answer["responses"][0]["partitions"][0];
  is_error(partition, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  partition["highWatermark"].is(-1);
  partition["lastStableOffset"].is(-1);
  if (kit.version() >= 5) partition["logStartOffset"].is(-1);
}

CASE(unknown_topic_id, "KIP-516", .api = "Fetch", .first = 13, .last = 18) {
  const Topic ghost = ghost_topic(kit);
  const Value answer = fetch(kit, {{.topic = ghost}}, {.version = kit.version()});
  answer["errorCode"].is_none();
  answer["responses"][0]["topicId"].is(json::value(ghost.id));
  const Value partition = answer["responses"][0]["partitions"][0];
  is_error(partition, ErrorCode::UNKNOWN_TOPIC_ID);
  partition["highWatermark"].is(-1);
}

CASE(zero_topic_id, "KIP-516", .api = "Fetch", .first = 13, .last = 18) {
  const Topic zero{"", "AAAAAAAAAAAAAAAAAAAAAA", 1};
  is_error(fetch_one(kit, {.topic = zero}, {.version = kit.version()}),
           ErrorCode::UNKNOWN_TOPIC_ID);
}

CASE(unknown_partition, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  for (const int32_t partition : {1, 1000000, -1}) {
    const Value part =
        fetch_one(kit, {.topic = topic, .partition = partition}, {.version = kit.version()});
    part["partitionIndex"].is(partition);
    is_error(part, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
}

CASE(above_the_end, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  for (const int64_t offset : {int64_t{4}, int64_t{1000}, INT64_MAX}) {
    is_error(fetch_one(kit, {.topic = topic, .offset = offset}, {.version = kit.version()}),
             ErrorCode::OFFSET_OUT_OF_RANGE);
  }
}

CASE(negative_offset, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  for (const int64_t offset : {int64_t{-1}, int64_t{-2}, INT64_MIN}) {
    is_error(fetch_one(kit, {.topic = topic, .offset = offset}, {.version = kit.version()}),
             ErrorCode::OFFSET_OUT_OF_RANGE);
  }
}

CASE(below_the_start, "KIP-107", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 4; ++i) produce(kit, topic, {"x"});
  delete_records(kit, topic, 2);
  is_error(fetch_one(kit, {.topic = topic, .offset = 1}, {.version = kit.version()}),
           ErrorCode::OFFSET_OUT_OF_RANGE);
  const Value good = fetch_one(kit, {.topic = topic, .offset = 2}, {.version = kit.version()});
  good["errorCode"].is_none();
  expect_equal(offsets_of(batches_of(good)), std::vector<int64_t>{2, 3}, "the offsets");
}

// What an answer says of the log beside OFFSET_OUT_OF_RANGE.
CASE(out_of_range_tells_nothing, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  const Value partition = fetch_one(kit, {.topic = topic, .offset = 9});
  is_error(partition, ErrorCode::OFFSET_OUT_OF_RANGE);
  partition["highWatermark"].is(-1);
  partition["lastStableOffset"].is(-1);
  partition["logStartOffset"].is(-1);
}

// Kafka from version 13 on may name a topic twice in the answer.
CASE(others_are_served, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit, 2);
  for (const int32_t i : {0, 1}) produce(kit, topic, {"x"}, {.partition = i});
  const Value answer = fetch(kit,
                             {{.topic = topic, .offset = 9},
                              {.topic = topic, .partition = 1},
                              {.topic = topic, .partition = 5},
                              {.topic = ghost_topic(kit), .partition = 2}},
                             {.version = kit.version()});
  std::map<int64_t, Value> parts;
  for (const Value& of_topic : answer["responses"].items())
    for (const Value& part : of_topic["partitions"].items())
      parts.emplace(part["partitionIndex"].number(), part);
  expect_equal(parts.size(), size_t{4}, "how many partitions");
  is_error(parts.at(0), ErrorCode::OFFSET_OUT_OF_RANGE);
  is_error(parts.at(2), kit.version() >= 13 ? ErrorCode::UNKNOWN_TOPIC_ID
                                            : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  is_error(parts.at(5), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  parts.at(1)["errorCode"].is_none();
  expect_equal(values_of(batches_of(parts.at(1))), std::vector<std::string>{"x"}, "the values");
}

CASE(right_leader_epoch, "KIP-320", .api = "Fetch", .first = 9, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"x"});
  const auto epoch = static_cast<int32_t>(
      describe_topic(kit, topic.name)["partitions"][0]["leaderEpoch"].number());
  for (const int32_t current : {epoch, -1}) {
    const Value part = fetch_one(kit, {.topic = topic, .current_leader_epoch = current},
                                 {.version = kit.version()});
    part["errorCode"].is_none();
    expect_equal(values_of(batches_of(part)), std::vector<std::string>{"x"}, "the values");
  }
}

// Not only -1 says nothing.
CASE(negative_leader_epoch, "KIP-320") {
  const Topic topic = create_topic(kit);
  for (const int32_t current : {-2, INT32_MIN})
    fetch_one(kit, {.topic = topic, .current_leader_epoch = current})["errorCode"].is_none();
}

CASE(newer_leader_epoch, "KIP-320", .api = "Fetch", .first = 9, .last = 18) {
  const Topic topic = create_topic(kit);
  for (const int32_t current : {1000, INT32_MAX}) {
    is_error(fetch_one(kit, {.topic = topic, .current_leader_epoch = current},
                       {.version = kit.version()}),
             ErrorCode::UNKNOWN_LEADER_EPOCH);
  }
}

static Value fetch_after(Kit& kit, const Topic& topic, int64_t offset, int32_t last_epoch) {
  Object request = fetch_request({{.topic = topic, .offset = offset}}, {.version = kit.version()});
  request["topics"].at(0).at("partitions").at(0).as_object()["lastFetchedEpoch"] = last_epoch;
  return kit.ask("Fetch", kit.version(), request)["responses"][0]["partitions"][0];
}

CASE(last_fetched_epoch, "KIP-595", .api = "Fetch", .first = 12, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  const Value partition = fetch_after(kit, topic, 2, 0);
  partition["errorCode"].is_none();
  expect_equal(batches_of(partition).size(), size_t{1}, "how many batches");
  if (partition.has("divergingEpoch")) partition["divergingEpoch"]["epoch"].is(-1);
}

CASE(same_partition_twice, "Kafka protocol guide, Fetch") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  const Value answer = fetch(kit, {{.topic = topic}, {.topic = topic, .offset = 3}});
  for (const Value& part : answer["responses"][0]["partitions"].items())
    part["errorCode"].is_none();
}

CASE(bad_names, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4, .last = 12) {
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a/b"),
                                  std::string("."), std::string(250, 'x')}) {
    is_error(fetch_one(kit, {.topic = {name, "", 1}}, {.version = kit.version()}),
             ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
}

// The log is shorter than what the reader has read in that epoch: it is told where they part.
CASE(diverging_epoch, "KIP-595", .api = "Fetch", .first = 12, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  const Value partition = fetch_after(kit, topic, 9, 0);
  is_error(partition, ErrorCode::NONE);
  partition["divergingEpoch"]["epoch"].is(0);
  partition["divergingEpoch"]["endOffset"].is(3);
}

CASE(last_fetched_epoch_of_the_future, "KIP-595", .api = "Fetch", .first = 12, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  is_error(fetch_after(kit, topic, 2, 3), ErrorCode::OFFSET_OUT_OF_RANGE);
}

// Who says that it is a replica, and is none, is sent away; from version 16 on with the leader.
CASE(no_replica, "Kafka protocol guide, Fetch; KIP-951", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  Object request = fetch_request({{.topic = topic}}, {.version = kit.version()});
  if (kit.version() < 15)
    request["replicaId"] = 4711;
  else
    request["replicaState"] = Object{{"replicaId", 4711}, {"replicaEpoch", -1}};
  const Value answer = kit.ask("Fetch", kit.version(), request);
  const Value partition = answer["responses"][0]["partitions"][0];
  is_error(partition, ErrorCode::NOT_LEADER_OR_FOLLOWER);
  if (kit.version() < 16) return;
  const Value leader = describe_topic(kit, topic.name)["partitions"][0];
  partition["currentLeader"]["leaderId"].is(leader["leaderId"].json());
  partition["currentLeader"]["leaderEpoch"].is(leader["leaderEpoch"].json());
}

}  // namespace ackord::conform
