// JoinGroup: member ids, the rules of the protocols, and how a rebalance gathers its members.
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"

namespace ackord::conform {

AREA("groups.classic.join", "Joining a classic group");

namespace {

// An error's answer names no generation, no leader and no members.
void expect_refused(const Value& answer, ErrorCode error) {
  answer["errorCode"].is(error);
  answer["generationId"].is(-1);
  answer["leader"].is("");
  answer["members"].has_size(0);
}

std::vector<std::string> member_ids(const Value& join_answer) {
  std::vector<std::string> ids;
  for (const Value& member : join_answer["members"].items())
    ids.push_back(member["memberId"].text());
  std::ranges::sort(ids);
  return ids;
}

std::vector<std::string> ids_of(const std::vector<ClassicMember*>& members) {
  std::vector<std::string> ids;
  for (const ClassicMember* member : members) ids.push_back(member->id());
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

CASE(joins_without_an_id, "docs/SEMANTICS.md D.1", .api = "JoinGroup", .first = 0, .last = 3) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version()});
  const Value answer = member.try_join();
  answer["errorCode"].is_none();
  answer["generationId"].is(1);
  answer["leader"].is(member.id().c_str());
  expect(member.id().starts_with("ackord-conform-"), "the id begins with the client id");
  answer["members"].has_size(1);
}

CASE(id_is_required, "KIP-394", .api = "JoinGroup", .first = 4, .last = 9) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version()});
  const Value refused = member.try_join();
  expect_refused(refused, ErrorCode::MEMBER_ID_REQUIRED);
  expect(member.id().starts_with("ackord-conform-"), "the id begins with the client id");
  const std::string id = member.id();
  const Value answer = member.try_join();
  answer["errorCode"].is_none();
  answer["generationId"].is(1);
  answer["memberId"].is(id.c_str());
  answer["leader"].is(id.c_str());
  answer["members"].has_size(1);
  answer["members"][0]["memberId"].is(id.c_str());
  expect_equal(text_of(answer["members"][0]["metadata"]), "metadata", "metadata");
}

CASE(each_is_given_an_id_of_its_own, "KIP-394") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  a.ask_for_id();
  b.ask_for_id();
  expect(a.id() != b.id(), "the ids differ");
  // Neither has joined.
  expect_equal(classic_state(kit, group), "Empty", "state");
  describe_classic(kit, group)["members"].has_size(0);
}

CASE(null_client_id, "KIP-394") {
  const std::string group = new_group(kit);
  Connection& connection = kit.connect();
  const Value answer = connection.receive(
      connection.send("JoinGroup", 7, join_request(group, "", {}), {.client_id = std::nullopt}));
  answer["errorCode"].is(ErrorCode::MEMBER_ID_REQUIRED);
  answer["memberId"].is_not_empty();
}

CASE(unknown_member, "docs/SEMANTICS.md D.1", .api = "JoinGroup", .first = 0, .last = 9) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version()});
  member.set_id("nobody");
  const Value answer = member.try_join();
  expect_refused(answer, ErrorCode::UNKNOWN_MEMBER_ID);
  answer["memberId"].is("nobody");
  // And the group is not created by it.
  describe_classic(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(unknown_member_of_a_group_that_is, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  ClassicMember other(kit, member.group());
  other.set_id("nobody");
  expect_refused(other.try_join(), ErrorCode::UNKNOWN_MEMBER_ID);
  member.heartbeat().is_none();
}

CASE(empty_group_id, "docs/SEMANTICS.md D.1", .api = "JoinGroup", .first = 0, .last = 9) {
  new_group(kit);  // a coordinator is there
  ClassicMember member(kit, "", {.version = kit.version()});
  expect_refused(member.try_join(), ErrorCode::INVALID_GROUP_ID);
}

CASE(session_timeout_too_short, "docs/SEMANTICS.md D.1", .api = "JoinGroup", .first = 0,
     .last = 9) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version(), .session_ms = 1});
  expect_refused(member.try_join(), ErrorCode::INVALID_SESSION_TIMEOUT);
}

CASE(session_timeout_too_long, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit), {.session_ms = INT32_MAX});
  expect_refused(member.try_join(), ErrorCode::INVALID_SESSION_TIMEOUT);
}

CASE(no_protocols, "docs/SEMANTICS.md D.1", .api = "JoinGroup", .first = 0, .last = 9) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version(), .protocols = {}});
  expect_refused(member.try_join(), ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
}

CASE(no_protocol_type, "docs/SEMANTICS.md D.1", .api = "JoinGroup", .first = 0, .last = 9) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version(), .protocol_type = ""});
  expect_refused(member.try_join(), ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
}

