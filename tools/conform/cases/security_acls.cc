// ACLs of a broker that allows what no ACL speaks of: making and removing them, and what the rights
// to topics, groups and transactional ids are. What is denied and what is left out: KIP-11 and what
// Kafka does.
#include "tools/conform/case.h"
#include "tools/conform/kit/acls.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/expect.h"
#include "tools/conform/kit/groups.h"
#include "tools/conform/kit/offsets.h"
#include "tools/conform/kit/records.h"
#include "tools/conform/kit/share_member.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("security.acls", "ACLs");

namespace {

constexpr ErrorCode kTopicDenied = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
constexpr ErrorCode kGroupDenied = ErrorCode::GROUP_AUTHORIZATION_FAILED;
constexpr ErrorCode kClusterDenied = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
constexpr ErrorCode kTransactionDenied = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;

Value created(Kit& kit, const Object& creation, int16_t version = 3) {
  return kit.ask("CreateAcls", version, {{"creations", list(creation)}})["results"][0];
}

Value found(Kit& kit, const std::string& name, AclPattern pattern, int16_t version = 3) {
  const Value answer =
      kit.ask("DescribeAcls", version, acl_filter(AclType::kTopic, json::string(name), pattern));
  answer["errorCode"].is_none();
  return answer["resources"];
}

Value removed(Kit& kit, const std::string& name, AclPattern pattern, int16_t version = 3) {
  const Value result = kit.ask("DeleteAcls", version,
                               {{"filters", list(acl_filter(AclType::kTopic, json::string(name),
                                                            pattern))}})["filterResults"][0];
  result["errorCode"].is_none();
  return result["matchingAcls"];
}

Value topic_named(Kit& kit, const std::string& topic) {
  return kit.ask("Metadata", 12,
                 {{"topics", list(Object{{"name", topic}})},
                  {"allowAutoTopicCreation", false},
                  {"includeTopicAuthorizedOperations", true}})["topics"][0];
}

// Bits by number of the operation.
int64_t bits(std::initializer_list<AclOp> operations) {
  int64_t all = 0;
  for (const AclOp one : operations) all |= int64_t{1} << static_cast<int>(one);
  return all;
}

}  // namespace

// ---------------------------------------------------------------- the requests

CASE(made_found_removed, "KIP-140", .api = "CreateAcls", .first = 1, .last = 3) {
  needs_acls(kit);
  const int16_t version = kit.version();
  const std::string topic = kit.name("t");
  AclSpec acl{AclType::kTopic, topic};
  acl.principal = kOther;
  acl.host = "10.1.2.3";
  acl.operation = AclOp::kWrite;
  acl.permission = AclPermission::kDeny;
  for (int times = 0; times < 2; ++times)
    created(kit, acl_creation(acl), version)["errorCode"].is_none();
  kit.until("it is there", [&] { return found(kit, topic, AclPattern::kLiteral).size() == 1; });
  const Value resource = found(kit, topic, AclPattern::kLiteral, version)[0];
  resource["resourceType"].is(2);
  resource["patternType"].is(3);
  resource["acls"].has_size(1);
  const Value one = resource["acls"][0];
  one["principal"].is(std::string(kOther));
  one["host"].is(std::string("10.1.2.3"));
  one["operation"].is(4);
  one["permissionType"].is(2);
  const Value gone = removed(kit, topic, AclPattern::kLiteral, version);
  gone.has_size(1);
  gone[0]["resourceName"].is(topic);
  gone[0]["host"].is(std::string("10.1.2.3"));
  kit.until("it is gone", [&] { return found(kit, topic, AclPattern::kAny).size() == 0; });
  removed(kit, topic, AclPattern::kAny).has_size(0);
}

CASE(filters, "KIP-290") {
  needs_acls(kit);
  const std::string topic = kit.name("filtered");
  const std::string longer = topic + "-longer";
  for (const AclPattern pattern : {AclPattern::kLiteral, AclPattern::kPrefixed}) {
    AclSpec acl{AclType::kTopic, topic, pattern};
    acl.principal = kOther;
    created(kit, acl_creation(acl))["errorCode"].is_none();
  }
  kit.until("both are there", [&] { return found(kit, topic, AclPattern::kAny).size() == 2; });
  found(kit, topic, AclPattern::kPrefixed).has_size(1);
  found(kit, longer, AclPattern::kAny).has_size(0);
  // What speaks of the longer one: the prefix, and ACLs of all topics if somebody has made any.
  const auto speaks = [&](const std::string& name) {
    int count = 0;
    for (const Value& resource : found(kit, name, AclPattern::kMatch).items())
      count += resource["resourceName"].text() == topic ? 1 : 0;
    return count;
  };
  expect_equal(speaks(topic), 2, "those that speak of the topic");
  expect_equal(speaks(longer), 1, "those that speak of the longer one");
  removed(kit, topic, AclPattern::kPrefixed).has_size(1);
  removed(kit, topic, AclPattern::kAny).has_size(1);
}

