// Codecs: every framing that clients write is read, topics have codecs of their own, and what
// decompresses to too much is refused.
#include <algorithm>
#include <array>

#include "tools/conform/case.h"
#include "tools/conform/kit/produce_checks.h"

namespace ackord::conform {

AREA("produce.compression", "Compressed batches");

constexpr std::array kCodecs{Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd};
// Kafka has any of these for bytes that cannot be decompressed.
constexpr std::initializer_list<ErrorCode> kBad{
    ErrorCode::INVALID_RECORD, ErrorCode::CORRUPT_MESSAGE, ErrorCode::UNKNOWN_SERVER_ERROR};

// Larger than one block of any framing, and neither all alike nor all random.
static std::vector<RecordSpec> many_records() {
  std::vector<RecordSpec> records;
  for (int i = 0; i < 400; ++i) {
    std::string value;
    for (int j = 0; j < 60; ++j) value += std::to_string((i * 7919 + j * 104729) % 99991);
    records.push_back({.value = value, .key = "k" + std::to_string(i)});
  }
  return records;
}

static std::vector<std::string> values_in(const std::vector<RecordSpec>& records) {
  std::vector<std::string> values;
  for (const RecordSpec& record : records) values.push_back(*record.value);
  return values;
}

// A batch of many records in this framing is stored and comes back as it was sent, and can be
// recompressed by a topic with a codec of its own.
static void framing_is_read(Kit& kit, Codec codec, Bytes (*compress)(const Bytes&)) {
  const auto records = many_records();
  const Bytes plain = build_batch({.records = records});
  const Bytes payload = compress(payload_of(plain));
  const Bytes batch = with_payload(plain, payload, codec);
  const Topic topic = create_topic(kit);
  produce(kit, topic, batch);
  const BatchRead stored = only_batch(kit, topic);
  expect(stored.codec() == codec, "the stored codec is the sent one");
  expect_equal(values_of({stored}), values_in(records), "the values");
  const Topic other = create_topic(kit, 1, {{"compression.type", "uncompressed"}});
  produce(kit, other, batch);
  expect_equal(values_of({only_batch(kit, other)}), values_in(records), "the values");
}

CASE(gzip_fast, "RFC 1952") {
  framing_is_read(kit, Codec::kGzip, [](const Bytes& plain) { return gzip_of(plain, 1); });
}
CASE(gzip_best, "RFC 1952") {
  framing_is_read(kit, Codec::kGzip, [](const Bytes& plain) { return gzip_of(plain, 9); });
}
CASE(gzip_stored, "RFC 1952") {
  framing_is_read(kit, Codec::kGzip, [](const Bytes& plain) { return gzip_of(plain, 0); });
}
CASE(gzip_two_members, "RFC 1952, 2.2") {
  framing_is_read(kit, Codec::kGzip, [](const Bytes& plain) {
    const auto middle = plain.begin() + static_cast<ptrdiff_t>(plain.size() / 2);
    return joined(gzip_of({plain.begin(), middle}), gzip_of({middle, plain.end()}));
  });
}
CASE(snappy_xerial_blocks, "snappy-java's framing") {
  framing_is_read(kit, Codec::kSnappy, [](const Bytes& plain) { return snappy_xerial(plain); });
}
CASE(snappy_xerial_small_blocks, "snappy-java's framing") {
  framing_is_read(kit, Codec::kSnappy,
                  [](const Bytes& plain) { return snappy_xerial(plain, 1 << 10); });
}
CASE(snappy_xerial_one_block, "snappy-java's framing") {
  framing_is_read(kit, Codec::kSnappy,
                  [](const Bytes& plain) { return snappy_xerial(plain, 1 << 20); });
}
CASE(snappy_without_framing, "Snappy, format description") {
  framing_is_read(kit, Codec::kSnappy, snappy_raw);
}
CASE(lz4_frame, "LZ4 frame format, KIP-57") {
  framing_is_read(kit, Codec::kLz4, [](const Bytes& plain) { return lz4_of(plain); });
}
CASE(lz4_large_blocks, "LZ4 frame format, KIP-57") {
  framing_is_read(kit, Codec::kLz4,
                  [](const Bytes& plain) { return lz4_of(plain, {.block_size_id = 7}); });
}
CASE(lz4_block_checksums, "LZ4 frame format, KIP-57") {
  framing_is_read(kit, Codec::kLz4,
                  [](const Bytes& plain) { return lz4_of(plain, {.block_checksums = true}); });
}
CASE(lz4_content_checksum, "LZ4 frame format, KIP-57") {
  framing_is_read(kit, Codec::kLz4,
                  [](const Bytes& plain) { return lz4_of(plain, {.content_checksum = true}); });
}
CASE(lz4_content_size, "LZ4 frame format, KIP-57") {
  framing_is_read(kit, Codec::kLz4,
                  [](const Bytes& plain) { return lz4_of(plain, {.content_size = true}); });
}
CASE(lz4_high_level, "LZ4 frame format, KIP-390") {
  framing_is_read(kit, Codec::kLz4,
                  [](const Bytes& plain) { return lz4_of(plain, {.level = 12}); });
}
CASE(zstd_frame, "RFC 8878, KIP-110") {
  framing_is_read(kit, Codec::kZstd, [](const Bytes& plain) { return zstd_of(plain); });
}
CASE(zstd_checksum, "RFC 8878, KIP-110") {
  framing_is_read(kit, Codec::kZstd,
                  [](const Bytes& plain) { return zstd_of(plain, {.checksum = true}); });
}
CASE(zstd_without_content_size, "RFC 8878, KIP-110") {
  framing_is_read(kit, Codec::kZstd,
                  [](const Bytes& plain) { return zstd_of(plain, {.content_size = false}); });
}
CASE(zstd_fast, "RFC 8878, KIP-390") {
  framing_is_read(kit, Codec::kZstd,
                  [](const Bytes& plain) { return zstd_of(plain, {.level = -50}); });
}
CASE(zstd_best, "RFC 8878, KIP-390") {
  framing_is_read(kit, Codec::kZstd,
                  [](const Bytes& plain) { return zstd_of(plain, {.level = 19}); });
}
CASE(zstd_two_frames, "RFC 8878, 3") {
  framing_is_read(kit, Codec::kZstd, [](const Bytes& plain) {
    const auto middle = plain.begin() + static_cast<ptrdiff_t>(plain.size() / 2);
    return joined(zstd_of({plain.begin(), middle}), zstd_of({middle, plain.end()}));
  });
}

CASE(every_codec, "Kafka protocol guide, Produce", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  int64_t offset = 0;
  for (const Codec codec :
       {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    if (codec == Codec::kZstd && kit.version() < 7) continue;
    const Bytes batch = build_batch({.records = records_of(numbered(20)), .codec = codec});
    expect_equal(produce(kit, topic, batch, {.version = kit.version()}), offset, "the base offset");
    const auto stored = read_all(kit, topic, 0, offset);
    expect(stored[0].codec() == codec && stored[0].crc_ok, "codec and checksum as sent");
    expect_equal(values_of(stored), numbered(20), "the values");
    offset += 20;
  }
}

CASE(stored_as_sent, "docs of compression.type") {
  for (const Codec codec : kCodecs) {
    const Topic topic = create_topic(kit);
    const Bytes batch = build_batch({.records = many_records(), .codec = codec});
    produce(kit, topic, batch);
    const auto raw = fetch_one(kit, {.topic = topic})["records"].bytes();
    expect(payload_of(raw) == payload_of(batch), "the stored bytes are the sent ones");
  }
}

CASE(topic_of_the_same_codec_keeps_bytes, "docs of compression.type") {
  const Topic topic = create_topic(kit, 1, {{"compression.type", "gzip"}});
  const Bytes plain = build_batch({.records = many_records()});
  const Bytes batch = with_payload(plain, gzip_of(payload_of(plain), 1), Codec::kGzip);
  produce(kit, topic, batch);
  const auto raw = fetch_one(kit, {.topic = topic})["records"].bytes();
  expect(payload_of(raw) == payload_of(batch), "the stored bytes are the sent ones");
}

// What the topic's compression.type says is stored, whatever was sent.
static void topic_codec_wins(Kit& kit, const std::string& name, Codec codec) {
  const Topic topic = create_topic(kit, 1, {{"compression.type", name}});
  const auto records = many_records();
  int64_t offset = 0;
  for (const Codec sent : {Codec::kNone, Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    produce(kit, topic, build_batch({.records = records, .codec = sent}));
    const auto stored = read_all(kit, topic, 0, offset);
    expect(stored.size() == 1 && stored[0].crc_ok, "one sound batch");
    expect(stored[0].codec() == codec, "the stored codec is the topic's");
    expect_equal(stored[0].header.base_offset, offset, "the base offset");
    expect_equal(stored[0].header.records_count, 400, "how many records");
    expect_equal(values_of(stored), values_in(records), "the values");
    offset += 400;
  }
}

CASE(topic_gzip, "docs of compression.type") { topic_codec_wins(kit, "gzip", Codec::kGzip); }
CASE(topic_snappy, "docs of compression.type") { topic_codec_wins(kit, "snappy", Codec::kSnappy); }
CASE(topic_lz4, "docs of compression.type") { topic_codec_wins(kit, "lz4", Codec::kLz4); }
CASE(topic_zstd, "docs of compression.type") { topic_codec_wins(kit, "zstd", Codec::kZstd); }
CASE(topic_uncompressed, "docs of compression.type") {
  topic_codec_wins(kit, "uncompressed", Codec::kNone);
}

// A new compression.type is of what is produced from then on.
CASE(topic_codec_changes, "docs of compression.type") {
  const Topic topic = create_topic(kit, 1, {{"compression.type", "gzip"}});
  produce(kit, topic, {"a"});
  set_configs(kit, ConfigResource::kTopic, topic.name, {{"compression.type", "lz4"}});
  kit.until("batches are stored with the new codec", [&] {
    const int64_t offset = produce(kit, topic, {"b"});
    return read_all(kit, topic, 0, offset)[0].codec() == Codec::kLz4;
  });
  expect(read_all(kit, topic)[0].codec() == Codec::kGzip, "the first batch keeps its codec");
}

CASE(recompression_keeps_the_rest, "docs of compression.type") {
  const Topic topic = create_topic(kit, 1, {{"compression.type", "zstd"}});
  const int64_t now = now_ms();
  const RecordSpec record{
      .value = "v", .key = "k", .timestamp = now - 5, .headers = {{"h", "1"}, {"n", {}}}};
  const RecordSpec empty{.timestamp = now};
  produce(kit, topic,
          build_batch({.records = {record, empty},
                       .codec = Codec::kGzip,
                       .producer_id = 4711,
                       .producer_epoch = 3,
                       .base_sequence = 0}));
  const BatchRead stored = only_batch(kit, topic);
  expect_equal(stored.header.producer_id.value, 4711, "the producer id");
  expect_equal(stored.header.producer_epoch, 3, "the producer epoch");
  expect_equal(stored.header.base_sequence, 0, "the base sequence");
  expect_equal(stored.header.base_timestamp, now - 5, "the base timestamp");
  expect_equal(stored.header.max_timestamp, now, "the max timestamp");
  expect_equal(stored.records[0].key, record.key, "the key");
  expect_equal(stored.records[0].value, record.value, "the value");
  expect_equal(stored.records[0].headers, record.headers, "the headers");
  expect(!stored.records[1].key && !stored.records[1].value, "nulls stay null");
}

CASE(zstd_is_refused, "KIP-110", .api = "Produce", .first = 3, .last = 6) {
  refused(kit, create_topic(kit),
          build_batch({.records = records_of({"x"}), .codec = Codec::kZstd}),
          ErrorCode::UNSUPPORTED_COMPRESSION_TYPE, {.version = kit.version()});
}

// Old clients may write to a topic whose codec they do not know.
CASE(zstd_topic, "KIP-110", .api = "Produce", .first = 3, .last = 6) {
  const Topic topic = create_topic(kit, 1, {{"compression.type", "zstd"}});
  produce(kit, topic, {"x"}, {.version = kit.version()});
  expect(only_batch(kit, topic).codec() == Codec::kZstd, "the stored codec is the topic's");
}

CASE(unknown_codec, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const int16_t codec : {5, 6, 7}) {
    const Value partition =
        try_produce(kit, topic, build_batch({.records = records_of({"x"}), .attributes = codec}));
    partition["errorCode"].is_not(0);
    expect_equal(end_offset(kit, topic), 0, "the log's end");
  }
}

CASE(not_compressed_at_all, "KIP-98") {
  const Bytes plain = build_batch({
      .records = records_of({"x", "y"}),
  });
  const Topic topic = create_topic(kit);
  for (const Codec codec : kCodecs)
    refused(kit, topic, with_payload(plain, payload_of(plain), codec), kBad);
}

CASE(compressed_bytes_cut_short, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const Codec codec : kCodecs) {
    const Bytes batch = build_batch({.records = many_records(), .codec = codec});
    const Bytes payload = payload_of(batch);
    refused(kit, topic, with_payload(batch, cut(payload, payload.size() / 2), codec), kBad);
  }
}

CASE(no_compressed_bytes, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const Codec codec : kCodecs)
    refused(kit, topic, with_payload(build_batch({.records = records_of({"x"})}), {}, codec), kBad);
}

