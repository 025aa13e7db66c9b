// Renewing the locks of acquired records (KIP-1222).
#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.renew", "Renewed locks (KIP-1222)");

namespace {

// The answer to a ShareFetch that only renews: all limits are 0, but for those given.
Value renew_by_fetch(ShareMember& member, const ShareAck& ack, ShareFetchOptions options = {}) {
  const auto zero_unless_set = [](int32_t& field, int32_t unset) {
    if (field == unset) field = 0;
  };
  const ShareFetchOptions usual;
  zero_unless_set(options.max_wait_ms, usual.max_wait_ms);
  zero_unless_set(options.min_bytes, usual.min_bytes);
  zero_unless_set(options.max_bytes, usual.max_bytes);
  zero_unless_set(options.max_records, usual.max_records);
  options.renew = true;
  options.acks = {ack};
  return member.share_fetch({}, options);
}

// The partition's error code in the answer to a ShareAcknowledge that renews.
Value renew(ShareMember& member, const Topic& topic, int64_t first, int64_t last,
            const std::vector<int8_t>& types = {kRenew}) {
  return member.acknowledge(topic, first, last, types, {.renew = true});
}

}  // namespace

CASE(by_fetch, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  const Value answer =
      renew_by_fetch(member, {.topic = topic, .first = 0, .last = 9, .types = {kRenew}});
  answer["errorCode"].is_none();
  answer["acquisitionLockTimeoutMs"].is(30000);
  const ShareFetched fetched = fetched_of(answer, topic);
  expect(fetched.present, "the partition is in the answer");
  expect_equal(fetched.acknowledge_error, ErrorCode::NONE, "error of the renewal");
  expect_equal(fetched.acquired, Ranges{}, "acquired");
}

CASE(by_fetch_gives_no_records, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  produce(kit, topic, numbered(3));
  const ShareFetched fetched = fetched_of(
      renew_by_fetch(member, {.topic = topic, .first = 0, .last = 9, .types = {kRenew}}), topic);
  expect_equal(fetched.acquired, Ranges{}, "acquired");
  expect_equal(fetched.batches.size(), 0U, "batches");
  expect_equal(member.acquire(topic), Ranges{{10, 12, 1}}, "acquired by the next fetch");
}

CASE(limits_must_be_0, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  const ShareAck ack{.topic = topic, .first = 0, .last = 9, .types = {kRenew}};
  const int32_t epoch = member.session_epoch();
  for (const ShareFetchOptions& options :
       {ShareFetchOptions{.max_wait_ms = 100}, ShareFetchOptions{.min_bytes = 2},
        ShareFetchOptions{.max_bytes = 100}, ShareFetchOptions{.max_records = 1}})
    renew_by_fetch(member, ack, options)["errorCode"].is(ErrorCode::INVALID_REQUEST);
  expect_equal(member.session_epoch(), epoch, "the session's epoch");
  renew_by_fetch(member, ack)["errorCode"].is_none();
}

CASE(by_acknowledge, "KIP-1222") {
  auto [topic, member] =
      acquired_records(kit, 10, 10, {{"share.record.lock.duration.ms", "20000"}});
  const Value answer = member.share_acknowledge(
      {{.topic = topic, .first = 0, .last = 9, .types = {kRenew}}}, {.renew = true});
  answer["errorCode"].is_none();
  answer["acquisitionLockTimeoutMs"].is(20000);
  answer["responses"][0]["partitions"][0]["errorCode"].is_none();
}

CASE(records_stay_acquired, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  renew(member, topic, 0, 9).is_none();
  renew(member, topic, 0, 9).is_none();
  ShareMember other(kit, member.group());
  expect_equal(other.fetch(topic, {.max_wait_ms = 300}).acquired, Ranges{}, "of another member");
  member.acknowledge(topic, 0, 4).is_none();
  member.close_session();
  expect_equal(other.acquire(topic), Ranges{{5, 9, 2}}, "acquired with the count that was");
}

CASE(among_other_types, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  renew(member, topic, 0, 5, {kRenew, kRenew, kAccept, kRelease, kReject, kRenew}).is_none();
  expect_equal(member.acquire(topic), Ranges{{3, 3, 2}}, "the released one");
  member.close_session();
  ShareMember other(kit, member.group());
  expect_equal(offsets_of(other.acquire_count(topic, 8)),
               std::vector<int64_t>{0, 1, 3, 5, 6, 7, 8, 9}, "acquired by the next");
}