CASE(what_is_no_acl, "KIP-140") {
  needs_acls(kit);
  const std::string topic = kit.name("none");
  const auto refused = [&](const Object& change) {
    AclSpec acl{AclType::kTopic, topic};
    acl.principal = kOther;
    return created(kit, merged(acl_creation(acl), change))["errorCode"];
  };
  refused({{"resourceType", 4}}).is(ErrorCode::INVALID_REQUEST);
  refused({{"resourceName", ""}}).is(ErrorCode::INVALID_REQUEST);
  refused({{"principal", "nobody"}}).is(ErrorCode::INVALID_REQUEST);
  refused({{"principal", ""}}).is(ErrorCode::INVALID_REQUEST);
  refused({{"host", ""}}).is(ErrorCode::INVALID_REQUEST);
  refused({{"resourceType", 99}}).is(ErrorCode::INVALID_REQUEST);
  refused({{"operation", 99}}).is(ErrorCode::INVALID_REQUEST);
  // What only filters have: Kafka does not know what to say.
  for (const char* field : {"resourceType", "resourcePatternType", "operation", "permissionType"})
    refused({{field, 1}}).is_one_of({ErrorCode::INVALID_REQUEST, ErrorCode::UNKNOWN_SERVER_ERROR});
  found(kit, topic, AclPattern::kAny).has_size(0);
  const Value results = kit.ask(
      "DeleteAcls", 3,
      {{"filters", list(merged(acl_filter(AclType::kTopic), {{"operation", 99}}),
                        acl_filter(AclType::kTopic, json::string(topic)))}})["filterResults"];
  results[0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
  results[1]["errorCode"].is_none();
}

CASE(too_many_at_once, "KIP-801") {
  needs_acls(kit);
  constexpr int kTooMany = 10001;
  const std::string topic = kit.name("many");
  json::array creations;
  for (int i = 0; i < kTooMany; ++i) {
    AclSpec acl{AclType::kTopic, topic + std::to_string(i)};
    acl.principal = kOther;
    creations.emplace_back(acl_creation(acl));
  }
  const Value results = kit.ask("CreateAcls", 3, {{"creations", creations}})["results"];
  results.has_size(kTooMany);
  results[0]["errorCode"].is(ErrorCode::POLICY_VIOLATION);
  results[kTooMany - 1]["errorCode"].is(ErrorCode::POLICY_VIOLATION);
  found(kit, topic + "0", AclPattern::kAny).has_size(0);
}

// ---------------------------------------------------------------- topics

CASE(hidden_topic, "KIP-11") {
  needs_acls(kit);
  const Topic topic = create_topic(kit);
  const Topic open = create_topic(kit);
  produce(kit, topic, {"a"});
  Acls acls(kit, AclType::kTopic, topic.name);
  try_produce(kit, topic, build_batch({.records = records_of({"b"})}))["errorCode"].is(
      kTopicDenied);
  for (const int16_t version : {12, 13}) {
    FetchOptions options;
    options.version = version;
    const Value answer = fetch(kit, {{topic}, {open}}, options);
    for (const Value& one : answer["responses"].items()) {
      const bool hidden =
          version == 12 ? one["topic"].text() == topic.name : one["topicId"].text() == topic.id;
      one["partitions"][0]["errorCode"].is(hidden ? kTopicDenied : ErrorCode::NONE);
    }
  }
  list_offset(kit, topic, kLatest)["errorCode"].is(kTopicDenied);
  const Value named = topic_named(kit, topic.name);
  named["errorCode"].is(kTopicDenied);
  named["topicId"].is(std::string(kZeroId));
  named["partitions"].has_size(0);
  const Value by_id =
      kit.ask("Metadata", 12, {{"topics", list(Object{{"topicId", topic.id}, {"name", nullptr}})}});
  by_id["topics"][0]["errorCode"].is(kTopicDenied);
  by_id["topics"][0]["name"].is_null();
  const Value all = kit.ask("Metadata", 12, {{"topics", nullptr}})["topics"];
  expect(all.has_item("name", open.name), "the open topic is listed");
  expect(!all.has_item("name", topic.name), "the hidden topic is not listed");
  describe_config(kit, config_query(ConfigResource::kTopic, topic.name))["errorCode"].is(
      kTopicDenied);
  change_configs(kit, ConfigResource::kTopic, topic.name, {})["errorCode"].is(kTopicDenied);
  const Value grown = kit.ask(
      "CreatePartitions", 3,
      {{"topics", list(Object{{"name", topic.name}, {"count", 2}, {"assignments", nullptr}})},
       {"timeoutMs", 1000}});
  grown["results"][0]["errorCode"].is(kTopicDenied);
}

CASE(topic_operations, "KIP-430") {
  needs_acls(kit);
  const Topic topic = create_topic(kit);
  topic_named(kit, topic.name)["topicAuthorizedOperations"].is(
      bits({AclOp::kRead, AclOp::kWrite, AclOp::kCreate, AclOp::kDelete, AclOp::kAlter,
            AclOp::kDescribe, AclOp::kDescribeConfigs, AclOp::kAlterConfigs}));
  Acls acls(kit, AclType::kTopic, topic.name);
  acls.allow(AclOp::kRead);
  // To be allowed READ is to be allowed DESCRIBE.
  topic_named(kit, topic.name)["topicAuthorizedOperations"].is(
      bits({AclOp::kRead, AclOp::kDescribe}));
  acls.allow(AclOp::kAlterConfigs);
  topic_named(kit, topic.name)["topicAuthorizedOperations"].is(
      bits({AclOp::kRead, AclOp::kDescribe, AclOp::kAlterConfigs, AclOp::kDescribeConfigs}));
  // To be denied READ is not to be denied DESCRIBE, which still needs something that allows it.
  acls.deny(AclOp::kRead);
  acls.allow(AclOp::kDescribe);
  topic_named(kit, topic.name)["topicAuthorizedOperations"].is(
      bits({AclOp::kDescribe, AclOp::kAlterConfigs, AclOp::kDescribeConfigs}));
  fetch_one(kit, {topic})["errorCode"].is(kTopicDenied);
  list_offset(kit, topic, kLatest)["errorCode"].is_none();
}

CASE(prefixes, "KIP-290") {
  needs_acls(kit);
  const std::string prefix = kit.name("prefix");
  const Topic inside = create_topic(kit, 1, {}, prefix + "-inside");
  const Topic outside = create_topic(kit, 1, {}, kit.name("outside"));
  AclSpec other{AclType::kTopic, prefix, AclPattern::kPrefixed};
  other.principal = kOther;
  Acls acls(kit, AclType::kTopic, prefix);
  acls.add(other);
  fetch_one(kit, {inside})["errorCode"].is(kTopicDenied);
  fetch_one(kit, {outside})["errorCode"].is_none();
  AclSpec mine = other;
  mine.principal = kSelf;
  mine.operation = AclOp::kRead;
  acls.add(mine);
  fetch_one(kit, {inside})["errorCode"].is_none();
  try_produce(kit, inside, build_batch({.records = records_of({"a"})}))["errorCode"].is(
      kTopicDenied);
  mine.permission = AclPermission::kDeny;
  acls.add(mine);
  fetch_one(kit, {inside})["errorCode"].is(kTopicDenied);
  // A host is compared as a text.
  mine.permission = AclPermission::kAllow;
  mine.operation = AclOp::kWrite;
  mine.host = "10.255.255.254";
  acls.add(mine);
  try_produce(kit, inside, build_batch({.records = records_of({"a"})}))["errorCode"].is(
      kTopicDenied);
}

CASE(topics_to_make_and_to_delete, "KIP-11", .alone = true) {
  needs_acls(kit);
  const std::string denied = kit.name("denied");
  const std::string allowed = kit.name("allowed");
  const Topic there = create_topic(kit);
  Acls cluster(kit, AclType::kCluster, kClusterName);
  cluster.deny(AclOp::kCreate);
  Acls topic(kit, AclType::kTopic, denied);
  topic.allow(AclOp::kDescribe);
  const Value answer = create_topics(kit, list(new_topic(denied), new_topic(allowed)));
  answer.with("name", denied)["errorCode"].is(kTopicDenied);
  answer.with("name", allowed)["errorCode"].is_none();
  // Metadata makes no more than CreateTopics would.
  const Value named = kit.ask(
      "Metadata", 12,
      {{"topics", list(Object{{"name", denied}})}, {"allowAutoTopicCreation", true}})["topics"][0];
  named["errorCode"].is(kTopicDenied);
  topic_named(kit, denied)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);

  const std::string gone = kit.name("gone");
  cluster.deny(AclOp::kDelete);
  Acls hidden(kit, AclType::kTopic, there.name);
  Acls missing(kit, AclType::kTopic, gone);
  const auto deleted = [&](const Object& which) {
    return kit.ask("DeleteTopics", 6,
                   {{"topics", list(which)}, {"timeoutMs", 1000}})["responses"][0];
  };
  const Value by_name = deleted({{"name", there.name}});
  by_name["errorCode"].is(kTopicDenied);
  by_name["topicId"].is(std::string(kZeroId));
  const Value by_id = deleted({{"name", nullptr}, {"topicId", there.id}});
  by_id["errorCode"].is(kTopicDenied);
  by_id["name"].is_null();
  deleted({{"name", gone}})["errorCode"].is(kTopicDenied);
  hidden.allow(AclOp::kDescribe);
  deleted({{"name", nullptr}, {"topicId", there.id}})["name"].is(there.name);
}

