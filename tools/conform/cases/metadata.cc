// Metadata: null and empty, names and ids, what creates a topic and what must not.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/coordinators.h"

namespace ackord::conform {

AREA("metadata", "Metadata");

namespace {

// Describe, Alter and so on, as bits, without an authorizer.
constexpr int64_t kTopicOperations = 3576;
constexpr int64_t kClusterOperations = 8096;

// Versions before 4 cannot say that nothing is to be created.
Object by_name(Kit& kit, const std::string& name, bool create = false) {
  Object body{{"topics", list(Object{{"name", name}})}};
  if (kit.version() >= 4) body["allowAutoTopicCreation"] = create;
  return body;
}
Object by_id(const std::string& id) {
  return {{"topics", list(Object{{"name", nullptr}, {"topicId", id}})}};
}

Value ask_for(Kit& kit, const std::string& name) {
  return kit.ask("Metadata", kit.version(), by_name(kit, name))["topics"][0];
}

void needs_auto_create(Kit& kit) {
  const auto configs = configs_of(kit, ConfigResource::kBroker, std::to_string(node_id(kit)));
  const auto found = configs.find("auto.create.topics.enable");
  if (found == configs.end() || found->second != "true")
    throw Skip("auto.create.topics.enable is not true");
}

void expect_nothing(const Value& topic) {
  topic["partitions"].has_size(0);
  if (topic.has("topicId")) topic["topicId"].is(kZeroId);
}

}  // namespace

CASE(brokers_and_cluster, "Kafka protocol guide, Metadata", .api = "Metadata", .first = 0,
     .last = 13) {
  const int16_t version = kit.version();
  const Value answer = kit.ask("Metadata", version, {{"topics", list(Object{{"name", "a b"}})}});
  answer["brokers"].has_size(1);
  const Value broker = answer["brokers"][0];
  broker["nodeId"].is_between(0, INT32_MAX);
  broker["host"].is_not_empty();
  broker["port"].is(kit.broker().endpoint().port);
  if (version >= 1) {
    broker["rack"].is_null();
    answer["controllerId"].is(broker["nodeId"].json());
  }
  if (version >= 2) answer["clusterId"].is_not_empty();
  if (version >= 3) answer["throttleTimeMs"].is(0);
  if (version >= 8 && version <= 10) answer["clusterAuthorizedOperations"].is(kNoOperations);
  if (version >= 13) answer["errorCode"].is_none();
}

CASE(one_topic, "Kafka protocol guide, Metadata", .api = "Metadata", .first = 0, .last = 13) {
  const int16_t version = kit.version();
  const Topic topic = create_topic(kit, 2);
  const Value answer = kit.ask("Metadata", version, by_name(kit, topic.name));
  answer["topics"].has_size(1);
  const Value found = answer["topics"][0];
  found["errorCode"].is_none();
  found["name"].is(topic.name);
  if (version >= 1) found["isInternal"].is(false);
  if (version >= 8) found["topicAuthorizedOperations"].is(kNoOperations);
  if (version >= 10) found["topicId"].is(topic.id);
  found["partitions"].has_size(2);
  const json::value node(node_id(kit));
  for (int index = 0; index < 2; ++index) {
    const Value partition = found["partitions"].with("partitionIndex", index);
    partition["errorCode"].is_none();
    partition["leaderId"].is(node);
    partition["replicaNodes"].is(list(node));
    partition["isrNodes"].is(list(node));
    if (version >= 5) partition["offlineReplicas"].has_size(0);
    if (version >= 7) partition["leaderEpoch"].is(0);
  }
}

// An empty list is "all" in v0 only; from v1 on it is "none".
CASE(empty_list, "KIP-4", .api = "Metadata", .first = 0, .last = 13) {
  const Topic topic = create_topic(kit);
  const Value answer = kit.ask("Metadata", kit.version(), {{"topics", list()}});
  answer["brokers"].is_not_empty();
  if (kit.version() == 0) answer["topics"].with("name", topic.name)["errorCode"].is_none();
  if (kit.version() > 0) answer["topics"].has_size(0);
}

CASE(null_is_all, "KIP-4", .api = "Metadata", .first = 1, .last = 13) {
  const Topic topic = create_topic(kit);
  const Value answer = kit.ask("Metadata", kit.version(), {{"topics", nullptr}});
  const Value found = answer["topics"].with("name", topic.name);
  found["errorCode"].is_none();
  found["partitions"].has_size(1);
}

CASE(unknown_name, "KIP-204", .api = "Metadata", .first = 4, .last = 13) {
  const std::string name = kit.name("unknown");
  for (int i = 0; i < 2; ++i) {
    const Value topic = ask_for(kit, name);
    topic["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    topic["name"].is(name);
    expect_nothing(topic);
  }
}

// The topic is not there in the answer that creates it; a client asks again.
CASE(auto_create, "auto.create.topics.enable", .api = "Metadata", .first = 0, .last = 13) {
  needs_auto_create(kit);
  const std::string name = kit.name("auto");
  kit.forget_later(name);
  const Value first = kit.ask("Metadata", kit.version(), by_name(kit, name, true))["topics"][0];
  first["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  expect_nothing(first);
  kit.until("the topic is there", [&] {
    const Value topic = describe_topic(kit, name);
    return topic["errorCode"].error() == ErrorCode::NONE &&
           topic["partitions"][0]["leaderId"].number() >= 0;
  });
}

CASE(all_topics_create_nothing, "auto.create.topics.enable") {
  const Value before =
      kit.ask("Metadata", 9, {{"topics", nullptr}, {"allowAutoTopicCreation", true}});
  for (const Value& topic : before["topics"].items()) topic["errorCode"].is_none();
}

CASE(illegal_names, "Kafka protocol guide, Metadata", .api = "Metadata", .first = 0, .last = 13) {
  for (const std::string& name : {std::string("bad name!"), std::string(), std::string("."),
                                  std::string(".."), std::string("a/b"), std::string(250, 'x')}) {
    const Value topic = ask_for(kit, name);
    topic["errorCode"].is(ErrorCode::INVALID_TOPIC_EXCEPTION);
    topic["name"].is(name);
    expect_nothing(topic);
  }
}

CASE(longest_name, "Kafka protocol guide, Metadata") {
  std::string name = kit.name("long");
  name.resize(249, 'x');
  describe_topic(kit, name)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

// Never more than once in the answer.
CASE(name_twice, "Kafka protocol guide, Metadata", .api = "Metadata", .first = 0, .last = 13) {
  const Topic topic = create_topic(kit);
  const Object asked{{"name", topic.name}};
  const Value answer = kit.ask("Metadata", kit.version(), {{"topics", list(asked, asked)}});
  answer["topics"].has_size(1);
  answer["topics"][0]["errorCode"].is_none();
}

CASE(one_bad_name_among_good, "Kafka protocol guide, Metadata") {
  const Topic topic = create_topic(kit);
  const std::string unknown = kit.name("unknown");
  const Value topics =
      kit.ask("Metadata", 12,
              {{"topics", list(Object{{"name", "bad name!"}}, Object{{"name", unknown}},
                               Object{{"name", topic.name}})},
               {"allowAutoTopicCreation", false}})["topics"];
  topics.has_size(3);
  topics.with("name", topic.name)["errorCode"].is_none();
  topics.with("name", unknown)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  topics.with("name", "bad name!")["errorCode"].is(ErrorCode::INVALID_TOPIC_EXCEPTION);
}

// The fields of ids are there from v10 on, but may be used only from v12 on.
CASE(ids_before_they_count, "KIP-516", .api = "Metadata", .first = 10, .last = 11) {
  const Topic topic = create_topic(kit);
  for (const Object& asked :
       {Object{{"name", nullptr}, {"topicId", topic.id}},
        Object{{"name", nullptr}, {"topicId", kUnknownId}},
        Object{{"name", topic.name}, {"topicId", topic.id}}, Object{{"name", nullptr}}}) {
    const Value answer = kit.ask("Metadata", kit.version(), {{"topics", list(asked)}});
    answer["topics"].has_size(1);
    answer["topics"][0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
    answer["topics"][0]["partitions"].has_size(0);
  }
}

CASE(known_id, "KIP-516", .api = "Metadata", .first = 12, .last = 13) {
  const Topic topic = create_topic(kit, 2);
  const Value found = kit.ask("Metadata", kit.version(), by_id(topic.id))["topics"][0];
  found["errorCode"].is_none();
  found["name"].is(topic.name);
  found["topicId"].is(topic.id);
  found["partitions"].has_size(2);
}

CASE(unknown_id, "KIP-516", .api = "Metadata", .first = 12, .last = 13) {
  const Value found = kit.ask("Metadata", kit.version(), by_id(kUnknownId))["topics"][0];
  found["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  found["name"].is_null();
  found["topicId"].is(kUnknownId);
  found["partitions"].has_size(0);
}

// The id counts; the name beside it is not looked at.
CASE(name_and_id, "KIP-516", .api = "Metadata", .first = 12, .last = 13) {
  const Topic topic = create_topic(kit);
  const auto ask = [&](const std::string& id) {
    return kit.ask("Metadata", kit.version(),
                   {{"topics", list(Object{{"name", topic.name}, {"topicId", id}})},
                    {"allowAutoTopicCreation", false}})["topics"][0];
  };
  ask(topic.id)["errorCode"].is_none();
  ask(kUnknownId)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
}

// Kafka answers UNKNOWN_SERVER_ERROR; INVALID_REQUEST says more.
CASE(neither_name_nor_id, "KIP-516", .api = "Metadata", .first = 12, .last = 13) {
  const Value answer =
      kit.ask("Metadata", kit.version(), {{"topics", list(Object{{"name", nullptr}})}});
  answer["topics"][0]["errorCode"].is_one_of(
      {ErrorCode::UNKNOWN_SERVER_ERROR, ErrorCode::INVALID_REQUEST});
}

CASE(several_ids, "KIP-516", .api = "Metadata", .first = 12, .last = 13) {
  const Topic topic = create_topic(kit);
  const Object known{{"name", nullptr}, {"topicId", topic.id}};
  const Object unknown{{"name", nullptr}, {"topicId", kUnknownId}};
  const Value topics =
      kit.ask("Metadata", kit.version(), {{"topics", list(known, unknown, known)}})["topics"];
  topics.has_size(2);
  topics.with("topicId", topic.id)["errorCode"].is_none();
  topics.with("topicId", kUnknownId)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
}

CASE(id_of_a_deleted_topic, "KIP-516") {
  const Topic topic = create_topic(kit);
  delete_topic(kit, topic);
  const Topic again = create_topic(kit, 1, {}, topic.name);
  expect(again.id != topic.id, "a topic that is made again has another id");
  kit.ask("Metadata", 12, by_id(topic.id))["topics"][0]["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_ID);
}

CASE(authorized_operations_of_a_topic, "KIP-430", .api = "Metadata", .first = 8, .last = 13) {
  const Topic topic = create_topic(kit);
  const Value answer =
      kit.ask("Metadata", kit.version(),
              merged(by_name(kit, topic.name), {{"includeTopicAuthorizedOperations", true}}));
  answer["topics"][0]["topicAuthorizedOperations"].is(kTopicOperations);
}

CASE(authorized_operations_of_the_cluster, "KIP-430", .api = "Metadata", .first = 8, .last = 10) {
  const Value answer = kit.ask("Metadata", kit.version(),
                               {{"topics", list()}, {"includeClusterAuthorizedOperations", true}});
  answer["clusterAuthorizedOperations"].is(kClusterOperations);
}

CASE(internal_topics_are_marked, "Kafka protocol guide, Metadata") {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("g"));
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, kit.name("txn"));
  for (const char* name : {"__consumer_offsets", "__transaction_state"}) {
    const Value topic = describe_topic(kit, name);
    topic["errorCode"].is_none();
    topic["isInternal"].is(true);
    topic["partitions"].has_size(50);
  }
}

CASE(ids_are_not_shared, "KIP-516") {
  const Topic one = create_topic(kit);
  const Topic other = create_topic(kit);
  expect(one.id != other.id && one.id != kZeroId, "each topic has an id of its own");
}

}  // namespace ackord::conform
