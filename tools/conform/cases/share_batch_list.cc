// ListBatchTxns: what an engine sees of its transactions after a restart, and what it makes of it.
#include <algorithm>
#include <map>

#include "tools/conform/case.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

AREA("share.batch.list", "Batch transactions: ListBatchTxns and recovery", "BeginBatchTxn");

namespace {

std::vector<std::string> ids_of(const Value& answer) {
  answer["errorCode"].is_none();
  std::vector<std::string> out;
  for (const Value& one : answer["transactions"].items())
    out.push_back(one["transactionId"].text());
  return out;
}

// Four transactions of one group, one in each state: "p-ongoing", "p-prepare", "q-committed",
// "q-aborted" behind a prefix of their own.
struct Four {
  std::string group;
  std::string prefix;
  std::string id(const char* what) const { return prefix + what; }
};
Four four(Kit& kit) {
  const auto [topic, member] = acquired_records(kit);
  const Four on{member.group(), kit.name("b") + "-"};
  const auto batch = [&](const char* what) {
    BatchTxn one(kit, on.group, on.id(what));
    expect_batch(one.begin(), "ONGOING", 0);
    return one;
  };
  batch("p-ongoing");
  expect_batch(batch("p-prepare").prepare(), "PREPARE", 0);
  BatchTxn committed = batch("q-committed");
  expect_batch(committed.prepare(), "PREPARE", 0);
  expect_batch(committed.commit(), "COMMITTED", 0);
  expect_batch(batch("q-aborted").abort(), "ABORTED", 0);
  return on;
}

}  // namespace

CASE(fields, "docs/PROTOCOL.md 2.2") {
  Begun on = begun(kit);
  const auto all_of_it = [&] { return *on.batch.listed(); };
  const int64_t now = now_ms();
  Value one = all_of_it();
  one["state"].is("ONGOING");
  one["timeoutMs"].is(60000);
  one["createTimeMs"].is_between(now - 60000, now + 60000);
  one["prepareTimeMs"].is(-1);
  one["pendingAcks"].has_size(0);
  const int64_t created = one["createTimeMs"].number();
  expect_batch(on.batch.prepare(), "PREPARE", 0);
  one = all_of_it();
  one["state"].is("PREPARE");
  one["createTimeMs"].is(created);
  one["prepareTimeMs"].is_between(created, now_ms() + 60000);
  const int64_t prepared = one["prepareTimeMs"].number();
  expect_batch(on.batch.commit(), "COMMITTED", 0);
  one = all_of_it();
  one["state"].is("COMMITTED");
  one["prepareTimeMs"].is(prepared);
}

CASE(pending_acknowledgements, "docs/PROTOCOL.md 2.2") {
  Begun on = begun(kit);
  on.batch.stage(on.member, {{.topic = on.topic, .first = 2, .last = 4},
                             {.topic = on.topic, .first = 5, .last = 5, .types = {kReject}},
                             {.topic = on.topic, .first = 7, .last = 8, .types = {kGap}}});
  for (const char* state : {"ONGOING", "PREPARE"}) {
    const Value one = *on.batch.listed({state});
    one["pendingAcks"].has_size(1);
    one["pendingAcks"][0]["topicId"].is(on.topic.id);
    one["pendingAcks"][0]["topicName"].is(on.topic.name);
    one["pendingAcks"][0]["partitions"].has_size(1);
    one["pendingAcks"][0]["partitions"][0]["partitionIndex"].is(0);
    std::vector<std::vector<int64_t>> ranges;
    for (const Value& range :
         one["pendingAcks"][0]["partitions"][0]["acknowledgementBatches"].items())
      ranges.push_back({range["firstOffset"].number(), range["lastOffset"].number(),
                        range["acknowledgeType"].number()});
    expect_equal(ranges,
                 std::vector<std::vector<int64_t>>{{2, 4, kAccept}, {5, 5, kReject}, {7, 8, kGap}},
                 state);
    expect_batch(on.batch.prepare(), "PREPARE", 6);
  }
  expect_batch(on.batch.commit(), "COMMITTED", 6);
  (*on.batch.listed())["pendingAcks"].has_size(0);
}

CASE(pending_of_several_partitions, "docs/PROTOCOL.md 2.2") {
  const Topic topic = create_topic(kit, 4);
  ShareMember member(kit, earliest_group(kit));
  std::vector<ShareAck> acks;
  for (int32_t i = 0; i < 4; ++i) {
    produce(kit, topic, numbered(2), {.partition = i});
    acks.push_back({.topic = topic, .partition = i, .first = 0, .last = 1});
  }
  member.join({topic});
  for (int32_t i = 0; i < 4; ++i) member.acquire_count(topic, 2, {}, i);
  BatchTxn batch(kit, member.group());
  expect_batch(batch.begin(), "ONGOING", 0);
  batch.stage(member, acks);
  const Value pending = (*batch.listed())["pendingAcks"];
  pending.has_size(1);
  pending[0]["partitions"].has_size(4);
  for (int32_t i = 0; i < 4; ++i)
    pending[0]["partitions"].with("partitionIndex", i)["acknowledgementBatches"].has_size(1);
  expect_batch(batch.abort(), "ABORTED", 8);
}

