// Every API of a broker whose authorizer denies everything: a client that may nothing is answered
// exactly this. A row an API, each a check of its own; an API without a row fails the unit test.
#include <algorithm>
#include <boost/json/parse.hpp>
#include <iterator>
#include <string>
#include <utility>

#include "tools/conform/case.h"
#include "tools/conform/kit/acls.h"
#include "tools/conform/kit/admin.h"

namespace ackord::conform {

AREA("security.denied", "Who may nothing");

namespace {

struct Denied {
  const char* api;
  int16_t version;
  const char* request;  // fields that are left out have their defaults
  const char* path;     // of the code in the answer: fields and places, with dots between
  ErrorCode code;
};

constexpr ErrorCode kTopic = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
constexpr ErrorCode kGroup = ErrorCode::GROUP_AUTHORIZATION_FAILED;
constexpr ErrorCode kCluster = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
constexpr ErrorCode kTransaction = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
// For all: what needs no right, and what answers with less.
constexpr ErrorCode kNone = ErrorCode::NONE;

constexpr Denied kRows[] = {
    {"Produce", 9,
     R"({"acks":1,"timeoutMs":1000,"topicData":[{"name":"t","partitionData":[{"index":0}]}]})",
     "responses.0.partitionResponses.0.errorCode", kTopic},
    {"Fetch", 12, R"({"sessionEpoch":-1,"topics":[{"topic":"t","partitions":[{"partition":0}]}]})",
     "responses.0.partitions.0.errorCode", kTopic},
    {"ListOffsets", 7, R"({"topics":[{"name":"t","partitions":[{"partitionIndex":0}]}]})",
     "topics.0.partitions.0.errorCode", kTopic},
    {"Metadata", 12, R"({"topics":[{"name":"t"}]})", "topics.0.errorCode", kTopic},
    {"OffsetCommit", 8,
     R"({"groupId":"g","topics":[{"name":"t","partitions":[{"partitionIndex":0}]}]})",
     "topics.0.partitions.0.errorCode", kGroup},
    {"OffsetFetch", 8, R"({"groups":[{"groupId":"g","topics":null}]})", "groups.0.errorCode",
     kGroup},
    {"FindCoordinator", 6, R"({"keyType":0,"coordinatorKeys":["g"]})", "coordinators.0.errorCode",
     kGroup},
    {"JoinGroup", 7, R"({"groupId":"g","sessionTimeoutMs":30000,"protocolType":"consumer"})",
     "errorCode", kGroup},
    {"Heartbeat", 4, R"({"groupId":"g"})", "errorCode", kGroup},
    {"LeaveGroup", 5, R"({"groupId":"g"})", "errorCode", kGroup},
    {"SyncGroup", 4, R"({"groupId":"g"})", "errorCode", kGroup},
    {"DescribeGroups", 6, R"({"groups":["g"]})", "groups.0.errorCode", kGroup},
    {"ListGroups", 5, "{}", "errorCode", kNone},
    {"SaslHandshake", 1, R"({"mechanism":"PLAIN"})", "errorCode", ErrorCode::ILLEGAL_SASL_STATE},
    {"ApiVersions", 3, R"({"clientSoftwareName":"conform","clientSoftwareVersion":"1"})",
     "errorCode", kNone},
    {"CreateTopics", 7, R"({"topics":[{"name":"n","numPartitions":1,"replicationFactor":1}]})",
     "topics.0.errorCode", kTopic},
    {"DeleteTopics", 6, R"({"topics":[{"name":"t"}],"timeoutMs":10000})", "responses.0.errorCode",
     kTopic},
    {"DeleteRecords", 2, R"({"topics":[{"name":"t","partitions":[{"partitionIndex":0}]}]})",
     "topics.0.partitions.0.errorCode", kTopic},
    {"InitProducerId", 4, R"({"transactionalId":null,"transactionTimeoutMs":60000})", "errorCode",
     kCluster},
    {"OffsetForLeaderEpoch", 4, R"({"topics":[{"topic":"t","partitions":[{"partition":0}]}]})",
     "topics.0.partitions.0.errorCode", kTopic},
    {"AddPartitionsToTxn", 3,
     R"({"v3AndBelowTransactionalId":"x","v3AndBelowTopics":[{"name":"t","partitions":[0]}]})",
     "resultsByTopicV3AndBelow.0.resultsByPartition.0.partitionErrorCode", kTransaction},
    {"AddOffsetsToTxn", 3, R"({"transactionalId":"x","groupId":"g"})", "errorCode", kTransaction},
    {"EndTxn", 3, R"({"transactionalId":"x"})", "errorCode", kTransaction},
    {"WriteTxnMarkers", 1,
     R"({"markers":[{"producerId":1,"topics":[{"name":"t","partitionIndexes":[0]}]}]})",
     "markers.0.topics.0.partitions.0.errorCode", kCluster},
    {"TxnOffsetCommit", 3,
     R"({"transactionalId":"x","groupId":"g",
         "topics":[{"name":"t","partitions":[{"partitionIndex":0}]}]})",
     "topics.0.partitions.0.errorCode", kTransaction},
    {"DescribeAcls", 3,
     R"({"resourceTypeFilter":1,"patternTypeFilter":1,"operation":1,"permissionType":1})",
     "errorCode", kCluster},
    {"CreateAcls", 3,
     R"({"creations":[{"resourceType":2,"resourceName":"","resourcePatternType":3,
         "principal":"User:a","host":"*","operation":3,"permissionType":3}]})",
     "results.0.errorCode", kCluster},
    {"DeleteAcls", 3,
     R"({"filters":[{"resourceTypeFilter":1,"patternTypeFilter":1,"operation":1,
         "permissionType":1}]})",
     "filterResults.0.errorCode", kCluster},
    {"DescribeConfigs", 4,
     R"({"resources":[{"resourceType":2,"resourceName":"t","configurationKeys":null}]})",
     "results.0.errorCode", kTopic},
    {"AlterConfigs", 2, R"({"resources":[{"resourceType":32,"resourceName":"g"}]})",
     "responses.0.errorCode", kGroup},
    {"AlterReplicaLogDirs", 2,
     R"({"dirs":[{"path":"/x","topics":[{"name":"t","partitions":[0]}]}]})",
     "results.0.partitions.0.errorCode", kCluster},
    {"DescribeLogDirs", 4, R"({"topics":null})", "errorCode", kCluster},
    {"SaslAuthenticate", 2, R"({"authBytes":""})", "errorCode", ErrorCode::ILLEGAL_SASL_STATE},
    {"CreatePartitions", 3, R"({"topics":[{"name":"t","count":2,"assignments":null}]})",
     "results.0.errorCode", kTopic},
    // Nobody may ask for a token over a listener without authentication.
    {"CreateDelegationToken", 3, "{}", "errorCode",
     ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED},
    {"RenewDelegationToken", 2, "{}", "errorCode", ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED},
    {"ExpireDelegationToken", 2, "{}", "errorCode",
     ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED},
    {"DescribeDelegationToken", 3, R"({"owners":null})", "errorCode",
     ErrorCode::DELEGATION_TOKEN_REQUEST_NOT_ALLOWED},
    {"DeleteGroups", 2, R"({"groupsNames":["g"]})", "results.0.errorCode", kGroup},
    {"ElectLeaders", 2, R"({"topicPartitions":[{"topic":"t","partitions":[0]}]})",
     "replicaElectionResults.0.partitionResult.0.errorCode", kCluster},
    {"IncrementalAlterConfigs", 1, R"({"resources":[{"resourceType":4,"resourceName":"1"}]})",
     "responses.0.errorCode", kCluster},
    {"AlterPartitionReassignments", 0, R"({"topics":[]})", "errorCode", kCluster},
    {"ListPartitionReassignments", 0, R"({"topics":null})", "errorCode", kCluster},
    {"OffsetDelete", 0, R"({"groupId":"g"})", "errorCode", kGroup},
    {"DescribeClientQuotas", 1, "{}", "errorCode", kCluster},
    {"AlterClientQuotas", 1,
     R"({"entries":[{"entity":[{"entityType":"user","entityName":"a"}],
         "ops":[{"key":"producer_byte_rate","value":1.0}]}]})",
     "entries.0.errorCode", kCluster},
    // Of no list at all Kafka owes the answer.
    {"DescribeUserScramCredentials", 0, R"({"users":[]})", "errorCode", kCluster},
    {"AlterUserScramCredentials", 0, R"({"deletions":[{"name":"a","mechanism":1}]})",
     "results.0.errorCode", kCluster},
    {"DescribeQuorum", 2, "{}", "errorCode", kCluster},
    {"UpdateFeatures", 1, "{}", "errorCode", kCluster},
    {"DescribeCluster", 1, R"({"includeClusterAuthorizedOperations":true})",
     "clusterAuthorizedOperations", kNone},
    {"DescribeProducers", 0, R"({"topics":[{"name":"t","partitionIndexes":[0]}]})",
     "topics.0.partitions.0.errorCode", kTopic},
    {"UnregisterBroker", 0, R"({"brokerId":1})", "errorCode", kCluster},
    {"DescribeTransactions", 0, R"({"transactionalIds":["x"]})", "transactionStates.0.errorCode",
     kTransaction},
    {"ListTransactions", 1, "{}", "errorCode", kNone},
    {"ConsumerGroupHeartbeat", 1,
     R"({"groupId":"g","memberId":"m","rebalanceTimeoutMs":1000,"subscribedTopicNames":["t"],
         "topicPartitions":[]})",
     "errorCode", kGroup},
    {"ConsumerGroupDescribe", 1, R"({"groupIds":["g"]})", "groups.0.errorCode", kGroup},
    {"GetTelemetrySubscriptions", 0, R"({"clientInstanceId":"BwcHBwcHBwcHBwcHBwcHBw"})",
     "errorCode", kNone},
    {"PushTelemetry", 0,
     R"({"clientInstanceId":"BwcHBwcHBwcHBwcHBwcHBg","subscriptionId":1,"metrics":""})",
     "errorCode", ErrorCode::UNKNOWN_SUBSCRIPTION_ID},
    {"ListConfigResources", 1, "{}", "errorCode", kCluster},
    {"DescribeTopicPartitions", 0, R"({"topics":[{"name":"t"}]})", "topics.0.errorCode", kTopic},
    {"ShareGroupHeartbeat", 1,
     R"({"groupId":"g","memberId":"AAAAAAAAAAAAAAAAAAAAAQ","subscribedTopicNames":["t"]})",
     "errorCode", kGroup},
    {"ShareGroupDescribe", 1, R"({"groupIds":["g"]})", "groups.0.errorCode", kGroup},
    {"ShareFetch", 1, R"({"groupId":"g","memberId":"AAAAAAAAAAAAAAAAAAAAAQ"})", "errorCode",
     kGroup},
    {"ShareAcknowledge", 1, R"({"groupId":"g","memberId":"AAAAAAAAAAAAAAAAAAAAAQ"})", "errorCode",
     kGroup},
    {"AddRaftVoter", 1, "{}", "errorCode", kCluster},
    {"RemoveRaftVoter", 0, "{}", "errorCode", kCluster},
    {"InitializeShareGroupState", 0,
     R"({"groupId":"g","topics":[{"topicId":"BwcHBwcHBwcHBwcHBwcHBw","partitions":[{}]}]})",
     "results.0.partitions.0.errorCode", kCluster},
    {"ReadShareGroupState", 0,
     R"({"groupId":"g","topics":[{"topicId":"BwcHBwcHBwcHBwcHBwcHBw","partitions":[{}]}]})",
     "results.0.partitions.0.errorCode", kCluster},
    {"WriteShareGroupState", 0,
     R"({"groupId":"g","topics":[{"topicId":"BwcHBwcHBwcHBwcHBwcHBw","partitions":[{}]}]})",
     "results.0.partitions.0.errorCode", kCluster},
    {"DeleteShareGroupState", 0,
     R"({"groupId":"g","topics":[{"topicId":"BwcHBwcHBwcHBwcHBwcHBw","partitions":[{}]}]})",
     "results.0.partitions.0.errorCode", kCluster},
    {"ReadShareGroupStateSummary", 0,
     R"({"groupId":"g","topics":[{"topicId":"BwcHBwcHBwcHBwcHBwcHBw","partitions":[{}]}]})",
     "results.0.partitions.0.errorCode", kCluster},
    {"DescribeShareGroupOffsets", 0, R"({"groups":[{"groupId":"g","topics":null}]})",
     "groups.0.errorCode", kGroup},
    {"AlterShareGroupOffsets", 0, R"({"groupId":"g"})", "errorCode", kGroup},
    {"DeleteShareGroupOffsets", 0, R"({"groupId":"g"})", "errorCode", kGroup},
    {"UnregisterController", 0, R"({"controllerId":1})", "errorCode", kCluster},
    // Ackord's own (docs/PROTOCOL.md 0).
    {"TxnShareAcknowledge", 0, R"({"groupId":"g","memberId":"m","transactionalId":"x"})",
     "errorCode", kTransaction},
    {"AddShareAcksToTxn", 0, R"({"groupId":"g","transactionalId":"x"})", "errorCode", kTransaction},
    {"BeginBatchTxn", 0, R"({"groupId":"g","transactionId":"x","timeoutMs":1000})", "errorCode",
     kTransaction},
    {"BatchTxnAcknowledge", 0, R"({"groupId":"g","memberId":"m","transactionId":"x"})", "errorCode",
     kTransaction},
    {"PrepareBatchTxn", 0, R"({"groupId":"g","transactionId":"x"})", "errorCode", kTransaction},
    {"CommitBatchTxn", 0, R"({"groupId":"g","transactionId":"x"})", "errorCode", kTransaction},
    {"AbortBatchTxn", 0, R"({"groupId":"g","transactionId":"x"})", "errorCode", kTransaction},
    {"ListBatchTxns", 0, R"({"groupId":"g"})", "errorCode", kGroup},
    {"DescribeSharePartitions", 0, R"({"groupId":"g","maxRanges":1})", "errorCode", kGroup},
    {"ReleaseSharePartitions", 0, R"({"groupId":"g"})", "errorCode", kGroup},
};

