// What one ShareFetch acquires and returns: its limits, the two acquire modes, waiting and waking
// up (KIP-932, KIP-1206). Sessions are in share_session.cc.
#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.fetch", "ShareFetch: limits, acquire modes, waiting (KIP-932, KIP-1206)");

namespace {

// A topic with `batches` of `per_batch` records, and a member of a group that has it.
struct Ready {
  Topic topic;
  ShareMember member;
};
Ready ready(Kit& kit, int batches, int per_batch, int32_t partitions = 1) {
  Ready out{create_topic(kit, partitions), ShareMember(kit, earliest_group(kit))};
  for (int32_t partition = 0; partition < partitions; ++partition)
    for (int i = 0; i < batches; ++i)
      produce(kit, out.topic, numbered(per_batch), {.partition = partition});
  out.member.join({out.topic});
  return out;
}

// A group and an empty topic, with an open session that waits for records; and what it waited for.
struct Waiting {
  Topic topic;
  ShareMember member;
  Sent sent;
  Stopwatch stopwatch;
};
Waiting waiting(Kit& kit, const ShareFetchOptions& options) {
  auto [topic, member] = ready(kit, 0, 0);
  member.fetch(topic, {.max_wait_ms = 0});
  const Sent sent = member.send_share_fetch({}, options);
  return {topic, member, sent, {}};
}

// Another member waits for what the first has acquired.
Sent wait_for(const Topic& topic, ShareMember& member) {
  member.fetch(topic, {.max_wait_ms = 0});
  return member.send_share_fetch({}, {.max_wait_ms = 1500});
}
void expect_woken(ShareMember& member, const Sent& sent, const Topic& topic,
                  const Ranges& acquired) {
  const Stopwatch stopwatch;
  const Value answer = member.receive_share_fetch(sent);
  expect_equal(fetched_of(answer, topic).acquired, acquired, "acquired");
  expect_between(stopwatch.elapsed().count(), 0L, 6000L, "milliseconds until woken up");
}

}  // namespace

CASE(answer, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = ready(kit, 1, 3);
  std::optional<Value> answer;
  kit.until("records are acquired", [&] {
    answer = member.share_fetch({{topic}}, {.version = kit.version()});
    return (*answer)["responses"].size() > 0;
  });
  (*answer)["throttleTimeMs"].is(0);
  (*answer)["errorMessage"].is_null();
  (*answer)["acquisitionLockTimeoutMs"].is(30000);
  (*answer)["nodeEndpoints"].has_size(0);
  (*answer)["responses"].has_size(1);
  (*answer)["responses"][0]["topicId"].is(topic.id.c_str());
  const Value part = (*answer)["responses"][0]["partitions"][0];
  part["partitionIndex"].is(0);
  part["errorCode"].is_none();
  part["errorMessage"].is_null();
  part["acknowledgeErrorCode"].is_none();
  part["acknowledgeErrorMessage"].is_null();
  part["acquiredRecords"].is(
      list(Object{{"firstOffset", 0}, {"lastOffset", 2}, {"deliveryCount", 1}}));
  const std::vector<BatchRead> batches = batches_of(part);
  expect_equal(values_of(batches), numbered(3), "values");
  expect(batches.at(0).crc_ok, "the batch's checksum is right");
}

CASE(batches_as_they_are_stored, "KIP-932") {
  for (const Codec codec : {Codec::kGzip, Codec::kSnappy, Codec::kLz4, Codec::kZstd}) {
    auto [topic, member] = ready(kit, 0, 0);
    produce(kit, topic, build_batch({.records = records_of(numbered(4)), .codec = codec}));
    ShareFetched fetched;
    kit.until("records are acquired", [&] {
      fetched = member.fetch(topic);
      return !fetched.acquired.empty();
    });
    expect_equal(fetched.acquired, Ranges{{0, 3, 1}}, "acquired");
    expect(fetched.batches.at(0).codec() == codec, "the codec is the stored one");
    expect_equal(values_of(fetched.batches), numbered(4), "values");
  }
}