CASE(fewer_records_than_counted, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const Codec codec : kCodecs) {
    const Bytes batch = build_batch({.records = records_of({"x", "y"}),
                                     .codec = codec,
                                     .last_offset_delta = 2,
                                     .records_count = 3});
    refused(kit, topic, batch, kBad);
  }
}

CASE(more_records_than_counted, "KIP-98") {
  const Topic topic = create_topic(kit);
  for (const Codec codec : kCodecs) {
    const Bytes batch = build_batch({.records = records_of({"x", "y"}),
                                     .codec = codec,
                                     .last_offset_delta = 0,
                                     .records_count = 1});
    refused(kit, topic, batch, kBad);
  }
}

// A small batch of 16 MiB of zeros: in sizes of compressed batches it is allowed.
static Bytes bomb(Codec codec) {
  return build_batch({.records = records_of({std::string(16 << 20, '\0')}), .codec = codec});
}

CASE(bomb_stays_compressed, "docs of max.message.bytes") {
  const Topic topic = create_topic(kit);
  const Bytes batch = bomb(Codec::kGzip);
  produce(kit, topic, batch);
  const auto raw = fetch_one(kit, {.topic = topic})["records"].bytes();
  expect_equal(raw.size(), batch.size(), "the stored bytes");
}

// Where it would be stored uncompressed, it is too large.
CASE(bomb_where_the_topic_is_uncompressed, "docs of max.message.bytes", .limit_s = 60) {
  const Topic topic = create_topic(kit, 1, {{"compression.type", "uncompressed"}});
  for (const Codec codec : {Codec::kGzip, Codec::kZstd, Codec::kSnappy})
    refused(kit, topic, bomb(codec), ErrorCode::MESSAGE_TOO_LARGE);
}