Value at(Value answer, std::string_view path) {
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    const std::string step(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
    const bool place = step.find_first_not_of("0123456789") == std::string::npos;
    answer = place ? answer[std::stoul(step)] : answer[step];
  }
  return answer;
}

template <size_t kRow>
void run(Kit& kit) {
  const Denied& row = kRows[kRow];
  needs_denial(kit);
  kit.needs(row.api, row.version);
  const Value answer = kit.ask(row.api, row.version, json::parse(row.request).as_object());
  at(answer, row.path).is(row.code);
}

template <size_t... kRow>
bool add_rows(std::index_sequence<kRow...>) {
  return (add_case({&kArea, kRows[kRow].api, "KIP-11", {}, run<kRow>}) && ...);
}
[[maybe_unused]] const bool added = add_rows(std::make_index_sequence<std::size(kRows)>());

}  // namespace

// What is only left out of answers.
CASE(nothing_is_listed, "KIP-11") {
  needs_denial(kit);
  kit.ask("Metadata", 12, {{"topics", nullptr}})["topics"].has_size(0);
  kit.ask("ListGroups", 5, {})["groups"].has_size(0);
  kit.ask("ListTransactions", 1, {})["transactionStates"].has_size(0);
  kit.ask("DescribeTopicPartitions", 0, {})["topics"].has_size(0);
  const Value metadata =
      kit.ask("Metadata", 10, {{"topics", list()}, {"includeClusterAuthorizedOperations", true}});
  metadata["clusterAuthorizedOperations"].is(0);
}

