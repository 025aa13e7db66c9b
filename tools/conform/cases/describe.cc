// What a broker of one node says of itself: cluster, quorum, log directories, partitions in pages,
// elections and reassignments.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("describe", "The cluster, its quorum, directories and partitions");

namespace {

constexpr int64_t kClusterOperations = 8096;
constexpr const char* kQuorumTopic = "__cluster_metadata";

// One partition of one topic, in the shape of the quorum's requests.
Object quorum_query(const std::string& topic, int32_t partition) {
  return {{"topics", list(Object{{"topicName", topic},
                                 {"partitions", list(Object{{"partitionIndex", partition}})}})}};
}

// A page of DescribeTopicPartitions: topic, partition pairs in their order.
struct Page {
  std::vector<std::pair<std::string, int64_t>> partitions;
  Value answer;
};

Page page_of(Kit& kit, const std::vector<std::string>& topics, int32_t limit,
             const json::value& cursor = nullptr) {
  const Value answer =
      kit.ask("DescribeTopicPartitions", 0,
              {{"topics", list_of(topics, [](const auto& t) { return Object{{"name", t}}; })},
               {"responsePartitionLimit", limit},
               {"cursor", cursor}});
  Page page{{}, answer};
  for (const Value& topic : answer["topics"].items()) {
    topic["errorCode"].is_none();
    for (const Value& partition : topic["partitions"].items())
      page.partitions.emplace_back(topic["name"].text(), partition["partitionIndex"].number());
  }
  return page;
}

Object cursor_at(const std::string& topic, int32_t partition) {
  return {{"topicName", topic}, {"partitionIndex", partition}};
}

// Two topics in the order of their names.
std::pair<Topic, Topic> two_topics(Kit& kit, int32_t first, int32_t second) {
  const std::string name = kit.name("page");
  return {create_topic(kit, first, {}, name + "a"), create_topic(kit, second, {}, name + "b")};
}

Value list_resources(Kit& kit, const json::array& types) {
  return kit.ask("ListConfigResources", 1, {{"resourceTypes", types}});
}

Value elect(Kit& kit, const std::string& topic, const json::array& partitions, int16_t version = 2,
            int type = 0) {
  Object body{{"topicPartitions", list(Object{{"topic", topic}, {"partitions", partitions}})},
              {"timeoutMs", 10000}};
  if (version >= 1) body["electionType"] = type;
  return kit.ask("ElectLeaders", version, body);
}

Value reassign(Kit& kit, const std::string& topic, const json::value& replicas,
               int32_t partition = 0, int16_t version = 1) {
  const Value answer =
      kit.ask("AlterPartitionReassignments", version,
              {{"timeoutMs", 10000},
               {"topics", list(Object{{"name", topic},
                                      {"partitions", list(Object{{"partitionIndex", partition},
                                                                 {"replicas", replicas}})}})}});
  answer["errorCode"].is_none();
  answer["responses"][0]["name"].is(topic);
  answer["responses"][0]["partitions"][0]["partitionIndex"].is(partition);
  return answer["responses"][0]["partitions"][0];
}

}  // namespace

// ---- DescribeCluster

CASE(cluster, "KIP-700", .api = "DescribeCluster", .first = 0, .last = 2) {
  const Value answer = kit.ask("DescribeCluster", kit.version(), {});
  answer["errorCode"].is_none();
  answer["errorMessage"].is_null();
  answer["throttleTimeMs"].is(0);
  answer["clusterId"].is(cluster_id(kit));
  answer["brokers"].has_size(1);
  const Value broker = answer["brokers"][0];
  broker["brokerId"].is(node_id(kit));
  broker["port"].is(kit.broker().endpoint().port);
  broker["host"].is_not_empty();
  broker["rack"].is_null();
  answer["controllerId"].is(broker["brokerId"].json());
  answer["clusterAuthorizedOperations"].is(kNoOperations);
  if (kit.version() >= 1) answer["endpointType"].is(1);
  if (kit.version() >= 2) broker["isFenced"].is(false);
}

