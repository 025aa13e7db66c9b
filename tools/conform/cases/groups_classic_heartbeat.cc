// Heartbeat and LeaveGroup: how a member of a classic group stays, and how it goes.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"

namespace ackord::conform {

AREA("groups.classic.heartbeat", "Staying in a classic group and leaving it");

namespace {

Object leaving(const std::string& id, const std::optional<std::string>& instance = {}) {
  return {{"memberId", id},
          {"groupInstanceId", instance ? json::value(*instance) : json::value(nullptr)}};
}

}  // namespace

CASE(in_every_state, "docs/SEMANTICS.md D.1", .api = "Heartbeat", .first = 0, .last = 4) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  a.join();
  expect_equal(classic_state(kit, group), "CompletingRebalance", "state");
  a.heartbeat(kit.version()).is_none();
  a.sync({{a.id(), "x"}});
  a.heartbeat(kit.version()).is_none();
  b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  a.heartbeat(kit.version()).is(ErrorCode::REBALANCE_IN_PROGRESS);
  a.leave();
  a.heartbeat(kit.version()).is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(other_generation, "docs/SEMANTICS.md D.1", .api = "Heartbeat", .first = 0, .last = 4) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  for (const int generation : {0, 2, -1}) {
    ClassicMember other = member;
    other.set_generation(generation);
    other.heartbeat(kit.version()).is(ErrorCode::ILLEGAL_GENERATION);
  }
}

CASE(unknown_member, "docs/SEMANTICS.md D.1", .api = "Heartbeat", .first = 0, .last = 4) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  ClassicMember other = member;
  other.set_id("nobody");
  other.heartbeat(kit.version()).is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(unknown_group, "docs/SEMANTICS.md D.1", .api = "Heartbeat", .first = 0, .last = 4) {
  ClassicMember member(kit, new_group(kit));
  member.set_id("nobody");
  member.set_generation(1);
  member.heartbeat(kit.version()).is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(empty_group_id, "docs/SEMANTICS.md D.1", .api = "Heartbeat", .first = 0, .last = 4) {
  new_group(kit);
  ClassicMember member(kit, "");
  member.set_id("nobody");
  member.heartbeat(kit.version()).is(ErrorCode::INVALID_GROUP_ID);
}

CASE(pending_member, "KIP-394") {
  ClassicMember member(kit, new_group(kit));
  member.ask_for_id();
  member.set_generation(0);
  member.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(keeps_the_session, "docs/SEMANTICS.md D.1", .limit_s = 60) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.session_ms = 6000, .rebalance_ms = 60000});
  ClassicMember b(kit, group, {.session_ms = 6000, .rebalance_ms = 60000}), c(kit, group);
  form_group(kit, {&a, &b});
  const Stopwatch stopwatch;
  c.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  // One that is told to rejoin has kept its session, too; the other's runs out.
  kit.until(
      "the silent member is gone",
      [&] {
        a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
        return describe_classic(kit, group)["members"].size() == 2;
      },
      Millis{30000});
  expect_between(stopwatch.elapsed().count(), 4500L, 25000L, "milliseconds of the session");
  b.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
}

CASE(last_session_ends, "docs/SEMANTICS.md D.1", .limit_s = 60) {
  ClassicMember member(kit, new_group(kit), {.session_ms = 6000});
  form_group(kit, {&member});
  kit.until(
      "the group is Empty", [&] { return classic_state(kit, member.group()) == "Empty"; },
      Millis{30000});
  member.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  member.try_join()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(leave, "KIP-345, docs/SEMANTICS.md D.1", .api = "LeaveGroup", .first = 0, .last = 5) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a, &b});
  const Value answer = b.try_leave(kit.version());
  answer["errorCode"].is_none();
  if (kit.version() >= 3) {
    answer["members"].has_size(1);
    answer["members"][0]["memberId"].is(b.id().c_str());
    answer["members"][0]["groupInstanceId"].is_null();
    answer["members"][0]["errorCode"].is_none();
  }
  b.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
  a.try_join()["members"].has_size(1);
}