CASE(acquired_records_are_locked, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 5);
  expect_equal(member.acquire(topic), Ranges{{0, 4, 1}}, "acquired");
  expect_equal(member.fetch(topic, {.max_wait_ms = 100}).acquired, Ranges{}, "acquired again");
  ShareMember other(kit, member.group());
  const ShareFetched fetched = other.fetch(topic, {.max_wait_ms = 300});
  expect_equal(fetched.acquired, Ranges{}, "acquired by another member");
  expect_equal(fetched.batches.size(), 0U, "batches of another member");
}

CASE(members_share_a_partition, "KIP-932") {
  auto [topic, member] = ready(kit, 6, 1);
  ShareMember other(kit, member.group());
  expect_equal(member.acquire(topic, {.max_records = 2}), Ranges{{0, 1, 1}}, "of the first");
  expect_equal(other.acquire(topic, {.max_records = 2}), Ranges{{2, 3, 1}}, "of the second");
  expect_equal(member.acquire(topic, {.max_records = 2}), Ranges{{4, 5, 1}}, "of the first again");
}

CASE(membership_is_not_asked_for, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 5);
  member.leave();
  expect_equal(member.acquire(topic), Ranges{{0, 4, 1}}, "acquired after leaving");
  member.acknowledge(topic, 0, 4).is_none();
}

// ---- limits

CASE(max_records_ends_at_a_batch, "KIP-1206, batch_optimized") {
  auto [topic, member] = ready(kit, 4, 5);
  expect_equal(offsets_of(member.acquire(topic, {.max_records = 7})).size(), 10U, "acquired");
}

CASE(max_records_within_the_first_batch, "KIP-1206, batch_optimized") {
  auto [topic, member] = ready(kit, 1, 10);
  expect_equal(member.acquire(topic, {.max_records = 3}), Ranges{{0, 9, 1}}, "acquired");
}

CASE(max_records_of_single_records, "KIP-932") {
  auto [topic, member] = ready(kit, 5, 1);
  expect_equal(member.acquire(topic, {.max_records = 3}), Ranges{{0, 2, 1}}, "acquired");
  expect_equal(member.acquire(topic, {.max_records = 3}), Ranges{{3, 4, 1}}, "acquired next");
}

CASE(max_records_v1, "KIP-932: v1 is batch_optimized") {
  auto [topic, member] = ready(kit, 1, 10);
  expect_equal(member.acquire(topic, {.version = 1, .max_records = 3}), Ranges{{0, 9, 1}},
               "acquired");
}

CASE(record_limit_cuts_a_batch, "KIP-1206, record_limit") {
  auto [topic, member] = ready(kit, 1, 10);
  const ShareFetchOptions three{.max_records = 3, .acquire_mode = kRecordLimit};
  const ShareFetched fetched = member.fetch(topic, three);
  expect_equal(fetched.acquired, Ranges{{0, 2, 1}}, "acquired");
  expect_equal(values_of(fetched.batches), numbered(10), "values: the batch is whole");
  expect_equal(member.acquire(topic, three), Ranges{{3, 5, 1}}, "acquired next");
}

CASE(record_limit_leaves_the_rest_to_others, "KIP-1206, record_limit") {
  auto [topic, member] = ready(kit, 1, 10);
  ShareMember other(kit, member.group());
  expect_equal(member.acquire(topic, {.max_records = 4, .acquire_mode = kRecordLimit}),
               Ranges{{0, 3, 1}}, "acquired");
  expect_equal(other.acquire(topic), Ranges{{4, 9, 1}}, "acquired by another member");
}

CASE(record_limit_over_batches, "KIP-1206, record_limit") {
  auto [topic, member] = ready(kit, 4, 5);
  const Ranges acquired = member.acquire(topic, {.max_records = 7, .acquire_mode = kRecordLimit});
  expect_equal(offsets_of(acquired), std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}, "acquired");
}

