// Group configs of share groups: names, defaults, what is refused, and that a change is heard of at
// once (KIP-932, KIP-1240).
#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.configs", "Group configs of share groups (KIP-932, KIP-1240)");

namespace {

ErrorCode error_of(Kit& kit, const std::string& name, const std::string& value) {
  return alter_configs(kit, ConfigResource::kGroup, kit.name("g"), {{name, value}})["errorCode"]
      .error();
}

void expect_allowed(Kit& kit, const std::string& name, const std::vector<std::string>& values) {
  for (const std::string& value : values)
    expect_equal(error_of(kit, name, value), ErrorCode::NONE, name + "=" + value);
}

void expect_refused(Kit& kit, const std::string& name, const std::vector<std::string>& values) {
  for (const std::string& value : values)
    expect_equal(error_of(kit, name, value), ErrorCode::INVALID_CONFIG, name + "=" + value);
}

}  // namespace

CASE(defaults, "KIP-932, KIP-1240") {
  auto configs = configs_of(kit, ConfigResource::kGroup, kit.name("g"));
  const Configs defaults{
      {"share.auto.offset.reset", "latest"},        {"share.isolation.level", "read_uncommitted"},
      {"share.record.lock.duration.ms", "30000"},   {"share.delivery.count.limit", "5"},
      {"share.partition.max.record.locks", "2000"}, {"share.session.timeout.ms", "45000"},
      {"share.heartbeat.interval.ms", "5000"},      {"share.renew.acknowledge.enable", "true"},
      {"share.assignment.interval.ms", "1000"}};
  for (const auto& [name, value] : defaults)
    expect_equal(configs[name], std::optional<std::string>(value), name);
}

CASE(auto_offset_reset, "KIP-932, share.auto.offset.reset") {
  const std::string name = "share.auto.offset.reset";
  expect_allowed(
      kit, name,
      {"latest", "earliest", "by_duration:PT1H", "by_duration:P1DT2H3M4.5S", "by_duration:PT0S"});
  expect_refused(kit, name,
                 {"none", "", "LATEST", "by_duration", "by_duration:", "by_duration:1h",
                  "by_duration:-PT1H", "by_duration:P1M"});
}

CASE(isolation_level, "KIP-932, share.isolation.level") {
  expect_allowed(kit, "share.isolation.level", {"read_committed", "read_uncommitted"});
  expect_refused(kit, "share.isolation.level", {"", "READ_COMMITTED", "serializable"});
}

CASE(record_lock_duration, "KIP-932, share.record.lock.duration.ms") {
  expect_allowed(kit, "share.record.lock.duration.ms", {"15000", "30000", "60000"});
  expect_refused(kit, "share.record.lock.duration.ms",
                 {"14999", "60001", "999", "0", "-1", "x", "", "15000.5"});
}

CASE(delivery_count_limit, "KIP-932, share.delivery.count.limit") {
  expect_allowed(kit, "share.delivery.count.limit", {"2", "5", "10"});
  expect_refused(kit, "share.delivery.count.limit", {"1", "0", "11", "-1", "x"});
}

CASE(partition_max_record_locks, "KIP-1240, share.partition.max.record.locks") {
  expect_allowed(kit, "share.partition.max.record.locks", {"100", "2000", "4000"});
  expect_refused(kit, "share.partition.max.record.locks", {"99", "4001", "0", "x"});
}

CASE(session_timeout, "KIP-932, share.session.timeout.ms") {
  expect_allowed(kit, "share.session.timeout.ms", {"45000", "60000"});
  expect_refused(kit, "share.session.timeout.ms", {"44999", "60001", "0", "x"});
}

CASE(heartbeat_interval, "KIP-932, share.heartbeat.interval.ms") {
  expect_allowed(kit, "share.heartbeat.interval.ms", {"5000", "15000"});
  expect_refused(kit, "share.heartbeat.interval.ms", {"4999", "15001", "0", "x"});
}

CASE(assignment_interval, "KIP-1240, share.assignment.interval.ms") {
  expect_allowed(kit, "share.assignment.interval.ms", {"0", "1000", "15000"});
  expect_refused(kit, "share.assignment.interval.ms", {"-1", "15001", "x"});
}

CASE(renew_acknowledge_enable, "KIP-1222, share.renew.acknowledge.enable") {
  expect_allowed(kit, "share.renew.acknowledge.enable", {"true", "false"});
  expect_refused(kit, "share.renew.acknowledge.enable", {"1", "yes", ""});
}

