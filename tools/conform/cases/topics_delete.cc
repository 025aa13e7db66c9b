// DeleteTopics by name and by id.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("topics.delete", "DeleteTopics");

namespace {

constexpr int32_t kTimeoutMs = 10000;

Object named(const std::string& name) { return {{"name", name}, {"topicId", kZeroId}}; }
Object with_id(const std::string& id) { return {{"name", nullptr}, {"topicId", id}}; }

// v6, which takes names and ids.
Value try_delete(Kit& kit, const json::array& topics) {
  return kit.ask("DeleteTopics", 6, {{"topics", topics}, {"timeoutMs", kTimeoutMs}})["responses"];
}

Value delete_names(Kit& kit, const json::array& names, int16_t version = 5) {
  return kit.ask("DeleteTopics", version,
                 {{"topicNames", names}, {"timeoutMs", kTimeoutMs}})["responses"];
}

void expect_there(Kit& kit, const Topic& topic) {
  describe_topic(kit, topic.name)["topicId"].is(topic.id);
}

}  // namespace

CASE(by_name, "KIP-4", .api = "DeleteTopics", .first = 1, .last = 5) {
  const Topic topic = create_topic(kit);
  const std::string unknown = kit.name("unknown");
  const Value responses = delete_names(kit, list(topic.name, unknown), kit.version());
  responses.has_size(2);
  responses.with("name", topic.name)["errorCode"].is_none();
  const Value refused = responses.with("name", unknown);
  refused["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  if (kit.version() >= 5) refused["errorMessage"].is_not_empty();
  expect_gone(kit, topic.name);
}

CASE(by_name_in_v6, "KIP-516") {
  const Topic topic = create_topic(kit);
  const Value responses = try_delete(kit, list(named(topic.name)));
  responses[0]["errorCode"].is_none();
  responses[0]["name"].is(topic.name);
  responses[0]["topicId"].is(topic.id);
  expect_gone(kit, topic.name);
}

CASE(by_id, "KIP-516") {
  const Topic topic = create_topic(kit);
  const Value responses = try_delete(kit, list(with_id(topic.id)));
  responses[0]["errorCode"].is_none();
  responses[0]["name"].is(topic.name);
  responses[0]["topicId"].is(topic.id);
  expect_gone(kit, topic.name);
}

CASE(unknown_id, "KIP-516") {
  const Value responses = try_delete(kit, list(with_id(kUnknownId)));
  responses[0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  responses[0]["name"].is_null();
  responses[0]["topicId"].is(kUnknownId);
}

CASE(unknown_name_in_v6, "KIP-516") {
  const std::string unknown = kit.name("unknown");
  const Value responses = try_delete(kit, list(named(unknown)));
  responses[0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  responses[0]["name"].is(unknown);
}

CASE(illegal_name, "KIP-4") {
  const Value responses = delete_names(kit, list("bad name!", ""));
  for (const Value& response : responses.items())
    response["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(name_and_id, "KIP-516") {
  const Topic topic = create_topic(kit);
  try_delete(kit, list(Object{{"name", topic.name}, {"topicId", topic.id}}))[0]["errorCode"].is(
      ErrorCode::INVALID_REQUEST);
  expect_there(kit, topic);
}

CASE(neither_name_nor_id, "KIP-516") {
  try_delete(kit, list(with_id(kZeroId)))[0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(name_twice, "KIP-4") {
  const Topic topic = create_topic(kit);
  const Value responses = delete_names(kit, list(topic.name, topic.name));
  responses.has_size(1);
  responses[0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
  try_delete(kit, list(named(topic.name), named(topic.name)))[0]["errorCode"].is(
      ErrorCode::INVALID_REQUEST);
  expect_there(kit, topic);
}

CASE(id_twice, "KIP-516") {
  const Topic topic = create_topic(kit);
  const Value responses = try_delete(kit, list(with_id(topic.id), with_id(topic.id)));
  responses.has_size(1);
  responses[0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
  expect_there(kit, topic);
}

CASE(its_name_and_its_id, "KIP-516") {
  const Topic topic = create_topic(kit);
  const Value responses = try_delete(kit, list(named(topic.name), with_id(topic.id)));
  responses.has_size(1);
  responses[0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
  expect_there(kit, topic);
}

CASE(names_and_ids_together, "KIP-516") {
  const Topic one = create_topic(kit);
  const Topic other = create_topic(kit);
  const Value responses = try_delete(kit, list(named(one.name), with_id(other.id)));
  responses.with("topicId", one.id)["errorCode"].is_none();
  responses.with("topicId", other.id)["errorCode"].is_none();
  expect_gone(kit, one.name);
  expect_gone(kit, other.name);
}

CASE(nothing, "KIP-4") {
  delete_names(kit, list()).has_size(0);
  try_delete(kit, list()).has_size(0);
}

CASE(twice_in_a_row, "KIP-4") {
  const Topic topic = create_topic(kit);
  delete_names(kit, list(topic.name))[0]["errorCode"].is_none();
  delete_names(kit, list(topic.name))[0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  try_delete(kit, list(with_id(topic.id)))[0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
}

CASE(a_new_topic_of_the_name_is_empty, "KIP-516") {
  const Topic topic = create_topic(kit, 1, {{"retention.ms", "1000000"}});
  produce(kit, topic, numbered(3));
  delete_topic(kit, topic);
  const Topic again = create_topic(kit, 1, {}, topic.name);
  expect_equal(end_offset(kit, again), 0, "the log's end");
  expect_config(kit, ConfigResource::kTopic, again.name, "retention.ms", "604800000");
  fetch_one(kit, {.topic = topic}, {.version = 13})["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
}

CASE(fetch_and_produce_afterwards, "KIP-4") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(1));
  delete_topic(kit, topic);
  kit.until("Produce does not know it", [&] {
    return try_produce(kit, topic, build_batch({.records = records_of({"x"})}))["errorCode"]
               .error() == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  });
  fetch_one(kit, {.topic = topic})["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

// A Fetch that waits for the topic ends with it.
CASE(parked_fetch_ends, "KIP-516") {
  const Topic topic = create_topic(kit);
  Connection& connection = kit.connect();
  const Sent parked = connection.send(
      "Fetch", 13, fetch_request({{.topic = topic}}, {.version = 13, .max_wait_ms = 3000}));
  delete_topic(kit, topic);
  connection.receive(parked)["responses"][0]["partitions"][0]["records"].is("");
}

}  // namespace ackord::conform