CASE(record_limit_over_partitions, "KIP-1206, record_limit") {
  auto [topic, member] = ready(kit, 1, 5, 2);
  size_t most = 0;
  size_t all = 0;
  kit.until("all records are acquired", [&] {
    const Value answer = member.share_fetch({{topic, 0}, {topic, 1}},
                                            {.max_records = 7, .acquire_mode = kRecordLimit});
    const size_t count = offsets_of(fetched_of(answer, topic, 0).acquired).size() +
                         offsets_of(fetched_of(answer, topic, 1).acquired).size();
    most = std::max(most, count);
    all += count;
    return all >= 10;
  });
  expect_between(most, size_t{1}, size_t{7}, "the most that one answer acquired");
  expect_equal(all, 10U, "records acquired");
}

CASE(record_limit_of_released_records, "KIP-1206, record_limit") {
  auto [topic, member] = ready(kit, 1, 10);
  member.acquire(topic);
  member.acknowledge(topic, 0, 9, {kRelease}).is_none();
  const ShareFetchOptions four{.max_records = 4, .acquire_mode = kRecordLimit};
  expect_equal(member.acquire(topic, four), Ranges{{0, 3, 2}}, "acquired");
  expect_equal(member.acquire(topic, four), Ranges{{4, 7, 2}}, "acquired next");
}

CASE(unknown_acquire_mode, "KIP-1206") {
  auto [topic, member] = ready(kit, 1, 1);
  // Kafka trips over it: UNKNOWN_SERVER_ERROR.
  for (const int8_t mode : {2, -1})
    member.share_fetch({{topic}}, {.acquire_mode = mode})["errorCode"].is_one_of(
        {ErrorCode::INVALID_REQUEST, ErrorCode::UNKNOWN_SERVER_ERROR});
}

CASE(batch_size_splits_at_batches, "KIP-932, BatchSize") {
  auto [topic, member] = ready(kit, 4, 5);
  expect_equal(member.acquire(topic, {.batch_size = 5}),
               Ranges{{0, 4, 1}, {5, 9, 1}, {10, 14, 1}, {15, 19, 1}}, "acquired");
}

CASE(batch_size_of_two_batches, "KIP-932, BatchSize") {
  auto [topic, member] = ready(kit, 4, 5);
  expect_equal(member.acquire(topic, {.batch_size = 10}), Ranges{{0, 9, 1}, {10, 19, 1}},
               "acquired");
}

CASE(batch_size_below_a_batch, "KIP-932, BatchSize") {
  auto [topic, member] = ready(kit, 2, 5);
  expect_equal(member.acquire(topic, {.batch_size = 3}), Ranges{{0, 4, 1}, {5, 9, 1}}, "acquired");
}

CASE(batch_size_of_nothing, "KIP-932, BatchSize") {
  for (const int32_t size : {0, -1}) {
    auto [topic, member] = ready(kit, 2, 5);
    // Kafka puts a range of no offsets in front.
    expect_equal(offsets_of(member.acquire(topic, {.batch_size = size})),
                 offsets_of(Ranges{{0, 9, 0}}), "acquired");
  }
}

CASE(record_limit_is_not_split, "KIP-1206, BatchSize") {
  auto [topic, member] = ready(kit, 4, 5);
  expect_equal(
      member.acquire(topic, {.max_records = 12, .batch_size = 5, .acquire_mode = kRecordLimit}),
      Ranges{{0, 11, 1}}, "acquired");
}

CASE(batches_in_one_range, "KIP-932, BatchSize") {
  auto [topic, member] = ready(kit, 4, 5);
  expect_equal(member.acquire(topic, {.batch_size = 100}), Ranges{{0, 19, 1}}, "acquired");
}

CASE(max_records_0, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 5);
  const Stopwatch stopwatch;
  const Value answer = member.share_fetch({{topic}}, {.max_wait_ms = 5000, .max_records = 0});
  answer["errorCode"].is_none();
  expect_equal(fetched_of(answer, topic).acquired, Ranges{}, "acquired");
  expect_between(stopwatch.elapsed().count(), 0L, 4000L, "milliseconds");
}

