// What the differential mode has found to be answered differently by two brokers: values that are
// easily taken for granted. Each is what Kafka answers.
#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"
#include "tools/conform/kit/share_member.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("differences", "Found by sending the same random requests to two brokers");

namespace {

constexpr const char* kZeroId = "AAAAAAAAAAAAAAAAAAAAAA";
constexpr int64_t kAllTopicOperations = 3576;

TxnProducer initialised(Kit& kit) {
  TxnProducer producer(kit);
  producer.init();
  return producer;
}

// AddPartitionsToTxn in the case's version; the topics' part of the answer.
Value add_partitions(Kit& kit, const TxnProducer& producer, const json::array& topics) {
  if (kit.version() >= 4) {
    const Object transaction{{"transactionalId", producer.id()},
                             {"producerId", producer.producer_id()},
                             {"producerEpoch", producer.epoch()},
                             {"topics", topics}};
    return kit.ask(
        "AddPartitionsToTxn", kit.version(),
        {{"transactions", list(transaction)}})["resultsByTransaction"][0]["topicResults"];
  }
  return kit.ask("AddPartitionsToTxn", kit.version(),
                 {{"v3AndBelowTransactionalId", producer.id()},
                  {"v3AndBelowProducerId", producer.producer_id()},
                  {"v3AndBelowProducerEpoch", producer.epoch()},
                  {"v3AndBelowTopics", topics}})["resultsByTopicV3AndBelow"];
}

// CreateTopics of these; the answer's topics.
Value create_topics(Kit& kit, const json::array& topics) {
  for (const json::value& topic : topics)
    kit.forget_later(std::string(topic.at("name").as_string()));
  return kit.ask("CreateTopics", kit.version(),
                 {{"topics", topics}, {"timeoutMs", 10000}})["topics"];
}
Object new_topic(const std::string& name, int32_t partitions) {
  return {{"name", name}, {"numPartitions", partitions}, {"replicationFactor", 1}};
}

}  // namespace

CASE(fetch_out_of_range_has_no_offsets, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4,
     .last = 18) {
  const Topic topic = create_topic(kit);
  const Value partition = fetch_one(kit, {.topic = topic, .offset = 5}, {.version = kit.version()});
  partition["errorCode"].is(ErrorCode::OFFSET_OUT_OF_RANGE);
  partition["highWatermark"].is(-1);
  partition["lastStableOffset"].is(-1);
  if (kit.version() >= 5) partition["logStartOffset"].is(-1);
  partition["abortedTransactions"].is_null();
}

CASE(fetch_unknown_partition_has_no_aborts, "Kafka protocol guide, Fetch", .api = "Fetch",
     .first = 4, .last = 18) {
  const Topic topic = create_topic(kit);
  const Value partition =
      fetch_one(kit, {.topic = topic, .partition = 7}, {.version = kit.version()});
  partition["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  partition["abortedTransactions"].has_size(0);
}

CASE(fetch_last_epoch_that_is_not_there, "KIP-595", .api = "Fetch", .first = 12, .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"x"});
  Object request = fetch_request({{.topic = topic}}, {.version = kit.version()});
  request["topics"]
      .as_array()[0]
      .as_object()["partitions"]
      .as_array()[0]
      .as_object()["lastFetchedEpoch"] = 2;
  kit.ask("Fetch", kit.version(), request)["responses"][0]["partitions"][0]["errorCode"].is(
      ErrorCode::OFFSET_OUT_OF_RANGE);
}

