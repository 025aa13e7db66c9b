// Static members of classic groups: one that comes back under its instance id takes its old place.
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/offsets.h"

namespace ackord::conform {

AREA("groups.classic.static", "Static members of a classic group (KIP-345)");

namespace {

// A started again: the same instance, without a member id.
ClassicMember restarted(Kit& kit, ClassicMember& old, int16_t version = 7) {
  ClassicJoin how = old.how();
  how.version = version;
  return ClassicMember(kit, old.group(), how);
}

Value leave_as(Kit& kit, const std::string& group, const std::string& id,
               const std::string& instance) {
  return kit.ask("LeaveGroup", 4,
                 {{"groupId", group},
                  {"members", list(Object{{"memberId", id}, {"groupInstanceId", instance}})}});
}

}  // namespace

CASE(joins_at_once, "KIP-345", .api = "JoinGroup", .first = 5, .last = 9) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version(), .instance = "one"});
  const Value answer = member.try_join();
  answer["errorCode"].is_none();
  expect(member.id().starts_with("one-"), "the member id begins with the instance id");
  answer["members"][0]["groupInstanceId"].is("one");
}

CASE(unknown_id_of_a_new_instance, "KIP-345", .api = "JoinGroup", .first = 5, .last = 9) {
  ClassicMember member(kit, new_group(kit), {.version = kit.version(), .instance = "one"});
  member.set_id("nobody");
  member.try_join()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(instances_are_described, "KIP-345", .api = "DescribeGroups", .first = 4, .last = 6) {
  ClassicMember a(kit, new_group(kit), {.instance = "one"}), b(kit, a.group());
  form_group(kit, {&a, &b});
  const Value members = describe_classic(kit, a.group(), kit.version())["members"];
  members.with("memberId", json::value(a.id()))["groupInstanceId"].is("one");
  members.with("memberId", json::value(b.id()))["groupInstanceId"].is_null();
}

CASE(comes_back_without_a_rebalance, "KIP-345", .api = "JoinGroup", .first = 5, .last = 9) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.instance = "two"});
  form_group(kit, {&a, &b});
  ClassicMember again = restarted(kit, b, kit.version());
  const Value answer = again.try_join();
  answer["errorCode"].is_none();
  answer["generationId"].is(2);
  answer["leader"].is(a.id().c_str());
  answer["members"].has_size(0);
  expect(again.id() != b.id(), "the member id is a new one");
  expect_equal(again.sync(), "for 1", "the assignment that it had");
  a.heartbeat().is_none();
  again.heartbeat().is_none();
  describe_classic(kit, group)["members"].has_size(2);
}

CASE(leader_comes_back, "KIP-814", .api = "JoinGroup", .first = 5, .last = 9) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.instance = "one"}), b(kit, group, {.instance = "two"});
  form_group(kit, {&a, &b});
  ClassicMember again = restarted(kit, a, kit.version());
  const Value answer = again.try_join();
  answer["errorCode"].is_none();
  answer["generationId"].is(2);
  if (kit.version() >= 9) {
    // It leads, is told so, and that it need not assign.
    answer["skipAssignment"].is(true);
    answer["leader"].is(again.id().c_str());
    answer["members"].has_size(2);
  } else {
    // It must not believe that it leads: it would assign anew.
    answer["leader"].is(a.id().c_str());
    answer["members"].has_size(0);
  }
  expect_equal(again.sync(), "for 0", "the assignment that it had");
  b.heartbeat().is_none();
}

CASE(comes_back_with_other_metadata, "KIP-345") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.instance = "two"});
  form_group(kit, {&a, &b});
  ClassicMember again = restarted(kit, b);
  again.how().protocols = {{"range", "other topics"}};
  // Nothing happens as long as the group would choose the same protocol.
  const Value answer = again.try_join();
  answer["errorCode"].is_none();
  answer["generationId"].is(2);
  a.heartbeat().is_none();
}

CASE(comes_back_and_the_protocol_changes, "KIP-345") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.protocols = {{"p", "m"}, {"q", "m"}}});
  ClassicMember b(kit, group, {.instance = "two", .protocols = {{"p", "m"}, {"q", "m"}}});
  form_group(kit, {&a, &b});
  describe_classic(kit, group)["protocolData"].is("p");
  ClassicMember again = restarted(kit, b);
  again.how().protocols = {{"q", "m"}};
  const Sent of_b = again.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
  a.try_join()["protocolName"].is("q");
  again.receive_join(of_b)["generationId"].is(3);
}

