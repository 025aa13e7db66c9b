// The state of share partitions, as the share coordinator keeps it for the brokers (KIP-932):
// epochs, how batches merge, what is unknown. Without an authorizer any client may ask for it.
#include "tools/conform/kit/share_state.h"

#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.state", "The stored state of share partitions (KIP-932)");

namespace {

const Topic kUnknown{"unknown", "BwcHBwcHBwcHBwcHBwcHBw", 1};

void refused(const Value& result, ErrorCode error) {
  result["errorCode"].is(error);
  result["errorMessage"].is_not_empty();
}

}  // namespace

CASE(initialized_is_read, "docs/SEMANTICS.md A.6") {
  SharePartitionState state(kit, known_topic(kit));
  const Value done = state.initialize(3, 17);
  done["errorCode"].is_none();
  done["errorMessage"].is_null();
  const Value read = state.read();
  read["errorCode"].is_none();
  read["errorMessage"].is_null();
  read["stateEpoch"].is(3);
  read["startOffset"].is(17);
  read["stateBatches"].has_size(0);
}

CASE(initialized_without_a_start, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit, -1);
  const Value read = state.read();
  read["stateEpoch"].is(1);
  read["startOffset"].is(-1);
}

CASE(summary, "docs/SEMANTICS.md A.6", .api = "ReadShareGroupStateSummary", .first = 0, .last = 1) {
  SharePartitionState state = initialized_state(kit, 17);
  const Value result = state.summary(kit.version());
  result["errorCode"].is_none();
  result["errorMessage"].is_null();
  result["stateEpoch"].is(1);
  result["leaderEpoch"].is(0);
  result["startOffset"].is(17);
  if (kit.version() >= 1) result["deliveryCompleteCount"].is(0);
}

CASE(summary_without_a_start, "KIP-1226") {
  const Value result = initialized_state(kit, -1).summary();
  result["startOffset"].is(-1);
  result["deliveryCompleteCount"].is(-1);
}

// Not an error: the share partition has just not been used yet.
CASE(summary_of_what_is_not_initialized, "docs/SEMANTICS.md A.6",
     .api = "ReadShareGroupStateSummary", .first = 0, .last = 1) {
  const Value result = SharePartitionState(kit, known_topic(kit)).summary(kit.version());
  result["errorCode"].is_none();
  result["stateEpoch"].is(0);
  result["leaderEpoch"].is(0);
  result["startOffset"].is(-1);
  if (kit.version() >= 1) result["deliveryCompleteCount"].is(-1);
}

CASE(read_of_what_is_not_initialized, "docs/SEMANTICS.md A.6") {
  refused(SharePartitionState(kit, known_topic(kit)).read(), ErrorCode::INVALID_REQUEST);
}

CASE(write_of_what_is_not_initialized, "docs/SEMANTICS.md A.6", .api = "WriteShareGroupState",
     .first = 0, .last = 1) {
  SharePartitionState state(kit, known_topic(kit));
  refused(state.write({.version = kit.version()}), ErrorCode::INVALID_REQUEST);
}

CASE(delete_of_what_is_not_initialized, "docs/SEMANTICS.md A.6") {
  const Value result = SharePartitionState(kit, known_topic(kit)).remove();
  result["errorCode"].is_none();
  result["errorMessage"].is_null();
}

CASE(written_is_read, "docs/SEMANTICS.md A.6", .api = "WriteShareGroupState", .first = 0,
     .last = 1) {
  SharePartitionState state = initialized_state(kit);
  const StateBatches batches{{5, 9, kAcknowledged, 1}, {10, 14, kAvailable, 2}};
  const Value done = state.write({.start_offset = 5, .batches = batches, .version = kit.version()});
  done["errorCode"].is_none();
  done["errorMessage"].is_null();
  expect_equal(state.batches(), batches, "batches");
  expect_equal(state.start_offset(), 5, "the start offset");
}

CASE(groups_and_partitions_are_apart, "docs/SEMANTICS.md A.6") {
  const Topic topic = known_topic(kit, 2);
  SharePartitionState first(kit, topic);
  SharePartitionState other_group(kit, topic);
  SharePartitionState other_partition(kit, topic, first.group(), 1);
  for (SharePartitionState* state : {&first, &other_group, &other_partition})
    state->initialize(1, 0)["errorCode"].is_none();
  first.write({.batches = {{0, 4, kAcknowledged, 1}}})["errorCode"].is_none();
  expect_equal(other_group.batches(), StateBatches{}, "batches of the other group");
  expect_equal(other_partition.batches(), StateBatches{}, "batches of the other partition");
}

