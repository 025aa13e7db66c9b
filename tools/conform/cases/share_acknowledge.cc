// Acknowledgements: what is refused, whose records they may be about, and that those of a partition
// are taken together or not at all (KIP-932). By ShareAcknowledge, and with a ShareFetch.
#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.acknowledge", "Acknowledgements (KIP-932)");

namespace {

// A range of partition 0 and its types.
struct Range {
  int64_t first;
  int64_t last;
  std::vector<int8_t> types = {kAccept};
};

std::vector<ShareAck> acks_of(const Topic& topic, const std::vector<Range>& ranges) {
  std::vector<ShareAck> acks;
  for (const Range& range : ranges)
    acks.push_back(
        {.topic = topic, .first = range.first, .last = range.last, .types = range.types});
  return acks;
}

// The partition's error code in the answer to a ShareAcknowledge of these ranges.
Value acknowledge(ShareMember& member, const Topic& topic, const std::vector<Range>& ranges,
                  const ShareAckOptions& options = {}) {
  const Value answer = member.share_acknowledge(acks_of(topic, ranges), options);
  answer["errorCode"].is_none();
  return answer["responses"][0]["partitions"][0]["errorCode"];
}

// Of ten acquired records these cannot be acknowledged, and all ten stay as they were. Asked by
// both requests.
void expect_malformed(Kit& kit, const std::vector<Range>& ranges) {
  auto [topic, member] = acquired_records(kit);
  acknowledge(member, topic, ranges, {.version = kit.version()}).is(ErrorCode::INVALID_REQUEST);
  const ShareFetched fetched = member.fetch(
      topic, {.version = kit.version(), .max_wait_ms = 0, .acks = acks_of(topic, ranges)});
  expect_equal(fetched.acknowledge_error, ErrorCode::INVALID_REQUEST, "error with a ShareFetch");
  expect_equal(fetched.error, ErrorCode::NONE, "error of the fetch");
  member.close_session();
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired afterwards");
}

// A range that ends far beyond what was acquired is refused, soon.
void expect_beyond(Kit& kit, int64_t last) {
  auto [topic, member] = acquired_records(kit);
  const Stopwatch stopwatch;
  member.acknowledge(topic, 0, last).is(ErrorCode::INVALID_REQUEST);
  expect_between(stopwatch.elapsed().count(), 0L, 5000L, "milliseconds");
  member.acknowledge(topic, 0, 9).is_none();
}

}  // namespace

// ---- what is well-formed

CASE(answer, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const Value answer = member.share_acknowledge({{.topic = topic, .first = 0, .last = 9}},
                                                {.version = kit.version()});
  answer["throttleTimeMs"].is(0);
  answer["errorCode"].is_none();
  answer["errorMessage"].is_null();
  if (kit.version() >= 2) answer["acquisitionLockTimeoutMs"].is(30000);
  answer["nodeEndpoints"].has_size(0);
  answer["responses"].has_size(1);
  answer["responses"][0]["topicId"].is(topic.id.c_str());
  const Value part = answer["responses"][0]["partitions"][0];
  part["partitionIndex"].is(0);
  part["errorCode"].is_none();
  part["errorMessage"].is_null();
  expect_equal(member.fetch(topic, {.max_wait_ms = 200}).acquired, Ranges{}, "acquired afterwards");
}

CASE(first_after_last, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{5, 4}});
}

CASE(overlapping, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 4}, {3, 6}});
}

CASE(descending, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{5, 9}, {0, 4}});
}

CASE(no_types, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 4, {}}});
}

CASE(too_few_types, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 4, {kAccept, kAccept, kAccept}}});
}

CASE(too_many_types, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 1, {kAccept, kAccept, kAccept}}});
}

CASE(unknown_type, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 4, {5}}});
}

CASE(negative_type, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 4, {-1}}});
}

CASE(unknown_type_among_others, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 2, {kAccept, 9, kAccept}}});
}

CASE(renew_without_its_flag, "KIP-1222: v1 has no type 4", .api = "ShareAcknowledge", .first = 1,
     .last = 2) {
  expect_malformed(kit, {{0, 4, {kRenew}}});
}

CASE(good_before_malformed, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{0, 4}, {6, 5}});
}

