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
  const auto open = [&](Connection& connection, int number, int max_wait_ms) {
    return connection.send("ShareFetch", 2,
                           {{"groupId", group},
                            {"memberId", "m" + std::to_string(number)},
                            {"shareSessionEpoch", 0},
                            {"maxWaitMs", max_wait_ms},
                            {"minBytes", 0},
                            {"maxBytes", 0},
                            {"maxRecords", 0},
                            {"batchSize", 1}});
  };
  Connection& many = kit.connect();
  int opened = 0;
  bool full = false;
  for (int i = 0; i < kLimit + 10 && !full; ++i) {
    const Value answer = many.receive(open(many, i, 0));
    full = answer["errorCode"].error() == ErrorCode::SHARE_SESSION_LIMIT_REACHED;
    if (!full) answer["errorCode"].is_none();
    opened += full ? 0 : 1;
  }
  // Sessions of others may be open besides.
  expect_between(opened, kLimit - 100, kLimit, "sessions opened");
  const Stopwatch stopwatch;
  many.receive(open(many, kLimit + 20, 600))["errorCode"].is(
      ErrorCode::SHARE_SESSION_LIMIT_REACHED);
  expect_between(stopwatch.elapsed().count(), 550L, 6000L, "milliseconds of the refusal");
  many.close();
  kit.until("the sessions have ended with their connection", [&] {
    Connection& other = kit.first();
    return other.receive(open(other, kLimit + 30, 0))["errorCode"].error() == ErrorCode::NONE;
  });
}

}  // namespace ackord::conform
