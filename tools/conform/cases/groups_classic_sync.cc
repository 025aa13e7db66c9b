// SyncGroup: who gives out assignments, who waits for them, and who is late.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"

namespace ackord::conform {

AREA("groups.classic.sync", "Assignments of a classic group");

CASE(leader_gives_to_all, "docs/SEMANTICS.md D.1", .api = "SyncGroup", .first = 0, .last = 5) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  const Sent of_a = a.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.try_join()["errorCode"].is_none();
  a.receive_join(of_a)["errorCode"].is_none();
  const Sent of_b = b.send_sync({}, kit.version());
  expect(!b.connection().readable_within(Millis{200}), "the follower waits for the leader");
  const Value leader = a.try_sync({{a.id(), "for a"}, {b.id(), "for b"}}, kit.version());
  const Value follower = b.receive_sync(of_b);
  expect_equal(text_of(leader["assignment"]), "for a", "the leader's assignment");
  expect_equal(text_of(follower["assignment"]), "for b", "the follower's assignment");
  for (const Value& answer : {leader, follower}) {
    answer["errorCode"].is_none();
    if (kit.version() < 5) continue;
    answer["protocolType"].is("consumer");
    answer["protocolName"].is("range");
  }
  expect_equal(classic_state(kit, group), "Stable", "state");
}

CASE(again_when_stable, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  // An answer was lost: it comes again; nothing new is taken.
  expect_equal(b.sync(), "for 1", "the follower's assignment");
  expect_equal(a.sync({{a.id(), "other"}, {b.id(), "other"}}), "for 0", "the leader's assignment");
  expect_equal(b.sync(), "for 1", "the follower's assignment");
}

CASE(who_is_left_out_gets_nothing, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  const Sent of_a = a.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.try_join();
  a.receive_join(of_a);
  expect_equal(a.sync({{a.id(), "all"}, {"nobody", "ignored"}}), "all", "the leader's assignment");
  expect_equal(b.sync(), "", "the assignment of a member that the leader has left out");
}

CASE(followers_cannot_assign, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  const Sent of_a = a.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.try_join();
  a.receive_join(of_a);
  const Sent of_b = b.send_sync({{a.id(), "by b"}, {b.id(), "by b"}});
  expect(!b.connection().readable_within(Millis{200}), "the follower waits for the leader");
  expect_equal(a.sync({{a.id(), "by a"}, {b.id(), "by a"}}), "by a", "the leader's assignment");
  expect_equal(text_of(b.receive_sync(of_b)["assignment"]), "by a", "the follower's assignment");
}

CASE(large_assignment, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit));
  member.join();
  const std::string large(200'000, 'x');
  expect(member.sync({{member.id(), large}}) == large, "the assignment comes back whole");
  const Value described = describe_classic(kit, member.group());
  expect(text_of(described["members"][0]["memberAssignment"]) == large, "it is described whole");
}

CASE(other_generation, "docs/SEMANTICS.md D.1", .api = "SyncGroup", .first = 0, .last = 5) {
  ClassicMember member(kit, new_group(kit));
  member.join();
  for (const int generation : {0, 2, -1}) {
    ClassicMember other = member;
    other.set_generation(generation);
    const Value answer = other.try_sync({{member.id(), "x"}}, kit.version());
    answer["errorCode"].is(ErrorCode::ILLEGAL_GENERATION);
    answer["assignment"].is("");
  }
  expect_equal(member.sync({{member.id(), "x"}}), "x", "assignment");
}

CASE(unknown_member, "docs/SEMANTICS.md D.1", .api = "SyncGroup", .first = 0, .last = 5) {
  ClassicMember member(kit, new_group(kit));
  member.join();
  ClassicMember other = member;
  other.set_id("nobody");
  other.try_sync({}, kit.version())["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(unknown_group, "docs/SEMANTICS.md D.1", .api = "SyncGroup", .first = 0, .last = 5) {
  ClassicMember member(kit, new_group(kit));
  member.set_id("nobody");
  member.set_generation(1);
  member.set_protocol("range");
  member.try_sync({}, kit.version())["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(empty_group_id, "docs/SEMANTICS.md D.1", .api = "SyncGroup", .first = 0, .last = 5) {
  new_group(kit);
  ClassicMember member(kit, "");
  member.set_id("nobody");
  member.set_generation(1);
  member.set_protocol("range");
  member.try_sync({}, kit.version())["errorCode"].is(ErrorCode::INVALID_GROUP_ID);
}

CASE(before_the_group_is_gathered, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a});
  b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  a.try_sync({{a.id(), "x"}})["errorCode"].is(ErrorCode::REBALANCE_IN_PROGRESS);
}

