// Configs of the GROUP resource, as far as they act on consumer groups.
#include "tools/conform/case.h"
#include "tools/conform/kit/consumer_member.h"

namespace ackord::conform {

AREA("groups.configs", "Configs of consumer groups (KIP-848)");

namespace {

constexpr auto kGroup = ConfigResource::kGroup;

void expect_refused(Kit& kit, const std::string& name, const std::string& value) {
  const std::string group = new_group(kit);
  const Value answer = alter_configs(kit, kGroup, group, {{name, value}});
  answer["errorCode"].is(ErrorCode::INVALID_CONFIG);
  answer["errorMessage"].is_not_empty();
}

Value change(Kit& kit, const std::string& group, const std::string& name, const json::value& value,
             ConfigOperation operation) {
  return kit.ask(
      "IncrementalAlterConfigs", 1,
      {{"resources",
        list(Object{{"resourceType", static_cast<int>(kGroup)},
                    {"resourceName", group},
                    {"configs", list(Object{{"name", name},
                                            {"configOperation", static_cast<int>(operation)},
                                            {"value", value}})}})}})["responses"][0]["errorCode"];
}

// A config of a group as DescribeConfigs has it.
Value described(Kit& kit, const std::string& group, const std::string& name) {
  return kit
      .ask("DescribeConfigs", 4,
           {{"resources", list(Object{{"resourceType", static_cast<int>(kGroup)},
                                      {"resourceName", group},
                                      {"configurationKeys", list(name)}})},
            {"includeSynonyms", true}})["results"][0]["configs"]
      .with("name", json::value(name));
}

}  // namespace

CASE(heartbeat_interval, "KIP-848") {
  const Topic topic = create_topic(kit);
  ConsumerMember member(kit, new_group(kit));
  set_configs(kit, kGroup, member.group(), {{"consumer.heartbeat.interval.ms", "7000"}});
  member.join({topic})["heartbeatIntervalMs"].is(7000);
  // It acts on members that are there.
  set_configs(kit, kGroup, member.group(), {{"consumer.heartbeat.interval.ms", "9000"}});
  kit.until("the members are told",
            [&] { return member.beat()["heartbeatIntervalMs"].number() == 9000; });
}

CASE(deleted_config, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  const std::string name = "consumer.heartbeat.interval.ms";
  set_configs(kit, kGroup, member.group(), {{name, "7000"}});
  kit.until("the members are told",
            [&] { return member.beat()["heartbeatIntervalMs"].number() == 7000; });
  change(kit, member.group(), name, nullptr, ConfigOperation::kDelete).is_none();
  kit.until("the broker's own value is back",
            [&] { return member.beat()["heartbeatIntervalMs"].number() == 5000; });
}

CASE(defaults, "docs/SEMANTICS.md A.5") {
  const std::string group = new_group(kit);
  auto configs = configs_of(kit, kGroup, group);
  using Text = std::optional<std::string>;
  expect_equal(configs["consumer.heartbeat.interval.ms"], Text("5000"), "heartbeat interval");
  expect_equal(configs["consumer.session.timeout.ms"], Text("45000"), "session timeout");
  expect_equal(configs["consumer.assignment.interval.ms"], Text("1000"), "assignment interval");
}

CASE(source, "KIP-226, KIP-848") {
  const std::string group = new_group(kit);
  const std::string name = "consumer.session.timeout.ms";
  constexpr int kDynamicGroup = 8, kDefault = 5;
  described(kit, group, name)["configSource"].is(kDefault);
  set_configs(kit, kGroup, group, {{name, "50000"}});
  const Value set = described(kit, group, name);
  set["value"].is("50000");
  set["configSource"].is(kDynamicGroup);
  set["readOnly"].is(false);
  set["isSensitive"].is(false);
}

CASE(needs_no_group, "KIP-848") {
  // Configs of a group can be set before it is there, and make none.
  const std::string group = new_group(kit);
  set_configs(kit, kGroup, group, {{"consumer.session.timeout.ms", "50000"}});
  describe_consumer(kit, group)["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(session_timeout_bounds, "KIP-848") {
  expect_refused(kit, "consumer.session.timeout.ms", "44999");
  expect_refused(kit, "consumer.session.timeout.ms", "60001");
  set_configs(kit, kGroup, new_group(kit), {{"consumer.session.timeout.ms", "45000"}});
  set_configs(kit, kGroup, new_group(kit), {{"consumer.session.timeout.ms", "60000"}});
}

CASE(heartbeat_interval_bounds, "KIP-848") {
  expect_refused(kit, "consumer.heartbeat.interval.ms", "4999");
  expect_refused(kit, "consumer.heartbeat.interval.ms", "15001");
  set_configs(kit, kGroup, new_group(kit), {{"consumer.heartbeat.interval.ms", "15000"}});
}

CASE(assignment_interval_bounds, "docs/SEMANTICS.md D.2") {
  expect_refused(kit, "consumer.assignment.interval.ms", "-1");
  expect_refused(kit, "consumer.assignment.interval.ms", "15001");
  set_configs(kit, kGroup, new_group(kit), {{"consumer.assignment.interval.ms", "0"}});
}

CASE(no_number, "KIP-848") { expect_refused(kit, "consumer.session.timeout.ms", "long"); }

CASE(unknown_config, "KIP-848") { expect_refused(kit, "consumer.nonsense", "1"); }

CASE(config_of_a_topic, "KIP-848") { expect_refused(kit, "retention.ms", "1000"); }

CASE(validate_only, "KIP-339") {
  const std::string group = new_group(kit);
  const Value answer = kit.ask(
      "IncrementalAlterConfigs", 1,
      {{"resources", list(Object{{"resourceType", static_cast<int>(kGroup)},
                                 {"resourceName", group},
                                 {"configs", list(Object{{"name", "consumer.session.timeout.ms"},
                                                         {"value", "50000"}})}})},
       {"validateOnly", true}});
  answer["responses"][0]["errorCode"].is_none();
  described(kit, group, "consumer.session.timeout.ms")["value"].is("45000");
}

CASE(assignment_interval_acts, "docs/SEMANTICS.md D.2") {
  const Topic topic = create_topic(kit, 2);
  ConsumerMember a(kit, new_group(kit)), b(kit, a.group());
  set_configs(kit, kGroup, a.group(), {{"consumer.assignment.interval.ms", "4000"}});
  const Stopwatch stopwatch;
  a.join({topic});
  a.until_assigned(partitions_of(topic));
  b.join({topic});
  settle(kit, {&a, &b}, partitions_of(topic), Millis{20000});
  // The next assignment is not made sooner than the interval after the last.
  expect_between(stopwatch.elapsed().count(), 3900L, 25000L, "milliseconds until both have one");
}

CASE(listed_as_resource, "KIP-1142") {
  const std::string group = new_group(kit);
  set_configs(kit, kGroup, group, {{"consumer.session.timeout.ms", "50000"}});
  kit.until("the group is listed", [&] {
    const Value answer =
        kit.ask("ListConfigResources", 1, {{"resourceTypes", list(static_cast<int>(kGroup))}});
    answer["errorCode"].is_none();
    return answer["configResources"].has_item("resourceName", json::value(group));
  });
}

CASE(empty_name, "KIP-848") {
  const Value answer = alter_configs(kit, kGroup, "", {{"consumer.session.timeout.ms", "50000"}});
  answer["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

}  // namespace ackord::conform
