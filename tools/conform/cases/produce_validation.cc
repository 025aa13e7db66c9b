// What a broker must not store, as it would stop every consumer: one bad batch at a time.
#include "tools/conform/case.h"
#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/produce_checks.h"

namespace ackord::conform {

AREA("produce.validation", "Batches that are refused");

static Bytes batch_of(const std::vector<std::string>& values) {
  return build_batch({.records = records_of(values)});
}

CASE(bad_crc, "KIP-98") {
  refused(kit, create_topic(kit), build_batch({.records = records_of({"x"}), .bad_crc = true}),
          ErrorCode::CORRUPT_MESSAGE);
}

// The usual ones of the following, for a version that would take another way.
CASE(in_every_version, "KIP-98", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit, 1, {{"max.message.bytes", "2000"}});
  const auto refuse = [&](const Bytes& batch, ErrorCode error) {
    refused(kit, topic, batch, error, {.version = kit.version()});
  };
  const auto records = records_of({"x"});
  refuse(build_batch({.records = records, .bad_crc = true}), ErrorCode::CORRUPT_MESSAGE);
  refuse(build_batch({.records = records, .base_offset = 7}), ErrorCode::INVALID_RECORD);
  refuse(build_batch({.records = records, .last_offset_delta = 3}), ErrorCode::INVALID_RECORD);
  refuse({}, ErrorCode::INVALID_RECORD);
  refuse(joined(batch_of({"x"}), batch_of({"y"})), ErrorCode::INVALID_RECORD);
  refuse(old_message(0, "x"), ErrorCode::INVALID_RECORD);
  refuse(old_message(1, "x"), ErrorCode::INVALID_RECORD);
  refuse(batch_of({std::string(3000, 'x')}), ErrorCode::MESSAGE_TOO_LARGE);
}

// Kafka 4.4 never answers it; to refuse it, or to close the connection, is of more use.
CASE(null_records, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  Connection& connection = kit.connect();
  const Sent sent = connection.send("Produce", 11, produce_request(topic, nullptr));
  if (connection.readable_within(Millis(1500))) {
    const auto frame = connection.receive_frame();
    if (frame) {
      decode_answer(sent, *frame)["responses"][0]["partitionResponses"][0]["errorCode"].is_not(0);
    }
  }
  expect_equal(end_offset(kit, topic), 0, "the log's end");
  produce(kit, topic, {"x"});
}

CASE(empty_records, "Kafka protocol guide, Produce") {
  refused(kit, create_topic(kit), {}, ErrorCode::INVALID_RECORD);
}

CASE(two_batches, "KIP-98") {
  refused(kit, create_topic(kit), joined(batch_of({"x"}), batch_of({"y"})),
          ErrorCode::INVALID_RECORD);
}

CASE(magic_0, "KIP-724") {
  refused(kit, create_topic(kit), old_message(0, "x"), ErrorCode::INVALID_RECORD);
}

CASE(magic_1, "KIP-724") {
  refused(kit, create_topic(kit), old_message(1, "x"), ErrorCode::INVALID_RECORD);
}

CASE(unknown_magic, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const int magic : {3, 127, -1}) {
    refused(kit, topic,
            build_batch({.records = records_of({"x"}), .magic = static_cast<int8_t>(magic)}),
            {ErrorCode::CORRUPT_MESSAGE, ErrorCode::INVALID_RECORD});
  }
}

CASE(control_batch, "KIP-98") {
  const std::string type("\0\0\0\1", 4);
  const std::string value("\0\0\0\0\0\0", 6);
  refused(kit, create_topic(kit),
          build_batch({.records = {{.value = value, .key = type}}, .control = true}),
          ErrorCode::INVALID_RECORD);
}

CASE(last_offset_delta_too_high, "KIP-98") {
  refused(kit, create_topic(kit),
          build_batch({.records = records_of({"x", "y"}), .last_offset_delta = 4}),
          ErrorCode::INVALID_RECORD);
}

CASE(last_offset_delta_too_low, "KIP-98") {
  refused(kit, create_topic(kit),
          build_batch({.records = records_of({"x", "y"}), .last_offset_delta = 0}),
          ErrorCode::INVALID_RECORD);
}