CASE(negative_offsets, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  expect_malformed(kit, {{-5, -2}});
}

CASE(range_of_a_trillion_offsets, "KIP-932: costs no more than another") {
  expect_beyond(kit, 1000000000000);
}

CASE(range_to_the_end_of_all_offsets, "KIP-932: costs no more than another") {
  expect_beyond(kit, INT64_MAX);
}

CASE(no_ranges, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const Value answer = member.connection().ask(
      "ShareAcknowledge", 2,
      {{"groupId", member.group()},
       {"memberId", member.id()},
       {"shareSessionEpoch", member.session_epoch()},
       {"topics",
        list(Object{{"topicId", topic.id}, {"partitions", list(Object{{"partitionIndex", 0}})}})}});
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
  const int32_t next = member.session_epoch() + 1;
  member.acknowledge(topic, 0, 9, {kAccept}, {.epoch = next}).is_none();
}

CASE(no_topics, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  const Value answer = member.share_acknowledge({});
  answer["errorCode"].is_none();
  answer["responses"].has_size(0);
  expect_equal(member.session_epoch(), epoch + 1, "the next epoch");
  member.acknowledge(topic, 0, 9).is_none();
}

// ---- types

CASE(one_type_an_offset, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const std::vector<int8_t> types{kAccept, kRelease, kReject, kGap,     kRelease,
                                  kAccept, kRelease, kReject, kRelease, kRelease};
  member.acknowledge(topic, 0, 9, types, {.version = kit.version()}).is_none();
  expect_equal(offsets_of(member.acquire_count(topic, 5)), std::vector<int64_t>{1, 4, 6, 8, 9},
               "acquired again");
}

CASE(several_ranges, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  acknowledge(member, topic, {{0, 1}, {2, 3, {kRelease}}, {4, 4, {kReject}}, {5, 9}}).is_none();
  expect_equal(member.acquire(topic), Ranges{{2, 3, 2}}, "acquired again");
}

CASE(ranges_out_of_several_batches, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 12, 3);
  member.acknowledge(topic, 2, 7).is_none();
  member.close_session();
  expect_equal(offsets_of(member.acquire_count(topic, 6)), std::vector<int64_t>{0, 1, 8, 9, 10, 11},
               "acquired again");
}

CASE(adjacent_ranges, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  std::vector<Range> ranges;
  for (int64_t i = 0; i < 10; ++i) ranges.push_back({i, i});
  acknowledge(member, topic, ranges).is_none();
  member.close_session();
  expect_equal(member.fetch(topic, {.max_wait_ms = 200}).acquired, Ranges{}, "acquired again");
}

// The next range may begin where the last one ended, as Kafka checks it; then the record is
// acknowledged twice.
CASE(ranges_that_touch, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  acknowledge(member, topic, {{0, 4}, {4, 9}})
      .is_one_of({ErrorCode::INVALID_RECORD_STATE, ErrorCode::INVALID_REQUEST});
  member.close_session();
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired again");
}

// ---- whose records, and in which state

CASE(beyond_what_was_acquired, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  acknowledge(member, topic, {{20, 25}}, {.version = kit.version()}).is(ErrorCode::INVALID_REQUEST);
  acknowledge(member, topic, {{8, 12}}, {.version = kit.version()}).is(ErrorCode::INVALID_REQUEST);
  acknowledge(member, topic, {{0, 9}}, {.version = kit.version()}).is_none();
}

CASE(by_another_member, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  for (const int8_t type : {kAccept, kRelease, kReject, kGap})
    other.acknowledge(topic, 0, 4, {type}, {.version = kit.version()})
        .is(ErrorCode::INVALID_RECORD_STATE);
  member.acknowledge(topic, 0, 4).is_none();
}

CASE(own_and_foreign_records, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 3, 3);
  produce(kit, topic, numbered(3));
  ShareMember other(kit, member.group());
  expect_equal(other.acquire(topic), Ranges{{3, 5, 1}}, "acquired by another member");
  member.acknowledge(topic, 0, 5).is(ErrorCode::INVALID_RECORD_STATE);
  other.acknowledge(topic, 3, 5).is_none();
  member.acknowledge(topic, 0, 2).is_none();
}

