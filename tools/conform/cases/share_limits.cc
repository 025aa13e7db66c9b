// How much a share group may hold at once: share.partition.max.record.locks, and the number of
// share sessions (KIP-932). How many members it may have is in share_membership.cc.
#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.limits", "Limits of share groups (KIP-932)");

namespace {

// The least that a group may be given.
const Configs kHundredLocks{{"share.partition.max.record.locks", "100"}};
constexpr ShareFetchOptions kShortFetch{.max_wait_ms = 200};
constexpr int kPerBatch = 10;

// A topic with `batches` of ten records, and a member of a group that may hold 100 of them.
struct Ready {
  Topic topic;
  ShareMember member;
};
Ready ready(Kit& kit, int batches, int per_batch = kPerBatch) {
  Ready out{create_topic(kit), ShareMember(kit, earliest_group(kit, kHundredLocks))};
  for (int i = 0; i < batches; ++i) produce(kit, out.topic, numbered(per_batch));
  out.member.join({out.topic});
  return out;
}

}  // namespace

CASE(records_in_flight, "KIP-932, share.partition.max.record.locks") {
  auto [topic, member] = ready(kit, 15);
  const Ranges acquired = member.acquire_count(topic, 100);
  expect_equal(offsets_of(acquired).back(), 99, "the last offset acquired");
  expect_equal(member.fetch(topic, kShortFetch).acquired, Ranges{}, "acquired at the limit");
  ShareMember other(kit, member.group());
  expect_equal(other.fetch(topic, kShortFetch).acquired, Ranges{}, "acquired by another member");
}

CASE(room_comes_with_the_start, "KIP-932, share.partition.max.record.locks") {
  auto [topic, member] = ready(kit, 15);
  member.acquire_count(topic, 100);
  member.acknowledge(topic, 0, 29).is_none();
  const Ranges acquired = member.acquire_count(topic, 30);
  expect_equal(acquired, Ranges{{100, 129, 1}}, "acquired");
}

CASE(no_room_behind_a_held_record, "KIP-932: counted from the start, not by records") {
  auto [topic, member] = ready(kit, 15);
  member.acquire_count(topic, 100);
  member.acknowledge(topic, 10, 99).is_none();
  expect_equal(member.fetch(topic, kShortFetch).acquired, Ranges{}, "acquired at the limit");
  member.acknowledge(topic, 0, 9).is_none();
  expect_equal(offsets_of(member.acquire_count(topic, 50)).front(), 100, "the next offset");
}

CASE(released_records_at_the_limit, "KIP-932, share.partition.max.record.locks") {
  auto [topic, member] = ready(kit, 15);
  member.acquire_count(topic, 100);
  member.acknowledge(topic, 40, 49, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{40, 49, 2}}, "acquired again");
  expect_equal(member.fetch(topic, kShortFetch).acquired, Ranges{}, "acquired at the limit");
}

CASE(batch_above_the_limit, "KIP-932: batches are acquired whole") {
  auto [topic, member] = ready(kit, 2, 150);
  expect_equal(member.acquire(topic), Ranges{{0, 149, 1}}, "acquired");
  expect_equal(member.fetch(topic, kShortFetch).acquired, Ranges{}, "acquired at the limit");
}

CASE(record_limit_at_the_limit, "KIP-1206, share.partition.max.record.locks") {
  auto [topic, member] = ready(kit, 2, 150);
  const ShareFetchOptions options{.max_wait_ms = 200, .acquire_mode = kRecordLimit};
  expect_equal(member.acquire(topic, options), Ranges{{0, 99, 1}}, "acquired");
  // Kafka still gives the rest of a batch that it has begun, but no other.
  const Ranges rest = member.fetch(topic, options).acquired;
  if (!rest.empty()) expect_equal(rest, Ranges{{100, 149, 1}}, "acquired at the limit");
  expect_equal(member.fetch(topic, options).acquired, Ranges{}, "acquired above the limit");
}

CASE(room_wakes_a_waiter, "KIP-932, share.partition.max.record.locks") {
  auto [topic, member] = ready(kit, 15);
  member.acquire_count(topic, 100);
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  const Sent sent = other.send_share_fetch({}, {.max_wait_ms = 10000});
  expect(!other.connection().readable_within(Millis(200)), "it waits");
  const Stopwatch stopwatch;
  member.acknowledge(topic, 0, 99).is_none();
  const ShareFetched fetched = fetched_of(other.receive_share_fetch(sent), topic);
  expect_equal(offsets_of(fetched.acquired).front(), 100, "the first offset acquired");
  expect_between(stopwatch.elapsed().count(), 0L, 8000L, "milliseconds until woken up");
}

CASE(groups_have_locks_of_their_own, "KIP-932") {
  auto [topic, member] = ready(kit, 15);
  member.acquire_count(topic, 100);
  ShareMember other(kit, earliest_group(kit, kHundredLocks));
  other.join({topic});
  expect_equal(offsets_of(other.acquire_count(topic, 100)).front(), 0, "the first offset acquired");
}

CASE(sessions_that_are_too_many, "KIP-932, group.share.max.share.sessions (2000)", .limit_s = 60,
     .alone = true) {
  constexpr int kLimit = 2000;
  const std::string group = kit.name("g");
  Connection& connection = kit.connect();
  const auto ask = [&](int member, int epoch, int max_wait_ms) {
    return connection.ask("ShareFetch", 2,
                          {{"groupId", group},
                           {"memberId", "m" + std::to_string(member)},
                           {"shareSessionEpoch", epoch},
                           {"maxWaitMs", max_wait_ms},
                           {"minBytes", 0},
                           {"maxBytes", 0},
                           {"maxRecords", 0},
                           {"batchSize", 1}})["errorCode"];
  };
  int opened = 0;
  while (opened <= kLimit && ask(opened, 0, 0).error() == ErrorCode::NONE) ++opened;
  const Stopwatch stopwatch;
  const ErrorCode refused = ask(kLimit + 1, 0, 600).error();
  const long elapsed = stopwatch.elapsed().count();
  // One by one: Kafka ends only one session with its connection, however many began there.
  for (int i = 0; i < opened; ++i) ask(i, -1, 0).is_none();
  // Sessions of others may be open besides.
  expect_between(opened, kLimit - 100, kLimit, "sessions opened");
  expect_equal(refused, ErrorCode::SHARE_SESSION_LIMIT_REACHED, "error of one more");
  expect_between(elapsed, 550L, 6000L, "milliseconds of its refusal");
  ask(0, 0, 0).is_none();
}

}  // namespace ackord::conform