CASE(cluster_operations, "KIP-700", .api = "DescribeCluster", .first = 0, .last = 2) {
  kit.ask("DescribeCluster", kit.version(),
          {{"includeClusterAuthorizedOperations", true}})["clusterAuthorizedOperations"]
      .is(kClusterOperations);
}

CASE(cluster_other_endpoints, "KIP-919", .api = "DescribeCluster", .first = 1, .last = 2) {
  const auto ask = [&](int type) {
    const Value answer = kit.ask("DescribeCluster", kit.version(), {{"endpointType", type}});
    answer["errorMessage"].is_not_empty();
    answer["brokers"].has_size(0);
    return answer["errorCode"];
  };
  ask(2).is(ErrorCode::MISMATCHED_ENDPOINT_TYPE);
  ask(3).is(ErrorCode::UNSUPPORTED_ENDPOINT_TYPE);
}

CASE(cluster_with_fenced_brokers, "KIP-1073") {
  kit.ask("DescribeCluster", 2, {{"includeFencedBrokers", true}})["brokers"].has_size(1);
}

// ---- DescribeLogDirs, AlterReplicaLogDirs

CASE(log_dirs, "KIP-113", .api = "DescribeLogDirs", .first = 1, .last = 5) {
  const Topic topic = create_topic(kit, 3);
  produce(kit, topic, numbered(10), {.partition = 1});
  const Value answer =
      kit.ask("DescribeLogDirs", kit.version(),
              {{"topics", list(Object{{"topic", topic.name}, {"partitions", list(0, 1)}})}});
  if (kit.version() >= 3) answer["errorCode"].is_none();
  answer["results"].has_size(1);
  const Value dir = answer["results"][0];
  dir["errorCode"].is_none();
  dir["logDir"].is_not_empty();
  if (kit.version() >= 4) dir["usableBytes"].is_between(1, dir["totalBytes"].number());
  if (kit.version() >= 5) dir["isCordoned"].is(false);
  dir["topics"].has_size(1);
  const Value partitions = dir["topics"].with("name", topic.name)["partitions"];
  partitions.has_size(2);
  partitions.with("partitionIndex", 0)["partitionSize"].is(0);
  const Value written = partitions.with("partitionIndex", 1);
  written["partitionSize"].is_between(61, 2000);
  written["offsetLag"].is(0);
  written["isFutureKey"].is(false);
}

CASE(log_dirs_of_all, "KIP-113") {
  const Topic topic = create_topic(kit, 2);
  const Value answer = kit.ask("DescribeLogDirs", 4, {{"topics", nullptr}});
  answer["results"][0]["topics"].with("name", topic.name)["partitions"].has_size(2);
}

CASE(log_dirs_of_none, "KIP-113") {
  const Value answer = kit.ask("DescribeLogDirs", 4, {{"topics", list()}});
  answer["results"].has_size(1);
  answer["results"][0]["topics"].has_size(0);
}

CASE(log_dirs_leave_unknown_out, "KIP-113") {
  const Topic topic = create_topic(kit);
  const Value answer =
      kit.ask("DescribeLogDirs", 4,
              {{"topics", list(Object{{"topic", kit.name("unknown")}, {"partitions", list(0)}},
                               Object{{"topic", topic.name}, {"partitions", list(99)}})}});
  answer["errorCode"].is_none();
  answer["results"][0]["topics"].has_size(0);
}

CASE(move_to_no_log_dir, "KIP-113", .api = "AlterReplicaLogDirs", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  for (const char* path : {"/no/such/directory", "relative"}) {
    const Object part{{"name", topic.name}, {"partitions", list(0)}};
    const Value answer = kit.ask("AlterReplicaLogDirs", kit.version(),
                                 {{"dirs", list(Object{{"path", path}, {"topics", list(part)}})}});
    answer["results"][0]["topicName"].is(topic.name);
    answer["results"][0]["partitions"][0]["errorCode"].is(ErrorCode::LOG_DIR_NOT_FOUND);
  }
}

