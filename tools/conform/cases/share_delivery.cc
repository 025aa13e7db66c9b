// Deliveries: how they are counted, what ends a lock, and when a record is given up (KIP-932).
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.delivery", "Delivery counts, locks and their limits (KIP-932)");

namespace {

const Configs kTwoDeliveries{{"share.delivery.count.limit", "2"}};
const Configs kShortestLock{{"share.record.lock.duration.ms", "15000"}};
constexpr ShareFetchOptions kShortFetch{.max_wait_ms = 300};

void expect_nothing(ShareMember& member, const Topic& topic, const char* what) {
  expect_equal(member.fetch(topic, kShortFetch).acquired, Ranges{}, what);
}

// Releases ten records before every delivery up to the limit: in how many ranges each delivery
// came, from the second on.
std::vector<size_t> pieces_of_deliveries(Kit& kit, int64_t limit) {
  auto [topic, member] =
      acquired_records(kit, 10, 10, {{"share.delivery.count.limit", std::to_string(limit)}});
  std::vector<size_t> pieces;
  for (int64_t delivery = 2; delivery <= limit; ++delivery) {
    member.acknowledge(topic, 0, 9, {kRelease}).is_none();
    const Ranges ranges = member.acquire_count(topic, 10, kShortFetch);
    std::vector<int64_t> offsets = offsets_of(ranges);
    std::ranges::sort(offsets);
    expect_equal(offsets, offsets_of(Ranges{{0, 9, 0}}), "offsets of a delivery");
    for (const auto& [first, last, count] : ranges)
      expect_equal(count, delivery, "delivery count of every range");
    pieces.push_back(ranges.size());
  }
  member.acknowledge(topic, 0, 9, {kRelease}).is_none();
  expect_nothing(member, topic, "acquired after the last delivery");
  return pieces;
}

}  // namespace

CASE(first_delivery_is_1, "KIP-932") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, numbered(1));
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  expect_equal(member.acquire(topic), Ranges{{0, 0, 1}}, "acquired");
}

CASE(release_counts_up, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  for (int64_t delivery = 2; delivery <= 5; ++delivery) {
    member.acknowledge(topic, 0, 0, {kRelease}).is_none();
    expect_equal(member.acquire(topic), Ranges{{0, 0, delivery}}, "acquired");
  }
}

CASE(given_up_at_the_limit, "KIP-932, share.delivery.count.limit (5)") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  for (int64_t delivery = 2; delivery <= 5; ++delivery) {
    member.acknowledge(topic, 0, 0, {kRelease}).is_none();
    member.acquire(topic);
  }
  member.acknowledge(topic, 0, 0, {kRelease}).is_none();
  expect_nothing(member, topic, "acquired a sixth time");
  produce(kit, topic, numbered(1));
  expect_equal(member.acquire(topic), Ranges{{1, 1, 1}}, "acquired next");
}

CASE(configured_limit, "KIP-932, share.delivery.count.limit") {
  auto [topic, member] = acquired_records(kit, 1, 1, kTwoDeliveries);
  member.acknowledge(topic, 0, 0, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{0, 0, 2}}, "acquired");
  member.acknowledge(topic, 0, 0, {kRelease}).is_none();
  expect_nothing(member, topic, "acquired a third time");
}

CASE(limit_of_a_release_among_others, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 4, 4, kTwoDeliveries);
  member.acknowledge(topic, 1, 2, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{1, 2, 2}}, "acquired");
  member.acknowledge(topic, 0, 3, {kRelease}).is_none();
  expect_equal(offsets_of(member.acquire_count(topic, 2)), std::vector<int64_t>{0, 3},
               "acquired: 1 and 2 are given up");
}

CASE(accept_is_final, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  member.acknowledge(topic, 0, 0, {kAccept}).is_none();
  expect_nothing(member, topic, "acquired afterwards");
}

CASE(reject_is_final, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  member.acknowledge(topic, 0, 0, {kReject}).is_none();
  expect_nothing(member, topic, "acquired afterwards");
}