CASE(group_with_a_colon, "docs/SEMANTICS.md A.6") {
  SharePartitionState state(kit, known_topic(kit), kit.name("a:b"));
  state.initialize(1, 5)["errorCode"].is_none();
  expect_equal(state.start_offset(), 5, "the start offset");
}

// The start offset never moves back: a late write of an old one changes nothing.
CASE(start_offset_never_moves_back, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.start_offset = 5})["errorCode"].is_none();
  state.write({.start_offset = 2, .batches = {{2, 3, kAcknowledged, 1}}})["errorCode"].is_none();
  expect_equal(state.start_offset(), 5, "the start offset");
  expect_equal(state.batches(), StateBatches{}, "batches below the start");
}

CASE(start_offset_minus_1_is_unchanged, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit, 7);
  state.write({.start_offset = -1, .batches = {{8, 8, kAcknowledged, 1}}})["errorCode"].is_none();
  expect_equal(state.start_offset(), 7, "the start offset");
  expect_equal(state.batches(), StateBatches{{8, 8, kAcknowledged, 1}}, "batches");
}

CASE(batches_are_cut_at_the_start, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.batches = {{0, 9, kAvailable, 1}, {10, 14, kAcknowledged, 1}}})["errorCode"]
      .is_none();
  state.write({.start_offset = 7})["errorCode"].is_none();
  const StateBatches cut{{7, 9, kAvailable, 1}, {10, 14, kAcknowledged, 1}};
  expect_equal(state.batches(), cut, "batches");
  state.write({.start_offset = 12, .batches = {{5, 12, kArchived, 1}}})["errorCode"].is_none();
  const StateBatches both{{12, 12, kArchived, 1}, {13, 14, kAcknowledged, 1}};
  expect_equal(state.batches(), both, "batches, the written one cut too");
}

CASE(higher_delivery_count_wins, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.batches = {{0, 9, kAcknowledged, 1}}})["errorCode"].is_none();
  state.write({.batches = {{3, 5, kAvailable, 2}}})["errorCode"].is_none();
  const StateBatches merged{
      {0, 2, kAcknowledged, 1}, {3, 5, kAvailable, 2}, {6, 9, kAcknowledged, 1}};
  expect_equal(state.batches(), merged, "batches");
  state.write({.batches = {{3, 4, kArchived, 1}}})["errorCode"].is_none();
  expect_equal(state.batches(), merged, "batches after a lower count");
}

CASE(of_equal_counts_the_higher_state_wins, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.batches = {{0, 9, kAcknowledged, 1}}})["errorCode"].is_none();
  state.write({.batches = {{0, 0, kAvailable, 1}, {3, 4, kArchived, 1}}})["errorCode"].is_none();
  const StateBatches merged{
      {0, 2, kAcknowledged, 1}, {3, 4, kArchived, 1}, {5, 9, kAcknowledged, 1}};
  expect_equal(state.batches(), merged, "batches");
}

CASE(equal_neighbours_are_one, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.batches = {{0, 4, kAcknowledged, 1}}})["errorCode"].is_none();
  state.write({.batches = {{5, 9, kAcknowledged, 1}, {10, 12, kAcknowledged, 2}}})["errorCode"]
      .is_none();
  const StateBatches merged{{0, 9, kAcknowledged, 1}, {10, 12, kAcknowledged, 2}};
  expect_equal(state.batches(), merged, "batches");
}

CASE(overlap_within_one_write, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.batches = {{0, 9, kAvailable, 1}, {5, 7, kAcknowledged, 1}}})["errorCode"]
      .is_none();
  const StateBatches merged{{0, 4, kAvailable, 1}, {5, 7, kAcknowledged, 1}, {8, 9, kAvailable, 1}};
  expect_equal(state.batches(), merged, "batches");
}

CASE(archiving_is_stored, "KIP-1191") {
  SharePartitionState state = initialized_state(kit);
  state.write({.batches = {{0, 1, kArchiving, 1}}})["errorCode"].is_none();
  expect_equal(state.batches(), StateBatches{{0, 1, kArchiving, 1}}, "batches");
  state.write({.batches = {{0, 1, kArchived, 1}}})["errorCode"].is_none();
  expect_equal(state.batches(), StateBatches{{0, 1, kArchived, 1}}, "batches afterwards");
}