CASE(twice, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  for (const int8_t type : {kAccept, kReject, kGap}) {
    const int64_t first = 1 + type * 2;
    member.acknowledge(topic, first, first + 1, {type}).is_none();
    member.acknowledge(topic, first, first + 1, {type}, {.version = kit.version()})
        .is(ErrorCode::INVALID_RECORD_STATE);
  }
}

CASE(released_records, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 9, {kRelease}).is_none();
  for (const int8_t type : {kAccept, kRelease, kReject})
    member.acknowledge(topic, 0, 9, {type}, {.version = kit.version()})
        .is(ErrorCode::INVALID_RECORD_STATE);
}

CASE(records_of_an_earlier_session, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  member.close_session();
  member.share_fetch({}, {.max_wait_ms = 0})["errorCode"].is_none();
  member.acknowledge(topic, 0, 9).is(ErrorCode::INVALID_RECORD_STATE);
}

CASE(below_the_start, "KIP-932: is ignored, with success", .api = "ShareAcknowledge", .first = 1,
     .last = 2) {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 4).is_none();
  for (const int8_t type : {kAccept, kRelease, kReject})
    member.acknowledge(topic, 0, 4, {type}, {.version = kit.version()}).is_none();
  member.acknowledge(topic, 5, 9).is_none();
}

CASE(records_that_were_deleted, "KIP-932: below the start") {
  auto [topic, member] = acquired_records(kit, 10, 1);
  delete_records(kit, topic, 6);
  member.acknowledge(topic, 0, 9).is_none();
  produce(kit, topic, numbered(1));
  expect_equal(member.acquire(topic), Ranges{{10, 10, 1}}, "acquired next");
}

CASE(deleted_records_of_one_batch, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  delete_records(kit, topic, 6);
  member.acknowledge(topic, 0, 9, {kRelease}).is_none();
  expect_equal(offsets_of(member.acquire(topic)), std::vector<int64_t>{6, 7, 8, 9},
               "acquired again");
}

// ---- all or nothing

CASE(bad_range_takes_back_the_partition, "KIP-932", .api = "ShareAcknowledge", .first = 1,
     .last = 2) {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 5, 5).is_none();
  acknowledge(member, topic, {{0, 2}, {5, 6}}, {.version = kit.version()})
      .is(ErrorCode::INVALID_RECORD_STATE);
  member.close_session();
  expect_equal(offsets_of(member.acquire_count(topic, 9)),
               std::vector<int64_t>{0, 1, 2, 3, 4, 6, 7, 8, 9}, "acquired again");
}

CASE(bad_offset_in_a_range, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 5, 5, {kReject}).is_none();
  acknowledge(member, topic, {{0, 9, std::vector<int8_t>(10, kAccept)}})
      .is(ErrorCode::INVALID_RECORD_STATE);
  acknowledge(member, topic, {{0, 4}, {6, 9}}).is_none();
}

CASE(other_partitions_are_unaffected, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit, 2);
  for (int32_t partition = 0; partition < 2; ++partition)
    produce(kit, topic, numbered(3), {.partition = partition});
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  for (int32_t partition = 0; partition < 2; ++partition)
    member.acquire_count(topic, 3, {}, partition);
  const Value answer =
      member.share_acknowledge({{.topic = topic, .partition = 0, .first = 2, .last = 1},
                                {.topic = topic, .partition = 1, .first = 0, .last = 2}},
                               {.version = kit.version()});
  answer["errorCode"].is_none();
  const Value partitions = answer["responses"][0]["partitions"];
  partitions.has_size(2);
  partitions.with("partitionIndex", 0)["errorCode"].is(ErrorCode::INVALID_REQUEST);
  partitions.with("partitionIndex", 1)["errorCode"].is_none();
}

// ---- what is not there

CASE(unknown_topic_id, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const Topic ghost = ghost_topic(kit);
  const Value answer = member.share_acknowledge(
      {{.topic = ghost}, {.topic = topic, .first = 0, .last = 9}}, {.version = kit.version()});
  answer["errorCode"].is_none();
  answer["responses"].with("topicId", ghost.id.c_str())["partitions"][0]["errorCode"].is(
      ErrorCode::UNKNOWN_TOPIC_ID);
  answer["responses"].with("topicId", topic.id.c_str())["partitions"][0]["errorCode"].is_none();
}