// ---------------------------------------------------------------- groups

CASE(hidden_group, "KIP-11") {
  needs_acls(kit);
  const std::string group = offsets_group(kit);
  const Topic topic = create_topic(kit);
  const Topic other = create_topic(kit);
  commit(kit, group, topic, 0);
  commit(kit, group, other, 0);
  {
    Acls acls(kit, AclType::kGroup, group);
    describe_classic(kit, group)["errorCode"].is(kGroupDenied);
    fetch_offsets(kit, group, std::nullopt)["errorCode"].is(kGroupDenied);
    try_commit(kit, group, {topic}).is(kGroupDenied);
    delete_group(kit, group)["errorCode"].is(kGroupDenied);
    delete_offsets(kit, group, {{topic}})["errorCode"].is(kGroupDenied);
    acls.allow(AclOp::kDescribe);
    fetch_offsets(kit, group, std::nullopt)["errorCode"].is_none();
    try_commit(kit, group, {topic}).is(kGroupDenied);
  }
  // Of all offsets those of hidden topics are left out; one that is named is refused.
  kit.until("the group is open again",
            [&] { return try_commit(kit, group, {topic}).error() == ErrorCode::NONE; });
  Acls acls(kit, AclType::kTopic, topic.name);
  const Value all = fetch_offsets(kit, group, std::nullopt)["topics"];
  expect(all.has_item("name", other.name), "the other topic's offset is there");
  expect(!all.has_item("name", topic.name), "the hidden topic's offset is not");
  fetch_offsets(kit, group,
                std::vector<OffsetPart>{{topic}})["topics"][0]["partitions"][0]["errorCode"]
      .is(kTopicDenied);
  try_commit(kit, group, {topic}).is(kTopicDenied);
  try_commit(kit, group, {other}).is_none();
}