CASE(max_bytes_0, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 5);
  const Stopwatch stopwatch;
  const Value answer = member.share_fetch({{topic}}, {.max_wait_ms = 5000, .max_bytes = 0});
  answer["errorCode"].is_none();
  expect_equal(fetched_of(answer, topic).acquired, Ranges{}, "acquired");
  expect_between(stopwatch.elapsed().count(), 0L, 4000L, "milliseconds");
}

CASE(negative_limits, "KIP-932: as if they were 0") {
  auto [topic, member] = ready(kit, 1, 5);
  const Value no_records = member.share_fetch({{topic}}, {.max_records = -1});
  no_records["errorCode"].is_none();
  expect_equal(fetched_of(no_records, topic).acquired, Ranges{}, "acquired with -1 records");
  const Value no_bytes = member.share_fetch({{topic}}, {.max_bytes = -1});
  no_bytes["errorCode"].is_none();
  expect_equal(fetched_of(no_bytes, topic).acquired, Ranges{}, "acquired with -1 bytes");
}

CASE(min_bytes_above_max_bytes, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 5);
  member.fetch(topic, {.max_wait_ms = 500, .max_records = 0});
  const Stopwatch stopwatch;
  expect_equal(member.acquire(topic, {.max_wait_ms = 500, .min_bytes = 1 << 20, .max_bytes = 1000}),
               Ranges{{0, 4, 1}}, "acquired");
  expect_between(stopwatch.elapsed().count(), 0L, 6000L, "milliseconds");
}

CASE(first_batch_above_max_bytes, "KIP-932: one batch is always returned") {
  auto [topic, member] = ready(kit, 0, 0);
  const std::string large(5000, 'x');
  for (int i = 0; i < 2; ++i) produce(kit, topic, std::vector<std::string>{large});
  expect_equal(member.acquire(topic, {.max_bytes = 1000}), Ranges{{0, 0, 1}}, "acquired");
  expect_equal(member.acquire(topic, {.max_bytes = 1000}), Ranges{{1, 1, 1}}, "acquired next");
}

CASE(max_bytes_ends_the_answer, "KIP-932") {
  auto [topic, member] = ready(kit, 0, 0);
  const std::string large(5000, 'x');
  for (int i = 0; i < 5; ++i) produce(kit, topic, std::vector<std::string>{large});
  const Ranges acquired = member.acquire(topic, {.max_bytes = 12000});
  expect_equal(offsets_of(acquired).size(), 2U, "records acquired");
}

CASE(no_partitions, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 5);
  const Stopwatch stopwatch;
  const Value answer = member.share_fetch({}, {.max_wait_ms = 5000});
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
  expect_between(stopwatch.elapsed().count(), 0L, 4000L, "milliseconds");
  expect_equal(member.acquire(topic), Ranges{{0, 4, 1}}, "acquired when named later");
}

// ---- several partitions

CASE(several_partitions, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 3, 3);
  std::map<int32_t, Ranges> acquired;
  kit.until("all partitions have given records", [&] {
    const Value answer = member.share_fetch({{topic, 0}, {topic, 1}, {topic, 2}});
    for (int32_t partition = 0; partition < 3; ++partition)
      for (const auto& range : fetched_of(answer, topic, partition).acquired)
        acquired[partition].push_back(range);
    return acquired.size() == 3;
  });
  for (const auto& [partition, ranges] : acquired)
    expect_equal(ranges, Ranges{{0, 2, 1}}, "acquired of a partition");
}

