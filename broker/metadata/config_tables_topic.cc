#include <limits>

#include "broker/metadata/config_tables.h"

// The tables, each sorted by name. A row: name, type, default, check (range or allowed values), the
// broker-level config that gives the value where none is set, kind, documentation.
namespace ackord::metadata {
namespace {

constexpr double kNoMax = std::numeric_limits<double>::infinity();
constexpr ConfigKind kPlain = ConfigKind::kPlain;
constexpr ConfigKind kInternal = ConfigKind::kInternal;

constexpr ConfigDef kTopicConfigs[] = {
    {"cleanup.policy", ConfigType::kList, "delete", Check::kListOf, 0, 0, "compact, delete",
     "log.cleanup.policy", kPlain,
     "What happens to old segments: delete drops them, compact keeps the last record of each "
     "key. Both may be set; an empty list keeps everything."},
    {"compression.gzip.level", ConfigType::kInt, "-1", Check::kGzipLevel, 1, 9, "",
     "compression.gzip.level", kPlain, "The level of gzip, when compression.type is gzip."},
    {"compression.lz4.level", ConfigType::kInt, "9", Check::kRange, 1, 17, "",
     "compression.lz4.level", kPlain, "The level of lz4, when compression.type is lz4."},
    {"compression.type", ConfigType::kString, "producer", Check::kOneOf, 0, 0,
     "uncompressed, zstd, lz4, snappy, gzip, producer", "compression.type", kPlain,
     "The codec of the stored batches; producer keeps what the producer chose."},
    {"compression.zstd.level", ConfigType::kInt, "3", Check::kRange, -131072, 22, "",
     "compression.zstd.level", kPlain, "The level of zstd, when compression.type is zstd."},
    {"delete.retention.ms", ConfigType::kLong, "86400000", Check::kRange, 0, kNoMax, "",
     "log.cleaner.delete.retention.ms", kPlain,
     "How long the tombstones of a compacted topic are kept."},
    {"errors.deadletterqueue.group.enable", ConfigType::kBoolean, "false", Check::kAny, 0, 0, "",
     "", kPlain, "Whether share groups may use this topic as their dead-letter queue."},
    {"file.delete.delay.ms", ConfigType::kLong, "60000", Check::kRange, 0, kNoMax, "",
     "log.segment.delete.delay.ms", kPlain, "How long a deleted file stays on the disk."},
    {"flush.messages", ConfigType::kLong, "9223372036854775807", Check::kRange, 1, kNoMax, "",
     "log.flush.interval.messages", kPlain,
     "After how many records a flush is forced. Ackord flushes before it acknowledges, "
     "whatever is set here."},
    {"flush.ms", ConfigType::kLong, "9223372036854775807", Check::kRange, 0, kNoMax, "",
     "log.flush.interval.ms", kPlain,
     "After what time a flush is forced. Ackord flushes before it acknowledges, whatever is "
     "set here."},
    {"follower.replication.throttled.replicas", ConfigType::kList, "", Check::kThrottledReplicas, 0,
     0, "", "", kPlain, "Replicas whose following is throttled: partition:broker,… or *."},
    {"index.interval.bytes", ConfigType::kInt, "4096", Check::kRange, 0, kNoMax, "",
     "log.index.interval.bytes", kPlain,
     "After how many bytes of a segment its index gets an entry."},
    {"internal.segment.bytes", ConfigType::kInt, nullptr, Check::kAny, 0, 0, "", "", kInternal,
     "segment.bytes without its lower bound, for tests."},
    {"leader.replication.throttled.replicas", ConfigType::kList, "", Check::kThrottledReplicas, 0,
     0, "", "", kPlain, "Replicas whose leading is throttled: partition:broker,… or *."},
    {"local.retention.bytes", ConfigType::kLong, "-2", Check::kRange, -2, kNoMax, "",
     "log.local.retention.bytes", kPlain,
     "With tiered storage: how many bytes stay local. -2: as retention.bytes."},
    {"local.retention.ms", ConfigType::kLong, "-2", Check::kRange, -2, kNoMax, "",
     "log.local.retention.ms", kPlain,
     "With tiered storage: how long a segment stays local. -2: as retention.ms."},
    {"max.compaction.lag.ms", ConfigType::kLong, "9223372036854775807", Check::kRange, 1, kNoMax,
     "", "log.cleaner.max.compaction.lag.ms", kPlain,
     "The longest time that a record stays uncompacted."},
    {"max.decompressed.message.bytes", ConfigType::kInt, "2147483639", Check::kRange, 1, 2147483639,
     "", "max.decompressed.message.bytes", kPlain,
     "The largest size of a batch after decompression."},
    {"max.message.bytes", ConfigType::kInt, "1048588", Check::kRange, 0, kNoMax, "",
     "message.max.bytes", kPlain, "The largest batch that is accepted, as compressed."},
    {"message.timestamp.after.max.ms", ConfigType::kLong, "3600000", Check::kRange, 0, kNoMax, "",
     "log.message.timestamp.after.max.ms", kPlain,
     "How far a record timestamp may lie ahead of the broker clock."},
    {"message.timestamp.before.max.ms", ConfigType::kLong, "9223372036854775807", Check::kRange, 0,
     kNoMax, "", "log.message.timestamp.before.max.ms", kPlain,
     "How far a record timestamp may lie behind the broker clock."},
    {"message.timestamp.type", ConfigType::kString, "CreateTime", Check::kOneOf, 0, 0,
     "CreateTime, LogAppendTime", "log.message.timestamp.type", kPlain,
     "Whether a record keeps the timestamp of its producer or gets the time of its append."},
    {"min.cleanable.dirty.ratio", ConfigType::kDouble, "0.5", Check::kRange, 0, 1, "",
     "log.cleaner.min.cleanable.ratio", kPlain,
     "Which share of a compacted log must be new before it is compacted again."},
    {"min.compaction.lag.ms", ConfigType::kLong, "0", Check::kRange, 0, kNoMax, "",
     "log.cleaner.min.compaction.lag.ms", kPlain,
     "The shortest time that a record stays uncompacted."},
    {"min.insync.replicas", ConfigType::kInt, "1", Check::kRange, 1, kNoMax, "",
     "min.insync.replicas", kPlain,
     "How many replicas an acks=all write needs. With one node it is one."},
    {"preallocate", ConfigType::kBoolean, "false", Check::kAny, 0, 0, "", "log.preallocate", kPlain,
     "Whether a new segment takes its full size on the disk at once."},
    {"remote.copy.lag.bytes", ConfigType::kLong, "-1", Check::kRange, -1, kNoMax, "",
     "log.remote.copy.lag.bytes", kPlain,
     "With tiered storage: the size behind the end at which a segment may be copied."},
    {"remote.copy.lag.ms", ConfigType::kLong, "0", Check::kRange, -1, kNoMax, "",
     "log.remote.copy.lag.ms", kPlain,
     "With tiered storage: the age at which a segment may be copied."},
    {"remote.log.copy.disable", ConfigType::kBoolean, "false", Check::kAny, 0, 0, "", "", kPlain,
     "With tiered storage: stop copying segments."},
    {"remote.log.delete.on.disable", ConfigType::kBoolean, "false", Check::kAny, 0, 0, "", "",
     kPlain, "With tiered storage: delete remote data when it is turned off."},
    {"remote.storage.enable", ConfigType::kBoolean, "false", Check::kAny, 0, 0, "", "", kPlain,
     "Tiered storage for this topic; not offered by this broker."},
    {"retention.bytes", ConfigType::kLong, "-1", Check::kAny, 0, 0, "", "log.retention.bytes",
     kPlain, "How many bytes of a partition are kept under the delete policy. -1: no limit."},
    {"retention.ms", ConfigType::kLong, "604800000", Check::kRange, -1, kNoMax, "",
     "log.retention.ms", kPlain,
     "How long records are kept under the delete policy. -1: for ever."},
    {"segment.bytes", ConfigType::kInt, "1073741824", Check::kRange, 1048576, kNoMax, "",
     "log.segment.bytes", kPlain, "The size at which a segment is closed."},
    {"segment.index.bytes", ConfigType::kInt, "10485760", Check::kRange, 4, kNoMax, "",
     "log.index.size.max.bytes", kPlain, "The largest size of a segment index."},
    {"segment.jitter.ms", ConfigType::kLong, "0", Check::kRange, 0, kNoMax, "",
     "log.roll.jitter.ms", kPlain, "A random time by which segments are closed earlier."},
    {"segment.ms", ConfigType::kLong, "604800000", Check::kRange, 1, kNoMax, "", "log.roll.ms",
     kPlain, "The age at which a segment is closed, so that it can be deleted or compacted."},
    {"unclean.leader.election.enable", ConfigType::kBoolean, "false", Check::kAny, 0, 0, "",
     "unclean.leader.election.enable", kPlain,
     "Whether a replica that lags may lead. Without effect on one node."},
};

}  // namespace

std::span<const ConfigDef> topic_config_defs() { return kTopicConfigs; }

}  // namespace ackord::metadata