CASE(gap_is_final, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  member.acknowledge(topic, 0, 0, {kGap}).is_none();
  expect_nothing(member, topic, "acquired afterwards");
}

CASE(released_records_come_first, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  produce(kit, topic, numbered(1));
  member.acknowledge(topic, 4, 6, {kRelease}).is_none();
  expect_equal(member.acquire_count(topic, 4), Ranges{{4, 6, 2}, {10, 10, 1}}, "acquired");
}

CASE(counts_differ_within_a_batch, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 6, 6);
  member.acknowledge(topic, 2, 3, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{2, 3, 2}}, "acquired");
  member.close_session();
  const Ranges again = member.acquire_count(topic, 6);
  Ranges sorted = again;
  std::ranges::sort(sorted);
  expect_equal(sorted, Ranges{{0, 1, 2}, {2, 3, 3}, {4, 5, 2}}, "acquired after the close");
}

CASE(close_counts_too, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  member.close_session();
  ShareMember other(kit, member.group());
  expect_equal(other.acquire(topic), Ranges{{0, 0, 2}}, "acquired by the next");
}

CASE(close_at_the_limit_gives_up, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 2, 2, kTwoDeliveries);
  member.close_session();
  expect_equal(member.acquire_count(topic, 2), Ranges{{0, 1, 2}}, "acquired a second time");
  member.close_session();
  produce(kit, topic, numbered(1));
  expect_equal(member.acquire(topic), Ranges{{2, 2, 1}}, "acquired next");
}

CASE(groups_count_apart, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  member.acknowledge(topic, 0, 0, {kRelease}).is_none();
  ShareMember other(kit, earliest_group(kit));
  other.join({topic});
  expect_equal(other.acquire(topic), Ranges{{0, 0, 1}}, "acquired in the other group");
}

// ---- smaller pieces near the limit, so that one bad record does not take its batch with it

CASE(pieces_with_limit_5, "KIP-932: bad records are told apart") {
  const std::vector<size_t> pieces = pieces_of_deliveries(kit, 5);
  expect_equal(pieces.at(0), 1U, "ranges of delivery 2");
  expect_equal(pieces.back(), 10U, "ranges of the last delivery");
  expect(std::ranges::is_sorted(pieces), "the pieces become smaller: " + show(pieces));
}

CASE(pieces_with_limit_3, "KIP-932: bad records are told apart") {
  expect_equal(pieces_of_deliveries(kit, 3).back(), 10U, "ranges of the last delivery");
}

CASE(pieces_with_limit_10, "KIP-932: bad records are told apart") {
  const std::vector<size_t> pieces = pieces_of_deliveries(kit, 10);
  expect_equal(pieces.at(0), 1U, "ranges of delivery 2");
  expect_equal(pieces.back(), 10U, "ranges of the last delivery");
  expect(std::ranges::is_sorted(pieces), "the pieces become smaller: " + show(pieces));
}

CASE(whole_with_limit_2, "KIP-932: there is no delivery to tell them apart in") {
  expect_equal(pieces_of_deliveries(kit, 2), std::vector<size_t>{1}, "ranges of delivery 2");
}

CASE(one_bad_record_is_given_up_alone, "KIP-932: bad records are told apart") {
  auto [topic, member] = acquired_records(kit, 8, 8, {{"share.delivery.count.limit", "3"}});
  const int64_t bad = 5;
  // A consumer that handles nothing of what came with the bad record.
  std::set<int64_t> handled;
  Ranges ranges{{0, 7, 1}};
  while (!ranges.empty()) {
    for (const auto& [first, last, count] : ranges) {
      const bool good = bad < first || last < bad;
      member.acknowledge(topic, first, last, {good ? kAccept : kRelease}).is_none();
      for (int64_t offset = first; good && offset <= last; ++offset) handled.insert(offset);
    }
    ranges = member.fetch(topic, kShortFetch).acquired;
  }
  expect_equal(handled, std::set<int64_t>{0, 1, 2, 3, 4, 6, 7}, "records handled");
}

