// What the differential mode has found to be answered differently by two brokers: values that are
// easily taken for granted. Each is what Kafka answers.
#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("differences", "Found by sending the same random requests to two brokers");

namespace {

constexpr const char* kZeroId = "AAAAAAAAAAAAAAAAAAAAAA";
constexpr int64_t kAllTopicOperations = 3576;
constexpr size_t kHeaderSize = 61;

std::vector<std::byte> one_record() { return build_batch({.records = records_of({"x"})}); }

int64_t new_producer_id(Kit& kit) {
  return kit
      .ask("InitProducerId", 4,
           {{"transactionalId", nullptr}, {"transactionTimeoutMs", 60000}})["producerId"]
      .number();
}

// A Produce of these batches, all to partition 0; the answer's topics.
Value produce_all(Kit& kit, const Topic& topic, const std::vector<std::vector<std::byte>>& batches,
                  int16_t version) {
  Object request = produce_request(topic, nullptr, {.version = version});
  request["topicData"].as_array()[0].as_object()["partitionData"] = list_of(
      batches, [](const auto& batch) { return Object{{"index", 0}, {"records", bytes(batch)}}; });
  return kit.ask("Produce", version, request)["responses"];
}

struct TransactionalId {
  std::string name;
  int64_t producer_id = 0;
};

// With epoch 0 and no transaction.
TransactionalId initialised(Kit& kit) {
  TransactionalId id{kit.name("txn"), 0};
  kit.until("a transactional producer", [&] {
    kit.ask("FindCoordinator", 3, {{"key", id.name}, {"keyType", 1}});
    const Value answer = kit.ask("InitProducerId", 4,
                                 {{"transactionalId", id.name}, {"transactionTimeoutMs", 60000}});
    id.producer_id = answer["producerId"].number();
    return answer["errorCode"].error() == ErrorCode::NONE;
  });
  return id;
}

// AddPartitionsToTxn in the case's version; the topics' part of the answer.
Value add_partitions(Kit& kit, const TransactionalId& id, const json::array& topics) {
  if (kit.version() >= 4) {
    const Object transaction{{"transactionalId", id.name},
                             {"producerId", id.producer_id},
                             {"producerEpoch", 0},
                             {"topics", topics}};
    return kit.ask(
        "AddPartitionsToTxn", kit.version(),
        {{"transactions", list(transaction)}})["resultsByTransaction"][0]["topicResults"];
  }
  return kit.ask("AddPartitionsToTxn", kit.version(),
                 {{"v3AndBelowTransactionalId", id.name},
                  {"v3AndBelowProducerId", id.producer_id},
                  {"v3AndBelowProducerEpoch", 0},
                  {"v3AndBelowTopics", topics}})["resultsByTopicV3AndBelow"];
}

}  // namespace

CASE(produce_acks_are_judged_last, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  const int16_t version = kit.version();
  const Value unknown =
      try_produce(kit, ghost_topic(kit), one_record(), {.version = version, .acks = 2});
  unknown["errorCode"].is(version >= 13 ? ErrorCode::UNKNOWN_TOPIC_ID
                                        : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  const Topic topic = create_topic(kit);
  try_produce(kit, topic, {}, {.version = version, .acks = 2})["errorCode"].is(
      ErrorCode::INVALID_RECORD);
}

CASE(produce_without_an_epoch, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const int64_t id = new_producer_id(kit);
  const ProduceOptions options{.version = kit.version()};
  const auto batch = [&](int16_t epoch) {
    return build_batch({.records = records_of({"x"}),
                        .producer_id = id,
                        .producer_epoch = epoch,
                        .base_sequence = 0});
  };
  // -1 is an epoch like any other, the lowest.
  expect_equal(produce(kit, topic, batch(-1), options), 0, "base offset");
  expect_equal(produce(kit, topic, batch(0), options), 1, "base offset");
  try_produce(kit, topic, batch(-1), options)["errorCode"].is(ErrorCode::INVALID_PRODUCER_EPOCH);
}

CASE(produce_with_the_append_time_bit, "docs/PROTOCOL.md", .api = "Produce", .first = 3,
     .last = 13) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, build_batch({.records = records_of({"x"}), .attributes = 8}),
          {.version = kit.version()});
  expect_equal(end_offset(kit, topic), 1, "the log's end");
}