CASE(delivery_complete_count, "KIP-1226") {
  SharePartitionState state = initialized_state(kit);
  const auto count = [&] { return state.summary()["deliveryCompleteCount"].number(); };
  state.write({.start_offset = 10, .delivery_complete_count = 3})["errorCode"].is_none();
  expect_equal(count(), 3, "the count");
  state.write({.start_offset = 10, .delivery_complete_count = 9})["errorCode"].is_none();
  expect_equal(count(), 9, "a higher count with the same start");
  state.write({.start_offset = 10, .delivery_complete_count = 5})["errorCode"].is_none();
  expect_equal(count(), 9, "a lower count with the same start");
  state.write({.start_offset = 8, .delivery_complete_count = 44})["errorCode"].is_none();
  expect_equal(count(), 9, "a count that belongs to a lower start");
  state.write({.start_offset = 11, .delivery_complete_count = 1})["errorCode"].is_none();
  expect_equal(count(), 1, "a lower count with a higher start");
}

CASE(version_0_writes_no_complete_count, "KIP-1226") {
  SharePartitionState state = initialized_state(kit);
  state.write({.start_offset = 5, .delivery_complete_count = 2})["errorCode"].is_none();
  state.write({.start_offset = 6, .version = 0})["errorCode"].is_none();
  const Value summary = state.summary();
  summary["startOffset"].is(6);
  summary["deliveryCompleteCount"].is(-1);
}

CASE(old_state_epoch_is_fenced, "docs/SEMANTICS.md A.6") {
  SharePartitionState state(kit, known_topic(kit));
  state.initialize(5, 0)["errorCode"].is_none();
  refused(state.write({.state_epoch = 4, .batches = {{0, 4, kAcknowledged, 1}}}),
          ErrorCode::FENCED_STATE_EPOCH);
  refused(state.initialize(4, 9), ErrorCode::FENCED_STATE_EPOCH);
  const Value read = state.read();
  read["stateEpoch"].is(5);
  read["startOffset"].is(0);
  read["stateBatches"].has_size(0);
}

CASE(a_write_does_not_move_the_state_epoch, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.state_epoch = 3, .start_offset = 4})["errorCode"].is_none();
  const Value read = state.read();
  read["stateEpoch"].is(1);
  read["startOffset"].is(4);
  state.write({.state_epoch = 1, .start_offset = 5})["errorCode"].is_none();
}

CASE(a_read_fences_older_leaders, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.read(4)["errorCode"].is_none();
  state.summary(1)["leaderEpoch"].is(4);
  refused(state.read(3), ErrorCode::FENCED_LEADER_EPOCH);
  refused(state.write({.leader_epoch = 3, .batches = {{0, 0, kAcknowledged, 1}}}),
          ErrorCode::FENCED_LEADER_EPOCH);
  expect_equal(state.batches(4), StateBatches{}, "batches");
  state.write({.leader_epoch = 4})["errorCode"].is_none();
  state.read(5)["errorCode"].is_none();
  refused(state.write({.leader_epoch = 4}), ErrorCode::FENCED_LEADER_EPOCH);
}

CASE(a_summary_fences_nobody, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.read(4)["errorCode"].is_none();
  state.summary(1, 9)["leaderEpoch"].is(4);
  state.summary(1, 0)["errorCode"].is_none();
  state.summary(1, -1)["errorCode"].is_none();
  state.write({.leader_epoch = 4})["errorCode"].is_none();
}

CASE(initializing_again_wipes, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state
      .write({.start_offset = 5,
              .delivery_complete_count = 2,
              .batches = {{6, 7, kAcknowledged, 1}}})["errorCode"]
      .is_none();
  state.initialize(2, 3)["errorCode"].is_none();
  const Value read = state.read();
  read["stateEpoch"].is(2);
  read["startOffset"].is(3);
  read["stateBatches"].has_size(0);
  state.summary()["deliveryCompleteCount"].is(0);
}

CASE(initializing_again_with_the_same_epoch, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.write({.start_offset = 5})["errorCode"].is_none();
  state.initialize(1, 2)["errorCode"].is_none();
  expect_equal(state.start_offset(), 2, "the start offset");
}

CASE(initializing_again_keeps_the_leader_fence, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  state.read(9)["errorCode"].is_none();
  state.initialize(2, 0)["errorCode"].is_none();
  refused(state.read(8), ErrorCode::FENCED_LEADER_EPOCH);
  state.read(9)["errorCode"].is_none();
}

CASE(deleted_is_unknown, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit, 5);
  state.remove()["errorCode"].is_none();
  refused(state.read(), ErrorCode::INVALID_REQUEST);
  refused(state.write({}), ErrorCode::INVALID_REQUEST);
  state.summary()["startOffset"].is(-1);
  state.remove()["errorCode"].is_none();
}