// Coordinators, by what they coordinate.
CASE(coordinators, "KIP-11") {
  needs_denial(kit);
  const auto code = [&kit](int type, const char* key) {
    return kit.ask(
        "FindCoordinator", 6,
        {{"keyType", type}, {"coordinatorKeys", list(key)}})["coordinators"][0]["errorCode"];
  };
  code(1, "x").is(kTransaction);
  code(2, "g:BwcHBwcHBwcHBwcHBwcHBw:0").is(kCluster);
  // A topic that is not there is not said not to be there.
  const Value named = kit.ask("Metadata", 12, {{"topics", list(Object{{"name", kit.name("no")}})}});
  named["topics"][0]["errorCode"].is(kTopic);
  named["topics"][0]["topicId"].is(std::string(kZeroId));
}

CASE(brokers, "KIP-890") {
  needs_denial(kit);
  const Value answer =
      kit.ask("AddPartitionsToTxn", 4,
              {{"transactions", list(Object{{"transactionalId", "x"}, {"verifyOnly", true}})}});
  answer["errorCode"].is(kCluster);
  kit.ask("InitProducerId", 4,
          {{"transactionalId", "x"}, {"transactionTimeoutMs", 60000}})["errorCode"]
      .is(kTransaction);
}

}  // namespace ackord::conform
