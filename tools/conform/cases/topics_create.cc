// CreateTopics: defaults, what is refused and how; one bad topic does not spoil the others.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"

namespace ackord::conform {

AREA("topics.create", "CreateTopics");

namespace {

// A refused topic was not made, and the answer says nothing of what it would have been.
void expect_refused(Kit& kit, const Object& topic, ErrorCode code) {
  const Value answer = try_create(kit, topic);
  answer["errorCode"].is(code);
  answer["errorMessage"].is_not_empty();
  answer["topicId"].is(kZeroId);
  answer["numPartitions"].is(-1);
  answer["replicationFactor"].is(-1);
}

void expect_name_refused(Kit& kit, const std::string& name) {
  const Value answer = try_create(kit, new_topic(name), 7, true);
  answer["errorCode"].is(ErrorCode::INVALID_TOPIC_EXCEPTION);
  answer["name"].is(name);
}

void expect_config_refused(Kit& kit, const std::string& config, const std::string& value) {
  expect_refused(kit, new_topic(kit.name("t"), 1, 1, {{config, value}}), ErrorCode::INVALID_CONFIG);
}

Value led_topic(Kit& kit, const std::string& name) {
  kit.until("topic " + name + " is there",
            [&] { return describe_topic(kit, name)["errorCode"].error() == ErrorCode::NONE; });
  return describe_topic(kit, name);
}

}  // namespace

CASE(every_version, "KIP-4", .api = "CreateTopics", .first = 2, .last = 7) {
  const std::string name = kit.name("t");
  const Value answer =
      try_create(kit, new_topic(name, 3, 1, {{"retention.ms", "5000"}}), kit.version());
  answer["errorCode"].is_none();
  answer["errorMessage"].is_null();
  answer["name"].is(name);
  if (kit.version() >= 5) {
    answer["numPartitions"].is(3);
    answer["replicationFactor"].is(1);
  }
  const Value topic = led_topic(kit, name);
  topic["partitions"].has_size(3);
  if (kit.version() >= 7) answer["topicId"].is(topic["topicId"].text());
  expect_config(kit, ConfigResource::kTopic, name, "retention.ms", "5000");
}

// KIP-525: the answer has all configs, as DescribeConfigs would.
CASE(configs_in_the_answer, "KIP-525", .api = "CreateTopics", .first = 5, .last = 7) {
  const Value configs =
      try_create(kit, new_topic(kit.name("t"), 1, 1, {{"cleanup.policy", "compact"}}),
                 kit.version())["configs"];
  const Value policy = configs.with("name", "cleanup.policy");
  policy["value"].is("compact");
  policy["configSource"].is(1);
  policy["readOnly"].is(false);
  policy["isSensitive"].is(false);
  const Value retention = configs.with("name", "retention.ms");
  retention["value"].is("604800000");
  retention["configSource"].is(5);
}

CASE(configs_in_the_answer_are_those_described, "KIP-525") {
  const std::string name = kit.name("t");
  const Value answer = try_create(kit, new_topic(name));
  const auto described =
      configs_of(kit, ConfigResource::kTopic, led_topic(kit, name)["name"].text());
  answer["configs"].has_size(described.size());
  for (const auto& [config, value] : described)
    answer["configs"].with("name", config)["value"].is(json::value(value.value_or("")));
}

CASE(validate_only, "KIP-4", .api = "CreateTopics", .first = 2, .last = 7) {
  const std::string name = kit.name("t");
  const Value answer = try_create(kit, new_topic(name, 2), kit.version(), true);
  answer["errorCode"].is_none();
  if (kit.version() >= 5) {
    answer["numPartitions"].is(2);
    answer["configs"].is_not_empty();
  }
  describe_topic(kit, name)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  // The name is free.
  try_create(kit, new_topic(name))["errorCode"].is_none();
}

CASE(validate_only_refuses_too, "KIP-4") {
  try_create(kit, new_topic(kit.name("t"), 0), 7, true)["errorCode"].is(
      ErrorCode::INVALID_PARTITIONS);
  const Topic topic = create_topic(kit);
  try_create(kit, new_topic(topic.name), 7, true)["errorCode"].is(ErrorCode::TOPIC_ALREADY_EXISTS);
}

// num.partitions and default.replication.factor.
CASE(default_counts, "KIP-464", .api = "CreateTopics", .first = 4, .last = 7) {
  const auto configs = configs_of(kit, ConfigResource::kBroker, std::to_string(node_id(kit)));
  const std::string name = kit.name("t");
  const Value answer = try_create(kit, new_topic(name, -1, -1), kit.version());
  answer["errorCode"].is_none();
  const int64_t expected = std::stoll(configs.at("num.partitions").value_or("0"));
  if (kit.version() >= 5) {
    answer["numPartitions"].is(expected);
    answer["replicationFactor"].is(
        std::stoll(configs.at("default.replication.factor").value_or("0")));
  }
  led_topic(kit, name)["partitions"].has_size(static_cast<size_t>(expected));
}

CASE(replication_factor_zero, "KIP-4") {
  expect_refused(kit, new_topic(kit.name("t"), 1, 0), ErrorCode::INVALID_REPLICATION_FACTOR);
}
CASE(replication_factor_negative, "KIP-464") {
  expect_refused(kit, new_topic(kit.name("t"), 1, -2), ErrorCode::INVALID_REPLICATION_FACTOR);
}
CASE(replication_factor_above_the_brokers, "KIP-4") {
  expect_refused(kit, new_topic(kit.name("t"), 1, 1000), ErrorCode::INVALID_REPLICATION_FACTOR);
}
CASE(partitions_zero, "KIP-4") {
  expect_refused(kit, new_topic(kit.name("t"), 0), ErrorCode::INVALID_PARTITIONS);
}
CASE(partitions_negative, "KIP-464") {
  expect_refused(kit, new_topic(kit.name("t"), -2), ErrorCode::INVALID_PARTITIONS);
}
CASE(partitions_too_many, "KIP-500") {
  expect_refused(kit, new_topic(kit.name("t"), 100000), ErrorCode::POLICY_VIOLATION);
}

CASE(name_empty, "KIP-4") { expect_name_refused(kit, ""); }
CASE(name_of_dots, "KIP-4") {
  expect_name_refused(kit, ".");
  expect_name_refused(kit, "..");
}
CASE(name_with_other_characters, "KIP-4") {
  for (const char* name : {"a/b", "a b", "a:b", "\xc3\xbc", "a\n", "a,b"})
    expect_name_refused(kit, name);
}
CASE(name_too_long, "KIP-4") { expect_name_refused(kit, std::string(250, 'x')); }
CASE(name_longest, "KIP-4") {
  std::string name = kit.name("long");
  name.resize(249, 'x');
  try_create(kit, new_topic(name), 7, true)["errorCode"].is_none();
}
CASE(name_with_all_legal_characters, "KIP-4") {
  const Value answer = try_create(kit, new_topic("AZaz09._-" + kit.name("t")), 7, true);
  answer["errorCode"].is_none();
}

// Metrics cannot tell "." and "_" apart.
CASE(name_collides_with_another, "KIP-4") {
  const Topic topic = create_topic(kit, 1, {}, kit.name("a.b"));
  std::string other = topic.name;
  other[other.find('.')] = '_';
  expect_refused(kit, new_topic(other), ErrorCode::INVALID_TOPIC_EXCEPTION);
}
CASE(case_counts, "KIP-4") {
  const Topic topic = create_topic(kit, 1, {}, kit.name("a"));
  std::string other = topic.name;
  other[0] = 'C';
  try_create(kit, new_topic(other), 7, true)["errorCode"].is_none();
}

CASE(exists, "KIP-4", .api = "CreateTopics", .first = 2, .last = 7) {
  const Topic topic = create_topic(kit);
  const Value answer = try_create(kit, new_topic(topic.name, 5), kit.version());
  answer["errorCode"].is(ErrorCode::TOPIC_ALREADY_EXISTS);
  expect_equal(partition_count(kit, topic.name), 1, "its partitions");
}

CASE(name_twice, "KIP-4") {
  const Object topic = new_topic(kit.name("t"));
  const Object other = new_topic(kit.name("t"));
  const Value topics = create_topics(kit, list(topic, other, topic));
  topics.has_size(2);
  topics.with("name", topic.at("name"))["errorCode"].is(ErrorCode::INVALID_REQUEST);
  topics.with("name", other.at("name"))["errorCode"].is_none();
  describe_topic(kit, std::string(topic.at("name").as_string()))["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(bad_among_good, "KIP-4") {
  const std::string good = kit.name("t");
  const std::string wide = kit.name("t");
  const Value topics =
      create_topics(kit, list(new_topic(good), new_topic("a/b"), new_topic(wide, 1, 1000)));
  topics.has_size(3);
  topics.with("name", good)["errorCode"].is_none();
  topics.with("name", "a/b")["errorCode"].is(ErrorCode::INVALID_TOPIC_EXCEPTION);
  topics.with("name", wide)["errorCode"].is(ErrorCode::INVALID_REPLICATION_FACTOR);
  led_topic(kit, good);
}

CASE(no_topics, "KIP-4") { create_topics(kit, list()).has_size(0); }

CASE(assignment, "KIP-4", .api = "CreateTopics", .first = 2, .last = 7) {
  const int32_t node = node_id(kit);
  const std::string name = kit.name("t");
  const Value answer = try_create(kit, assigned_topic(name, {{node}, {node}}), kit.version());
  answer["errorCode"].is_none();
  if (kit.version() >= 5) {
    answer["numPartitions"].is(2);
    answer["replicationFactor"].is(1);
  }
  led_topic(kit, name)["partitions"].has_size(2);
}

CASE(assignment_beside_counts, "KIP-4") {
  const int32_t node = node_id(kit);
  for (const Object& counts : {Object{{"numPartitions", 1}}, Object{{"replicationFactor", 1}},
                               Object{{"numPartitions", 1}, {"replicationFactor", 1}}})
    expect_refused(kit, merged(assigned_topic(kit.name("t"), {{node}}), counts),
                   ErrorCode::INVALID_REQUEST);
}

CASE(assignment_with_bad_replicas, "KIP-4") {
  const int32_t node = node_id(kit);
  const std::vector<std::vector<int32_t>> bad = {{}, {node + 77}, {node, node}, {-1}};
  for (const auto& replicas : bad)
    expect_refused(kit, assigned_topic(kit.name("t"), {replicas}),
                   ErrorCode::INVALID_REPLICA_ASSIGNMENT);
}

CASE(assignment_with_bad_indexes, "KIP-4") {
  const json::array brokers = list(node_id(kit));
  const auto assignment = [&](int index) {
    return Object{{"partitionIndex", index}, {"brokerIds", brokers}};
  };
  for (const json::array& assignments : {list(assignment(1)), list(assignment(0), assignment(2)),
                                         list(assignment(-1)), list(assignment(0), assignment(0))})
    expect_refused(kit, merged(new_topic(kit.name("t"), -1, -1), {{"assignments", assignments}}),
                   ErrorCode::INVALID_REPLICA_ASSIGNMENT);
}

CASE(config_unknown, "KIP-4") { expect_config_refused(kit, "no.such.config", "1"); }
CASE(config_removed, "KIP-724") { expect_config_refused(kit, "message.format.version", "2.0"); }
CASE(config_no_number, "KIP-4") {
  for (const char* value : {"x", "", "1e3", "1.5", "0x10", "9223372036854775808"})
    expect_config_refused(kit, "retention.ms", value);
}
CASE(config_no_boolean, "KIP-4") {
  for (const char* value : {"yes", "1", ""}) expect_config_refused(kit, "preallocate", value);
}
CASE(config_out_of_range, "KIP-4") {
  expect_config_refused(kit, "retention.ms", "-2");
  expect_config_refused(kit, "min.insync.replicas", "0");
  expect_config_refused(kit, "segment.bytes", "1048575");
  expect_config_refused(kit, "min.cleanable.dirty.ratio", "1.1");
  expect_config_refused(kit, "max.message.bytes", "-1");
}
CASE(config_not_allowed, "KIP-4") {
  expect_config_refused(kit, "cleanup.policy", "keep");
  expect_config_refused(kit, "cleanup.policy", "delete,keep");
  expect_config_refused(kit, "compression.type", "zip");
  expect_config_refused(kit, "message.timestamp.type", "Now");
}
CASE(config_null, "KIP-4") {
  Object topic = new_topic(kit.name("t"));
  topic["configs"] = list(Object{{"name", "retention.ms"}, {"value", nullptr}});
  expect_refused(kit, topic, ErrorCode::INVALID_CONFIG);
}
CASE(config_remote_storage, "KIP-405") {
  const auto configs = configs_of(kit, ConfigResource::kBroker, std::to_string(node_id(kit)));
  const auto found = configs.find("remote.log.storage.system.enable");
  if (found != configs.end() && found->second == "true") throw Skip("it has remote storage");
  expect_config_refused(kit, "remote.storage.enable", "true");
}

CASE(config_texts_are_trimmed, "KIP-4") {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact,delete"}});
  expect_config(kit, ConfigResource::kTopic, topic.name, "cleanup.policy", "compact,delete");
  try_create(kit, new_topic(kit.name("t"), 1, 1, {{"preallocate", "TRUE"}}), 7, true)["errorCode"]
      .is_none();
  try_create(kit, new_topic(kit.name("t"), 1, 1, {{"retention.ms", " 7000 "}}), 7,
             true)["errorCode"]
      .is_none();
}

// More than the brokers can give is the topic's own trouble.
CASE(min_insync_above_the_replicas, "KIP-4") {
  create_topic(kit, 1, {{"min.insync.replicas", "5"}});
}

CASE(internal_name, "KIP-500") {
  expect_refused(kit, new_topic("__cluster_metadata"), ErrorCode::INVALID_REQUEST);
}

}  // namespace ackord::conform