CASE(produce_names_a_partition_twice, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  const Topic topic = create_topic(kit);
  const Value topics = produce_all(kit, topic,
                                   {build_batch({.records = records_of({"first"})}),
                                    build_batch({.records = records_of({"second"})})},
                                   kit.version());
  topics.has_size(1);
  topics[0]["partitionResponses"].has_size(1);
  topics[0]["partitionResponses"][0]["errorCode"].is_none();
  expect_equal(values_of(read_all(kit, topic)), std::vector<std::string>{"second"}, "values");
}

CASE(produce_to_no_partition, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  produce_all(kit, create_topic(kit), {}, kit.version()).has_size(0);
}

CASE(produce_cut_records, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  const Topic topic = create_topic(kit);
  const auto whole = one_record();
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{14}, size_t{20}, kHeaderSize, whole.size() - 1}) {
    const Value answer =
        try_produce(kit, topic, {whole.begin(), whole.begin() + static_cast<long>(size)},
                    {.version = kit.version()});
    answer["errorCode"].is(ErrorCode::INVALID_RECORD);
    answer["baseOffset"].is(-1);
    if (kit.version() >= 5) answer["logStartOffset"].is(-1);
  }
}

CASE(produce_duplicate_has_its_time, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const int64_t time = now_ms() - 1000;
  const auto batch = build_batch({.records = {{.value = "x", .timestamp = time}},
                                  .producer_id = new_producer_id(kit),
                                  .producer_epoch = 0,
                                  .base_sequence = 0});
  const ProduceOptions options{.version = kit.version()};
  try_produce(kit, topic, batch, options)["logAppendTimeMs"].is(-1);
  const Value again = try_produce(kit, topic, batch, options);
  again["errorCode"].is_none();
  again["baseOffset"].is(0);
  again["logAppendTimeMs"].is(time);
}

CASE(produce_message_of_a_sequence_error, "KIP-467", .api = "Produce", .first = 8, .last = 13) {
  const Topic topic = create_topic(kit);
  const int64_t id = new_producer_id(kit);
  const auto batch = build_batch(
      {.records = records_of({"x"}), .producer_id = id, .producer_epoch = 0, .base_sequence = 0});
  produce(kit, topic, batch, {.version = kit.version()});
  const Value answer = try_produce(kit, topic,
                                   build_batch({.records = records_of({"y"}),
                                                .producer_id = id,
                                                .producer_epoch = 0,
                                                .base_sequence = 5}),
                                   {.version = kit.version()});
  answer["errorCode"].is(ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  answer["errorMessage"].is_null();
}

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

CASE(produce_base_offset, "Kafka protocol guide, Produce", .api = "Produce", .first = 3,
     .last = 13) {
  const Topic topic = create_topic(kit);
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    const auto batch =
        build_batch({.records = records_of({"x"}), .codec = codec, .base_offset = 2});
    const Value answer = try_produce(kit, topic, batch, {.version = kit.version()});
    answer["errorCode"].is(ErrorCode::INVALID_RECORD);
  }
  expect_equal(end_offset(kit, topic), 0, "the log's end");
}

CASE(produce_twice_without_answer, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  Object request = produce_request(topic, bytes(one_record()), {.acks = 0});
  json::array& parts = request["topicData"].as_array()[0].as_object()["partitionData"].as_array();
  parts.push_back(json::value(parts[0]));
  Connection& connection = kit.connect();
  connection.send("Produce", 11, request);
  connection.receive(connection.send("Metadata", 12, {}));
  kit.until("a record is in the log", [&] { return end_offset(kit, topic) > 0; });
  produce(kit, topic, {"last"});
  expect_equal(end_offset(kit, topic), 2, "the log's end");
}

CASE(produce_to_two_topics_of_the_future, "Kafka protocol guide, Produce", .api = "Produce",
     .first = 3, .last = 13) {
  // A magic that no broker knows: no part of the request is looked at.
  const Topic topic = create_topic(kit);
  const auto batch = build_batch({.records = records_of({"x"}), .magic = 3});
  for (const Topic& to : {topic, ghost_topic(kit)}) {
    try_produce(kit, to, batch, {.version = kit.version()})["errorCode"].is(
        ErrorCode::CORRUPT_MESSAGE);
  }
}