CASE(the_old_one_is_fenced, "KIP-345") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.instance = "two"});
  form_group(kit, {&a, &b});
  ClassicMember again = restarted(kit, b);
  again.join();
  b.heartbeat().is(ErrorCode::FENCED_INSTANCE_ID);
  b.try_sync()["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  b.try_join()["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  b.try_leave()["members"][0]["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  const Topic topic = create_topic(kit);
  try_commit(kit, group, {.topic = topic},
             {.member = b.id(), .epoch = b.generation(), .instance = "two"})
      .is(ErrorCode::FENCED_INSTANCE_ID);
  // Without its instance it is only unknown.
  b.how().instance.reset();
  b.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  again.heartbeat().is_none();
}

CASE(heartbeat_fencing, "KIP-345", .api = "Heartbeat", .first = 3, .last = 4) {
  ClassicMember member(kit, new_group(kit), {.instance = "one"});
  form_group(kit, {&member});
  member.heartbeat(kit.version()).is_none();
  ClassicMember other = member;
  other.set_id("nobody");
  other.heartbeat(kit.version()).is(ErrorCode::FENCED_INSTANCE_ID);
  other = member;
  other.how().instance = "nobody";
  other.heartbeat(kit.version()).is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(sync_fencing, "KIP-345", .api = "SyncGroup", .first = 3, .last = 5) {
  ClassicMember member(kit, new_group(kit), {.instance = "one"});
  form_group(kit, {&member});
  ClassicMember other = member;
  other.set_id("nobody");
  other.try_sync({}, kit.version())["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  other = member;
  other.how().instance = "nobody";
  other.try_sync({}, kit.version())["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(parked_join_is_fenced_by_the_next, "KIP-345") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.instance = "two"});
  form_group(kit, {&a});
  const Sent of_b = b.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  ClassicMember again(kit, group, {.instance = "two"});
  const Sent of_again = again.send_join();
  b.receive_join(of_b)["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
  a.try_join()["members"].has_size(2);
  again.receive_join(of_again)["errorCode"].is_none();
}

CASE(parked_sync_is_fenced_by_the_next, "KIP-345") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.instance = "two"});
  a.join();
  const Sent join_of_b = b.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  a.try_join()["errorCode"].is_none();
  b.receive_join(join_of_b)["errorCode"].is_none();
  const Sent of_b = b.send_sync();
  ClassicMember again = restarted(kit, b);
  again.send_join();
  b.receive_sync(of_b)["errorCode"].is(ErrorCode::FENCED_INSTANCE_ID);
}

CASE(two_instances, "KIP-345") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.instance = "one"}), b(kit, group, {.instance = "two"});
  form_group(kit, {&a, &b});
  expect(a.id() != b.id(), "they are two members");
  describe_classic(kit, group)["members"].has_size(2);
}

CASE(leave_by_instance, "KIP-345", .api = "LeaveGroup", .first = 3, .last = 5) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.instance = "two"});
  form_group(kit, {&a, &b});
  // As an admin removes a member of which it knows only the instance.
  const Value answer =
      kit.ask("LeaveGroup", kit.version(),
              {{"groupId", group},
               {"members", list(Object{{"memberId", ""}, {"groupInstanceId", "two"}})}});
  answer["errorCode"].is_none();
  answer["members"][0]["groupInstanceId"].is("two");
  answer["members"][0]["errorCode"].is_none();
  a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
  b.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(leave_fencing, "KIP-345") {
  ClassicMember member(kit, new_group(kit), {.instance = "one"});
  form_group(kit, {&member});
  leave_as(kit, member.group(), "nobody", "one")["members"][0]["errorCode"].is(
      ErrorCode::FENCED_INSTANCE_ID);
  leave_as(kit, member.group(), member.id(), "nobody")["members"][0]["errorCode"].is(
      ErrorCode::UNKNOWN_MEMBER_ID);
  member.heartbeat().is_none();
  leave_as(kit, member.group(), member.id(), "one")["members"][0]["errorCode"].is_none();
  expect_equal(classic_state(kit, member.group()), "Empty", "state");
}

CASE(commit_fencing, "KIP-345", .api = "OffsetCommit", .first = 7, .last = 10) {
  const Topic topic = create_topic(kit);
  ClassicMember member(kit, new_group(kit), {.instance = "one"});
  form_group(kit, {&member});
  const auto as = [&](const std::string& id, const std::string& instance) {
    return try_commit(kit, member.group(), {.topic = topic, .offset = 5},
                      {.version = kit.version(),
                       .member = id,
                       .epoch = member.generation(),
                       .instance = instance});
  };
  as("nobody", "one").is(ErrorCode::FENCED_INSTANCE_ID);
  as(member.id(), "nobody").is(ErrorCode::UNKNOWN_MEMBER_ID);
  as(member.id(), "one").is_none();
  expect_equal(committed_offset(kit, member.group(), topic), 5, "committed offset");
}

CASE(session_of_a_static_member_ends, "KIP-345", .limit_s = 60) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group, {.instance = "two", .session_ms = 6000});
  form_group(kit, {&a, &b});
  b.connection().close();
  kit.until(
      "the others are told",
      [&] { return a.heartbeat().error() == ErrorCode::REBALANCE_IN_PROGRESS; }, Millis{30000});
  a.try_join()["members"].has_size(1);
}

CASE(rejoins_with_its_id, "KIP-345", .api = "JoinGroup", .first = 5, .last = 9) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.version = kit.version(), .instance = "one"});
  ClassicMember b(kit, group, {.version = kit.version(), .instance = "two"});
  form_group(kit, {&a, &b});
  // As any member: a follower is told where it is, a leader begins a rebalance.
  b.try_join()["generationId"].is(2);
  expect_equal(classic_state(kit, group), "Stable", "state");
  const Sent of_a = a.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.try_join()["generationId"].is(3);
  a.receive_join(of_a)["generationId"].is(3);
}

}  // namespace ackord::conform