CASE(initialized_after_the_delete, "docs/SEMANTICS.md A.6") {
  SharePartitionState state(kit, known_topic(kit));
  state.initialize(7, 5)["errorCode"].is_none();
  state.remove()["errorCode"].is_none();
  state.initialize(0, 3)["errorCode"].is_none();
  const Value read = state.read();
  read["stateEpoch"].is(0);
  read["startOffset"].is(3);
}

CASE(topic_deletion_deletes, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit, 5);
  delete_topic(kit, state.topic());
  kit.until("the state is gone",
            [&] { return state.read()["errorCode"].error() == ErrorCode::INVALID_REQUEST; });
}

CASE(unknown_topic, "docs/SEMANTICS.md A.6") {
  SharePartitionState state(kit, kUnknown);
  refused(state.initialize(1, 0), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  refused(state.summary(), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  refused(state.remove(), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  // It has no state, which is looked at first.
  refused(state.read(), ErrorCode::INVALID_REQUEST);
  refused(state.write({}), ErrorCode::INVALID_REQUEST);
}

CASE(unknown_partition, "docs/SEMANTICS.md A.6") {
  SharePartitionState state(kit, known_topic(kit), {}, 7);
  refused(state.initialize(1, 0), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  refused(state.summary(), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  refused(state.remove(), ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(negative_partition, "docs/SEMANTICS.md A.6") {
  SharePartitionState state(kit, known_topic(kit), {}, -1);
  refused(state.initialize(1, 0), ErrorCode::INVALID_REQUEST);
  refused(state.read(), ErrorCode::INVALID_REQUEST);
  refused(state.write({}), ErrorCode::INVALID_REQUEST);
  refused(state.summary(), ErrorCode::INVALID_REQUEST);
  refused(state.remove(), ErrorCode::INVALID_REQUEST);
}

CASE(negative_epochs, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  refused(state.initialize(-1, 0), ErrorCode::INVALID_REQUEST);
  refused(state.read(-1), ErrorCode::INVALID_REQUEST);
  refused(state.write({.state_epoch = -1}), ErrorCode::INVALID_REQUEST);
  refused(state.write({.leader_epoch = -1}), ErrorCode::INVALID_REQUEST);
  state.read()["errorCode"].is_none();
}

CASE(each_partition_has_its_result, "docs/SEMANTICS.md A.6") {
  const Topic topic = known_topic(kit, 2);
  SharePartitionState state(kit, topic);
  state.initialize(4, 0)["errorCode"].is_none();
  const Value results = kit.ask(
      "InitializeShareGroupState", 0,
      {{"groupId", state.group()},
       {"topics", list(Object{{"topicId", topic.id},
                              {"partitions", list_of(std::vector{1, 0, 9}, [](int one) {
                                 return Object{
                                     {"partition", one}, {"stateEpoch", 1}, {"startOffset", 0}};
                               })}})}})["results"];
  results.has_size(1);
  const Value partitions = results[0]["partitions"];
  partitions.has_size(3);
  partitions.with("partition", 0)["errorCode"].is(ErrorCode::FENCED_STATE_EPOCH);
  partitions.with("partition", 1)["errorCode"].is_none();
  partitions.with("partition", 9)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
}

CASE(nothing_asked, "docs/SEMANTICS.md A.6") {
  const Topic topic = known_topic(kit);
  const Object none{{"groupId", kit.name("g")}, {"topics", list()}};
  const Object no_group{
      {"groupId", ""},
      {"topics", list(Object{{"topicId", topic.id}, {"partitions", list(Object{})}})}};
  for (const char* api :
       {"InitializeShareGroupState", "ReadShareGroupState", "WriteShareGroupState",
        "DeleteShareGroupState", "ReadShareGroupStateSummary"}) {
    kit.ask(api, 0, none)["results"].has_size(0);
    kit.ask(api, 0, no_group)["results"].has_size(0);
  }
}

// More updates than share.coordinator.snapshot.update.records.per.snapshot allows in a row (500).
CASE(state_outlives_its_snapshot, "docs/SEMANTICS.md A.6") {
  SharePartitionState state = initialized_state(kit);
  for (int64_t i = 0; i < 520; ++i)
    state.write({.batches = {{2 * i, 2 * i, kAcknowledged, 1}}})["errorCode"].is_none();
  const StateBatches batches = state.batches();
  expect_equal(batches.size(), 520U, "batches");
  expect_equal(StateBatches{batches.back()}, StateBatches{{1038, 1038, kAcknowledged, 1}}, "last");
}

// ---------------------------------------------------------------- together with a share group

CASE(what_a_leader_stores, "docs/SEMANTICS.md A.6") {
  auto [topic, member] = acquired_records(kit);
  SharePartitionState state(kit, topic, member.group());
  expect_equal(state.batches(), StateBatches{}, "batches of what is only acquired");
  member.acknowledge(topic, 2, 3).is_none();
  member.acknowledge(topic, 5, 5, {kReject}).is_none();
  member.acknowledge(topic, 8, 9, {kRelease}).is_none();
  const StateBatches stored{{2, 3, kAcknowledged, 1}, {5, 5, kArchived, 1}, {8, 9, kAvailable, 1}};
  expect_equal(state.batches(), stored, "batches");
  const Value summary = state.summary();
  summary["startOffset"].is(0);
  summary["deliveryCompleteCount"].is(3);
}

// Written before the first fetch, when the leader has not read it yet.
CASE(what_a_leader_reads, "docs/SEMANTICS.md A.4") {
  const Topic topic = known_topic(kit);
  produce(kit, topic, numbered(10));
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  SharePartitionState state(kit, topic, member.group());
  const auto state_epoch = static_cast<int32_t>(state.summary()["stateEpoch"].number());
  state
      .write({.state_epoch = state_epoch,
              .start_offset = 2,
              .batches = {{2, 4, kAvailable, 2},
                          {5, 6, kAcknowledged, 1},
                          {7, 7, kArchived, 1}}})["errorCode"]
      .is_none();
  Ranges acquired;
  kit.until("all others are acquired", [&] {
    const Ranges more = member.fetch(topic).acquired;
    acquired.insert(acquired.end(), more.begin(), more.end());
    return offsets_of(acquired).size() >= 5;
  });
  expect_equal(acquired, Ranges{{2, 4, 3}, {8, 9, 1}}, "acquired");
}

// The leader's state is void once another has begun a new epoch of it.
CASE(newer_epoch_fences_the_leader, "docs/SEMANTICS.md A.11") {
  auto [topic, member] = acquired_records(kit);
  member.acknowledge(topic, 0, 4).is_none();
  SharePartitionState state(kit, topic, member.group());
  const int64_t epoch = state.summary()["stateEpoch"].number();
  state.initialize(static_cast<int32_t>(epoch + 1), 2)["errorCode"].is_none();
  member.acknowledge(topic, 5, 9)
      .is_one_of({ErrorCode::NOT_LEADER_OR_FOLLOWER, ErrorCode::INVALID_RECORD_STATE});
  Ranges acquired;
  kit.until("they are handed out anew", [&] {
    acquired = member.fetch(topic).acquired;
    return !acquired.empty();
  });
  expect_equal(acquired, Ranges{{2, 9, 1}}, "acquired");
}

// ---------------------------------------------------------------- FindCoordinator

CASE(coordinator_key, "docs/SEMANTICS.md A.6") {
  const std::string tail = ":" + known_topic(kit).id;
  const auto find = [&](const std::string& key) {
    return kit.ask(
        "FindCoordinator", 6,
        {{"keyType", 2}, {"coordinatorKeys", list(key)}})["coordinators"][0]["errorCode"];
  };
  for (const std::string& key : {"a" + tail + ":0", "a:b" + tail + ":0", "a" + tail + ":9"})
    kit.until("found: " + key, [&] { return find(key).error() == ErrorCode::NONE; });
  for (const std::string& key : {tail + ":0", " " + tail + ":0", "a" + tail + ":x",
                                 "a" + tail + ":", "a" + tail, std::string("a"), std::string()})
    find(key).is(ErrorCode::INVALID_REQUEST);
}

CASE(coordinator_key_in_old_versions, "docs/SEMANTICS.md A.6", .api = "FindCoordinator", .first = 1,
     .last = 5) {
  const std::string key = "a:" + known_topic(kit).id + ":0";
  Object request{{"keyType", 2}};
  if (kit.version() >= 4)
    request["coordinatorKeys"] = list(key);
  else
    request["key"] = key;
  const Value answer = kit.ask("FindCoordinator", kit.version(), request);
  const Value result = kit.version() >= 4 ? answer["coordinators"][0] : answer;
  result["errorCode"].is(ErrorCode::INVALID_REQUEST);
  result["nodeId"].is(-1);
}

}  // namespace ackord::conform
