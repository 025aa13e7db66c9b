// How much a Fetch returns: its limits, and the first batch, which comes whatever they are.
#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("fetch.limits", "Byte limits of Fetch");

constexpr int kSize = 65536;

static Topic filled_topic(Kit& kit, int32_t partitions, int batches = 1, int size = kSize) {
  const Topic topic = create_topic(kit, partitions);
  for (int32_t partition = 0; partition < partitions; ++partition)
    for (int i = 0; i < batches; ++i)
      produce(kit, topic, {std::string(static_cast<size_t>(size), 'x')}, {.partition = partition});
  return topic;
}

static size_t whole_batches(const Value& answer, int partition) {
  return batches_of(answer["responses"][0]["partitions"].with("partitionIndex", partition)).size();
}

CASE(first_batch_is_whole, "KIP-74", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = filled_topic(kit, 1);
  for (const int32_t limit : {1, 0}) {
    const Value answer = fetch(kit, {{.topic = topic, .max_bytes = 1}},
                               {.version = kit.version(), .max_bytes = limit});
    const auto batches = batches_of(answer["responses"][0]["partitions"][0]);
    expect_equal(batches.size(), size_t{1}, "how many batches");
    expect(batches[0].crc_ok, "the checksum is right");
  }
}

CASE(partition_limit_0, "KIP-74") {
  const Topic topic = filled_topic(kit, 1);
  const Value answer = fetch(kit, {{.topic = topic, .max_bytes = 0}});
  expect_equal(whole_batches(answer, 0), size_t{1}, "how many batches");
}

CASE(later_partitions_obey_the_limit, "KIP-74", .api = "Fetch", .first = 4, .last = 18) {
  const Topic topic = filled_topic(kit, 2);
  const Value answer = fetch(kit, {{.topic = topic}, {.topic = topic, .partition = 1}},
                             {.version = kit.version(), .max_bytes = kSize / 2});
  expect_equal(whole_batches(answer, 0), size_t{1}, "batches of partition 0");
  expect_equal(whole_batches(answer, 1), size_t{0}, "batches of partition 1");
}

CASE(order_of_the_request_decides, "KIP-74") {
  const Topic topic = filled_topic(kit, 2);
  const Value answer =
      fetch(kit, {{.topic = topic, .partition = 1}, {.topic = topic}}, {.max_bytes = kSize / 2});
  expect_equal(whole_batches(answer, 1), size_t{1}, "batches of partition 1");
  expect_equal(whole_batches(answer, 0), size_t{0}, "batches of partition 0");
}

// The first that has something, not the first that is named.
CASE(empty_partitions_do_not_count, "KIP-74") {
  const Topic topic = create_topic(kit, 3);
  produce(kit, topic, {std::string(kSize, 'x')}, {.partition = 1});
  const Value answer = fetch(kit,
                             {{.topic = topic, .max_bytes = 1},
                              {.topic = topic, .partition = 1, .max_bytes = 1},
                              {.topic = topic, .partition = 2, .max_bytes = 1}},
                             {.max_bytes = 1});
  expect_equal(whole_batches(answer, 1), size_t{1}, "batches of partition 1");
}

CASE(order_of_topics_decides, "KIP-74") {
  const Topic first = filled_topic(kit, 1);
  const Topic second = filled_topic(kit, 1);
  const Value answer = fetch(kit, {{.topic = second}, {.topic = first}}, {.max_bytes = kSize / 2});
  const auto bytes_of = [&](const Topic& topic) {
    const Value part = answer["responses"].with("topic", json::value(topic.name))["partitions"][0];
    return batches_of(part).size();
  };
  expect_equal(bytes_of(second), size_t{1}, "batches of the topic named first");
  expect_equal(bytes_of(first), size_t{0}, "batches of the other");
}

CASE(partition_limit, "KIP-74") {
  const Topic topic = filled_topic(kit, 1, 4, 1000);
  const Value partition = fetch_one(kit, {.topic = topic, .max_bytes = 2500});
  expect_between(batches_of(partition).size(), size_t{1}, size_t{2}, "whole batches of 2500 bytes");
  expect_between(partition["records"].bytes().size(), size_t{1000}, size_t{2500},
                 "bytes of the answer");
}

// Each partition has its own limit; the request's covers all of them.
CASE(limits_add_up, "KIP-74") {
  const Topic topic = filled_topic(kit, 3, 4, 1000);
  std::vector<FetchPart> parts;
  for (const int32_t i : {0, 1, 2})
    parts.push_back({.topic = topic, .partition = i, .max_bytes = 2500});
  const auto total = [&](int32_t limit) {
    const Value answer = fetch(kit, parts, {.max_bytes = limit});
    size_t bytes = 0;
    for (const Value& part : answer["responses"][0]["partitions"].items()) {
      const auto records = part["records"].bytes();
      expect_between(records.size(), size_t{0}, size_t{2500}, "bytes of a partition");
      bytes += records.size();
    }
    return bytes;
  };
  expect_between(total(1 << 20), size_t{6000}, size_t{7500}, "bytes without the request's limit");
  expect_between(total(4000), size_t{2000}, size_t{4000}, "bytes within the request's limit");
}

CASE(second_batch_is_not_forced, "KIP-74") {
  const Topic topic = filled_topic(kit, 1, 2);
  const Value partition = fetch_one(kit, {.topic = topic, .max_bytes = 1});
  expect_equal(batches_of(partition).size(), size_t{1}, "how many batches");
}

// Where the first batch that is asked for lies inside the log, the limit counts from there.
CASE(limit_counts_from_the_offset, "KIP-74") {
  const Topic topic = filled_topic(kit, 1, 4, 1000);
  const Value partition = fetch_one(kit, {.topic = topic, .offset = 2, .max_bytes = 1500});
  expect_equal(offsets_of(batches_of(partition)), std::vector<int64_t>{2}, "the offsets");
}

CASE(progress_with_any_limit, "KIP-74") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 6; ++i)
    produce(kit, topic, {std::string(static_cast<size_t>(10 + i * 3000), 'x')});
  for (const int32_t limit : {1, 100, 5000, 20000}) {
    int64_t position = 0;
    while (position < 6) {
      const auto batches =
          batches_of(fetch_one(kit, {.topic = topic, .offset = position, .max_bytes = limit}));
      expect(!batches.empty(), "at least one batch");
      expect_equal(batches[0].header.base_offset, position, "the first offset");
      position = batches.back().header.next_offset();
    }
  }
}

CASE(large_limits, "KIP-74") {
  const Topic topic = filled_topic(kit, 1, 3);
  const Value partition =
      fetch_one(kit, {.topic = topic, .max_bytes = INT32_MAX}, {.max_bytes = INT32_MAX});
  expect_equal(batches_of(partition).size(), size_t{3}, "how many batches");
}

CASE(more_than_one_segment, "docs of segment.bytes") {
  const Topic topic = create_topic(kit, 1, {{"segment.bytes", "1048576"}});
  for (int i = 0; i < 5; ++i) produce(kit, topic, {std::string(500000, 'x')});
  expect_equal(offsets_of(read_all(kit, topic)), std::vector<int64_t>{0, 1, 2, 3, 4},
               "the offsets");
  for (int64_t offset = 0; offset < 5; ++offset) {
    const auto batches = batches_of(fetch_one(kit, {.topic = topic, .offset = offset}));
    expect(!batches.empty(), "at least one batch");
    expect_equal(batches[0].header.base_offset, offset, "the first offset");
  }
}

}  // namespace ackord::conform