CASE(in_order_of_ids, "docs/PROTOCOL.md 2.2") {
  const Four on = four(kit);
  expect_equal(ids_of(list_batches(kit, on.group)),
               std::vector<std::string>{on.id("p-ongoing"), on.id("p-prepare"), on.id("q-aborted"),
                                        on.id("q-committed")},
               "ids");
}

CASE(by_state, "docs/PROTOCOL.md 2.2") {
  const Four on = four(kit);
  const auto ids = [&](const std::vector<std::string>& states) {
    return ids_of(list_batches(kit, on.group, states));
  };
  const std::map<std::string, std::string> one_each{{"ONGOING", "p-ongoing"},
                                                    {"PREPARE", "p-prepare"},
                                                    {"COMMITTED", "q-committed"},
                                                    {"ABORTED", "q-aborted"}};
  for (const auto& [state, what] : one_each)
    expect_equal(ids({state}), std::vector<std::string>{on.id(what.c_str())}, state);
  expect_equal(ids({"ONGOING", "PREPARE"}),
               std::vector<std::string>{on.id("p-ongoing"), on.id("p-prepare")}, "undecided");
  expect_equal(ids({"PREPARE", "PREPARE"}), std::vector<std::string>{on.id("p-prepare")},
               "the same twice");
}

CASE(by_prefix, "docs/PROTOCOL.md 2.2") {
  const Four on = four(kit);
  const auto ids = [&](const std::optional<std::string>& prefix) {
    return ids_of(list_batches(kit, on.group, {}, prefix));
  };
  expect_equal(ids(on.id("p")).size(), size_t{2}, "with p");
  expect_equal(ids(on.id("q-c")), std::vector<std::string>{on.id("q-committed")}, "with q-c");
  expect_equal(ids(on.id("q-committed")), std::vector<std::string>{on.id("q-committed")},
               "a whole id");
  expect_equal(ids(on.id("q-committed-")).size(), size_t{0}, "longer than an id");
  expect_equal(ids("").size(), size_t{4}, "an empty prefix");
  expect_equal(ids({}).size(), size_t{4}, "none");
  expect_equal(ids_of(list_batches(kit, on.group, {"ABORTED"}, on.id("p"))).size(), size_t{0},
               "with a state besides");
}

CASE(states_that_are_none, "docs/PROTOCOL.md 2.2, 0.4") {
  const Four on = four(kit);
  for (const char* state : {"LOCKED", "ongoing", ""})
    list_batches(kit, on.group, {"ONGOING", state})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(other_groups, "docs/PROTOCOL.md 2, 2.2") {
  const Four on = four(kit);
  BatchTxn elsewhere(kit, kit.name("g"), on.id("p-ongoing"));
  expect_batch(elsewhere.begin(), "ONGOING", 0);
  expect_equal(ids_of(list_batches(kit, on.group)).size(), size_t{4}, "of the group");
  expect_batch(elsewhere.abort(), "ABORTED", 0);
  expect_equal(ids_of(list_batches(kit, kit.name("g"))).size(), size_t{0},
               "of a group that there is not");
  list_batches(kit, "")["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

// What an engine does when it starts again: twice, as after a crash in between.
CASE(recovery, "docs/PROTOCOL.md 2") {
  auto [topic, member] = acquired_records(kit);
  const std::string prefix = kit.name("job") + "-";
  const auto open = [&](const char* checkpoint, int64_t first, int64_t last) {
    BatchTxn one(kit, member.group(), prefix + checkpoint);
    expect_batch(one.begin(), "ONGOING", 0);
    one.stage(member, {{.topic = topic, .first = first, .last = last}});
    return one;
  };
  open("1", 0, 2).prepare()["errorCode"].is_none();  // its checkpoint was completed
  open("2", 3, 5).prepare()["errorCode"].is_none();  // its checkpoint was not
  open("3", 6, 9);
  member.leave();
  for (int round = 0; round < 2; ++round) {
    for (const Value& one :
         list_batches(kit, member.group(), {"ONGOING", "PREPARE"}, prefix)["transactions"]
             .items()) {
      BatchTxn batch(kit, member.group(), one["transactionId"].text());
      if (one["state"].text() == "PREPARE" && batch.id() == prefix + "1")
        expect_batch(batch.commit(), "COMMITTED", 3);
      else
        batch.abort()["errorCode"].is_none();
    }
  }
  list_batches(kit, member.group(), {"ONGOING", "PREPARE"}, prefix)["transactions"].has_size(0);
  ShareMember executor(kit, member.group());
  executor.join({topic});
  expect_equal(offsets_of(executor.acquire_count(topic, 7)),
               std::vector<int64_t>{3, 4, 5, 6, 7, 8, 9}, "acquired again");
}

}  // namespace ackord::conform