CASE(last_one_leaves, "docs/SEMANTICS.md D.1", .api = "LeaveGroup", .first = 0, .last = 5) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  member.try_leave(kit.version())["errorCode"].is_none();
  const Value described = describe_classic(kit, member.group());
  described["errorCode"].is_none();
  described["groupState"].is("Empty");
  described["members"].has_size(0);
}

CASE(leave_unknown_member, "KIP-345", .api = "LeaveGroup", .first = 0, .last = 5) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  ClassicMember other = member;
  other.set_id("nobody");
  const Value answer = other.try_leave(kit.version());
  if (kit.version() < 3) {
    answer["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  } else {
    answer["errorCode"].is_none();
    answer["members"][0]["memberId"].is("nobody");
    answer["members"][0]["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  }
  member.heartbeat().is_none();
}

CASE(leave_unknown_group, "KIP-345", .api = "LeaveGroup", .first = 0, .last = 5) {
  ClassicMember member(kit, new_group(kit));
  member.set_id("nobody");
  const Value answer = member.try_leave(kit.version());
  if (kit.version() < 3) {
    answer["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  } else {
    answer["errorCode"].is_none();
    answer["members"][0]["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  }
}

CASE(leave_empty_group_id, "KIP-345", .api = "LeaveGroup", .first = 0, .last = 5) {
  new_group(kit);
  ClassicMember member(kit, "");
  member.set_id("nobody");
  member.try_leave(kit.version())["errorCode"].is(ErrorCode::INVALID_GROUP_ID);
}

CASE(leave_several, "KIP-345", .api = "LeaveGroup", .first = 3, .last = 5) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), c(kit, group);
  form_group(kit, {&a, &b, &c});
  const Value answer = kit.ask(
      "LeaveGroup", kit.version(),
      {{"groupId", group}, {"members", list(leaving(a.id()), leaving("nobody"), leaving(c.id()))}});
  answer["errorCode"].is_none();
  answer["members"].has_size(3);
  // In the order of the request.
  answer["members"][0]["memberId"].is(a.id().c_str());
  answer["members"][0]["errorCode"].is_none();
  answer["members"][1]["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  answer["members"][2]["memberId"].is(c.id().c_str());
  answer["members"][2]["errorCode"].is_none();
  const Value described = describe_classic(kit, group);
  described["members"].has_size(1);
  described["members"][0]["memberId"].is(b.id().c_str());
}

CASE(leave_twice_in_one_request, "KIP-345") {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const Value answer = kit.ask(
      "LeaveGroup", 4,
      {{"groupId", member.group()}, {"members", list(leaving(member.id()), leaving(member.id()))}});
  answer["errorCode"].is_none();
  answer["members"][0]["errorCode"].is_none();
  answer["members"][1]["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(leave_nobody, "KIP-345") {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const Value answer = kit.ask("LeaveGroup", 4, {{"groupId", member.group()}, {"members", list()}});
  answer["errorCode"].is_none();
  answer["members"].has_size(0);
  member.heartbeat().is_none();
}

CASE(leave_with_a_reason, "KIP-800") {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const Value answer =
      kit.ask("LeaveGroup", 5,
              {{"groupId", member.group()},
               {"members", list(merged(leaving(member.id()), {{"reason", "enough"}}))}});
  answer["members"][0]["errorCode"].is_none();
  expect_equal(classic_state(kit, member.group()), "Empty", "state");
}

CASE(leave_completes_the_rebalance, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group), c(kit, group);
  form_group(kit, {&a, &b});
  const Sent of_c = c.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  const Sent of_a = a.send_join();
  expect(!a.connection().readable_within(Millis{200}), "the join waits for the other member");
  b.leave();
  a.receive_join(of_a)["members"].has_size(2);
  c.receive_join(of_c)["generationId"].is(a.generation());
}

CASE(leave_while_the_join_is_parked, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  form_group(kit, {&a});
  const Sent of_b = b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  // By another connection, as an admin does it.
  const Value answer =
      kit.ask("LeaveGroup", 4, {{"groupId", group}, {"members", list(leaving(b.id()))}});
  answer["members"][0]["errorCode"].is_none();
  b.receive_join(of_b)["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  a.try_join()["members"].has_size(1);
}

}  // namespace ackord::conform
