// Share groups on topics with transactions: share.isolation.level, control records, records of
// aborted transactions (KIP-932).
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"
#include "tools/conform/kit/transactions.h"

namespace ackord::conform {

AREA("share.isolation", "Share groups and transactions (KIP-932, share.isolation.level)");

namespace {

using Offsets = std::vector<int64_t>;

// A member of a new group with this isolation level, that has the topic.
ShareMember member_on(Kit& kit, const Topic& topic, const std::string& isolation) {
  ShareMember member(kit, earliest_group(kit, {{"share.isolation.level", isolation}}));
  member.join({topic});
  return member;
}

// The values of the records that were acquired. Control records have none.
std::vector<std::string> acquired_values(const ShareFetched& fetched) {
  const Offsets acquired = offsets_of(fetched.acquired);
  std::vector<std::string> values;
  for (const BatchRead& batch : fetched.batches) {
    if (batch.header.control()) continue;
    for (const RecordRead& record : batch.records)
      if (std::ranges::find(acquired, record.offset) != acquired.end())
        values.push_back(record.value.value_or(""));
  }
  return values;
}

// The values of all that is there to be acquired, in the order in which it came.
std::vector<std::string> all_values(Kit& kit, ShareMember& member, const Topic& topic, size_t count,
                                    int16_t version = 2) {
  std::vector<std::string> values;
  kit.until("the records are acquired", [&] {
    const ShareFetched fetched = member.fetch(topic, {.version = version});
    expect_equal(fetched.error, ErrorCode::NONE, "error");
    for (const std::string& value : acquired_values(fetched)) values.push_back(value);
    return values.size() >= count;
  });
  return values;
}

}  // namespace

// ---- read_uncommitted

CASE(uncommitted_is_the_default, "KIP-932") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"});
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  expect_equal(member.acquire(topic), Ranges{{0, 1, 1}}, "acquired of an open transaction");
  producer.abort();
}

CASE(uncommitted_gives_aborted_records, "KIP-932") {
  const Topic topic = create_topic(kit);
  begin_transaction(kit, topic, {"a", "b"}).abort();
  ShareMember member = member_on(kit, topic, "read_uncommitted");
  expect_equal(all_values(kit, member, topic, 2), std::vector<std::string>{"a", "b"}, "values");
}

CASE(control_records_are_acquired, "KIP-932: the client acknowledges them as a gap") {
  const Topic topic = create_topic(kit);
  begin_transaction(kit, topic, {"a", "b"}).commit();
  produce(kit, topic, std::vector<std::string>{"c"});
  ShareMember member = member_on(kit, topic, "read_uncommitted");
  expect_equal(offsets_of(member.acquire_count(topic, 4)), Offsets{0, 1, 2, 3}, "acquired");
  member.acknowledge(topic, 0, 3, {kAccept, kAccept, kGap, kAccept}).is_none();
  expect_equal(member.fetch(topic, {.max_wait_ms = 200}).acquired, Ranges{}, "afterwards");
}

CASE(control_records_are_given_with_the_data, "KIP-932") {
  const Topic topic = create_topic(kit);
  begin_transaction(kit, topic, {"a"}).commit();
  ShareMember member = member_on(kit, topic, "read_committed");
  ShareFetched fetched;
  kit.until("records are acquired", [&] {
    fetched = member.fetch(topic);
    return !fetched.acquired.empty();
  });
  expect_equal(offsets_of(fetched.acquired), Offsets{0, 1}, "acquired");
  expect_equal(fetched.batches.size(), 2U, "batches");
  expect(fetched.batches.back().header.control(), "the last batch is the marker");
}

// ---- read_committed

CASE(committed_waits_for_the_end, "KIP-932") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, std::vector<std::string>{"before"});
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"});
  produce(kit, topic, std::vector<std::string>{"behind"});
  ShareMember member = member_on(kit, topic, "read_committed");
  expect_equal(member.acquire(topic), Ranges{{0, 0, 1}}, "acquired before the transaction");
  expect_equal(member.fetch(topic, {.max_wait_ms = 300}).acquired, Ranges{},
               "acquired while it is open");
  producer.commit();
  expect_equal(all_values(kit, member, topic, 3), std::vector<std::string>{"a", "b", "behind"},
               "values after the commit");
}

CASE(commit_wakes_a_waiter, "KIP-932") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"});
  ShareMember member = member_on(kit, topic, "read_committed");
  member.fetch(topic, {.max_wait_ms = 0});
  const Sent sent = member.send_share_fetch({}, {.max_wait_ms = 10000});
  expect(!member.connection().readable_within(Millis(300)), "it waits");
  const Stopwatch stopwatch;
  producer.commit();
  const ShareFetched fetched = fetched_of(member.receive_share_fetch(sent), topic);
  expect_equal(acquired_values(fetched), std::vector<std::string>{"a", "b"}, "values");
  expect_between(stopwatch.elapsed().count(), 0L, 8000L, "milliseconds until woken up");
}

