// ListGroups: what is listed of each kind of group, and the filters.
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/offsets.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("groups.list", "Listing groups");

namespace {

// A classic group with one member.
ClassicMember stable_classic(Kit& kit) {
  ClassicMember member(kit, new_group(kit));
  form_group(kit, {&member});
  return member;
}

bool is_listed(Kit& kit, const std::string& group, const ListOptions& options) {
  return listed(kit, group, options).has_value();
}

void expect_listed(Kit& kit, const std::string& group, const std::string& protocol,
                   const std::string& state, const std::string& type) {
  const auto found = listed(kit, group);
  expect(found.has_value(), "the group is listed");
  (*found)["protocolType"].is(protocol.c_str());
  (*found)["groupState"].is(state.c_str());
  (*found)["groupType"].is(type.c_str());
}

}  // namespace

CASE(simple_group, "docs/SEMANTICS.md D.1", .api = "ListGroups", .first = 0, .last = 5) {
  const std::string group = new_group(kit);
  commit(kit, group, create_topic(kit), 1);
  const auto found = listed(kit, group, {.version = kit.version()});
  expect(found.has_value(), "the group is listed");
  (*found)["protocolType"].is("");
  if (kit.version() >= 4) (*found)["groupState"].is("Empty");
  if (kit.version() >= 5) (*found)["groupType"].is("classic");
}

CASE(consumer_group, "KIP-848", .api = "ListGroups", .first = 0, .last = 5) {
  auto [topic, member] = consumer_joined(kit);
  wait_for_consumer_state(kit, member.group(), "Stable");
  const auto found = listed(kit, member.group(), {.version = kit.version()});
  expect(found.has_value(), "the group is listed");
  (*found)["protocolType"].is("consumer");
  if (kit.version() >= 4) (*found)["groupState"].is("Stable");
  if (kit.version() >= 5) (*found)["groupType"].is("consumer");
}

CASE(share_group, "KIP-932") {
  const Topic topic = create_topic(kit);
  ShareMember member(kit, new_group(kit));
  member.join({topic});
  expect_listed(kit, member.group(), "share", "Stable", "share");
}

CASE(classic_states, "KIP-518") {
  const std::string group = new_group(kit);
  ClassicMember a(kit, group), b(kit, group);
  a.join();
  expect_listed(kit, group, "consumer", "CompletingRebalance", "classic");
  a.sync({{a.id(), "x"}});
  expect_listed(kit, group, "consumer", "Stable", "classic");
  b.start_joining();
  wait_for_classic_state(kit, group, "PreparingRebalance");
  expect_listed(kit, group, "consumer", "PreparingRebalance", "classic");
}

CASE(empty_groups, "KIP-518") {
  ClassicMember classic = stable_classic(kit);
  classic.leave();
  expect_listed(kit, classic.group(), "consumer", "Empty", "classic");
  auto [topic, consumer] = consumer_joined(kit);
  consumer.leave();
  expect_listed(kit, consumer.group(), "consumer", "Empty", "consumer");
}

CASE(protocol_types, "docs/SEMANTICS.md D.1") {
  ClassicMember member(kit, new_group(kit), {.protocol_type = "connect"});
  form_group(kit, {&member});
  expect_listed(kit, member.group(), "connect", "Stable", "classic");
}

CASE(states_filter, "KIP-518", .api = "ListGroups", .first = 4, .last = 5) {
  const ClassicMember member = stable_classic(kit);
  const auto with = [&](const std::vector<std::string>& states) {
    return is_listed(kit, member.group(), {.states = states, .version = kit.version()});
  };
  expect(with({}), "listed without a filter");
  expect(with({"Stable"}), "listed as Stable");
  expect(with({"Empty", "Stable"}), "listed as Empty or Stable");
  expect(!with({"Empty"}), "not listed as Empty");
  // Names of states are taken in any case; those that are none match nothing.
  expect(with({"stable"}), "listed as stable");
  expect(!with({"Nonsense"}), "not listed as Nonsense");
  expect(with({"Nonsense", "STABLE"}), "listed as Nonsense or STABLE");
}

CASE(states_filter_and_consumer_groups, "KIP-848", .api = "ListGroups", .first = 4, .last = 5) {
  auto [topic, member] = consumer_joined(kit);
  wait_for_consumer_state(kit, member.group(), "Stable");
  const auto with = [&](const std::vector<std::string>& states) {
    return is_listed(kit, member.group(), {.states = states, .version = kit.version()});
  };
  expect(with({"Stable"}), "listed as Stable");
  expect(!with({"Assigning", "Reconciling", "Empty"}), "not listed as another state");
}

CASE(types_filter, "KIP-848") {
  const ClassicMember classic = stable_classic(kit);
  auto [topic, consumer] = consumer_joined(kit);
  const auto with = [&](const std::string& group, const std::vector<std::string>& types) {
    return is_listed(kit, group, {.types = types});
  };
  expect(with(classic.group(), {"classic"}), "the classic one is listed as classic");
  expect(with(classic.group(), {"Classic"}), "the classic one is listed as Classic");
  expect(!with(classic.group(), {"consumer"}), "the classic one is not listed as consumer");
  expect(with(consumer.group(), {"consumer"}), "the consumer one is listed as consumer");
  expect(!with(consumer.group(), {"classic", "share"}), "the consumer one is not listed as others");
  expect(with(consumer.group(), {"share", "consumer"}), "listed as one of two");
  expect(!with(consumer.group(), {"nonsense"}), "not listed as nonsense");
}

CASE(both_filters, "KIP-848") {
  const ClassicMember member = stable_classic(kit);
  const auto with = [&](const std::string& state, const std::string& type) {
    return is_listed(kit, member.group(), {.states = {state}, .types = {type}});
  };
  expect(with("Stable", "classic"), "listed when both match");
  expect(!with("Empty", "classic"), "not listed when only the type matches");
  expect(!with("Stable", "consumer"), "not listed when only the state matches");
}

CASE(pending_members_make_no_stable_group, "KIP-394") {
  ClassicMember member(kit, new_group(kit));
  member.ask_for_id();
  const auto found = listed(kit, member.group());
  if (found) (*found)["groupState"].is("Empty");
}

CASE(group_that_only_refused, "docs/SEMANTICS.md D.1") {
  // Requests that fail leave no group behind.
  const std::string group = new_group(kit);
  const Topic topic = create_topic(kit);
  ClassicMember classic(kit, group, {.session_ms = 1});
  classic.try_join()["errorCode"].is(ErrorCode::INVALID_SESSION_TIMEOUT);
  ConsumerMember consumer(kit, group);
  consumer.heartbeat({.epoch = 3})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  try_commit(kit, group, {.topic = topic}, {.member = "nobody", .epoch = 1})
      .is(ErrorCode::GROUP_ID_NOT_FOUND);
  committed(kit, group, topic)["committedOffset"].is(-1);
  expect(!listed(kit, group), "the group is not listed");
}

}  // namespace ackord::conform