// Memory is not taken for what a length claims. Kafka 4.4 looks at it only when it recompresses,
// and else stores it; to refuse it is of more use.
CASE(record_length_that_would_not_fit, "KIP-98") {
  const Bytes plain = raw_batch(1, raw_record({.length = 64 << 20}));
  const Bytes batch = with_payload(plain, gzip_of(payload_of(plain)), Codec::kGzip);
  const Topic topic = create_topic(kit);
  refused(kit, topic, plain, kBad);
  const ErrorCode error = try_produce(kit, topic, batch)["errorCode"].error();
  expect(error == ErrorCode::NONE || std::ranges::count(kBad, error) == 1, "stored or refused");
  refused(kit, create_topic(kit, 1, {{"compression.type", "lz4"}}), batch, kBad);
}

CASE(level_configs, "KIP-390") {
  const Topic topic = create_topic(kit, 1,
                                   {{"compression.type", "gzip"},
                                    {"compression.gzip.level", "1"},
                                    {"compression.lz4.level", "17"},
                                    {"compression.zstd.level", "-7"}});
  auto configs = configs_of(kit, ConfigResource::kTopic, topic.name);
  expect_equal(configs["compression.gzip.level"], std::optional<std::string>("1"), "gzip's level");
  produce(kit, topic, build_batch({.records = many_records()}));
  const auto fast = fetch_one(kit, {.topic = topic})["records"].bytes().size();
  const Topic best =
      create_topic(kit, 1, {{"compression.type", "gzip"}, {"compression.gzip.level", "9"}});
  produce(kit, best, build_batch({.records = many_records()}));
  const auto small = fetch_one(kit, {.topic = best})["records"].bytes().size();
  expect(small < fast, "level 9 makes less bytes than level 1");
}

