// CreatePartitions: a topic grows, and never shrinks.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("topics.partitions", "CreatePartitions (KIP-195)");

namespace {

constexpr const char* kSpec = "KIP-195";

Object grown(const std::string& name, int32_t count, const json::value& assignments = nullptr) {
  return {{"name", name}, {"count", count}, {"assignments", assignments}};
}

Value create_partitions(Kit& kit, const json::array& topics, int16_t version = 3,
                        bool validate_only = false) {
  return kit.ask(
      "CreatePartitions", version,
      {{"topics", topics}, {"timeoutMs", 10000}, {"validateOnly", validate_only}})["results"];
}

void expect_refused(Kit& kit, const Object& topic, ErrorCode code) {
  const Value results = create_partitions(kit, list(topic));
  results.has_size(1);
  results[0]["errorCode"].is(code);
}

json::array assigned(const std::vector<std::vector<int32_t>>& replicas) {
  return list_of(replicas, [](const auto& brokers) {
    return Object{{"brokerIds", list_of(brokers, [](int32_t id) { return json::value(id); })}};
  });
}

}  // namespace

CASE(every_version, kSpec, .api = "CreatePartitions", .first = 0, .last = 3) {
  Topic topic = create_topic(kit);
  produce(kit, topic, numbered(2));
  const Value results = create_partitions(kit, list(grown(topic.name, 3)), kit.version());
  results[0]["name"].is(topic.name);
  results[0]["errorCode"].is_none();
  results[0]["errorMessage"].is_null();
  kit.until("three partitions", [&] { return partition_count(kit, topic.name) == 3; });
  expect_equal(end_offset(kit, topic), 2, "the end of the partition that was there");
}

CASE(new_partitions_are_usable, kSpec) {
  const Topic topic = create_topic(kit);
  create_partitions(kit, list(grown(topic.name, 2)))[0]["errorCode"].is_none();
  kit.until("the new one takes records", [&] {
    return try_produce(kit, topic, build_batch({.records = records_of({"x"})}),
                       {.partition = 1})["errorCode"]
               .error() == ErrorCode::NONE;
  });
  expect_equal(values_of(read_all(kit, topic, 1)), std::vector<std::string>{"x"}, "the records");
  describe_topic(kit, topic.name)["topicId"].is(topic.id);
}

CASE(not_more, kSpec) {
  const Topic topic = create_topic(kit, 2);
  for (const int32_t count : {2, 1, 0, -1})
    expect_refused(kit, grown(topic.name, count), ErrorCode::INVALID_PARTITIONS);
  expect_equal(partition_count(kit, topic.name), 2, "partitions");
}

CASE(too_many, "KIP-500") {
  const Topic topic = create_topic(kit);
  expect_refused(kit, grown(topic.name, 100000), ErrorCode::POLICY_VIOLATION);
}

CASE(unknown_topic, kSpec) {
  expect_refused(kit, grown(kit.name("t"), 3), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  expect_refused(kit, grown("bad name!", 3), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(topic_twice, kSpec) {
  const Topic topic = create_topic(kit);
  const Value results = create_partitions(kit, list(grown(topic.name, 2), grown(topic.name, 3)));
  results.has_size(1);
  results[0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
  expect_equal(partition_count(kit, topic.name), 1, "partitions");
}

CASE(bad_among_good, kSpec) {
  const Topic topic = create_topic(kit);
  const std::string unknown = kit.name("unknown");
  const Value results = create_partitions(kit, list(grown(unknown, 3), grown(topic.name, 3)));
  results.with("name", unknown)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  results.with("name", topic.name)["errorCode"].is_none();
  kit.until("three partitions", [&] { return partition_count(kit, topic.name) == 3; });
}

CASE(no_topics, kSpec) { create_partitions(kit, list()).has_size(0); }

CASE(validate_only, kSpec, .api = "CreatePartitions", .first = 0, .last = 3) {
  const Topic topic = create_topic(kit);
  create_partitions(kit, list(grown(topic.name, 4)), kit.version(), true)[0]["errorCode"].is_none();
  create_partitions(kit, list(grown(topic.name, 0)), kit.version(), true)[0]["errorCode"].is(
      ErrorCode::INVALID_PARTITIONS);
  expect_equal(partition_count(kit, topic.name), 1, "partitions");
}

CASE(assignment, kSpec) {
  const Topic topic = create_topic(kit);
  const int32_t node = node_id(kit);
  create_partitions(kit, list(grown(topic.name, 3, assigned({{node}, {node}}))))[0]["errorCode"]
      .is_none();
  kit.until("three partitions", [&] { return partition_count(kit, topic.name) == 3; });
}

CASE(assignment_of_another_count, kSpec) {
  const Topic topic = create_topic(kit);
  const int32_t node = node_id(kit);
  expect_refused(kit, grown(topic.name, 3, assigned({{node}})),
                 ErrorCode::INVALID_REPLICA_ASSIGNMENT);
  expect_refused(kit, grown(topic.name, 3, list()), ErrorCode::INVALID_REPLICA_ASSIGNMENT);
}

CASE(assignment_with_bad_replicas, kSpec) {
  const Topic topic = create_topic(kit);
  const int32_t node = node_id(kit);
  const std::vector<std::vector<int32_t>> bad = {{}, {node + 77}, {node, node}, {node, node + 77}};
  for (const auto& replicas : bad)
    expect_refused(kit, grown(topic.name, 2, assigned({replicas})),
                   ErrorCode::INVALID_REPLICA_ASSIGNMENT);
}

}  // namespace ackord::conform