CASE(consumer_group_topics, "KIP-848") {
  needs_acls(kit);
  const std::string group = new_group(kit);
  const std::string prefix = kit.name("pattern");
  const Topic seen = create_topic(kit, 1, {}, prefix + "-seen");
  const Topic hidden = create_topic(kit, 1, {}, prefix + "-hidden");
  ConsumerMember member(kit, group);
  {
    Acls acls(kit, AclType::kTopic, hidden.name);
    member.try_join({.names = std::vector<std::string>{seen.name, hidden.name}})["errorCode"].is(
        kTopicDenied);
    // A pattern finds what the member may know of.
    ConsumerBeat pattern;
    pattern.names = std::vector<std::string>();
    pattern.regex = prefix + ".*";
    member.join(pattern);
    member.until_assigned(partitions_of(seen));
  }
  member.leave();
}

// ---------------------------------------------------------------- transactions

CASE(transactional_ids, "KIP-98") {
  needs_acls(kit);
  TxnProducer producer(kit, TxnVersion::kOne);
  producer.init();
  Acls acls(kit, AclType::kTransaction, producer.id());
  producer.try_init()["errorCode"].is(kTransactionDenied);
  producer.try_end(kCommit)["errorCode"].is(kTransactionDenied);
  producer.try_add_group(kit.name("g"))["errorCode"].is(kTransactionDenied);
  producer.describe()["errorCode"].is(kTransactionDenied);
  const Value all = kit.ask("ListTransactions", 1, {})["transactionStates"];
  expect(!all.has_item("transactionalId", producer.id()), "it is not listed");
  acls.allow(AclOp::kWrite);
  producer.try_end(kAbort)["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::INVALID_TXN_STATE});
  producer.describe()["errorCode"].is_none();
}

CASE(two_phase_commit, "KIP-939") {
  needs_acls(kit);
  kit.needs("InitProducerId", 6);
  TxnProducer producer(kit);
  InitOptions options;
  options.version = 6;
  options.enable_2pc = true;
  Acls acls(kit, AclType::kTransaction, producer.id());
  acls.allow(AclOp::kWrite);
  producer.try_init(options)["errorCode"].is(kTransactionDenied);
  acls.allow(AclOp::kTwoPhaseCommit);
  producer.init(options);
}

CASE(partitions_of_a_transaction, "KIP-98") {
  needs_acls(kit);
  const Topic open = create_topic(kit);
  const Topic hidden = create_topic(kit);
  TxnProducer producer(kit, TxnVersion::kOne);
  producer.init();
  Acls acls(kit, AclType::kTopic, hidden.name);
  const Value results = producer.try_add({{open}, {hidden}});
  results.with("name", hidden.name)["resultsByPartition"][0]["partitionErrorCode"].is(kTopicDenied);
  results.with("name", open.name)["resultsByPartition"][0]["partitionErrorCode"].is(
      ErrorCode::OPERATION_NOT_ATTEMPTED);
}

// ---------------------------------------------------------------- share groups

CASE(share_groups, "KIP-932") {
  needs_acls(kit);
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(10));
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  expect_equal(member.acquire(topic), Ranges{{0, 9, 1}}, "acquired");
  {
    Acls acls(kit, AclType::kTopic, topic.name);
    member.acknowledge(topic, 0, 4).is(kTopicDenied);
    const ShareFetched fetched = member.fetch(topic);
    expect_equal(fetched.error, kTopicDenied, "the partition's error");
    acls.allow(AclOp::kRead);
    member.acknowledge(topic, 0, 4).is_none();
  }
  {
    Acls acls(kit, AclType::kGroup, member.group());
    member.share_fetch({{topic}})["errorCode"].is(kGroupDenied);
    member.share_acknowledge({{topic, 0, 5, 5}})["errorCode"].is(kGroupDenied);
    member.heartbeat()["errorCode"].is(kGroupDenied);
  }
}