CASE(other_protocol_type, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  ClassicMember other(kit, member.group(), {.protocol_type = "connect"});
  expect_refused(other.try_join(), ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  // The others are not disturbed.
  member.heartbeat().is_none();
}

CASE(no_protocol_in_common, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  ClassicMember other(kit, member.group(), {.protocols = {{"roundrobin", "m"}, {"sticky", "m"}}});
  expect_refused(other.try_join(), ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  member.heartbeat().is_none();
}

CASE(empty_group_takes_any_protocol, "docs/SEMANTICS.md D.1") {
  ClassicMember first(kit, new_group(kit));
  form_group(kit, {&first});
  first.leave();
  ClassicMember second(kit, first.group(),
                       {.protocol_type = "connect", .protocols = {{"default", "m"}}});
  const Value answer = second.join();
  answer["protocolType"].is("connect");
  answer["protocolName"].is("default");
}

CASE(generations_go_on_after_empty, "docs/SEMANTICS.md D.1") {
  ClassicMember first(kit, new_group(kit));
  form_group(kit, {&first});
  expect_equal(first.generation(), 1, "first generation");
  first.leave();
  ClassicMember second(kit, first.group());
  second.join();
  // The empty group was generation 2.
  expect_equal(second.generation(), 3, "generation after the group was empty");
}

CASE(protocol_by_votes, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  // All know q and r; two of three prefer r. Nobody's p counts, which not all know.
  ClassicMember a(kit, group, {.protocols = {{"p", "ap"}, {"q", "aq"}, {"r", "ar"}}});
  ClassicMember b(kit, group, {.protocols = {{"r", "br"}, {"q", "bq"}}});
  ClassicMember c(kit, group, {.protocols = {{"r", "cr"}, {"q", "cq"}}});
  form_group(kit, {&a, &b, &c});
  const Value described = describe_classic(kit, group);
  described["protocolData"].is("r");
  // The metadata is the one of this protocol.
  for (const auto& [member, metadata] : {std::pair{&a, "ar"}, {&b, "br"}, {&c, "cr"}}) {
    const Value one = described["members"].with("memberId", json::value(member->id()));
    expect_equal(text_of(one["memberMetadata"]), metadata, "metadata");
  }
}

CASE(second_member, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.protocols = {{"range", "of b"}}});
  form_group(kit, {&a});
  const Sent parked = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  expect(!b.connection().readable_within(Millis{200}), "the join waits for the other member");
  a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
  const Value leader = a.try_join();
  const Value follower = b.receive_join(parked);
  for (const Value& answer : {leader, follower}) {
    answer["errorCode"].is_none();
    answer["generationId"].is(2);
    answer["leader"].is(a.id().c_str());
    answer["protocolName"].is("range");
  }
  // Only the leader is told the members, with the metadata of each.
  expect_equal(member_ids(leader), ids_of({&a, &b}), "members");
  const Value of_b = leader["members"].with("memberId", json::value(b.id()));
  expect_equal(text_of(of_b["metadata"]), "of b", "metadata");
  follower["members"].has_size(0);
  expect_equal(classic_state(kit, group), "CompletingRebalance", "state");
}

CASE(parked_join_is_joined_by_more, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), c(kit, group);
  form_group(kit, {&a});
  const Sent of_b = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  c.ask_for_id();  // now the rebalance waits for c, too
  const Sent of_a = a.send_join();
  expect(!a.connection().readable_within(Millis{200}), "the join waits for the pending member");
  const Sent of_c = c.send_join();
  expect_equal(member_ids(a.receive_join(of_a)), ids_of({&a, &b, &c}), "members");
  b.receive_join(of_b)["generationId"].is(2);
  c.receive_join(of_c)["generationId"].is(2);
}

CASE(pending_member_that_leaves, "KIP-394") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), c(kit, group);
  form_group(kit, {&a});
  const Sent of_b = b.start_joining();
  c.ask_for_id();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  const Sent of_a = a.send_join();
  expect(!a.connection().readable_within(Millis{200}), "the join waits for the pending member");
  c.leave();
  expect_equal(member_ids(a.receive_join(of_a)), ids_of({&a, &b}), "members");
  b.receive_join(of_b)["errorCode"].is_none();
  c.try_join()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(pending_member_that_does_not_come, "KIP-394", .limit_s = 60) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), c(kit, group, {.session_ms = 6000});
  form_group(kit, {&a});
  const Sent of_b = b.start_joining();
  const Stopwatch stopwatch;
  c.ask_for_id();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  const Sent of_a = a.send_join();
  // It holds the others up for as long as its session lasts.
  a.receive_join(of_a, Millis{30000})["errorCode"].is_none();
  expect_between(stopwatch.elapsed().count(), 5500L, 20000L, "milliseconds until the join");
  b.receive_join(of_b)["errorCode"].is_none();
  c.try_join()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(who_does_not_rejoin_is_removed, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.rebalance_ms = 1000}), b(kit, group, {.rebalance_ms = 1000});
  form_group(kit, {&a});
  const Stopwatch stopwatch;
  const Value answer = b.join();
  expect_between(stopwatch.elapsed().count(), 900L, 12000L, "milliseconds until the join");
  answer["leader"].is(b.id().c_str());
  expect_equal(member_ids(answer), ids_of({&b}), "members");
  a.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(longest_rebalance_timeout_counts, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.rebalance_ms = 2500}), b(kit, group, {.rebalance_ms = 500});
  form_group(kit, {&a});
  const Stopwatch stopwatch;
  b.join();
  expect_between(stopwatch.elapsed().count(), 2300L, 14000L, "milliseconds until the join");
}

