// Timestamps of records: the client's or the broker's, within bounds, and the maximum is true.
#include "tools/conform/case.h"
#include "tools/conform/kit/produce_checks.h"

namespace ackord::conform {

AREA("produce.timestamps", "CreateTime and LogAppendTime");

constexpr int64_t kHour = 3600000;

static std::vector<RecordSpec> at_times(const std::vector<int64_t>& times) {
  std::vector<RecordSpec> records;
  for (const int64_t time : times) records.push_back({.value = "x", .timestamp = time});
  return records;
}

static std::vector<int64_t> times_of(const BatchRead& batch) {
  std::vector<int64_t> times;
  for (const RecordRead& record : batch.records) times.push_back(record.timestamp);
  return times;
}

CASE(create_time_is_kept, "KIP-32") {
  const int64_t now = now_ms();
  const std::vector<int64_t> times{now - 5, now - 9, now, now - 1};
  for (const Codec codec : {Codec::kNone, Codec::kGzip, Codec::kZstd}) {
    const Topic topic = create_topic(kit);
    const Value partition =
        try_produce(kit, topic, build_batch({.records = at_times(times), .codec = codec}));
    partition["logAppendTimeMs"].is(-1);
    const BatchRead stored = only_batch(kit, topic);
    expect_equal(times_of(stored), times, "the timestamps");
    expect(!stored.header.log_append_time(), "the batch says CreateTime");
    expect_equal(stored.header.base_timestamp, now - 5, "the base timestamp");
    expect_equal(stored.header.max_timestamp, now, "the max timestamp");
  }
}

// The header's maximum is computed from the records, whatever it said.
CASE(max_timestamp_is_computed, "KIP-32") {
  const int64_t now = now_ms();
  for (const Codec codec :
       {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    const Topic topic = create_topic(kit);
    const auto records = at_times({now - 3, now - 1, now - 2});
    int64_t offset = 0;
    for (const int64_t said : {int64_t{-1}, now - 3, now + 1000000, int64_t{0}}) {
      produce(kit, topic, build_batch({.records = records, .codec = codec, .max_timestamp = said}));
      const auto stored = read_all(kit, topic, 0, offset);
      expect(stored[0].crc_ok, "the checksum is right");
      expect_equal(stored[0].header.max_timestamp, now - 1, "the max timestamp");
      offset += 3;
    }
  }
}

CASE(lookups_use_the_computed_maximum, "KIP-79") {
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    const Topic topic = create_topic(kit);
    const int64_t base = now_ms() - 1000;
    produce(kit, topic,
            build_batch({.records = at_times({base + 1, base + 2, base + 3}),
                         .codec = codec,
                         .leader_epoch = 12345,
                         .max_timestamp = -1}));
    list_offset(kit, topic, base + 2)["offset"].is(1);
    const Value last = list_offset(kit, topic, kMaxTimestamp);
    last["offset"].is(2);
    last["timestamp"].is(base + 3);
  }
}

CASE(log_append_time, "KIP-32") {
  for (const Codec codec :
       {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    const Topic topic = create_topic(kit, 1, {{"message.timestamp.type", "LogAppendTime"}});
    const int64_t before = now_ms();
    const Value partition =
        try_produce(kit, topic, build_batch({.records = at_times({1, 2, 3}), .codec = codec}));
    partition["errorCode"].is_none();
    const int64_t time = partition["logAppendTimeMs"].number();
    expect_between(time, before - 1000, now_ms() + 1000, "the time of the append");
    const BatchRead stored = only_batch(kit, topic);
    expect(stored.header.log_append_time(), "the batch says LogAppendTime");
    expect(stored.codec() == codec, "the codec is kept");
    expect_equal(stored.header.max_timestamp, time, "the max timestamp");
    expect_equal(stored.records.size(), size_t{3}, "how many records");
  }
}

CASE(log_append_time_recompressed, "KIP-32") {
  const Topic topic = create_topic(
      kit, 1, {{"message.timestamp.type", "LogAppendTime"}, {"compression.type", "lz4"}});
  const Value partition =
      try_produce(kit, topic, build_batch({.records = at_times({1, 2}), .codec = Codec::kGzip}));
  const BatchRead stored = only_batch(kit, topic);
  expect(stored.header.log_append_time() && stored.codec() == Codec::kLz4,
         "the batch says LogAppendTime and LZ4");
  expect_equal(stored.header.max_timestamp, partition["logAppendTimeMs"].number(),
               "the max timestamp");
}

// The bounds are of timestamps that clients give.
CASE(log_append_time_has_no_bounds, "KIP-937") {
  const Topic topic = create_topic(kit, 1,
                                   {{"message.timestamp.type", "LogAppendTime"},
                                    {"message.timestamp.before.max.ms", "1000"},
                                    {"message.timestamp.after.max.ms", "1000"}});
  produce(kit, topic, build_batch({.records = at_times({1, now_ms() + 48 * kHour})}));
}

CASE(log_append_time_lookup, "KIP-79") {
  const Topic topic = create_topic(kit, 1, {{"message.timestamp.type", "LogAppendTime"}});
  const Value partition = try_produce(kit, topic, build_batch({.records = at_times({1, 2})}));
  const int64_t time = partition["logAppendTimeMs"].number();
  for (const int64_t asked : {int64_t{0}, int64_t{3}, time}) {
    const Value found = list_offset(kit, topic, asked);
    found["offset"].is(0);
    found["timestamp"].is(time);
  }
  list_offset(kit, topic, time + 1)["offset"].is(-1);
}

CASE(type_changes_on_a_topic, "KIP-32") {
  const Topic topic = create_topic(kit);
  const auto batch = build_batch({.records = at_times({now_ms() - 5000})});
  produce(kit, topic, batch);
  set_configs(kit, ConfigResource::kTopic, topic.name,
              {{"message.timestamp.type", "LogAppendTime"}});
  kit.until("the new type is used",
            [&] { return try_produce(kit, topic, batch)["logAppendTimeMs"].number() != -1; });
  const auto stored = read_all(kit, topic);
  expect(!stored.front().header.log_append_time(), "the first batch says CreateTime");
  expect(stored.back().header.log_append_time(), "the last batch says LogAppendTime");
}

CASE(too_old, "KIP-937") {
  const Topic topic = create_topic(kit, 1, {{"message.timestamp.before.max.ms", "3600000"}});
  const int64_t now = now_ms();
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    const Value partition = refused(
        kit, topic, build_batch({.records = at_times({now, now - 2 * kHour}), .codec = codec}),
        ErrorCode::INVALID_TIMESTAMP);
    has_record_errors(partition, {1});
  }
  produce(kit, topic, build_batch({.records = at_times({now - kHour / 2})}));
}

CASE(too_new, "KIP-937") {
  const Topic topic = create_topic(kit);
  for (const Codec codec : {Codec::kNone, Codec::kGzip}) {
    const Value partition = refused(
        kit, topic, build_batch({.records = at_times({now_ms() + 2 * kHour}), .codec = codec}),
        ErrorCode::INVALID_TIMESTAMP);
    has_record_errors(partition, {0});
  }
  produce(kit, topic, build_batch({.records = at_times({now_ms() + kHour / 2})}));
}

CASE(old_is_good_without_a_bound, "KIP-937") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, build_batch({.records = at_times({0, 1, 1000000})}));
  expect_equal(times_of(only_batch(kit, topic)), std::vector<int64_t>{0, 1, 1000000}, "timestamps");
}

