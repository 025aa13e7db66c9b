// What comes back of a batch: what the broker writes into its header, and that the rest is as sent.
#include <algorithm>
#include <set>

#include "tools/conform/case.h"
#include "tools/conform/kit/produce_checks.h"

namespace ackord::conform {

AREA("batches", "Batches as they come back");

static BatchRead stored_of(Kit& kit, const std::vector<RecordSpec>& records,
                           Codec codec = Codec::kNone) {
  const Topic topic = create_topic(kit);
  produce(kit, topic, build_batch({.records = records, .codec = codec}));
  return only_batch(kit, topic);
}

CASE(base_offset_is_assigned, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (int64_t expected = 0; expected < 8; expected += 2)
    expect_equal(produce(kit, topic, numbered(2)), expected, "the base offset");
  const auto stored = read_all(kit, topic);
  expect_equal(offsets_of(stored), std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}, "the offsets");
  for (const BatchRead& batch : stored) expect(batch.crc_ok, "the checksum is right");
}

CASE(leader_epoch_is_assigned, "KIP-101") {
  const Topic topic = create_topic(kit);
  const int64_t epoch = describe_topic(kit, topic.name)["partitions"][0]["leaderEpoch"].number();
  for (const int32_t said : {-1, 0, 12345, INT32_MAX})
    produce(kit, topic, build_batch({.records = records_of({"x"}), .leader_epoch = said}));
  for (const BatchRead& batch : read_all(kit, topic)) {
    expect_equal(batch.header.leader_epoch, epoch, "the leader epoch");
    expect(batch.crc_ok, "the checksum is right");
  }
}

// Offset and epoch are outside of the checksum, so that a broker may write them in place.
CASE(rest_is_byte_for_byte, "KIP-98") {
  for (const Codec codec :
       {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    const Topic topic = create_topic(kit);
    const Bytes sent = build_batch({.records = records_of(numbered(50)), .codec = codec});
    produce(kit, topic, sent);
    const Bytes stored = fetch_one(kit, {.topic = topic})["records"].bytes();
    expect_equal(stored.size(), sent.size(), "the bytes of the batch");
    expect(std::equal(stored.begin() + 16, stored.end(), sent.begin() + 16),
           "from the magic byte on it is as sent");
  }
}

CASE(batches_stay_apart, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const int count : {1, 3, 2}) produce(kit, topic, numbered(count));
  std::vector<std::pair<int64_t, int32_t>> found;
  for (const BatchRead& batch : read_all(kit, topic))
    found.emplace_back(batch.header.base_offset, batch.header.records_count);
  expect_equal(found, std::vector<std::pair<int64_t, int32_t>>{{0, 1}, {1, 3}, {4, 2}},
               "base offsets and counts");
}

CASE(headers, "KIP-82") {
  const std::vector<std::pair<std::string, std::optional<std::string>>> headers{
      {"a", "1"},
      {"b", {}},
      {"a", "2"},
      {"", ""},
      {"zero", std::string(3, '\0')},
      {"größe", "日本"},
      {"long", std::string(5000, 'h')}};
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    const BatchRead stored = stored_of(kit, {{.value = "v", .headers = headers}}, codec);
    expect_equal(stored.records[0].headers, headers, "the headers");
  }
}

CASE(null_and_empty_differ, "Kafka protocol guide, Record") {
  const BatchRead stored = stored_of(
      kit, {{}, {.value = ""}, {.key = ""}, {.value = "", .key = ""}, {.value = "v", .key = "k"}});
  std::vector<std::pair<std::optional<std::string>, std::optional<std::string>>> found;
  for (const RecordRead& record : stored.records) found.emplace_back(record.key, record.value);
  expect_equal(found,
               std::vector<std::pair<std::optional<std::string>, std::optional<std::string>>>{
                   {{}, {}}, {{}, ""}, {"", {}}, {"", ""}, {"k", "v"}},
               "keys and values");
}

CASE(any_bytes, "Kafka protocol guide, Record") {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const BatchRead stored = stored_of(kit, {{.value = all, .key = all}});
  expect(stored.records[0].key == all && stored.records[0].value == all, "bytes as sent");
}

CASE(tombstone_on_a_compacted_topic, "docs of log compaction") {
  const Topic topic = create_topic(kit, 1, {{"cleanup.policy", "compact"}});
  produce(kit, topic, build_batch({.records = {{.key = "k"}}}));
  const BatchRead stored = only_batch(kit, topic);
  expect(stored.records[0].key == "k" && !stored.records[0].value, "key k without a value");
}

CASE(large_record, "docs of max.message.bytes") {
  const std::string value(1000000, 'x');
  const BatchRead stored = stored_of(kit, {{.value = value}});
  expect(stored.records[0].value == value, "the value as sent");
}

CASE(larger_record_where_allowed, "docs of max.message.bytes") {
  const Topic topic = create_topic(kit, 1, {{"max.message.bytes", "10000000"}});
  const std::string value(5 << 20, 'x');
  produce(kit, topic, {value});
  expect(only_batch(kit, topic).records[0].value == value, "the value as sent");
}