CASE(unknown_partition, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const Value answer =
      member.share_acknowledge({{.topic = topic, .partition = 9}}, {.version = kit.version()});
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"][0]["partitionIndex"].is(9);
  answer["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(partition_that_was_never_fetched, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(create_topic(kit), 0, 0).is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(deleted_topic, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  delete_topic(kit, topic);
  const Value answer = member.share_acknowledge({{.topic = topic, .first = 0, .last = 9}});
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"][0]["errorCode"].is_one_of(
      {ErrorCode::UNKNOWN_TOPIC_ID, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION});
}

// ---- with a ShareFetch

CASE(with_a_fetch, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  produce(kit, topic, numbered(1));
  const ShareFetched fetched =
      member.fetch(topic, {.version = kit.version(),
                           .max_wait_ms = 5000,
                           .acks = {{.topic = topic, .first = 0, .last = 9}}});
  expect_equal(fetched.acknowledge_error, ErrorCode::NONE, "error of the acknowledgement");
  expect_equal(fetched.acquired, Ranges{{10, 10, 1}}, "acquired");
}

CASE(error_apart_from_the_fetch, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  produce(kit, topic, numbered(1));
  const ShareFetched fetched =
      member.fetch(topic, {.version = kit.version(),
                           .max_wait_ms = 5000,
                           .acks = {{.topic = topic, .first = 5, .last = 4}}});
  expect_equal(fetched.acknowledge_error, ErrorCode::INVALID_REQUEST, "error of it");
  expect_equal(fetched.error, ErrorCode::NONE, "error of the fetch");
  expect_equal(fetched.acquired, Ranges{{10, 10, 1}}, "acquired");
}

CASE(by_another_member_with_a_fetch, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  const ShareFetched fetched =
      other.fetch(topic, {.version = kit.version(),
                          .max_wait_ms = 100,
                          .acks = {{.topic = topic, .first = 0, .last = 9}}});
  expect_equal(fetched.acknowledge_error, ErrorCode::INVALID_RECORD_STATE, "error of it");
  expect_equal(fetched.error, ErrorCode::NONE, "error of the fetch");
}

CASE(released_and_fetched_at_once, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const Value answer = member.share_fetch(
      {}, {.acks = {{.topic = topic, .first = 0, .last = 9, .types = {kRelease}}}});
  answer["errorCode"].is_none();
  const ShareFetched fetched = fetched_of(answer, topic);
  expect_equal(fetched.acknowledge_error, ErrorCode::NONE, "error of the release");
  const Ranges acquired = fetched.acquired.empty() ? member.acquire(topic) : fetched.acquired;
  expect_equal(acquired, Ranges{{0, 9, 2}}, "acquired again");
}

CASE(acknowledged_partition_without_records, "KIP-932: has an entry") {
  auto [topic, member] = acquired_records(kit);
  const Value answer =
      member.share_fetch({}, {.max_wait_ms = 0, .acks = {{.topic = topic, .first = 0, .last = 9}}});
  const ShareFetched fetched = fetched_of(answer, topic);
  expect(fetched.present, "the acknowledged partition is in the answer");
  expect_equal(fetched.acquired, Ranges{}, "acquired");
}

CASE(unknown_topic_id_with_a_fetch, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const Topic ghost = ghost_topic(kit);
  const Value answer = member.share_fetch({}, {.max_wait_ms = 0, .acks = {{.topic = ghost}}});
  answer["errorCode"].is_none();
  const ShareFetched fetched = fetched_of(answer, ghost);
  expect(fetched.present, "the topic is in the answer");
  expect(fetched.acknowledge_error == ErrorCode::UNKNOWN_TOPIC_ID ||
             fetched.error == ErrorCode::UNKNOWN_TOPIC_ID,
         "an error says that the topic is unknown");
}

CASE(many_ranges, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 400, 400);
  std::vector<Range> ranges;
  for (int64_t i = 0; i < 400; i += 2) ranges.push_back({i, i});
  acknowledge(member, topic, ranges).is_none();
  member.close_session();
  const Ranges again = member.acquire_count(topic, 200);
  for (const int64_t offset : offsets_of(again)) expect_equal(offset % 2, 1, "the rest of it by 2");
}

}  // namespace ackord::conform