CASE(unknown_name, "KIP-932") {
  expect_refused(kit, "share.no.such.config", {"1"});
  // What only brokers and topics have.
  expect_refused(kit, "group.share.record.lock.duration.ms", {"20000"});
  expect_refused(kit, "retention.ms", {"20000"});
}

CASE(empty_group_id, "KIP-932") {
  alter_configs(kit, ConfigResource::kGroup, "", {{"share.delivery.count.limit", "3"}})["errorCode"]
      .is(ErrorCode::INVALID_REQUEST);
}

CASE(all_or_none_of_a_group, "KIP-932") {
  const std::string group = kit.name("g");
  alter_configs(
      kit, ConfigResource::kGroup, group,
      {{"share.auto.offset.reset", "earliest"}, {"share.delivery.count.limit", "99"}})["errorCode"]
      .is(ErrorCode::INVALID_CONFIG);
  auto configs = configs_of(kit, ConfigResource::kGroup, group);
  expect_equal(configs["share.auto.offset.reset"], std::optional<std::string>("latest"),
               "share.auto.offset.reset");
}

CASE(deleted_config_is_the_default, "KIP-339, KIP-932") {
  const std::string group = kit.name("g");
  const std::string name = "share.delivery.count.limit";
  set_configs(kit, ConfigResource::kGroup, group, {{name, "3"}});
  kit.ask("IncrementalAlterConfigs", 1,
          {{"resources",
            list(Object{
                {"resourceType", 32},
                {"resourceName", group},
                {"configs", list(Object{{"name", name},
                                        {"configOperation", 1},
                                        {"value", nullptr}})}})}})["responses"][0]["errorCode"]
      .is_none();
  kit.until("the default is seen",
            [&] { return configs_of(kit, ConfigResource::kGroup, group)[name] == "5"; });
}

CASE(configs_only_validated, "KIP-339") {
  const std::string group = kit.name("g");
  const std::string name = "share.delivery.count.limit";
  const auto validate = [&](const char* value) {
    return kit.ask(
        "IncrementalAlterConfigs", 1,
        {{"resources",
          list(Object{{"resourceType", 32},
                      {"resourceName", group},
                      {"configs",
                       list(Object{{"name", name}, {"configOperation", 0}, {"value", value}})}})},
         {"validateOnly", true}})["responses"][0]["errorCode"];
  };
  validate("3").is_none();
  validate("99").is(ErrorCode::INVALID_CONFIG);
  expect_equal(configs_of(kit, ConfigResource::kGroup, group)[name],
               std::optional<std::string>("5"), name);
}

CASE(where_values_come_from, "KIP-226, KIP-932") {
  const std::string group = kit.name("g");
  set_configs(kit, ConfigResource::kGroup, group, {{"share.delivery.count.limit", "3"}});
  const Value answer = kit.ask(
      "DescribeConfigs", 4,
      {{"resources", list(Object{{"resourceType", 32},
                                 {"resourceName", group},
                                 {"configurationKeys",
                                  list("share.delivery.count.limit", "share.isolation.level")}})}});
  const Value configs = answer["results"][0]["configs"];
  configs.has_size(2);
  configs.with("name", "share.delivery.count.limit")["configSource"].is(8);  // of the group
  configs.with("name", "share.isolation.level")["configSource"].is(5);       // default
}

CASE(lock_duration_changes, "KIP-932: is heard of without a restart") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  member.share_fetch({}, {.max_wait_ms = 0})["acquisitionLockTimeoutMs"].is(30000);
  set_configs(kit, ConfigResource::kGroup, member.group(),
              {{"share.record.lock.duration.ms", "21000"}});
  kit.until("the new duration is told", [&] {
    return member.share_fetch({}, {.max_wait_ms = 0})["acquisitionLockTimeoutMs"].number() == 21000;
  });
}

CASE(delivery_limit_is_lowered, "KIP-932: is heard of without a restart") {
  auto [topic, member] = acquired_records(kit, 1, 1);
  for (int i = 0; i < 2; ++i) {
    member.acknowledge(topic, 0, 0, {kRelease}).is_none();
    member.acquire_count(topic, 1);
  }
  set_configs(kit, ConfigResource::kGroup, member.group(), {{"share.delivery.count.limit", "2"}});
  member.acknowledge(topic, 0, 0, {kRelease}).is_none();
  expect_equal(member.fetch(topic, {.max_wait_ms = 300}).acquired, Ranges{}, "acquired");
}

}  // namespace ackord::conform