CASE(last_offset_delta_negative, "KIP-98") {
  refused(kit, create_topic(kit),
          build_batch({.records = records_of({"x", "y"}), .last_offset_delta = -1}),
          ErrorCode::INVALID_RECORD);
}

CASE(base_offset_not_0, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const int64_t said : {int64_t{1}, int64_t{77}, int64_t{-1}, INT64_MAX}) {
    refused(kit, topic, build_batch({.records = records_of({"x"}), .base_offset = said}),
            ErrorCode::INVALID_RECORD);
  }
}

CASE(count_zero, "KIP-98") {
  const Topic topic = create_topic(kit);
  refused(kit, topic, build_batch({.records = records_of({"x"}), .records_count = 0}),
          ErrorCode::INVALID_RECORD);
  refused(kit, topic,
          build_batch({.records = records_of({"x"}), .last_offset_delta = -1, .records_count = 0}),
          ErrorCode::INVALID_RECORD);
}

CASE(count_negative, "KIP-98") {
  refused(kit, create_topic(kit),
          build_batch({.records = records_of({"x"}), .last_offset_delta = -2, .records_count = -1}),
          ErrorCode::INVALID_RECORD);
}

CASE(count_more_than_records, "KIP-98") {
  refused(kit, create_topic(kit), raw_batch(3, raw_record({})),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

CASE(count_huge, "KIP-98") {
  refused(kit, create_topic(kit), raw_batch(INT32_MAX, raw_record({})),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

CASE(count_less_than_records, "KIP-98") {
  const Bytes records = joined(raw_record({}), raw_record({.offset_delta = 1}));
  refused(kit, create_topic(kit), raw_batch(1, records),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

CASE(no_bytes_of_records, "KIP-98") {
  refused(kit, create_topic(kit), raw_batch(1, {}),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

// Kafka 4.4 stores it as it is, and consumers then see offsets that are not the log's; to refuse it
// is of more use.
CASE(offset_deltas_not_consecutive, "KIP-98") {
  for (const int32_t second : {0, 2, -1, 7}) {
    const Topic topic = create_topic(kit);
    const Bytes records = joined(raw_record({}), raw_record({.offset_delta = second}));
    const Value partition = try_produce(kit, topic, raw_batch(2, records));
    partition["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::INVALID_RECORD});
    const bool stored = partition["errorCode"].error() == ErrorCode::NONE;
    expect_equal(end_offset(kit, topic), stored ? 2 : 0, "the log's end");
  }
}

// Kafka 4.4 fails with UNKNOWN_SERVER_ERROR; better refuse it, or number the records anew.
CASE(offset_deltas_of_compressed_batch, "KIP-98") {
  const Topic topic = create_topic(kit);
  const Bytes records = joined(raw_record({.value = "a", .offset_delta = 3}),
                               raw_record({.value = "b", .offset_delta = 3}));
  const Bytes batch = with_payload(raw_batch(2, records), gzip_of(records), Codec::kGzip);
  const Value partition = try_produce(kit, topic, batch);
  partition["errorCode"].is_one_of(
      {ErrorCode::NONE, ErrorCode::INVALID_RECORD, ErrorCode::UNKNOWN_SERVER_ERROR});
  const auto stored = offsets_of(read_all(kit, topic));
  if (partition["errorCode"].error() == ErrorCode::NONE)
    expect_equal(stored, std::vector<int64_t>{0, 1}, "the offsets");
  else
    expect_equal(stored, std::vector<int64_t>{}, "the offsets");
}

CASE(record_longer_than_batch, "KIP-98") {
  refused(kit, create_topic(kit), raw_batch(1, raw_record({.length = 1000})),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

CASE(record_shorter_than_content, "KIP-98") {
  refused(kit, create_topic(kit), raw_batch(1, raw_record({.value = "abcdef", .length = 4})),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

CASE(record_length_negative, "KIP-98") {
  refused(kit, create_topic(kit), raw_batch(1, raw_record({.length = -5})),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

CASE(value_length_beyond_record, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const int32_t length : {2, 1000, INT32_MAX}) {
    refused(kit, topic, raw_batch(1, raw_record({.value_length = length})),
            {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
  }
}

CASE(key_length_beyond_record, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const int32_t length : {100, INT32_MAX}) {
    refused(kit, topic, raw_batch(1, raw_record({.key = "k", .key_length = length})),
            {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
  }
}

CASE(headers_count_negative, "KIP-82") {
  refused(kit, create_topic(kit), raw_batch(1, raw_record({.headers_count = -1})),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

CASE(headers_count_beyond_record, "KIP-82") {
  const Topic topic = create_topic(kit);
  for (const int32_t count : {1, 1000, INT32_MAX}) {
    refused(kit, topic, raw_batch(1, raw_record({.headers_count = count})),
            {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
  }
}

CASE(header_key_null, "KIP-82") {
  // Key length -1, value length -1.
  const Bytes header{std::byte{1}, std::byte{1}};
  refused(kit, create_topic(kit), raw_batch(1, raw_record({.headers_count = 1, .headers = header})),
          {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

// Which error is not said: Kafka 4.4 has UNKNOWN_SERVER_ERROR for the last of them.
CASE(batch_longer_than_bytes, "Kafka protocol guide, Produce") {
  const Bytes batch = batch_of({"x"});
  const auto length = static_cast<int32_t>(batch.size());
  const Topic topic = create_topic(kit);
  for (const int32_t wrong : {length, 1000000, INT32_MAX}) {
    refused(
        kit, topic, with_length(batch, wrong),
        {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE, ErrorCode::UNKNOWN_SERVER_ERROR});
  }
}

CASE(batch_length_too_small, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  for (const int32_t wrong : {0, 1, 13, 48, -1, INT32_MIN}) {
    refused(kit, topic, with_length(batch_of({"x"}), wrong),
            {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
  }
}

CASE(cut_short, "Kafka protocol guide, Produce") {
  const Bytes batch = batch_of({"x"});
  const Topic topic = create_topic(kit);
  for (const size_t missing : {size_t{1}, size_t{10}, batch.size() - 20, batch.size() - 5})
    refused(kit, topic, cut(batch, missing),
            {ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
}

// Kafka leaves what is less than a batch away; to refuse it is as good.
CASE(junk_behind_the_batch, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  const Value partition = try_produce(kit, topic, joined(batch_of({"x"}), Bytes(5)));
  partition["errorCode"].is_one_of(
      {ErrorCode::NONE, ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE});
  produce(kit, topic, {"y"});
  const auto values = values_of(read_all(kit, topic));
  expect_equal(values.back(), "y", "the last value");
}

CASE(negative_sequence, "KIP-98") {
  refused(kit, create_topic(kit),
          build_batch({.records = records_of({"x"}),
                       .producer_id = 12345,
                       .producer_epoch = 0,
                       .base_sequence = -1}),
          ErrorCode::INVALID_RECORD);
}

CASE(keyless_on_compacted, "KIP-467", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact"}});
  const auto batch = build_batch(
      {.records = {{.value = "1", .key = "k"}, {.value = "2"}, {.value = "3", .key = "k"}}});
  const Value partition =
      refused(kit, topic, batch, ErrorCode::INVALID_RECORD, {.version = kit.version()});
  if (kit.version() >= 8) has_record_errors(partition, {1});
}

CASE(all_keyless_are_named, "KIP-467") {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact"}});
  const Value partition = refused(kit, topic, batch_of({"1", "2", "3"}), ErrorCode::INVALID_RECORD);
  has_record_errors(partition, {0, 1, 2});
}

CASE(keyless_on_compacted_and_deleted, "KIP-71") {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact,delete"}});
  const Value partition = refused(kit, topic, batch_of({"1"}), ErrorCode::INVALID_RECORD);
  has_record_errors(partition, {0});
}

CASE(keyless_in_compressed_batch, "KIP-467") {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact"}});
  const std::vector<RecordSpec> records{{.value = "1", .key = "k"}, {.value = "2"}};
  for (const Codec codec : {Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    const Value partition = refused(kit, topic, build_batch({.records = records, .codec = codec}),
                                    ErrorCode::INVALID_RECORD);
    has_record_errors(partition, {1});
  }
}

CASE(empty_key_is_a_key, "KIP-467") {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact"}});
  produce(kit, topic, build_batch({.records = {{.value = "1", .key = ""}}}));
  expect_equal(read_all(kit, topic)[0].records[0].key, std::optional<std::string>(""), "the key");
}

CASE(batch_at_the_size_limit, "docs of max.message.bytes") {
  const Bytes batch = batch_of({std::string(1500, 'x')});
  const auto size = std::to_string(batch.size());
  produce(kit, create_topic(kit, 1, {{"max.message.bytes", size}}), batch);
  const auto less = std::to_string(batch.size() - 1);
  refused(kit, create_topic(kit, 1, {{"max.message.bytes", less}}), batch,
          ErrorCode::MESSAGE_TOO_LARGE);
}

CASE(batch_too_large, "docs of max.message.bytes") {
  const Topic topic = create_topic(kit, 1, {{"max.message.bytes", "2000"}});
  refused(kit, topic, batch_of({std::string(3000, 'x')}), ErrorCode::MESSAGE_TOO_LARGE);
}

CASE(size_limit_is_of_compressed_batches, "docs of max.message.bytes") {
  const Topic topic = create_topic(kit, 1, {{"max.message.bytes", "2000"}});
  const auto records = records_of({std::string(3000, 'x')});
  produce(kit, topic, build_batch({.records = records, .codec = Codec::kGzip}));
}

CASE(default_size_limit, "docs of message.max.bytes") {
  const Topic topic = create_topic(kit);
  refused(kit, topic, batch_of({std::string(1048600, 'x')}), ErrorCode::MESSAGE_TOO_LARGE);
  produce(kit, topic, {std::string(1048400, 'x')});
}

CASE(batch_larger_than_a_segment, "docs of segment.bytes") {
  const Topic topic =
      create_topic(kit, 1, {{"max.message.bytes", "4000000"}, {"segment.bytes", "1048576"}});
  refused(kit, topic, batch_of({std::string(1100000, 'x')}), ErrorCode::RECORD_LIST_TOO_LARGE);
}

CASE(unknown_topic, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 12) {
  const Value partition =
      try_produce(kit, ghost_topic(kit), batch_of({"x"}), {.version = kit.version()});
  partition["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  partition["baseOffset"].is(-1);
}

CASE(unknown_topic_id, "KIP-516", .api = "Produce", .first = 13, .last = 13) {
  const Topic ghost = ghost_topic(kit);
  const auto records = bytes(batch_of({"x"}));
  const Value topic =
      kit.ask("Produce", 13, produce_request(ghost, records, {.version = 13}))["responses"][0];
  topic["topicId"].is(json::value(ghost.id));
  topic["partitionResponses"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  topic["partitionResponses"][0]["baseOffset"].is(-1);
}

CASE(zero_topic_id, "KIP-516", .api = "Produce", .first = 13, .last = 13) {
  const Topic zero{"", "AAAAAAAAAAAAAAAAAAAAAA", 1};
  try_produce(kit, zero, batch_of({"x"}), {.version = 13})["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_ID);
}

CASE(id_of_a_deleted_topic, "KIP-516", .api = "Produce", .first = 13, .last = 13) {
  const Topic before = create_topic(kit);
  delete_topic(kit, before);
  const Topic after = create_topic(kit, 1, {}, before.name);
  kit.until("the old id is unknown", [&] {
    return try_produce(kit, before, batch_of({"x"}), {.version = 13})["errorCode"].error() ==
           ErrorCode::UNKNOWN_TOPIC_ID;
  });
  expect_equal(end_offset(kit, after), 0, "the end of the new topic");
}

CASE(unknown_partition, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  for (const int32_t partition : {1, 1000000, -1}) {
    const Value answer = try_produce(kit, topic, batch_of({"x"}),
                                     {.partition = partition, .version = kit.version()});
    answer["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    answer["index"].is(partition);
    answer["baseOffset"].is(-1);
  }
}

// The others are stored: a request is not refused as a whole.
CASE(one_bad_partition, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit, 3);
  const json::value good = bytes(batch_of({"x"}));
  const json::value bad = bytes(build_batch({.records = records_of({"x"}), .bad_crc = true}));
  Object request = produce_request(topic, good, {.version = kit.version()});
  request["topicData"].at(0).at("partitionData") =
      list(Object{{"index", 0}, {"records", good}}, Object{{"index", 1}, {"records", bad}},
           Object{{"index", 2}, {"records", good}}, Object{{"index", 9}, {"records", good}});
  const Value answer = kit.ask("Produce", kit.version(), request);
  const Value partitions = answer["responses"][0]["partitionResponses"];
  partitions.has_size(4);
  partitions.with("index", 0)["errorCode"].is_none();
  partitions.with("index", 1)["errorCode"].is(ErrorCode::CORRUPT_MESSAGE);
  partitions.with("index", 2)["errorCode"].is_none();
  partitions.with("index", 9)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  expect_equal(end_offset(kit, topic, 0), 1, "the end of partition 0");
  expect_equal(end_offset(kit, topic, 1), 0, "the end of partition 1");
  expect_equal(end_offset(kit, topic, 2), 1, "the end of partition 2");
}

CASE(internal_topic, "docs of internal topics") {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("group"));
  const Topic internal{"__consumer_offsets", "", 1};
  const Value partition = try_produce(kit, internal, batch_of({"x"}));
  partition["errorCode"].is(ErrorCode::INVALID_TOPIC_EXCEPTION);
  partition["baseOffset"].is(-1);
}

// No more replicas can be in sync than there are.
CASE(min_insync_above_replicas, "KIP-966") {
  const Topic topic = create_topic(kit, 1, {{"min.insync.replicas", "2"}});
  expect_equal(produce(kit, topic, batch_of({"x"})), 0, "the base offset");
  expect_equal(produce(kit, topic, batch_of({"x"}), {.acks = 1}), 1, "the base offset");
}

CASE(bad_names, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 12) {
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a/b"),
                                  std::string("."), std::string(250, 'x')}) {
    try_produce(kit, {name, "", 1}, batch_of({"x"}), {.version = kit.version()})["errorCode"].is(
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
}

// Kafka stores the last of them and answers once; to store and answer both is as good.
CASE(same_partition_twice, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  Object request = produce_request(topic, bytes(batch_of({"x"})));
  const Object part{{"index", 0}, {"records", bytes(batch_of({"y"}))}};
  request["topicData"].at(0).at("partitionData").as_array().push_back(part);
  int64_t stored = 0;
  const Value answer = kit.ask("Produce", 11, request);
  for (const Value& partition : answer["responses"][0]["partitionResponses"].items())
    if (partition["errorCode"].error() == ErrorCode::NONE) ++stored;
  expect_equal(end_offset(kit, topic), stored, "the log's end, by the answers");
}

CASE(same_topic_twice, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit, 2);
  const auto records = bytes(batch_of({"x"}));
  const int16_t version = kit.version();
  Object request = produce_request(topic, records, {.version = version});
  Object again = produce_request(topic, records, {.partition = 1, .version = version});
  request["topicData"].as_array().push_back(again["topicData"].at(0));
  size_t answers = 0;
  for (const Value& of_topic : kit.ask("Produce", version, request)["responses"].items()) {
    for (const Value& partition : of_topic["partitionResponses"].items()) {
      partition["errorCode"].is_none();
      ++answers;
    }
  }
  expect_equal(answers, size_t{2}, "partitions in the answer");
  for (const int32_t i : {0, 1}) expect_equal(end_offset(kit, topic, i), 1, "a log's end");
}

CASE(good_and_unknown_topics, "KIP-516", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  const Topic ghost = ghost_topic(kit);
  const auto records = bytes(batch_of({"x"}));
  const int16_t version = kit.version();
  Object request = produce_request(ghost, records, {.version = version});
  Object good = produce_request(topic, records, {.version = version});
  request["topicData"].as_array().push_back(good["topicData"].at(0));
  const Value answers = kit.ask("Produce", version, request)["responses"];
  const char* field = version >= 13 ? "topicId" : "name";
  const auto part = [&](const Topic& of) {
    return answers.with(field,
                        json::value(version >= 13 ? of.id : of.name))["partitionResponses"][0];
  };
  part(ghost)["errorCode"].is(version >= 13 ? ErrorCode::UNKNOWN_TOPIC_ID
                                            : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  part(topic)["errorCode"].is_none();
}

}  // namespace ackord::conform