CASE(move_to_where_it_is, "KIP-113", .api = "AlterReplicaLogDirs", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  const Value dirs = kit.ask("DescribeLogDirs", 4, {{"topics", list()}});
  const Value answer = kit.ask(
      "AlterReplicaLogDirs", kit.version(),
      {{"dirs", list(Object{{"path", dirs["results"][0]["logDir"].json()},
                            {"topics",
                             list(Object{{"name", topic.name}, {"partitions", list(0, 77)}})}})}});
  const Value partitions = answer["results"].with("topicName", topic.name)["partitions"];
  partitions.with("partitionIndex", 0)["errorCode"].is_none();
  partitions.with("partitionIndex", 77)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

// ---- DescribeTopicPartitions

CASE(partitions, "KIP-966") {
  const Topic topic = create_topic(kit, 2);
  const Value found = kit.ask("DescribeTopicPartitions", 0,
                              {{"topics", list(Object{{"name", topic.name}})}})["topics"][0];
  found["errorCode"].is_none();
  found["topicId"].is(topic.id);
  found["isInternal"].is(false);
  found["topicAuthorizedOperations"].is(3576);
  found["partitions"].has_size(2);
  const Value partition = found["partitions"][1];
  const json::array node = list(node_id(kit));
  partition["partitionIndex"].is(1);
  partition["leaderId"].is(node_id(kit));
  partition["leaderEpoch"].is(0);
  partition["replicaNodes"].is(node);
  partition["isrNodes"].is(node);
  partition["offlineReplicas"].has_size(0);
}

CASE(partitions_in_pages, "KIP-966") {
  const auto [a, b] = two_topics(kit, 5, 3);
  std::vector<std::pair<std::string, int64_t>> seen;
  json::value cursor = nullptr;
  int pages = 0;
  do {
    const Page page = page_of(kit, {b.name, a.name}, 3, cursor);
    expect(page.partitions.size() <= 3, "no page is larger than its limit");
    seen.insert(seen.end(), page.partitions.begin(), page.partitions.end());
    cursor = page.answer["nextCursor"].json();
    if (!cursor.is_null()) cursor.as_object().erase("_tags");
  } while (!cursor.is_null() && ++pages < 10);
  std::vector<std::pair<std::string, int64_t>> expected;
  for (int i = 0; i < 5; ++i) expected.emplace_back(a.name, i);
  for (int i = 0; i < 3; ++i) expected.emplace_back(b.name, i);
  expect_equal(seen, expected, "all partitions in the order of their topics' names");
}

CASE(cursor_inside_a_topic, "KIP-966") {
  const Topic topic = create_topic(kit, 5);
  const Value cursor = page_of(kit, {topic.name}, 3).answer["nextCursor"];
  cursor["topicName"].is(topic.name);
  cursor["partitionIndex"].is(3);
}

CASE(cursor_between_topics, "KIP-966") {
  const auto [a, b] = two_topics(kit, 2, 2);
  const Value cursor = page_of(kit, {a.name, b.name}, 2).answer["nextCursor"];
  cursor["topicName"].is(b.name);
  cursor["partitionIndex"].is(0);
}

CASE(no_cursor_at_the_end, "KIP-966") {
  const Topic topic = create_topic(kit, 3);
  page_of(kit, {topic.name}, 3).answer["nextCursor"].is_null();
  page_of(kit, {topic.name}, 100000).answer["nextCursor"].is_null();
}

// A page has one partition at least.
CASE(limit_below_one, "KIP-966") {
  const Topic topic = create_topic(kit, 2);
  for (const int32_t limit : {0, -1})
    expect_equal(page_of(kit, {topic.name}, limit).partitions.size(), 1u, "partitions");
}

CASE(start_at_a_cursor, "KIP-966") {
  const auto [a, b] = two_topics(kit, 3, 1);
  const Page page = page_of(kit, {a.name, b.name}, 100, cursor_at(a.name, 1));
  const std::vector<std::pair<std::string, int64_t>> expected = {
      {a.name, 1}, {a.name, 2}, {b.name, 0}};
  expect_equal(page.partitions, expected, "the partitions from the cursor on");
}

CASE(cursor_of_no_listed_topic, "KIP-966") {
  const Topic topic = create_topic(kit);
  for (const Object& cursor :
       {cursor_at("", 0), cursor_at(topic.name, -1), cursor_at("zzz" + topic.name, 0)}) {
    const Value answer =
        kit.ask("DescribeTopicPartitions", 0,
                {{"topics", list(Object{{"name", topic.name}})}, {"cursor", cursor}});
    answer["topics"][0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
  }
}

CASE(partitions_of_unknown_topics, "KIP-966") {
  const Topic topic = create_topic(kit);
  const std::string unknown = kit.name("unknown");
  const Value topics =
      kit.ask("DescribeTopicPartitions", 0,
              {{"topics", list(Object{{"name", unknown}}, Object{{"name", "bad name!"}},
                               Object{{"name", topic.name}})}})["topics"];
  topics.with("name", unknown)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  topics.with("name", "bad name!")["errorCode"].is(ErrorCode::INVALID_TOPIC_EXCEPTION);
  topics.with("name", topic.name)["errorCode"].is_none();
}

CASE(partitions_of_a_topic_named_twice, "KIP-966") {
  const Topic topic = create_topic(kit, 2);
  expect_equal(page_of(kit, {topic.name, topic.name}, 100).partitions.size(), 2u, "partitions");
}

CASE(partitions_of_all_topics, "KIP-966") {
  const Topic topic = create_topic(kit);
  const Value answer = kit.ask("DescribeTopicPartitions", 0,
                               {{"topics", list()}, {"cursor", cursor_at(topic.name, 0)}});
  answer["topics"][0]["name"].is(topic.name);
}

// ---- ListConfigResources

CASE(config_resources, "KIP-1142") {
  const Topic topic = create_topic(kit);
  const std::string group = kit.name("g");
  set_configs(kit, ConfigResource::kGroup, group, {{"share.delivery.count.limit", "3"}});
  const Value all = list_resources(kit, list())["configResources"];
  all.with("resourceName", topic.name)["resourceType"].is(2);
  all.with("resourceName", group)["resourceType"].is(32);
  change_configs(kit, ConfigResource::kGroup, group,
                 {{"share.delivery.count.limit", ConfigOperation::kDelete}});
  kit.until("a group without configs is not listed", [&] {
    return !list_resources(kit, list(32))["configResources"].has_item("resourceName", group);
  });
}

CASE(config_resources_by_type, "KIP-1142") {
  const Topic topic = create_topic(kit);
  const Value topics = list_resources(kit, list(2))["configResources"];
  topics.with("resourceName", topic.name);
  for (const Value& resource : topics.items()) resource["resourceType"].is(2);
  const Value brokers = list_resources(kit, list(4))["configResources"];
  brokers.has_size(1);
  brokers[0]["resourceName"].is(std::to_string(node_id(kit)));
  const Value loggers = list_resources(kit, list(8))["configResources"];
  loggers[0]["resourceName"].is(std::to_string(node_id(kit)));
}

CASE(config_resources_of_unknown_types, "KIP-1142") {
  for (const json::array& types : {list(0), list(1), list(64), list(2, 99)}) {
    const Value answer = list_resources(kit, types);
    answer["errorCode"].is(ErrorCode::UNSUPPORTED_VERSION);
    answer["configResources"].has_size(0);
  }
}

// v0 is the older ListClientMetricsResources.
CASE(client_metrics_resources, "KIP-714", .api = "ListConfigResources", .first = 0, .last = 1) {
  const std::string name = kit.name("metrics");
  set_configs(kit, ConfigResource::kClientMetrics, name, {{"interval.ms", "60000"}});
  const Value answer = kit.ask("ListConfigResources", kit.version(),
                               kit.version() == 0 ? Object{} : Object{{"resourceTypes", list(16)}});
  answer["errorCode"].is_none();
  const bool listed = answer["configResources"].has_item("resourceName", name);
  const Value removed = change_configs(kit, ConfigResource::kClientMetrics, name,
                                       {{"interval.ms", ConfigOperation::kDelete}});
  removed["errorCode"].is_none();
  expect(listed, "the subscription is listed");
}

// ---- DescribeQuorum

CASE(quorum, "KIP-595", .api = "DescribeQuorum", .first = 0, .last = 2) {
  const Value answer = kit.ask("DescribeQuorum", kit.version(), quorum_query(kQuorumTopic, 0));
  answer["errorCode"].is_none();
  const Value partition = answer["topics"][0]["partitions"][0];
  answer["topics"][0]["topicName"].is(kQuorumTopic);
  partition["errorCode"].is_none();
  partition["leaderId"].is(node_id(kit));
  partition["leaderEpoch"].is_between(0, INT32_MAX);
  partition["highWatermark"].is_between(1, INT64_MAX);
  partition["currentVoters"].has_size(1);
  partition["observers"].has_size(0);
  const Value voter = partition["currentVoters"][0];
  voter["replicaId"].is(node_id(kit));
  voter["logEndOffset"].is_between(partition["highWatermark"].number(), INT64_MAX);
  if (kit.version() >= 1) voter["lastCaughtUpTimestamp"].is_between(1, INT64_MAX);
  if (kit.version() >= 2) {
    answer["nodes"].has_size(1);
    answer["nodes"][0]["nodeId"].is(node_id(kit));
    answer["nodes"][0]["listeners"].is_not_empty();
  }
}

CASE(quorum_of_another_topic, "KIP-595") {
  for (const Object& query : {quorum_query("x", 0), quorum_query(kQuorumTopic, 1)}) {
    const Value answer = kit.ask("DescribeQuorum", 2, query);
    answer["errorCode"].is_none();
    answer["topics"][0]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
}

// ---- ElectLeaders, reassignments

CASE(election_not_needed, "KIP-460", .api = "ElectLeaders", .first = 0, .last = 2) {
  const Topic topic = create_topic(kit, 2);
  const Value answer = elect(kit, topic.name, list(0, 1, 99), kit.version());
  if (kit.version() >= 1) answer["errorCode"].is_none();
  const Value results = answer["replicaElectionResults"][0];
  results["topic"].is(topic.name);
  for (const int partition : {0, 1}) {
    const Value result = results["partitionResult"].with("partitionId", partition);
    result["errorCode"].is(ErrorCode::ELECTION_NOT_NEEDED);
  }
  results["partitionResult"].with("partitionId", 99)["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(unclean_election_not_needed, "KIP-460", .api = "ElectLeaders", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  elect(kit, topic.name, list(0), kit.version(),
        1)["replicaElectionResults"][0]["partitionResult"][0]["errorCode"]
      .is(ErrorCode::ELECTION_NOT_NEEDED);
}

CASE(election_of_an_unknown_type, "KIP-460") {
  const Topic topic = create_topic(kit);
  const Value answer = elect(kit, topic.name, list(0), 2, 2);
  answer["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(election_in_an_unknown_topic, "KIP-460") {
  const Value answer = elect(kit, kit.name("unknown"), list(0));
  answer["errorCode"].is_none();
  answer["replicaElectionResults"][0]["partitionResult"][0]["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

// Of all partitions only those are told that an election was needed for.
CASE(election_in_all_topics, "KIP-460") {
  const Topic topic = create_topic(kit);
  const Value answer =
      kit.ask("ElectLeaders", 2, {{"topicPartitions", nullptr}, {"timeoutMs", 10000}});
  answer["errorCode"].is_none();
  for (const Value& result : answer["replicaElectionResults"].items())
    result["partitionResult"].has_size(0);
}

CASE(no_reassignments, "KIP-455") {
  const Topic topic = create_topic(kit);
  const Object part{{"name", topic.name}, {"partitionIndexes", list(0, 99)}};
  const Object unknown{{"name", kit.name("unknown")}, {"partitionIndexes", list(0)}};
  for (const json::value& topics :
       {json::value(nullptr), json::value(list()), json::value(list(part, unknown))}) {
    const Value answer = kit.ask("ListPartitionReassignments", 0, {{"topics", topics}});
    answer["errorCode"].is_none();
    answer["topics"].has_size(0);
  }
}

CASE(reassign_to_where_it_is, "KIP-455", .api = "AlterPartitionReassignments", .first = 0,
     .last = 1) {
  const Topic topic = create_topic(kit);
  reassign(kit, topic.name, list(node_id(kit)), 0, kit.version())["errorCode"].is_none();
}

CASE(reassign_to_bad_replicas, "KIP-455", .api = "AlterPartitionReassignments", .first = 0,
     .last = 1) {
  const Topic topic = create_topic(kit);
  const int32_t node = node_id(kit);
  for (const json::array& replicas :
       {list(), list(node + 77), list(node, node), list(node, node + 77), list(-1)}) {
    const Value result = reassign(kit, topic.name, replicas, 0, kit.version());
    result["errorCode"].is(ErrorCode::INVALID_REPLICA_ASSIGNMENT);
    result["errorMessage"].is_not_empty();
  }
}

CASE(cancel_no_reassignment, "KIP-455", .api = "AlterPartitionReassignments", .first = 0,
     .last = 1) {
  const Topic topic = create_topic(kit);
  reassign(kit, topic.name, nullptr, 0, kit.version())["errorCode"].is(
      ErrorCode::NO_REASSIGNMENT_IN_PROGRESS);
}

CASE(reassign_unknown_partitions, "KIP-455") {
  const Topic topic = create_topic(kit);
  const json::array node = list(node_id(kit));
  reassign(kit, topic.name, node, 99)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  reassign(kit, kit.name("unknown"), node)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

// ---- members of the cluster that are not there

CASE(unregister_an_unknown_broker, "KIP-500") {
  const Value answer = kit.ask("UnregisterBroker", 0, {{"brokerId", 12345}});
  answer["errorCode"].is(ErrorCode::BROKER_ID_NOT_REGISTERED);
  answer["errorMessage"].is_not_empty();
}

CASE(unregister_an_unknown_controller, "KIP-853") {
  kit.needs("UnregisterController");
  const Value answer = kit.ask("UnregisterController", 0, {{"controllerId", 12345}});
  answer["errorCode"].is(ErrorCode::CONTROLLER_ID_NOT_REGISTERED);
  answer["errorMessage"].is_not_empty();
}

CASE(voters_of_another_cluster, "KIP-853") {
  const Value removed =
      kit.ask("RemoveRaftVoter", 0,
              {{"clusterId", "other"}, {"voterId", 999}, {"voterDirectoryId", kUnknownId}});
  removed["errorCode"].is(ErrorCode::INCONSISTENT_CLUSTER_ID);
  const Value added = kit.ask("AddRaftVoter", kit.newest("AddRaftVoter"),
                              {{"clusterId", "other"},
                               {"timeoutMs", 1000},
                               {"voterId", 999},
                               {"voterDirectoryId", kUnknownId}});
  added["errorCode"].is(ErrorCode::INCONSISTENT_CLUSTER_ID);
}

}  // namespace ackord::conform