CASE(bound_of_a_topic_for_new, "KIP-937") {
  const Topic wide = create_topic(kit, 1, {{"message.timestamp.after.max.ms", "360000000"}});
  const auto batch = build_batch({.records = at_times({now_ms() + 24 * kHour})});
  produce(kit, wide, batch);
  const Topic narrow = create_topic(kit, 1, {{"message.timestamp.after.max.ms", "1000"}});
  refused(kit, narrow, build_batch({.records = at_times({now_ms() + 60000})}),
          ErrorCode::INVALID_TIMESTAMP);
}

CASE(every_bad_record_is_named, "KIP-467") {
  const Topic topic = create_topic(kit);
  const int64_t late = now_ms() + 2 * kHour;
  const auto records = at_times({late, now_ms(), late, late, now_ms()});
  for (const Codec codec : {Codec::kNone, Codec::kLz4}) {
    has_record_errors(refused(kit, topic, build_batch({.records = records, .codec = codec}),
                              ErrorCode::INVALID_TIMESTAMP),
                      {0, 2, 3});
  }
}

// A record without a timestamp is within every bound.
CASE(no_timestamp, "KIP-32") {
  const Topic topic = create_topic(kit, 1, {{"message.timestamp.before.max.ms", "1000"}});
  produce(kit, topic, build_batch({.records = at_times({-1, -1})}));
  const BatchRead stored = only_batch(kit, topic);
  expect_equal(times_of(stored), std::vector<int64_t>{-1, -1}, "the timestamps");
  expect_equal(stored.header.max_timestamp, -1, "the max timestamp");
}

// Only brokers may say LogAppendTime.
CASE(client_says_log_append_time, "KIP-32") {
  constexpr int16_t kLogAppendTime = 8;
  const int64_t now = now_ms();
  const auto batch = build_batch({.records = at_times({now}), .attributes = kLogAppendTime});
  const Topic appended = create_topic(kit, 1, {{"message.timestamp.type", "LogAppendTime"}});
  refused(kit, appended, batch, ErrorCode::INVALID_TIMESTAMP);
  const Topic created = create_topic(kit);
  produce(kit, created, batch);
  expect(!only_batch(kit, created).header.log_append_time(), "the batch says CreateTime");
}

}  // namespace ackord::conform
