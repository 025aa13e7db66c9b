#include <limits>

#include "broker/metadata/config_tables.h"

// The tables, each sorted by name. A row: name, type, default, check (range or allowed values), the
// broker-level config that gives the value where none is set, kind, documentation.
namespace ackord::metadata {
namespace {

constexpr double kNoMax = std::numeric_limits<double>::infinity();
constexpr ConfigKind kPlain = ConfigKind::kPlain;
constexpr ConfigKind kInternal = ConfigKind::kInternal;

constexpr const char* kStreamsUnused =
    "Known as in Kafka; Ackord serves no streams groups and does not act on it.";

constexpr ConfigDef kGroupConfigs[] = {
    {"consumer.assignment.interval.ms", ConfigType::kInt, "1000", Check::kRange, 0, kNoMax, "",
     "group.consumer.assignment.interval.ms", kPlain,
     "The least time between two assignments of a consumer group."},
    {"consumer.assignor.offload.enable", ConfigType::kBoolean, "true", Check::kAny, 0, 0, "",
     "group.consumer.assignor.offload.enable", kInternal,
     "Whether the assignor runs beside the coordinator."},
    {"consumer.heartbeat.interval.ms", ConfigType::kInt, "5000", Check::kRange, 1, kNoMax, "",
     "group.consumer.heartbeat.interval.ms", kPlain,
     "The heartbeat interval of the members of a consumer group."},
    {"consumer.session.timeout.ms", ConfigType::kInt, "45000", Check::kRange, 1, kNoMax, "",
     "group.consumer.session.timeout.ms", kPlain,
     "After what silence a member of a consumer group is taken for dead."},
    {"errors.deadletterqueue.copy.record.enable", ConfigType::kBoolean, "false", Check::kAny, 0, 0,
     "", "errors.deadletterqueue.copy.record.enable", kPlain,
     "Whether the dead-letter record carries the key and value of the original."},
    {"errors.deadletterqueue.topic.name", ConfigType::kString, "", Check::kDeadLetterTopic, 0, 0,
     "", "errors.deadletterqueue.topic.name", kPlain,
     "The topic that gets the records which the share group gave up. Empty: none."},
    {"share.acknowledgement.retry.tolerance", ConfigType::kBoolean, "false", Check::kAny, 0, 0, "",
     "", kPlain,
     "Whether the same acknowledgement by the same member succeeds again, as after a lost answer, "
     "as long as nobody has acquired the record since. False: it is refused, as by Kafka. Ackord "
     "only."},
    {"share.assignment.interval.ms", ConfigType::kInt, "1000", Check::kRange, 0, kNoMax, "",
     "group.share.assignment.interval.ms", kPlain,
     "The least time between two assignments of a share group."},
    {"share.assignor.offload.enable", ConfigType::kBoolean, "true", Check::kAny, 0, 0, "",
     "group.share.assignor.offload.enable", kInternal,
     "Whether the assignor runs beside the coordinator."},
    {"share.auto.offset.reset", ConfigType::kString, "latest", Check::kOffsetReset, 0, 0, "",
     "share.auto.offset.reset", kPlain,
     "Where a share group begins on a new partition: latest, earliest or by_duration:<ISO "
     "8601 duration> ago."},
    {"share.delivery.count.limit", ConfigType::kInt, "5", Check::kRange, 2, kNoMax, "",
     "group.share.delivery.count.limit", kPlain,
     "How often a record is delivered before it is given up."},
    {"share.heartbeat.interval.ms", ConfigType::kInt, "5000", Check::kRange, 1, kNoMax, "",
     "group.share.heartbeat.interval.ms", kPlain,
     "The heartbeat interval of the members of a share group."},
    {"share.isolation.level", ConfigType::kString, "read_uncommitted", Check::kOneOf, 0, 0,
     "read_committed, read_uncommitted", "share.isolation.level", kPlain,
     "Whether the share group gets records of transactions that are not committed."},
    {"share.partition.max.record.locks", ConfigType::kInt, "2000", Check::kRange, 100, kNoMax, "",
     "group.share.partition.max.record.locks", kPlain,
     "How many records of a partition may be in flight at a time."},
    {"share.partition.max.staged.records", ConfigType::kInt, "200000", Check::kRange, 1, kNoMax, "",
     "", kPlain,
     "How many records of a partition may be in acknowledgements that wait for the end of "
     "their transaction. Ackord only."},
    {"share.record.lock.duration.ms", ConfigType::kInt, "30000", Check::kRange, 1000, kNoMax, "",
     "group.share.record.lock.duration.ms", kPlain,
     "How long a delivered record is locked for its consumer."},
    {"share.renew.acknowledge.enable", ConfigType::kBoolean, "true", Check::kAny, 0, 0, "",
     "share.renew.acknowledge.enable", kPlain,
     "Whether a consumer may renew the lock of a record."},
    {"share.retry.backoff.max.ms", ConfigType::kLong, "300000", Check::kRange, 0, kNoMax, "", "",
     kPlain,
     "How long a record waits at most before it is delivered again: bounds what "
     "share.retry.backoff.ms and share.retry.backoff.multiplier give. Ackord only."},
    {"share.retry.backoff.ms", ConfigType::kLong, "0", Check::kRange, 0, kNoMax, "", "", kPlain,
     "How long a record waits after its first delivery, when it was released or its lock expired, "
     "before it is delivered again. The wait ends early when the broker starts again or the "
     "group's "
     "last session is gone. 0: it does not wait, as with Kafka. Ackord only."},
    {"share.retry.backoff.multiplier", ConfigType::kDouble, "2.0", Check::kRange, 1, kNoMax, "", "",
     kPlain,
     "By how much the wait of share.retry.backoff.ms grows with each further delivery. Ackord "
     "only."},
    {"share.session.timeout.ms", ConfigType::kInt, "45000", Check::kRange, 1, kNoMax, "",
     "group.share.session.timeout.ms", kPlain,
     "After what silence a member of a share group is taken for dead."},
    {"streams.acceptable.recovery.lag", ConfigType::kLong, "10000", Check::kRange, 0, kNoMax, "",
     "group.streams.acceptable.recovery.lag", kInternal, kStreamsUnused},
    {"streams.assignment.interval.ms", ConfigType::kInt, "1000", Check::kRange, 0, kNoMax, "",
     "group.streams.assignment.interval.ms", kPlain, kStreamsUnused},
    {"streams.assignor.name", ConfigType::kString, nullptr, Check::kAny, 0, 0, "", "", kPlain,
     kStreamsUnused},
    {"streams.assignor.offload.enable", ConfigType::kBoolean, "true", Check::kAny, 0, 0, "",
     "group.streams.assignor.offload.enable", kInternal, kStreamsUnused},
    {"streams.heartbeat.interval.ms", ConfigType::kInt, "5000", Check::kRange, 1, kNoMax, "",
     "group.streams.heartbeat.interval.ms", kPlain, kStreamsUnused},
    {"streams.initial.rebalance.delay.ms", ConfigType::kInt, "3000", Check::kRange, 0, kNoMax, "",
     "group.streams.initial.rebalance.delay.ms", kPlain, kStreamsUnused},
    {"streams.num.standby.replicas", ConfigType::kInt, "0", Check::kRange, 0, kNoMax, "",
     "group.streams.num.standby.replicas", kPlain, kStreamsUnused},
    {"streams.num.warmup.replicas", ConfigType::kInt, "2", Check::kRange, 0, kNoMax, "",
     "group.streams.num.warmup.replicas", kInternal, kStreamsUnused},
    {"streams.rack.aware.assignment.tags", ConfigType::kList, "", Check::kAny, 0, 0, "",
     "group.streams.rack.aware.assignment.tags", kPlain, kStreamsUnused},
    {"streams.session.timeout.ms", ConfigType::kInt, "45000", Check::kRange, 1, kNoMax, "",
     "group.streams.session.timeout.ms", kPlain, kStreamsUnused},
    {"streams.task.offset.interval.ms", ConfigType::kInt, "60000", Check::kRange, 1, kNoMax, "",
     "group.streams.task.offset.interval.ms", kInternal, kStreamsUnused},
};

constexpr ConfigDef kMetricsConfigs[] = {
    {"interval.ms", ConfigType::kInt, "300000", Check::kAny, 0, 0, "", "", kPlain,
     "How often clients push their metrics."},
    {"match", ConfigType::kList, "", Check::kAny, 0, 0, "", "", kPlain,
     "Which clients are meant: name=pattern for each property of a client that has to fit. Empty: "
     "all."},
    {"metrics", ConfigType::kList, "", Check::kAny, 0, 0, "", "", kPlain,
     "Beginnings of the names of the metrics that clients push; * for all of them."},
};

}  // namespace

std::span<const ConfigDef> group_config_defs() { return kGroupConfigs; }
std::span<const ConfigDef> metrics_config_defs() { return kMetricsConfigs; }

}  // namespace ackord::metadata