CASE(flag_without_the_type, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 9, {kAccept}, {.renew = true}).is_none();
  expect_equal(member.fetch(topic, {.max_wait_ms = 200}).acquired, Ranges{}, "afterwards");
}

CASE(type_without_the_flag, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 9, {kRenew}).is(ErrorCode::INVALID_REQUEST);
  const ShareFetched fetched = member.fetch(
      topic,
      {.max_wait_ms = 0, .acks = {{.topic = topic, .first = 0, .last = 9, .types = {kRenew}}}});
  expect_equal(fetched.acknowledge_error, ErrorCode::INVALID_REQUEST, "error with a fetch");
}

CASE(not_acquired, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 5, 9).is_none();
  renew(member, topic, 5, 9).is(ErrorCode::INVALID_RECORD_STATE);
  member.acknowledge(topic, 0, 4, {kRelease}).is_none();
  renew(member, topic, 0, 4).is(ErrorCode::INVALID_RECORD_STATE);
}

CASE(of_another_member, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  renew(other, topic, 0, 9).is(ErrorCode::INVALID_RECORD_STATE);
  const Value answer =
      renew_by_fetch(other, {.topic = topic, .first = 0, .last = 9, .types = {kRenew}});
  answer["errorCode"].is_none();
  expect_equal(fetched_of(answer, topic).acknowledge_error, ErrorCode::INVALID_RECORD_STATE,
               "error with a fetch");
}

CASE(beyond_what_was_acquired, "KIP-1222") {
  auto [topic, member] = acquired_records(kit);
  renew(member, topic, 8, 12).is(ErrorCode::INVALID_REQUEST);
}

CASE(switched_off, "KIP-1222, share.renew.acknowledge.enable") {
  auto [topic, member] =
      acquired_records(kit, 10, 10, {{"share.renew.acknowledge.enable", "false"}});
  renew(member, topic, 0, 9).is(ErrorCode::INVALID_RECORD_STATE);
  member.acknowledge(topic, 0, 9).is_none();
}

CASE(opening_fetch_cannot_renew, "KIP-932: acknowledgements need a session") {
  auto [topic, member] = acquired_records(kit);
  renew_by_fetch(member, {.topic = topic, .first = 0, .last = 9, .types = {kRenew}},
                 {.epoch = 0})["errorCode"]
      .is(ErrorCode::INVALID_REQUEST);
}

CASE(renewed_lock_lasts, "KIP-1222: the whole duration again", .limit_s = 60) {
  auto [topic, member] =
      acquired_records(kit, 10, 10, {{"share.record.lock.duration.ms", "15000"}});
  kit.pass(Millis(8000));
  renew(member, topic, 0, 9).is_none();
  kit.pass(Millis(9000));
  member.acknowledge(topic, 0, 9).is_none();
}

CASE(only_what_was_renewed_lasts, "KIP-1222", .limit_s = 60) {
  auto [topic, member] =
      acquired_records(kit, 10, 10, {{"share.record.lock.duration.ms", "15000"}});
  kit.pass(Millis(8000));
  renew(member, topic, 3, 5).is_none();
  kit.pass(Millis(8500));
  ShareMember other(kit, member.group());
  expect_equal(offsets_of(other.acquire_count(topic, 7)), std::vector<int64_t>{0, 1, 2, 6, 7, 8, 9},
               "acquired by another member");
  member.acknowledge(topic, 3, 5).is_none();
}

CASE(renewed_lock_ends_too, "KIP-1222", .limit_s = 60) {
  auto [topic, member] =
      acquired_records(kit, 10, 10, {{"share.record.lock.duration.ms", "15000"}});
  kit.pass(Millis(5000));
  renew(member, topic, 0, 9).is_none();
  const Stopwatch stopwatch;
  ShareMember other(kit, member.group());
  expect_equal(other.fetch(topic, {.max_wait_ms = 28000}).acquired, Ranges{{0, 9, 2}},
               "acquired by another member");
  expect_between(stopwatch.elapsed().count(), 14000L, 24000L, "milliseconds after the renewal");
  renew(member, topic, 0, 9).is(ErrorCode::INVALID_RECORD_STATE);
}

}  // namespace ackord::conform