// ---------------------------------------------------------------- the cluster

CASE(cluster_operations, "KIP-430", .alone = true) {
  needs_acls(kit);
  const auto operations = [&] {
    return kit.ask("DescribeCluster", 1,
                   {{"includeClusterAuthorizedOperations", true}})["clusterAuthorizedOperations"];
  };
  operations().is(bits({AclOp::kCreate, AclOp::kAlter, AclOp::kDescribe, AclOp::kClusterAction,
                        AclOp::kDescribeConfigs, AclOp::kAlterConfigs, AclOp::kIdempotentWrite}));
  Acls cluster(kit, AclType::kCluster, kClusterName);
  cluster.deny(AclOp::kClusterAction);
  cluster.deny(AclOp::kAlterConfigs);
  cluster.deny(AclOp::kDescribeConfigs);
  operations().is(bits({AclOp::kCreate, AclOp::kAlter, AclOp::kDescribe, AclOp::kIdempotentWrite}));
  const std::string node = std::to_string(node_id(kit));
  describe_config(kit, config_query(ConfigResource::kBroker, node))["errorCode"].is(kClusterDenied);
  change_configs(kit, ConfigResource::kBroker, node, {})["errorCode"].is(kClusterDenied);
  kit.ask("ListConfigResources", 1, {})["errorCode"].is(kClusterDenied);
  alter_quotas(kit, {{"user", kit.name("u")}}, {{"producer_byte_rate", 1.0}})["errorCode"].is(
      kClusterDenied);
}

// An idempotent producer needs IDEMPOTENT_WRITE, or WRITE on some topic (KIP-679).
CASE(idempotent_producers, "KIP-679", .alone = true) {
  needs_acls(kit);
  const auto init = [&] {
    return kit.ask("InitProducerId", 4,
                   {{"transactionalId", nullptr}, {"transactionTimeoutMs", 60000}})["errorCode"];
  };
  init().is_none();
  Acls cluster(kit, AclType::kCluster, kClusterName);
  cluster.deny(AclOp::kIdempotentWrite);
  // Where topics without ACLs may be written, some topic may.
  init().is_none();
  AclSpec all{AclType::kTopic, "*"};
  all.operation = AclOp::kWrite;
  all.permission = AclPermission::kDeny;
  Acls topics(kit, AclType::kTopic, "*");
  topics.add(all);
  init().is(kClusterDenied);
}

}  // namespace ackord::conform
