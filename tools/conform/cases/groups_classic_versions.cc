// DescribeGroups and ListGroups of classic groups, field by field and version by version, and one
// whole life of a group in the oldest and newest versions of all its requests.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"

namespace ackord::conform {

AREA("groups.classic.versions", "Classic groups in every version");

namespace {

constexpr int64_t kNotAsked = INT32_MIN;

}  // namespace

CASE(describe_stable, "docs/SEMANTICS.md D.1", .api = "DescribeGroups", .first = 0, .last = 6) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const Value group = describe_classic(kit, member.group(), kit.version());
  group["errorCode"].is_none();
  group["groupId"].is(member.group().c_str());
  group["groupState"].is("Stable");
  group["protocolType"].is("consumer");
  group["protocolData"].is("range");
  group["members"].has_size(1);
  const Value one = group["members"][0];
  one["memberId"].is(member.id().c_str());
  one["clientId"].is("ackord-conform");
  expect(one["clientHost"].text().starts_with("/"), "the host is an address behind a slash");
  expect_equal(text_of(one["memberMetadata"]), "metadata", "metadata");
  expect_equal(text_of(one["memberAssignment"]), "for 0", "assignment");
  if (kit.version() >= 3) group["authorizedOperations"].is(kNotAsked);
  if (kit.version() >= 6) group["errorMessage"].is_null();
}

CASE(describe_unknown, "KIP-1043", .api = "DescribeGroups", .first = 0, .last = 6) {
  const std::string name = new_group(kit);
  const Value group = describe_classic(kit, name, kit.version());
  group["groupId"].is(name.c_str());
  group["groupState"].is("Dead");
  group["protocolType"].is("");
  group["protocolData"].is("");
  group["members"].has_size(0);
  if (kit.version() < 6) {
    group["errorCode"].is_none();
  } else {
    group["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
    group["errorMessage"].is_not_empty();
  }
}

CASE(describe_empty, "docs/SEMANTICS.md D.1", .api = "DescribeGroups", .first = 0, .last = 6) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  member.leave();
  const Value group = describe_classic(kit, member.group(), kit.version());
  group["errorCode"].is_none();
  group["groupState"].is("Empty");
  group["protocolType"].is("consumer");
  group["protocolData"].is("");
  group["members"].has_size(0);
}

CASE(describe_while_gathering, "docs/SEMANTICS.md D.1", .api = "DescribeGroups", .first = 0,
     .last = 6) {
  const std::string name = new_group(kit);
  ClassicMember a(kit, name), b(kit, name);
  form_group(kit, {&a});
  b.start_joining();
  wait_for_classic_state(kit, name, "PreparingRebalance");
  const Value group = describe_classic(kit, name, kit.version());
  group["errorCode"].is_none();
  group["protocolData"].is("");
  group["members"].has_size(2);
  // Metadata is of a protocol, and none is chosen.
  for (const Value& member : group["members"].items()) member["memberMetadata"].is("");
}

CASE(describe_before_the_sync, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit));
  member.join();
  const Value group = describe_classic(kit, member.group());
  group["groupState"].is("CompletingRebalance");
  group["members"].has_size(1);
  group["members"][0]["memberAssignment"].is("");
}

CASE(describe_many, "docs/SEMANTICS.md D.1", .api = "DescribeGroups", .first = 0, .last = 6) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const std::string unknown = new_group(kit);
  const Value groups = kit.ask("DescribeGroups", kit.version(),
                               {{"groups", list(unknown, member.group())}})["groups"];
  groups.has_size(2);
  groups.with("groupId", json::value(member.group()))["groupState"].is("Stable");
  groups.with("groupId", json::value(unknown))["groupState"].is("Dead");
}

CASE(describe_none, "docs/SEMANTICS.md D.1", .api = "DescribeGroups", .first = 0, .last = 6) {
  kit.ask("DescribeGroups", kit.version(), {{"groups", list()}})["groups"].has_size(0);
}

CASE(describe_empty_group_id, "docs/SEMANTICS.md D.1", .api = "DescribeGroups", .first = 0,
     .last = 6) {
  // Offsets can be committed for the group without a name, and so it may be there.
  const Value group = describe_classic(kit, "", kit.version());
  group["groupId"].is("");
  group["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::GROUP_ID_NOT_FOUND});
  group["members"].has_size(0);
}

CASE(describe_authorized_operations, "KIP-430", .api = "DescribeGroups", .first = 3, .last = 6) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const Value group = kit.ask(
      "DescribeGroups", kit.version(),
      {{"groups", list(member.group())}, {"includeAuthorizedOperations", true}})["groups"][0];
  const int64_t operations = group["authorizedOperations"].number();
  // READ (3), DELETE (6) and DESCRIBE (8), as bits.
  constexpr int64_t kExpected = 1 << 3 | 1 << 6 | 1 << 8;
  expect_equal(operations & kExpected, kExpected, "read, delete and describe");
}

CASE(list_stable, "docs/SEMANTICS.md D.1", .api = "ListGroups", .first = 0, .last = 5) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  const auto group = listed(kit, member.group(), {.version = kit.version()});
  expect(group.has_value(), "the group is listed");
  (*group)["protocolType"].is("consumer");
  if (kit.version() >= 4) (*group)["groupState"].is("Stable");
  if (kit.version() >= 5) (*group)["groupType"].is("classic");
}

CASE(list_unknown, "docs/SEMANTICS.md D.1", .api = "ListGroups", .first = 0, .last = 5) {
  expect(!listed(kit, new_group(kit), {.version = kit.version()}), "the group is not listed");
}

CASE(whole_life_in_old_versions, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit), {.version = 0});
  member.join();
  expect_equal(member.sync({{member.id(), "x"}}, 0), "x", "assignment");
  member.heartbeat(0).is_none();
  describe_classic(kit, member.group(), 0)["groupState"].is("Stable");
  member.try_leave(0)["errorCode"].is_none();
  delete_group(kit, member.group(), 0)["errorCode"].is_none();
  describe_classic(kit, member.group(), 0)["groupState"].is("Dead");
}

CASE(whole_life_in_new_versions, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit), {.version = kit.newest("JoinGroup")});
  member.join();
  expect_equal(member.sync({{member.id(), "x"}}, kit.newest("SyncGroup")), "x", "assignment");
  member.heartbeat(kit.newest("Heartbeat")).is_none();
  describe_classic(kit, member.group(), kit.newest("DescribeGroups"))["groupState"].is("Stable");
  member.try_leave(kit.newest("LeaveGroup"))["errorCode"].is_none();
  delete_group(kit, member.group(), kit.newest("DeleteGroups"))["errorCode"].is_none();
  describe_classic(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(versions_meet_in_one_group, "docs/SEMANTICS.md D.1") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.version = 0}), b(kit, group, {.version = 9});
  form_group(kit, {&a, &b});
  expect_equal(a.generation(), b.generation(), "generation");
  expect_equal(a.sync({}, 0), "for 0", "assignment");
  expect_equal(b.sync({}, 5), "for 1", "assignment");
}

CASE(join_0_has_the_session_as_rebalance_timeout, "docs/SEMANTICS.md D.1", .limit_s = 60) {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group, {.version = 0, .session_ms = 6000});
  ClassicMember b(kit, group, {.version = 0, .session_ms = 6000});
  form_group(kit, {&a});
  const Stopwatch stopwatch;
  const Sent of_b = b.send_join();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  b.receive_join(of_b, Millis{30000})["members"].has_size(1);
  expect_between(stopwatch.elapsed().count(), 5500L, 25000L, "milliseconds until the join");
}

}  // namespace ackord::conform