CASE(list_offsets_names_a_partition_twice, "Kafka protocol guide, ListOffsets",
     .api = "ListOffsets", .first = 1, .last = 11) {
  const Topic topic = create_topic(kit);
  const Object partition{{"partitionIndex", 0}, {"timestamp", -1}};
  const Value answer = kit.ask(
      "ListOffsets", kit.version(),
      {{"replicaId", -1},
       {"topics", list(Object{{"name", topic.name}, {"partitions", list(partition, partition)}})}});
  answer["topics"].has_size(1);
  answer["topics"][0]["partitions"].has_size(1);
  answer["topics"][0]["partitions"][0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(list_offsets_of_no_partition, "Kafka protocol guide, ListOffsets", .api = "ListOffsets",
     .first = 1, .last = 11) {
  const Topic topic = create_topic(kit);
  kit.ask("ListOffsets", kit.version(),
          {{"replicaId", -1},
           {"topics", list(Object{{"name", topic.name}, {"partitions", json::array()}})}})["topics"]
      .has_size(0);
}

CASE(fetch_as_a_replica_that_is_none, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4,
     .last = 14) {
  const Topic topic = create_topic(kit);
  Object request = fetch_request({{.topic = topic}}, {.version = kit.version()});
  request["replicaId"] = 128;
  kit.ask("Fetch", kit.version(), request)["responses"][0]["partitions"][0]["errorCode"].is(
      ErrorCode::NOT_LEADER_OR_FOLLOWER);
}

CASE(fetch_session_that_forgets_all, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit);
  const Value first = fetch(kit, {{.topic = topic}},
                            {.version = kit.version(), .session_id = 0, .session_epoch = 0});
  const auto id = static_cast<int32_t>(first["sessionId"].number());
  expect(id != 0, "there is a session");
  const Value last = fetch(kit, {},
                           {.version = kit.version(),
                            .session_id = id,
                            .session_epoch = 1,
                            .forgotten = {{.topic = topic}}});
  last["errorCode"].is_none();
  last["sessionId"].is(0);
}

CASE(fetch_names_a_partition_twice, "Kafka protocol guide, Fetch", .api = "Fetch", .first = 4,
     .last = 18) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"x"});
  const Value answer = fetch(kit, {{.topic = topic}, {.topic = topic}}, {.version = kit.version()});
  answer["responses"].has_size(1);
  answer["responses"][0]["partitions"].has_size(1);
}