CASE(many_records, "KIP-98") {
  const auto values = numbered(20000);
  for (const Codec codec : {Codec::kNone, Codec::kZstd}) {
    const BatchRead stored = stored_of(kit, records_of(values), codec);
    expect_equal(stored.header.records_count, 20000, "how many records");
    expect_equal(stored.header.last_offset_delta, 19999, "the last offset delta");
    expect(values_of({stored}) == values, "the values as sent");
  }
}

CASE(many_batches, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 100; ++i) produce(kit, topic, {std::to_string(i)});
  expect_equal(values_of(read_all(kit, topic)), numbered(100, ""), "the values");
}

// Requests that are sent without waiting for answers are stored in their order.
CASE(pipelined_order, "Kafka protocol guide, Network") {
  const Topic topic = create_topic(kit);
  std::vector<Sent> sent;
  for (int i = 0; i < 50; ++i) {
    const Bytes batch = build_batch({.records = records_of({std::to_string(i)})});
    sent.push_back(kit.first().send("Produce", 11, produce_request(topic, bytes(batch))));
  }
  for (size_t i = 0; i < sent.size(); ++i) {
    const Value partition = kit.first().receive(sent[i])["responses"][0]["partitionResponses"][0];
    partition["baseOffset"].is(static_cast<int64_t>(i));
  }
  expect_equal(values_of(read_all(kit, topic)), numbered(50, ""), "the values");
}

CASE(producer_fields_are_kept, "KIP-98") {
  const Topic topic = create_topic(kit);
  const Value producer =
      kit.ask("InitProducerId", 0, {{"transactionalId", nullptr}, {"transactionTimeoutMs", 60000}});
  const int64_t id = producer["producerId"].number();
  for (const int32_t sequence : {0, 2}) {
    produce(kit, topic,
            build_batch({.records = records_of({"a", "b"}),
                         .producer_id = id,
                         .producer_epoch = 0,
                         .base_sequence = sequence}));
  }
  const auto stored = read_all(kit, topic);
  expect_equal(stored.size(), size_t{2}, "how many batches");
  for (const BatchRead& batch : stored) {
    expect_equal(batch.header.producer_id.value, id, "the producer id");
    expect_equal(batch.header.producer_epoch, 0, "the producer epoch");
    expect(!batch.header.transactional() && !batch.header.control(), "no attributes");
  }
  expect_equal(stored[1].header.base_sequence, 2, "the second base sequence");
}

CASE(no_producer, "KIP-98") {
  const BatchRead stored = stored_of(kit, records_of({"x"}));
  expect_equal(stored.header.producer_id.value, -1, "the producer id");
  expect_equal(stored.header.producer_epoch, -1, "the producer epoch");
  expect_equal(stored.header.base_sequence, -1, "the base sequence");
  expect_equal(stored.header.attributes, 0, "the attributes");
}

CASE(timestamps_far_apart, "Kafka protocol guide, Record") {
  const int64_t now = now_ms();
  const BatchRead stored = stored_of(kit, {{.value = "a", .timestamp = now},
                                           {.value = "b", .timestamp = 0},
                                           {.value = "c", .timestamp = now - 1}});
  expect_equal(stored.records[0].timestamp, now, "the first timestamp");
  expect_equal(stored.records[1].timestamp, 0, "the second timestamp");
  expect_equal(stored.records[2].timestamp, now - 1, "the third timestamp");
}

// Attributes of a single record are unused.
CASE(record_attributes, "Kafka protocol guide, Record") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, raw_batch(1, raw_record({.value = "v", .attributes = 5})));
  expect_equal(values_of({only_batch(kit, topic)}), std::vector<std::string>{"v"}, "the values");
}

CASE(partitions_are_independent, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit, 4);
  for (int32_t i = 0; i < 4; ++i)
    produce(kit, topic, numbered(i + 1, "p" + std::to_string(i)), {.partition = i});
  for (int32_t i = 0; i < 4; ++i) {
    expect_equal(values_of(read_all(kit, topic, i)), numbered(i + 1, "p" + std::to_string(i)),
                 "the values of a partition");
  }
}

// Eight connections at once; no record is lost, twice, or torn.
CASE(concurrent_producers, "Kafka protocol guide, Produce") {
  const Topic topic = create_topic(kit);
  std::vector<std::pair<Connection*, Sent>> sent;
  for (int i = 0; i < 40; ++i) {
    static constexpr int kConnections = 8;
    Connection* connection =
        i < kConnections ? &kit.connect() : sent[static_cast<size_t>(i % kConnections)].first;
    const Bytes batch = build_batch({.records = records_of(numbered(5, std::to_string(i) + "-"))});
    sent.emplace_back(connection,
                      connection->send("Produce", 11, produce_request(topic, bytes(batch))));
  }
  std::set<int64_t> offsets;
  for (const auto& [connection, one] : sent) {
    offsets.insert(
        connection->receive(one)["responses"][0]["partitionResponses"][0]["baseOffset"].number());
  }
  expect_equal(offsets.size(), size_t{40}, "different base offsets");
  const auto values = values_of(read_all(kit, topic));
  expect_equal(std::set<std::string>(values.begin(), values.end()).size(), size_t{200},
               "different values");
}

}  // namespace ackord::conform