CASE(committed_leaves_out_aborted_records, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  const Topic topic = create_topic(kit);
  begin_transaction(kit, topic, {"a", "b"}).abort();
  produce(kit, topic, std::vector<std::string>{"plain"});
  begin_transaction(kit, topic, {"c"}).commit();
  ShareMember member = member_on(kit, topic, "read_committed");
  expect_equal(all_values(kit, member, topic, 2, kit.version()),
               std::vector<std::string>{"plain", "c"}, "values");
  expect_equal(member.fetch(topic, {.max_wait_ms = 200}).acquired, Ranges{}, "afterwards");
}

CASE(aborted_records_are_not_in_the_ranges, "KIP-932") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, std::vector<std::string>{"first"});
  begin_transaction(kit, topic, {"a", "b"}).abort();
  produce(kit, topic, std::vector<std::string>{"last"});
  ShareMember member = member_on(kit, topic, "read_committed");
  std::set<int64_t> offsets;
  kit.until("the last record is acquired", [&] {
    for (const int64_t offset : offsets_of(member.fetch(topic).acquired)) offsets.insert(offset);
    return offsets.contains(4);
  });
  expect(offsets.contains(0), "the first record is acquired");
  expect(!offsets.contains(1) && !offsets.contains(2), "aborted records are not acquired");
}

CASE(interleaved_transactions, "KIP-932") {
  const Topic topic = create_topic(kit);
  TxnProducer aborted = begin_transaction(kit, topic, {"a1"});
  TxnProducer committed = begin_transaction(kit, topic, {"c1"});
  aborted.produce(topic, {"a2"});
  produce(kit, topic, std::vector<std::string>{"plain"});
  committed.produce(topic, {"c2"});
  aborted.abort();
  committed.commit();
  ShareMember member = member_on(kit, topic, "read_committed");
  expect_equal(all_values(kit, member, topic, 3), std::vector<std::string>{"c1", "plain", "c2"},
               "values");
}

CASE(only_aborted_records, "KIP-932") {
  const Topic topic = create_topic(kit);
  begin_transaction(kit, topic, {"a", "b"}).abort();
  ShareMember member = member_on(kit, topic, "read_committed");
  for (int i = 0; i < 3; ++i)
    expect_equal(acquired_values(member.fetch(topic, {.max_wait_ms = 200})),
                 std::vector<std::string>{}, "values");
  produce(kit, topic, std::vector<std::string>{"next"});
  expect_equal(all_values(kit, member, topic, 1), std::vector<std::string>{"next"}, "values");
}

CASE(aborted_records_do_not_come_back, "KIP-932: they are archived") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, std::vector<std::string>{"first"});
  begin_transaction(kit, topic, {"a", "b"}).abort();
  produce(kit, topic, std::vector<std::string>{"last"});
  ShareMember member = member_on(kit, topic, "read_committed");
  expect_equal(all_values(kit, member, topic, 2), std::vector<std::string>{"first", "last"},
               "values");
  member.close_session();
  expect_equal(all_values(kit, member, topic, 2), std::vector<std::string>{"first", "last"},
               "values again");
}

CASE(acknowledged_around_aborted_records, "KIP-932: the start moves past them") {
  const Topic topic = create_topic(kit);
  begin_transaction(kit, topic, {"a", "b"}).abort();
  produce(kit, topic, std::vector<std::string>{"plain"});
  ShareMember member = member_on(kit, topic, "read_committed");
  Ranges acquired;
  kit.until("the plain record is acquired", [&] {
    for (const auto& range : member.fetch(topic).acquired) acquired.push_back(range);
    const Offsets offsets = offsets_of(acquired);
    return std::ranges::find(offsets, 3) != offsets.end();
  });
  for (const auto& [first, last, count] : acquired)
    member.acknowledge(topic, first, last).is_none();
  // What lies below the start is acknowledged with success, whoever asks.
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  other.acknowledge(topic, 0, 3).is_none();
}

CASE(level_changes_while_records_wait, "KIP-932, share.isolation.level") {
  const Topic topic = create_topic(kit);
  TxnProducer producer = begin_transaction(kit, topic, {"a", "b"});
  ShareMember member = member_on(kit, topic, "read_committed");
  expect_equal(member.fetch(topic, {.max_wait_ms = 200}).acquired, Ranges{}, "read_committed");
  set_configs(kit, ConfigResource::kGroup, member.group(),
              {{"share.isolation.level", "read_uncommitted"}});
  expect_equal(member.acquire(topic), Ranges{{0, 1, 1}}, "acquired with read_uncommitted");
  producer.abort();
}

CASE(latest_with_read_committed, "KIP-932: begins at what consumers see") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, std::vector<std::string>{"old"});
  TxnProducer producer = begin_transaction(kit, topic, {"a"});
  const std::string group = kit.name("g");
  set_configs(kit, ConfigResource::kGroup, group, {{"share.isolation.level", "read_committed"}});
  ShareMember member(kit, group);
  member.join({topic});
  expect_equal(member.fetch(topic, {.max_wait_ms = 200}).acquired, Ranges{}, "acquired");
  producer.commit();
  produce(kit, topic, std::vector<std::string>{"new"});
  const std::vector<std::string> values = all_values(kit, member, topic, 1);
  expect_equal(values.back(), "new", "the last value");
  expect(std::ranges::find(values, "old") == values.end(), "what was there before does not come");
}

}  // namespace ackord::conform
