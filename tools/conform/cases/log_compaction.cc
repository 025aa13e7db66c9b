// Log compaction as readers see it. Kafka's cleaner looks for work every 15 s: these take a while.
#include "tools/conform/case.h"
#include "tools/conform/kit/payloads.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("log.compaction", "Log compaction");

constexpr Millis kCleanerLimit{30000};

// Cleaned as soon as there is anything to clean, in segments that are closed after a moment.
static Topic compacted_topic(Kit& kit, const Configs& more = {}) {
  Configs configs{{"cleanup.policy", "compact"},
                  {"segment.ms", "50"},
                  {"min.cleanable.dirty.ratio", "0.0001"},
                  {"max.compaction.lag.ms", "1000"}};
  configs.insert(configs.end(), more.begin(), more.end());
  return create_topic(kit, 1, configs);
}

static void put(Kit& kit, const Topic& topic, const std::string& key,
                const std::optional<std::string>& value, Codec codec = Codec::kNone) {
  produce(kit, topic, build_batch({.records = {{.value = value, .key = key}}, .codec = codec}));
}

// The active segment is not cleaned: this closes the one that holds what matters.
static void close_segment(Kit& kit, const Topic& topic) {
  for (int i = 0; i < 2; ++i) {
    kit.pass(Millis(100));
    put(kit, topic, "last" + std::to_string(i), "x");
  }
}

static std::vector<std::pair<int64_t, std::string>> keys_of(Kit& kit, const Topic& topic) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (const BatchRead& batch : read_all(kit, topic)) {
    if (batch.header.control()) continue;
    for (const RecordRead& record : batch.records)
      if (!record.key->starts_with("last")) found.emplace_back(record.offset, *record.key);
  }
  return found;
}

using Keys = std::vector<std::pair<int64_t, std::string>>;

CASE(last_value_of_a_key_stays, "docs of log compaction", .limit_s = 60) {
  const Topic topic = compacted_topic(kit);
  for (const char* key : {"a", "b", "a", "c", "b", "a"}) put(kit, topic, key, "v");
  close_segment(kit, topic);
  kit.until(
      "only the last record of each key is left",
      [&] { return keys_of(kit, topic) == Keys{{3, "c"}, {4, "b"}, {5, "a"}}; }, kCleanerLimit);
  // Offsets are kept, and reading from one that is gone goes on with the next.
  list_offset(kit, topic, kEarliest)["offset"].is(0);
  list_offset(kit, topic, kLatest)["offset"].is(8);
  const auto next = offsets_of(batches_of(fetch_one(kit, {.topic = topic, .offset = 1})));
  expect_equal(next.at(0), 3, "the first offset after a hole");
}

CASE(inside_compressed_batches, "docs of log compaction", .limit_s = 60) {
  const Topic topic = compacted_topic(kit);
  std::vector<RecordSpec> records;
  for (const char* key : {"a", "b", "a", "b", "c"}) records.push_back({.value = "v", .key = key});
  produce(kit, topic, build_batch({.records = records, .codec = Codec::kGzip}));
  close_segment(kit, topic);
  kit.until(
      "only the last record of each key is left",
      [&] { return keys_of(kit, topic) == Keys{{2, "a"}, {3, "b"}, {4, "c"}}; }, kCleanerLimit);
  const auto batches = read_all(kit, topic);
  expect(batches[0].crc_ok, "the checksum of a batch with holes is right");
  expect_equal(batches[0].header.base_offset, 0, "its base offset");
  expect_equal(batches[0].header.last_offset(), 4, "its last offset");
}

// A tombstone stays for delete.retention.ms; what it deletes goes at once.
CASE(tombstone_removes_older, "docs of log compaction", .limit_s = 60) {
  const Topic topic = compacted_topic(kit);
  put(kit, topic, "a", "1");
  put(kit, topic, "b", "1");
  put(kit, topic, "a", {});
  close_segment(kit, topic);
  kit.until(
      "the value under the tombstone is gone",
      [&] { return keys_of(kit, topic) == Keys{{1, "b"}, {2, "a"}}; }, kCleanerLimit);
}

CASE(aborted_records_do_not_count, "KIP-98", .limit_s = 60) {
  const Topic topic = compacted_topic(kit);
  put(kit, topic, "a", "kept");
  put(kit, topic, "b", "1");
  TxnProducer producer(kit);
  producer.init();
  const Bytes aborted = build_batch({.records = {{.value = "aborted", .key = "a"}},
                                     .producer_id = producer.producer_id(),
                                     .producer_epoch = producer.epoch(),
                                     .base_sequence = 0,
                                     .transactional = true});
  produce(kit, topic, aborted, {.version = 12, .transactional_id = producer.id()});
  producer.abort();
  put(kit, topic, "b", "2");
  close_segment(kit, topic);
  kit.until(
      "what was aborted is gone, and has replaced nothing",
      [&] { return keys_of(kit, topic) == Keys{{0, "a"}, {4, "b"}}; }, kCleanerLimit);
}

}  // namespace ackord::conform