CASE(pending_member, "KIP-394") {
  ClassicMember member(kit, new_group(kit));
  member.ask_for_id();
  member.set_generation(0);
  member.set_protocol("range");
  member.try_sync()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(protocol_differs, "KIP-559") {
  ClassicMember member(kit, new_group(kit));
  member.join();
  ClassicMember other = member;
  other.set_protocol("roundrobin");
  other.try_sync()["errorCode"].is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  other = member;
  other.how().protocol_type = "connect";
  other.try_sync()["errorCode"].is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  member.sync({{member.id(), "x"}});
}

CASE(protocol_is_left_out, "KIP-559") {
  ClassicMember member(kit, new_group(kit));
  member.join();
  // Version 5 wants both; without them nothing is given out.
  const Value answer = kit.ask("SyncGroup", 5,
                               {{"groupId", member.group()},
                                {"generationId", member.generation()},
                                {"memberId", member.id()}});
  answer["errorCode"].is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  expect_equal(classic_state(kit, member.group()), "CompletingRebalance", "state");
}

CASE(parked_sync_and_a_new_member, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), c(kit, group);
  form_group(kit, {&a, &b});
  const Sent of_a = a.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.try_join();
  a.receive_join(of_a);
  const Sent of_b = b.send_sync();
  expect(!b.connection().readable_within(Millis{100}), "the follower waits for the leader");
  c.start_joining();
  b.receive_sync(of_b)["errorCode"].is(ErrorCode::REBALANCE_IN_PROGRESS);
}

CASE(parked_sync_and_a_member_that_leaves, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  const Sent of_a = a.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.try_join();
  a.receive_join(of_a);
  const Sent of_b = b.send_sync();
  expect(!b.connection().readable_within(Millis{100}), "the follower waits for the leader");
  a.leave();
  b.receive_sync(of_b)["errorCode"].is(ErrorCode::REBALANCE_IN_PROGRESS);
}

CASE(leader_does_not_sync, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.rebalance_ms = 1500}), b(kit, group, {.rebalance_ms = 1500});
  a.join();
  const Sent of_b_join = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  const Stopwatch stopwatch;
  a.try_join()["errorCode"].is_none();
  b.receive_join(of_b_join)["errorCode"].is_none();
  // The leader is removed when the rebalance timeout has passed, and the others begin again.
  const Sent of_b = b.send_sync();
  b.receive_sync(of_b)["errorCode"].is(ErrorCode::REBALANCE_IN_PROGRESS);
  expect_between(stopwatch.elapsed().count(), 1400L, 14000L, "milliseconds until the sync");
  a.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  b.join()["leader"].is(b.id().c_str());
}

CASE(follower_does_not_sync, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.rebalance_ms = 1500}), b(kit, group, {.rebalance_ms = 1500});
  a.join();
  const Sent of_b_join = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  a.try_join()["errorCode"].is_none();
  b.receive_join(of_b_join)["errorCode"].is_none();
  expect_equal(a.sync({{a.id(), "x"}, {b.id(), "y"}}), "x", "assignment");
  // It heartbeats, but that is not enough.
  kit.until("the member that does not sync is removed",
            [&] { return b.heartbeat().error() == ErrorCode::UNKNOWN_MEMBER_ID; });
  a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
}

CASE(parked_sync_is_sent_again, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), b_again(kit, group);
  a.join();
  const Sent join_of_b = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  a.try_join()["errorCode"].is_none();
  b.receive_join(join_of_b)["errorCode"].is_none();
  const Sent once = b.send_sync();
  b_again.set_id(b.id());
  b_again.set_generation(b.generation());
  b_again.set_protocol(b.protocol());
  const Sent again = b_again.send_sync();
  expect(!b_again.connection().readable_within(Millis{100}), "the follower waits for the leader");
  a.sync({{b.id(), "for b"}});
  // Kafka answers only the one that reached it last.
  const auto assigned = [&] {
    if (b_again.connection().readable_within(Millis{0}))
      return text_of(b_again.receive_sync(again)["assignment"]);
    if (b.connection().readable_within(Millis{0}))
      return text_of(b.receive_sync(once)["assignment"]);
    return std::string();
  };
  kit.until("the assignment is there", [&] { return assigned() == "for b"; });
}

}  // namespace ackord::conform
