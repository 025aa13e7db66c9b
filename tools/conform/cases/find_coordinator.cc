// FindCoordinator: one key in the versions before 4, many from then on.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/coordinators.h"

namespace ackord::conform {

AREA("find_coordinator", "FindCoordinator");

namespace {

constexpr int kGroup = 0;
constexpr int kTransaction = 1;
constexpr int kShare = 2;

Object one_key(int16_t version, const std::string& key, int type) {
  Object body{{"key", key}};
  if (version >= 1) body["keyType"] = type;
  return body;
}
Object many_keys(const json::array& keys, int type) {
  return {{"keyType", type}, {"coordinatorKeys", keys}};
}

// The part that names the coordinator, in any version.
Value find(Kit& kit, const std::string& key, int type) {
  const int16_t version = kit.version();
  if (version < 4) return kit.ask("FindCoordinator", version, one_key(version, key, type));
  const Value coordinators =
      kit.ask("FindCoordinator", version, many_keys(list(key), type))["coordinators"];
  coordinators.has_size(1);
  coordinators[0]["key"].is(key);
  return coordinators[0];
}

void expect_this_broker(Kit& kit, const Value& coordinator) {
  coordinator["errorCode"].is_none();
  coordinator["nodeId"].is(node_id(kit));
  coordinator["host"].is_not_empty();
  coordinator["port"].is(kit.broker().endpoint().port);
}

void expect_refused(const Value& coordinator) {
  coordinator["errorCode"].is(ErrorCode::INVALID_REQUEST);
  coordinator["nodeId"].is(-1);
  coordinator["host"].is("");
  coordinator["port"].is(-1);
}

std::string share_key(Kit& kit, const std::string& id = kUnknownId) {
  return kit.name("group") + ":" + id + ":0";
}

}  // namespace

CASE(group, "Kafka protocol guide, FindCoordinator", .api = "FindCoordinator", .first = 0,
     .last = 6) {
  const std::string group = kit.name("group");
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  expect_this_broker(kit, find(kit, group, kGroup));
}

CASE(transaction, "KIP-98", .api = "FindCoordinator", .first = 1, .last = 6) {
  const std::string id = kit.name("txn");
  wait_for_coordinator(kit, CoordinatorKind::kTransaction, id);
  expect_this_broker(kit, find(kit, id, kTransaction));
}

CASE(share, "docs/SEMANTICS.md A.6", .api = "FindCoordinator", .first = 6, .last = 6) {
  const std::string key = share_key(kit);
  wait_for_coordinator(kit, CoordinatorKind::kShare, key);
  expect_this_broker(kit, find(kit, key, kShare));
}

CASE(share_before_v6, "docs/SEMANTICS.md A.6", .api = "FindCoordinator", .first = 1, .last = 5) {
  expect_refused(find(kit, share_key(kit), kShare));
}

// Group, topic id and partition; read from the right, since a group may have colons.
CASE(share_keys, "docs/SEMANTICS.md A.6") {
  kit.needs("FindCoordinator", 6);
  const auto ask = [&](const std::string& key) {
    return kit.ask("FindCoordinator", 6, many_keys(list(key), kShare))["coordinators"][0];
  };
  const std::string group = kit.name("group");
  const std::string id = kUnknownId;
  wait_for_coordinator(kit, CoordinatorKind::kShare, share_key(kit));
  expect_this_broker(kit, ask("a:b:" + group + ":" + id + ":3"));
  for (const std::string& key : {std::string(), group, ":" + id + ":0", " :" + id + ":0",
                                 group + ":x:0", group + ":" + id + ":x", group + ":" + id})
    expect_refused(ask(key));
}

CASE(unknown_type, "KIP-98", .api = "FindCoordinator", .first = 1, .last = 6) {
  for (const int type : {3, -1, 127}) expect_refused(find(kit, kit.name("group"), type));
}

CASE(empty_key, "Kafka protocol guide, FindCoordinator", .api = "FindCoordinator", .first = 0,
     .last = 6) {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, kit.name("group"));
  expect_this_broker(kit, find(kit, "", kGroup));
}

CASE(many, "KIP-699", .api = "FindCoordinator", .first = 4, .last = 6) {
  const std::string one = kit.name("group");
  const std::string other = kit.name("group");
  wait_for_coordinator(kit, CoordinatorKind::kGroup, one);
  const Value coordinators = kit.ask("FindCoordinator", kit.version(),
                                     many_keys(list(one, other, one), kGroup))["coordinators"];
  coordinators.has_size(3);
  expect_equal(coordinators[0]["key"].text(), one, "the first key");
  expect_equal(coordinators[1]["key"].text(), other, "the second key");
  expect_equal(coordinators[2]["key"].text(), one, "the third key");
  for (const Value& coordinator : coordinators.items()) expect_this_broker(kit, coordinator);
}

CASE(no_keys, "KIP-699", .api = "FindCoordinator", .first = 4, .last = 6) {
  kit.ask("FindCoordinator", kit.version(), many_keys(list(), kGroup))["coordinators"].has_size(0);
}

// Asking makes no group.
CASE(makes_no_group, "Kafka protocol guide, FindCoordinator") {
  const std::string group = kit.name("group");
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  expect(!kit.ask("ListGroups", 4, {})["groups"].has_item("groupId", group), "no such group");
}

}  // namespace ackord::conform