CASE(several_topics, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 3);
  const Topic other = create_topic(kit);
  produce(kit, other, numbered(2));
  member.join({topic, other});
  Ranges of_topic;
  Ranges of_other;
  kit.until("both topics have given records", [&] {
    const Value answer = member.share_fetch({{topic}, {other}});
    for (const auto& range : fetched_of(answer, topic).acquired) of_topic.push_back(range);
    for (const auto& range : fetched_of(answer, other).acquired) of_other.push_back(range);
    return !of_topic.empty() && !of_other.empty();
  });
  expect_equal(of_topic, Ranges{{0, 2, 1}}, "acquired of the one topic");
  expect_equal(of_other, Ranges{{0, 1, 1}}, "acquired of the other");
}

CASE(later_answers_name_what_has_records, "KIP-932") {
  auto [topic, member] = ready(kit, 0, 0, 2);
  member.share_fetch({{topic, 0}, {topic, 1}}, {.max_wait_ms = 0});
  produce(kit, topic, numbered(1), {.partition = 1});
  const Value answer = member.share_fetch({}, {.max_wait_ms = 5000});
  expect_equal(fetched_of(answer, topic, 1).acquired, Ranges{{0, 0, 1}}, "acquired");
  expect(!fetched_of(answer, topic, 0).present, "the empty partition is not in the answer");
}

// ---- what is not there

CASE(unknown_topic_id, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = ready(kit, 0, 0);
  const ShareFetched fetched =
      member.fetch(ghost_topic(kit), {.version = kit.version(), .max_wait_ms = 300});
  expect(fetched.present, "the topic is in the answer");
  expect_equal(fetched.error, ErrorCode::UNKNOWN_TOPIC_ID, "error");
}

CASE(unknown_partition, "KIP-932") {
  auto [topic, member] = ready(kit, 0, 0);
  const ShareFetched fetched = member.fetch(topic, {.max_wait_ms = 300}, 7);
  expect(fetched.present, "the partition is in the answer");
  expect_equal(fetched.error, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "error");
}

CASE(negative_partition, "KIP-932") {
  auto [topic, member] = ready(kit, 0, 0);
  expect_equal(member.fetch(topic, {.max_wait_ms = 100}, -1).error,
               ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "error");
}

CASE(topic_id_of_zeros, "KIP-932") {
  auto [topic, member] = ready(kit, 0, 0);
  const Topic zero{.name = "", .id = "AAAAAAAAAAAAAAAAAAAAAA"};
  expect_equal(member.fetch(zero, {.max_wait_ms = 100}).error, ErrorCode::UNKNOWN_TOPIC_ID,
               "error");
}

CASE(good_beside_unknown, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 3);
  const Topic ghost = ghost_topic(kit);
  std::optional<Value> answer;
  kit.until("records are acquired", [&] {
    answer = member.share_fetch({{ghost}, {topic, 0}, {topic, 7}});
    (*answer)["errorCode"].is_none();
    return !fetched_of(*answer, topic).acquired.empty();
  });
  expect_equal(fetched_of(*answer, topic).acquired, Ranges{{0, 2, 1}}, "acquired");
  expect_equal(fetched_of(*answer, ghost).error, ErrorCode::UNKNOWN_TOPIC_ID, "of the topic");
  expect_equal(fetched_of(*answer, topic, 7).error, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
               "of the partition");
}

CASE(deleted_topic, "KIP-932") {
  auto [topic, member] = ready(kit, 1, 3);
  member.acquire(topic);
  delete_topic(kit, topic);
  // The session knows the name of what its id was; a new one does not.
  kit.until("the topic of the session is gone", [&] {
    const ErrorCode error = member.fetch(topic, {.max_wait_ms = 100}).error;
    return error == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION || error == ErrorCode::UNKNOWN_TOPIC_ID;
  });
  ShareMember other(kit, member.group());
  expect_equal(other.fetch(topic, {.max_wait_ms = 100}).error, ErrorCode::UNKNOWN_TOPIC_ID,
               "error in a new session");
}

CASE(group_that_never_was, "KIP-932: nothing is initialised") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(3));
  ShareMember member(kit, kit.name("never"));
  const ShareFetched fetched = member.fetch(topic, {.max_wait_ms = 300});
  expect_equal(fetched.acquired, Ranges{}, "acquired");
  // Kafka answers UNKNOWN_SERVER_ERROR; one that tells more is as good.
  expect(fetched.error != ErrorCode::NONE, "an error of the partition");
}