CASE(level_out_of_range, "KIP-390") {
  const Topic topic = create_topic(kit);
  for (const auto& [name, value] : Configs{{"compression.gzip.level", "10"},
                                           {"compression.gzip.level", "0"},
                                           {"compression.lz4.level", "18"},
                                           {"compression.zstd.level", "23"},
                                           {"compression.type", "brotli"}}) {
    alter_configs(kit, ConfigResource::kTopic, topic.name, {{name, value}})["errorCode"].is(
        ErrorCode::INVALID_CONFIG);
  }
}

// Java's reader knows independent blocks only: what it cannot read must not be stored.
CASE(lz4_linked_blocks, "LZ4 frame format, KIP-57") {
  const auto records = many_records();
  const Bytes plain = build_batch({.records = records});
  const Bytes payload = lz4_of(payload_of(plain), {.linked_blocks = true});
  refused(kit, create_topic(kit), with_payload(plain, payload, Codec::kLz4), kBad);
}

CASE(lz4_bad_header_checksum, "LZ4 frame format, KIP-57") {
  const Bytes plain = build_batch({.records = many_records()});
  Bytes payload = lz4_of(payload_of(plain));
  payload[6] ^= std::byte{0xff};  // after magic, flags and block size
  refused(kit, create_topic(kit), with_payload(plain, payload, Codec::kLz4), kBad);
}

CASE(gzip_bad_checksum, "RFC 1952") {
  const Bytes plain = build_batch({.records = many_records()});
  Bytes payload = gzip_of(payload_of(plain));
  payload[payload.size() - 6] ^= std::byte{0xff};
  refused(kit, create_topic(kit), with_payload(plain, payload, Codec::kGzip), kBad);
}

CASE(zstd_bad_checksum, "RFC 8878") {
  const Bytes plain = build_batch({.records = many_records()});
  Bytes payload = zstd_of(payload_of(plain), {.checksum = true});
  payload.back() ^= std::byte{0xff};
  refused(kit, create_topic(kit), with_payload(plain, payload, Codec::kZstd), kBad);
}

CASE(xerial_block_too_long, "snappy-java's framing") {
  const Bytes plain = build_batch({.records = many_records()});
  const Bytes payload = snappy_xerial(payload_of(plain));
  refused(kit, create_topic(kit), with_payload(plain, cut(payload, 100), Codec::kSnappy), kBad);
}

}  // namespace ackord::conform