// ---- locks

CASE(default_lock_duration_is_told, "KIP-932, KIP-1222") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  member.share_fetch({}, {.max_wait_ms = 0})["acquisitionLockTimeoutMs"].is(30000);
  const Value answer = member.share_acknowledge({{.topic = topic}});
  answer["acquisitionLockTimeoutMs"].is(30000);
}

CASE(configured_lock_duration_is_told, "KIP-932, share.record.lock.duration.ms") {
  auto [topic, member] = acquired_records(kit, 1, 1, {{"share.record.lock.duration.ms", "20000"}});
  member.share_fetch({}, {.max_wait_ms = 0})["acquisitionLockTimeoutMs"].is(20000);
  const Value answer = member.share_acknowledge({{.topic = topic}});
  answer["acquisitionLockTimeoutMs"].is(20000);
}

CASE(expired_lock_wakes_a_waiter, "KIP-932, share.record.lock.duration.ms", .limit_s = 60) {
  auto [topic, member] = acquired_records(kit, 2, 2, kShortestLock);
  const Stopwatch stopwatch;
  ShareMember other(kit, member.group());
  const ShareFetched fetched = other.fetch(topic, {.max_wait_ms = 28000});
  expect_equal(fetched.acquired, Ranges{{0, 1, 2}}, "acquired by another member");
  expect_between(stopwatch.elapsed().count(), 13000L, 24000L, "milliseconds");
  member.acknowledge(topic, 0, 1).is(ErrorCode::INVALID_RECORD_STATE);
  other.acknowledge(topic, 0, 1).is_none();
}

CASE(expired_lock_of_the_same_member, "KIP-932, share.record.lock.duration.ms", .limit_s = 60) {
  auto [topic, member] = acquired_records(kit, 2, 2, kShortestLock);
  expect_equal(member.fetch(topic, {.max_wait_ms = 28000}).acquired, Ranges{{0, 1, 2}},
               "acquired again");
  member.acknowledge(topic, 0, 1).is_none();
}

CASE(expired_lock_cannot_be_acknowledged, "KIP-932, share.record.lock.duration.ms", .limit_s = 60) {
  auto [topic, member] = acquired_records(kit, 2, 2, kShortestLock);
  kit.pass(Millis(18000));
  for (const int8_t type : {kAccept, kRelease, kReject})
    member.acknowledge(topic, 0, 1, {type}).is(ErrorCode::INVALID_RECORD_STATE);
}

CASE(expiry_at_the_limit_gives_up, "KIP-932, share.record.lock.duration.ms", .limit_s = 60) {
  auto [topic, member] = acquired_records(
      kit, 2, 2, {{"share.record.lock.duration.ms", "15000"}, {"share.delivery.count.limit", "2"}});
  member.acknowledge(topic, 0, 1, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{0, 1, 2}}, "acquired");
  kit.pass(Millis(17000));
  produce(kit, topic, numbered(1));
  expect_equal(member.fetch(topic, {.max_wait_ms = 3000}).acquired, Ranges{{2, 2, 1}},
               "acquired next");
}

CASE(locks_of_a_batch_end_apart, "KIP-932: a lock is of its acquisition", .limit_s = 60) {
  auto [topic, member] = acquired_records(kit, 4, 4, kShortestLock);
  kit.pass(Millis(7000));
  member.acknowledge(topic, 2, 3, {kRelease}).is_none();
  expect_equal(member.acquire(topic), Ranges{{2, 3, 2}}, "acquired again");
  kit.pass(Millis(9500));
  ShareMember other(kit, member.group());
  expect_equal(offsets_of(other.acquire_count(topic, 2)), std::vector<int64_t>{0, 1},
               "acquired by another member");
  member.acknowledge(topic, 2, 3).is_none();
}

}  // namespace ackord::conform