// ---- waiting

CASE(waits_as_long_as_it_may, "KIP-932") {
  auto [topic, member, sent, stopwatch] = waiting(kit, {.max_wait_ms = 700});
  const Value answer = member.receive_share_fetch(sent);
  expect_between(stopwatch.elapsed().count(), 650L, 6000L, "milliseconds");
  answer["responses"].has_size(0);
}

CASE(does_not_wait, "KIP-932") {
  auto [topic, member, sent, stopwatch] = waiting(kit, {.max_wait_ms = 0});
  member.receive_share_fetch(sent)["responses"].has_size(0);
  expect_between(stopwatch.elapsed().count(), 0L, 3000L, "milliseconds");
}

CASE(woken_by_produce, "KIP-932") {
  auto [topic, member, sent, stopwatch] = waiting(kit, {.max_wait_ms = 8000});
  expect(!member.connection().readable_within(Millis(200)), "it waits");
  produce(kit, topic, numbered(2));
  expect_woken(member, sent, topic, {{0, 1, 1}});
}

// Kafka wakes a waiter before the release has been stored, so that its wait goes on to its end;
// one that is woken at once is better served. In both cases the records come with its answer.

CASE(released_while_another_waits, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 5, 5);
  ShareMember other(kit, member.group());
  const Sent sent = wait_for(topic, other);
  expect(!other.connection().readable_within(Millis(200)), "it waits");
  member.acknowledge(topic, 1, 2, {kRelease}).is_none();
  expect_woken(other, sent, topic, {{1, 2, 2}});
}

CASE(session_closed_while_another_waits, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 5, 5);
  ShareMember other(kit, member.group());
  const Sent sent = wait_for(topic, other);
  expect(!other.connection().readable_within(Millis(200)), "it waits");
  member.close_session();
  expect_woken(other, sent, topic, {{0, 4, 2}});
}

CASE(disconnected_while_another_waits, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 5, 5);
  ShareMember other(kit, member.group());
  const Sent sent = wait_for(topic, other);
  expect(!other.connection().readable_within(Millis(200)), "it waits");
  member.disconnect();
  expect_woken(other, sent, topic, {{0, 4, 2}});
}

CASE(one_of_two_waiters_is_served, "KIP-932") {
  auto [topic, member, sent, stopwatch] = waiting(kit, {.max_wait_ms = 1500});
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  const Sent second = other.send_share_fetch({}, {.max_wait_ms = 1500});
  produce(kit, topic, numbered(3));
  Ranges all = fetched_of(member.receive_share_fetch(sent), topic).acquired;
  for (const auto& range : fetched_of(other.receive_share_fetch(second), topic).acquired)
    all.push_back(range);
  expect_equal(all, Ranges{{0, 2, 1}}, "acquired by both together");
}

CASE(waits_for_min_bytes, "KIP-932") {
  auto [topic, member, sent, stopwatch] = waiting(kit, {.max_wait_ms = 1000, .min_bytes = 100000});
  produce(kit, topic, numbered(2));
  const Value answer = member.receive_share_fetch(sent);
  expect_between(stopwatch.elapsed().count(), 900L, 6000L, "milliseconds");
  expect_equal(fetched_of(answer, topic).acquired, Ranges{{0, 1, 1}}, "acquired");
}

CASE(min_bytes_are_there, "KIP-932") {
  auto [topic, member, sent, stopwatch] = waiting(kit, {.max_wait_ms = 8000, .min_bytes = 6000});
  produce(kit, topic, std::vector<std::string>{std::string(4000, 'x')});
  expect(!member.connection().readable_within(Millis(300)), "it waits for more");
  produce(kit, topic, std::vector<std::string>{std::string(4000, 'x')});
  expect_woken(member, sent, topic, {{0, 1, 1}});
}

}  // namespace ackord::conform