CASE(produce_transactional_without_an_id, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const auto batch = build_batch({.records = records_of({"x"}),
                                  .producer_id = 1,
                                  .producer_epoch = 0,
                                  .base_sequence = 0,
                                  .transactional = true});
  try_produce(kit, ghost_topic(kit), batch, {.version = kit.version()})["errorCode"].is(
      ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
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
  const TransactionalId id = initialised(kit);
  kit.ask("TxnOffsetCommit", kit.version(),
          {{"transactionalId", id.name},
           {"groupId", kit.name("group")},
           {"producerId", id.producer_id},
           {"producerEpoch", 0},
           {"topics", list(Object{{"name", topic.name}, {"partitions", json::array()}})}})["topics"]
      .has_size(0);
}

CASE(transactional_offsets_of_nobody, "KIP-447", .api = "TxnOffsetCommit", .first = 3, .last = 6) {
  // A generation, but no member.
  const Topic topic = create_topic(kit);
  const TransactionalId id = initialised(kit);
  const std::string group = kit.name("group");
  kit.until("the group's coordinator is there", [&] {
    return kit.ask("FindCoordinator", 3, {{"key", group}, {"keyType", 0}})["errorCode"].error() ==
           ErrorCode::NONE;
  });
  kit.ask("AddOffsetsToTxn", 3,
          {{"transactionalId", id.name},
           {"producerId", id.producer_id},
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
                   {{"transactionalId", id.name},
                    {"groupId", group},
                    {"producerId", id.producer_id},
                    {"producerEpoch", 0},
                    {"generationIdOrMemberEpoch", generation},
                    {"topics", list(of_topic)}})["topics"][0]["partitions"][0]["errorCode"];
  };
  commit(1).is(kit.version() >= 6 ? ErrorCode::GROUP_ID_NOT_FOUND : ErrorCode::ILLEGAL_GENERATION);
  commit(-1).is_none();
  // Now the group is there, and has nobody of that name.
  commit(1).is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(produce_message_of_a_transaction_error, "KIP-467", .api = "Produce", .first = 8, .last = 10) {
  const Topic topic = create_topic(kit);
  const TransactionalId id = initialised(kit);
  const auto batch = build_batch({.records = records_of({"x"}),
                                  .producer_id = id.producer_id,
                                  .producer_epoch = 0,
                                  .base_sequence = 0,
                                  .transactional = true});
  const Value answer =
      try_produce(kit, topic, batch, {.version = kit.version(), .transactional_id = id.name});
  answer["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  answer["errorMessage"].is_not_empty();
}

CASE(produce_codec_before_transaction, "KIP-110", .api = "Produce", .first = 3, .last = 6) {
  const Topic topic = create_topic(kit);
  const TransactionalId id = initialised(kit);
  const auto batch = build_batch({.records = records_of({"x"}),
                                  .codec = Codec::kZstd,
                                  .producer_id = id.producer_id,
                                  .producer_epoch = 0,
                                  .base_sequence = 0,
                                  .transactional = true});
  try_produce(kit, topic, batch,
              {.version = kit.version(), .transactional_id = id.name})["errorCode"]
      .is(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
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
  const Object group{
      {"groupId", kit.name("share")},
      {"topics", list(Object{{"topicName", topic.name}, {"partitions", list(0, 0)}})}};
  const auto describe = [&] {
    return kit.ask("DescribeShareGroupOffsets", kit.version(),
                   {{"groups", list(group)}})["groups"][0]["topics"][0];
  };
  kit.until("the topic is known", [&] { return describe()["topicId"].text() == topic.id; });
  describe()["partitions"].has_size(1);
}

CASE(names_that_are_no_text, "Kafka protocol guide, Protocol Primitive Types") {
  // A byte that is no UTF-8 comes back as U+FFFD.
  const Value topic = kit.ask("Metadata", 9,
                              {{"topics", list(Object{{"name", "a\xb7z"}})},
                               {"allowAutoTopicCreation", false}})["topics"][0];
  topic["name"].is("a\xef\xbf\xbdz");
}

}  // namespace ackord::conform
