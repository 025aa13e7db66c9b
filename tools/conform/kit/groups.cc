#include "tools/conform/kit/groups.h"

namespace ackord::conform {
namespace {

std::string state_in(const Value& described) {
  described["errorCode"].is_none();
  return described["groupState"].text();
}

}  // namespace

std::string new_group(Kit& kit, std::string_view what) {
  std::string group = kit.name(what);
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  // The least that a coordinator serves: no offsets of a group that is not there.
  const Object request{{"groupId", group}, {"topics", list()}};
  ask_until_free(kit, [&] { return kit.ask("OffsetFetch", 7, request); })["errorCode"].is_none();
  return group;
}

Value describe_classic(Kit& kit, const std::string& group, int16_t version) {
  return kit.ask("DescribeGroups", version, {{"groups", list(group)}})["groups"][0];
}

Value describe_consumer(Kit& kit, const std::string& group, int16_t version) {
  return kit.ask("ConsumerGroupDescribe", version, {{"groupIds", list(group)}})["groups"][0];
}

std::string classic_state(Kit& kit, const std::string& group) {
  return state_in(describe_classic(kit, group));
}

std::string consumer_state(Kit& kit, const std::string& group) {
  return state_in(describe_consumer(kit, group));
}

void wait_for_classic_state(Kit& kit, const std::string& group, const std::string& state) {
  kit.until("the group is " + state, [&] { return classic_state(kit, group) == state; });
}

void wait_for_consumer_state(Kit& kit, const std::string& group, const std::string& state) {
  kit.until("the group is " + state, [&] { return consumer_state(kit, group) == state; });
}

std::optional<Value> listed(Kit& kit, const std::string& group, const ListOptions& options) {
  Object request;
  const auto text = [](const std::string& name) { return json::value(name); };
  if (options.version >= 4) request["statesFilter"] = list_of(options.states, text);
  if (options.version >= 5) request["typesFilter"] = list_of(options.types, text);
  const Value answer = kit.ask("ListGroups", options.version, request);
  answer["errorCode"].is_none();
  if (!answer["groups"].has_item("groupId", json::value(group))) return {};
  return answer["groups"].with("groupId", json::value(group));
}

Value delete_group(Kit& kit, const std::string& group, int16_t version) {
  return kit.ask("DeleteGroups", version, {{"groupsNames", list(group)}})["results"][0];
}

}  // namespace ackord::conform