CASE(leader_that_rejoins_rebalances, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  const Sent of_a = a.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
  b.try_join()["generationId"].is(3);
  a.receive_join(of_a)["generationId"].is(3);
}

CASE(follower_that_rejoins_unchanged, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  // Its answer was lost: it gets it again, and nothing happens.
  const Value answer = b.try_join();
  answer["errorCode"].is_none();
  answer["generationId"].is(2);
  answer["leader"].is(a.id().c_str());
  answer["members"].has_size(0);
  expect_equal(classic_state(kit, group), "Stable", "state");
  a.heartbeat().is_none();
}

CASE(follower_that_rejoins_with_other_metadata, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  b.how().protocols = {{"range", "other topics"}};
  const Sent of_b = b.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  const Value leader = a.try_join();
  leader["generationId"].is(3);
  const Value of_b_in_it = leader["members"].with("memberId", json::value(b.id()));
  expect_equal(text_of(of_b_in_it["metadata"]), "other topics", "metadata");
  b.receive_join(of_b)["generationId"].is(3);
}

CASE(leader_that_rejoins_before_the_sync, "docs/SEMANTICS.md D.1") {
  ClassicMember a(kit, new_group(kit));
  a.join();
  expect_equal(classic_state(kit, a.group()), "CompletingRebalance", "state");
  const Value again = a.try_join();
  again["generationId"].is(1);
  expect_equal(member_ids(again), ids_of({&a}), "members");
}

CASE(a_new_member_before_the_sync, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  a.join();
  const Sent of_b = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  a.try_sync({{a.id(), "x"}})["errorCode"].is(ErrorCode::REBALANCE_IN_PROGRESS);
  a.try_join()["generationId"].is(2);
  b.receive_join(of_b)["generationId"].is(2);
}

CASE(closed_connection_removes_nobody, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a});
  b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.connection().close();
  const Value answer = a.try_join();
  answer["generationId"].is(2);
  expect_equal(member_ids(answer), ids_of({&a, &b}), "members");
}

CASE(the_next_leader, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  a.leave();
  b.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
  const Value answer = b.try_join();
  answer["generationId"].is(3);
  answer["leader"].is(b.id().c_str());
  expect_equal(member_ids(answer), ids_of({&b}), "members");
}

CASE(parked_join_outlives_its_session, "docs/SEMANTICS.md D.1", .limit_s = 60) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.session_ms = 6000});
  form_group(kit, {&a});
  const Sent of_b = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  kit.pass(Millis{7500});
  expect_equal(member_ids(a.try_join()), ids_of({&a, &b}), "members");
  b.receive_join(of_b)["errorCode"].is_none();
}

CASE(bounds_of_the_session_timeout, "docs/SEMANTICS.md D.1") {
  for (const int session_ms : {6000, 1800000}) {
    ClassicMember member(kit, new_group(kit), {.session_ms = session_ms});
    member.join();
    member.leave();
  }
}

CASE(many_members, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  std::vector<ClassicMember> members;
  for (int i = 0; i < 8; ++i) members.emplace_back(kit, group);
  std::vector<ClassicMember*> pointers;
  for (ClassicMember& member : members) pointers.push_back(&member);
  form_group(kit, pointers);
  for (size_t i = 0; i < members.size(); ++i) {
    expect_equal(members[i].generation(), 8, "generation");
    expect_equal(members[i].sync(), fmt::format("for {}", i), "assignment");
  }
}

CASE(parked_join_is_sent_again, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), b_again(kit, group);
  form_group(kit, {&a});
  b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  // The client has given up on its connection, and joins as the same member by another.
  b_again.set_id(b.id());
  const Sent again = b_again.send_join();
  expect(!b_again.connection().readable_within(Millis{100}), "it waits for the other member");
  expect_equal(member_ids(a.try_join()), ids_of({&a, &b}), "members");
  b_again.receive_join(again)["generationId"].is(2);
}

}  // namespace ackord::conform