CASE(transaction_errors_name_each_once, "KIP-98", .api = "AddPartitionsToTxn", .first = 0,
     .last = 5) {
  // When a partition is not there, nothing is added, and each is named once, whatever the request
  // does; what has no partition is not named.
  const Topic topic = create_topic(kit);
  const Object ghost{{"name", kit.name("ghost")}, {"partitions", list(0)}};
  const Object empty{{"name", topic.name}, {"partitions", json::array()}};
  const Value topics = add_partitions(kit, initialised(kit), list(ghost, ghost, empty));
  topics.has_size(1);
  topics[0]["resultsByPartition"].has_size(1);
  topics[0]["resultsByPartition"][0]["partitionErrorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(transactional_offsets_of_no_partition, "KIP-98", .api = "TxnOffsetCommit", .first = 0,
     .last = 5) {
  const Topic topic = create_topic(kit);
  const TxnProducer producer = initialised(kit);
  kit.ask("TxnOffsetCommit", kit.version(),
          {{"transactionalId", producer.id()},
           {"groupId", kit.name("group")},
           {"producerId", producer.producer_id()},
           {"producerEpoch", 0},
           {"topics", list(Object{{"name", topic.name}, {"partitions", json::array()}})}})["topics"]
      .has_size(0);
}

CASE(transactional_offsets_of_nobody, "KIP-447", .api = "TxnOffsetCommit", .first = 3, .last = 6) {
  // A generation, but no member.
  const Topic topic = create_topic(kit);
  const TxnProducer producer = initialised(kit);
  const std::string group = kit.name("group");
  kit.until("the group's coordinator is there", [&] {
    return kit.ask("FindCoordinator", 3, {{"key", group}, {"keyType", 0}})["errorCode"].error() ==
           ErrorCode::NONE;
  });
  kit.ask("AddOffsetsToTxn", 3,
          {{"transactionalId", producer.id()},
           {"producerId", producer.producer_id()},
           {"producerEpoch", 0},
           {"groupId", group}})["errorCode"]
      .is_none();
  const auto commit = [&](int32_t generation) {
    const Object partition{
        {"partitionIndex", 0}, {"committedOffset", 1}, {"committedMetadata", ""}};
    Object of_topic{{"partitions", list(partition)}};
    if (kit.version() >= 6)
      of_topic["topicId"] = topic.id;
    else
      of_topic["name"] = topic.name;
    return kit.ask("TxnOffsetCommit", kit.version(),
                   {{"transactionalId", producer.id()},
                    {"groupId", group},
                    {"producerId", producer.producer_id()},
                    {"producerEpoch", 0},
                    {"generationIdOrMemberEpoch", generation},
                    {"topics", list(of_topic)}})["topics"][0]["partitions"][0]["errorCode"];
  };
  commit(1).is(kit.version() >= 6 ? ErrorCode::GROUP_ID_NOT_FOUND : ErrorCode::ILLEGAL_GENERATION);
  commit(-1).is_none();
  // Now the group is there, and has nobody of that name.
  commit(1).is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(describe_configs_of_an_unknown_kind, "KIP-133", .api = "DescribeConfigs", .first = 1,
     .last = 4) {
  const Topic topic = create_topic(kit);
  const auto resource = [](int type, const std::string& name) {
    return Object{{"resourceType", type},
                  {"resourceName", name},
                  {"configurationKeys", list("retention.ms")}};
  };
  // One that is none spoils the whole request.
  const Value results =
      kit.ask("DescribeConfigs", kit.version(),
              {{"resources", list(resource(2, topic.name), resource(3, topic.name))}})["results"];
  results.has_size(2);
  for (const Value& one : results.items()) {
    one["errorCode"].is(ErrorCode::INVALID_REQUEST);
    one["configs"].has_size(0);
  }
}

CASE(describe_configs_of_no_subscription, "KIP-714", .api = "DescribeConfigs", .first = 1,
     .last = 4) {
  const Value result =
      kit.ask("DescribeConfigs", kit.version(),
              {{"resources", list(Object{{"resourceType", 16},
                                         {"resourceName", kit.name("subscription")},
                                         {"configurationKeys", nullptr}})}})["results"][0];
  result["errorCode"].is_none();
}

CASE(alter_configs_value_before_topic, "KIP-339", .api = "IncrementalAlterConfigs", .first = 0,
     .last = 1) {
  const auto alter = [&](const std::string& value) {
    return kit.ask(
        "IncrementalAlterConfigs", kit.version(),
        {{"resources", list(Object{{"resourceType", 2},
                                   {"resourceName", kit.name("ghost")},
                                   {"configs", list(Object{{"name", "message.timestamp.type"},
                                                           {"configOperation", 0},
                                                           {"value", value}})}})}})["responses"][0];
  };
  alter("never")["errorCode"].is(ErrorCode::INVALID_CONFIG);
  alter("CreateTime")["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(metadata_skips_no_id, "KIP-516", .api = "Metadata", .first = 12, .last = 13) {
  const Topic topic = create_topic(kit);
  const auto by_id = [](const std::string& id) {
    return Object{{"name", nullptr}, {"topicId", id}};
  };
  const Value topics = kit.ask("Metadata", kit.version(),
                               {{"topics", list(by_id(topic.id), by_id(kZeroId))}})["topics"];
  topics.has_size(1);
  topics[0]["errorCode"].is_none();
  topics[0]["name"].is(topic.name);
}

CASE(metadata_operations_of_an_unknown_topic, "KIP-430", .api = "Metadata", .first = 8,
     .last = 13) {
  const Value topic = kit.ask("Metadata", kit.version(),
                              {{"topics", list(Object{{"name", kit.name("ghost")}})},
                               {"allowAutoTopicCreation", false},
                               {"includeTopicAuthorizedOperations", true}})["topics"][0];
  topic["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  topic["topicAuthorizedOperations"].is(kAllTopicOperations);
}

CASE(share_error_has_no_lock_time, "KIP-932", .api = "ShareAcknowledge", .first = 2, .last = 2) {
  const Topic topic = create_topic(kit);
  const Value answer = kit.ask(
      "ShareAcknowledge", 2,
      {{"groupId", kit.name("share")},
       {"memberId", "member"},
       {"shareSessionEpoch", 7},
       {"topics", list(Object{{"topicId", topic.id},
                              {"partitions",
                               list(Object{{"partitionIndex", 0},
                                           {"acknowledgementBatches",
                                            list(Object{{"firstOffset", 0},
                                                        {"lastOffset", 0},
                                                        {"acknowledgeTypes", list(1)}})}})}})}});
  answer["errorCode"].is(ErrorCode::SHARE_SESSION_NOT_FOUND);
  answer["acquisitionLockTimeoutMs"].is(0);
}

CASE(share_fetch_error_has_no_lock_time, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  const Value answer = kit.ask("ShareFetch", kit.version(),
                               {{"groupId", kit.name("share")},
                                {"memberId", "member"},
                                {"shareSessionEpoch", 7},
                                {"maxWaitMs", 0},
                                {"maxRecords", 1},
                                {"batchSize", 1},
                                {"topics", json::array()}});
  answer["errorCode"].is(ErrorCode::SHARE_SESSION_NOT_FOUND);
  answer["acquisitionLockTimeoutMs"].is(0);
}

CASE(share_acknowledge_type_before_partition, "KIP-932", .api = "ShareAcknowledge", .first = 1,
     .last = 2) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(2));
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  member.acquire_count(topic, 2);
  const ShareAck ack{.topic = topic, .partition = 7, .types = {kRenew}};
  const Value answer = member.share_acknowledge({ack}, {.version = kit.version()});
  answer["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(share_acknowledge_names_a_partition_twice, "KIP-932", .api = "ShareAcknowledge", .first = 1,
     .last = 2) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(2));
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  member.acquire_count(topic, 2);
  const auto part = [](const json::array& batches) {
    return Object{{"partitionIndex", 0}, {"acknowledgementBatches", batches}};
  };
  const auto batch = [](int offset) {
    return Object{{"firstOffset", offset}, {"lastOffset", offset}, {"acknowledgeTypes", list(1)}};
  };
  const Value answer = member.connection().ask(
      "ShareAcknowledge", kit.version(),
      {{"groupId", member.group()},
       {"memberId", member.id()},
       {"shareSessionEpoch", member.session_epoch()},
       {"topics", list(Object{{"topicId", topic.id},
                              {"partitions", list(part(list(batch(0))), part(list(batch(1))))}})}});
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"].has_size(1);
  answer["responses"][0]["partitions"][0]["errorCode"].is_none();
}

CASE(share_offsets_name_a_partition_twice, "KIP-932", .api = "DescribeShareGroupOffsets",
     .first = 0, .last = 1) {
  const Topic topic = create_topic(kit);
  const Object group{{"groupId", kit.name("share")},
                     {"topics", list(Object{{"topicName", topic.name}, {"partitions", list(0, 0)}},
                                     Object{{"topicName", topic.name}, {"partitions", list(0)}})}};
  const auto describe = [&] {
    return kit.ask("DescribeShareGroupOffsets", kit.version(),
                   {{"groups", list(group)}})["groups"][0]["topics"];
  };
  kit.until("the topic is known", [&] { return describe()[0]["topicId"].text() == topic.id; });
  const Value topics = describe();
  topics.has_size(1);
  topics[0]["partitions"].has_size(1);
}

CASE(names_that_are_no_text, "Kafka protocol guide, Protocol Primitive Types") {
  // A byte that is no UTF-8 comes back as U+FFFD.
  const Value topic = kit.ask("Metadata", 9,
                              {{"topics", list(Object{{"name", "a\xb7z"}})},
                               {"allowAutoTopicCreation", false}})["topics"][0];
  topic["name"].is("a\xef\xbf\xbdz");
}

CASE(create_topics_too_many_partitions, "KIP-599", .api = "CreateTopics", .first = 2, .last = 7) {
  // More than 10000 in one request, whatever else is wrong with it: none of its topics is created.
  const std::string small = kit.name("t");
  Object big = new_topic(kit.name("t"), 10001);
  big["configs"] = list(Object{{"name", "cleanup.policy"}, {"value", nullptr}});
  const Value topics = create_topics(kit, list(new_topic(small, 1), big));
  topics.has_size(2);
  for (const Value& one : topics.items()) one["errorCode"].is(ErrorCode::POLICY_VIOLATION);
  describe_topic(kit, small)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(create_topics_twice_and_too_many, "KIP-599", .api = "CreateTopics", .first = 2, .last = 7) {
  const Object topic = new_topic(kit.name("t"), 10001);
  const Value topics = create_topics(kit, list(topic, topic));
  topics.has_size(1);
  topics[0]["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(create_topics_null_value_before_assignment, "KIP-4", .api = "CreateTopics", .first = 2,
     .last = 7) {
  Object topic = new_topic(kit.name("t"), -1);
  topic["replicationFactor"] = -1;
  topic["assignments"] = list(Object{{"partitionIndex", 0}, {"brokerIds", list(77)}});
  topic["configs"] = list(Object{{"name", "compression.type"}, {"value", nullptr}});
  create_topics(kit, list(topic))[0]["errorCode"].is(ErrorCode::INVALID_CONFIG);
}

CASE(fetch_with_a_negative_leader_epoch, "KIP-320", .api = "Fetch", .first = 9, .last = 18) {
  // Every negative one is none, not only -1.
  const Topic topic = create_topic(kit);
  fetch_one(kit, {.topic = topic, .current_leader_epoch = -2},
            {.version = kit.version()})["errorCode"]
      .is_none();
}

CASE(share_session_keeps_what_is_not_there, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  // A partition that is not there stays in the session, and is named again and again, also beside
  // records.
  const Topic topic = create_topic(kit);
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  const ShareFetchOptions options{.version = kit.version(), .max_wait_ms = 0};
  member.share_fetch({{.topic = topic, .partition = 7}}, options);
  produce(kit, topic, numbered(2));
  kit.until("the records are acquired", [&] {
    const Value answer = member.share_fetch({{.topic = topic}}, options);
    const ShareFetched missing = fetched_of(answer, topic, 7);
    expect(missing.present, "the partition is named");
    expect_equal(missing.error, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "its error");
    return !fetched_of(answer, topic).acquired.empty();
  });
}

}  // namespace ackord::conform
