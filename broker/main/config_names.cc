#include "broker/main/config_names.h"

#include <limits>

namespace ackord::main {
namespace {

using metadata::Check;
using metadata::ConfigDef;
using metadata::ConfigKind;
using enum metadata::ConfigType;

constexpr double kNoMax = std::numeric_limits<double>::infinity();

constexpr ConfigDef any(std::string_view name, metadata::ConfigType type, const char* value) {
  return {name, type, value, Check::kAny, 0, 0, "", "", ConfigKind::kPlain, ""};
}
constexpr ConfigDef number(std::string_view name, metadata::ConfigType type, const char* value,
                           double min, double max) {
  return {name, type, value, Check::kRange, min, max, "", "", ConfigKind::kPlain, ""};
}

// Names, types, defaults and ranges are those of Kafka 4.4; `cores`, `http.listener` and
// `connections.max.authentication.ms` are Ackord's.
constexpr ConfigDef kConfigs[] = {
    any("allow.everyone.if.no.acl.found", kBoolean, "false"),
    number("connections.max.authentication.ms", kLong, "30000", 1, kNoMax),
    number("controller.performance.always.log.threshold.ms", kLong, "2000", 0, kNoMax),
    number("controller.performance.sample.period.ms", kLong, "60000", 100, kNoMax),
    number("cores", kInt, "0", 0, 1024),
    any("group.consumer.assignor.offload.enable", kBoolean, "true"),
    number("group.consumer.regex.refresh.interval.ms", kInt, "600000", 10000, kNoMax),
    any("group.share.assignor.offload.enable", kBoolean, "true"),
    any("group.share.dlq.manager.class.name", kString,
        "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager"),
    number("group.share.initialize.retry.interval.ms", kInt, "30000", 1, kNoMax),
    any("group.share.persister.class.name", kString,
        "org.apache.kafka.server.share.persister.DefaultStatePersister"),
    number("group.streams.acceptable.recovery.lag", kLong, "10000", 0, kNoMax),
    any("group.streams.assignor.offload.enable", kBoolean, "true"),
    number("group.streams.max.warmup.replicas", kInt, "20", 0, kNoMax),
    number("group.streams.min.task.offset.interval.ms", kInt, "15000", 1, kNoMax),
    number("group.streams.num.warmup.replicas", kInt, "2", 0, kNoMax),
    number("group.streams.task.offset.interval.ms", kInt, "60000", 1, kNoMax),
    any("http.listener", kString, "127.0.0.1:9644"),
    any("internal.metadata.delete.delay.millis", kLong, "60000"),
    any("internal.metadata.log.segment.bytes", kInt, nullptr),
    any("internal.metadata.max.batch.size.in.bytes", kInt, "8388608"),
    number("log.initial.task.delay.ms", kLong, "30000", 0, kNoMax),
    number("producer.id.expiration.check.interval.ms", kInt, "600000", 1, kNoMax),
    number("remote.log.index.file.cache.ttl.ms", kLong, "900000", -1, kNoMax),
    number("remote.log.manager.task.retry.backoff.max.ms", kLong, "30000", 1, kNoMax),
    number("remote.log.manager.task.retry.backoff.ms", kLong, "500", 1, kNoMax),
    number("remote.log.manager.task.retry.jitter", kDouble, "0.2", 0, 0.5),
    number("server.max.startup.time.ms", kLong, "9223372036854775807", 0, kNoMax),
    number("share.coordinator.cold.partition.snapshot.interval.ms", kInt, "300000", 1, kNoMax),
    number("share.coordinator.state.topic.prune.interval.ms", kInt, "300000", 1, kNoMax),
    any("super.users", kString, ""),
    number("unclean.leader.election.interval.ms", kLong, "300000", 1, kNoMax),
    any("unstable.api.versions.enable", kBoolean, "false"),
    any("unstable.feature.versions.enable", kBoolean, "false"),
};

}  // namespace

std::span<const ConfigDef> further_config_defs() { return kConfigs; }

}  // namespace ackord::main
