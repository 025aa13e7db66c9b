// ShareService: the door to share partitions: sessions, fetching, acknowledging, staging, and the
// delivery state behind them in `__share_group_state`.
//
// Owns: one ShareShard per state partition (on its partition's core), one ShareSessions per core (a
// group's sessions are on one). Threads: every member from any core; it hops and resumes on the
// caller's. Whatever it answers is durable. Errors: of the coordinator behind
// (COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS) where nothing else is said. Source:
// KIP-932, KIP-1222; transactional acknowledgements: docs/PROTOCOL.md part 1.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/io/core.h"
#include "broker/io/signal.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/archive_report.h"
#include "broker/share/batch_txn_service.h"
#include "broker/share/share_session.h"
#include "broker/share/share_shard.h"
#include "broker/share/share_types.h"
#include "protocol/types/records.h"

namespace ackord::share {

struct AcknowledgePartition {
  TopicIdPartition partition;
  std::vector<AcknowledgementBatch> batches;
};

// Whether the caller may read a topic; asked on its core. Empty: all.
using MayRead = std::function<bool(std::string_view topic)>;

// A ShareFetch whose group id and member id are well-formed.
struct ShareFetch {
  GroupId group;
  std::string member;
  int32_t session_epoch = 0;
  int32_t max_wait_ms = 0;
  int32_t min_bytes = 0;
  int32_t max_bytes = 0;
  int32_t max_records = 0;
  int32_t batch_size = 0;
  ShareAcquireMode mode = ShareAcquireMode::BATCH_OPTIMIZED;
  bool renew = false;                        // IsRenewAck: acknowledgements only
  int8_t max_acknowledge_type = 4;           // 3 where the version does not know RENEW
  std::vector<AcknowledgePartition> listed;  // Topics, with their acknowledgements (often none)
  std::vector<TopicIdPartition> forgotten;
  uint64_t connection_id = 0;
  // The caller's connection; both live as long as the call. A peer that has gone ends the wait.
  const bool* gone = nullptr;
  io::Signal* on_gone = nullptr;
  MayRead may_read{};  // TOPIC_AUTHORIZATION_FAILED for what it may not
};

struct ShareFetchPartition {
  TopicIdPartition partition;
  ErrorCode error_code = ErrorCode::NONE;
  PartitionError acknowledge_error;
  Records records;  // whole batches that cover `acquired`
  std::vector<AcquiredRecords> acquired;
};

struct ShareFetchReply {
  ErrorCode error_code = ErrorCode::NONE;
  int32_t acquisition_lock_timeout_ms = 0;
  std::vector<ShareFetchPartition> partitions;  // with records, an error or acknowledgements
};

struct ShareAcknowledgeCall {
  GroupId group;
  std::string member;
  int32_t session_epoch = 0;
  int8_t max_acknowledge_type = 4;
  std::vector<AcknowledgePartition> partitions;
  MayRead may_read{};
};
struct ShareAcknowledgeReply {
  ErrorCode error_code = ErrorCode::NONE;
  int32_t acquisition_lock_timeout_ms = 0;
  std::vector<PartitionError> partitions;  // in the order of the call's
};

// Where a share partition stands. Of one whose start offset is not known yet: nothing.
struct PartitionGauges {
  SharePartitionKey key;
  int64_t lag = -1;  // records up to the high watermark that are not done with; -1: not known
  // Of the record at the start offset, by the largest timestamp of its batch; 0 with nothing left.
  int64_t oldest_unacknowledged_age_ms = 0;
};

// One guard per state partition that a stage touches.
using Guards = std::map<int32_t, Guard>;

using StageCheck = std::function<ErrorCode()>;

class ShareService {
 public:
  virtual ~ShareService() = default;

  // Start-up: loads the shards of an existing `__share_group_state`.
  virtual io::Task<Result<void>> load() = 0;

  // ---- plain share groups
  virtual io::Task<ShareFetchReply> fetch(ShareFetch call) = 0;
  virtual io::Task<ShareAcknowledgeReply> acknowledge(ShareAcknowledgeCall call) = 0;
  // The connection is gone: its sessions end and what they held is released. Any core; ends by
  // itself.
  virtual void connection_closed(uint64_t connection_id) = 0;

  // ---- the delivery state: what the share coordinator's RPCs ask, and the group coordinator
  // (semantics A.6; the operations and their errors: share_shard.h). INVALID_REQUEST for what is
  // negative; UNKNOWN_TOPIC_OR_PARTITION where there is no such partition, but to a read or a write
  // it is one that was never initialised.
  virtual io::Task<PartitionError> initialize_state(Initialize op) = 0;
  virtual io::Task<Read::Reply> read_state(Read op) = 0;
  virtual io::Task<PartitionError> write_state(Write op) = 0;
  virtual io::Task<PartitionError> delete_state(Delete op) = 0;
  virtual io::Task<Summary::Reply> summarize_state(Summary op) = 0;
  virtual io::Task<Result<Describe::Reply>> describe(GroupId group, TopicIdPartition partition,
                                                     int32_t max_ranges) = 0;

  // An operator frees what members hold (share_shard.h: ReleaseRanges).
  virtual io::Task<Result<ReleaseRanges::Reply>> release_ranges(
      SharePartitionKey key, std::vector<OffsetRange> ranges,
      std::optional<std::string> member_id) = 0;

  // ---- for people: computed when they are asked for
  virtual io::Task<std::vector<PartitionGauges>> gauges() = 0;
  virtual io::Task<ArchiveReport::ByTopic> archived() = 0;

  // Between these two, which may be nested, nothing new is staged and no batch transaction begins
  // (staging_gate.h): what staged_records() and live() count then is all that there will be.
  virtual io::Task<void> close_staging() = 0;
  virtual io::Task<void> open_staging() = 0;
  // How many records are staged, by whatever owner: share.version must stay while there are some
  // (protocol 1.5).
  virtual io::Task<Result<int64_t>> staged_records() = 0;

  // The door to batch transactions (protocol part 2).
  virtual BatchTxnService& batch_transactions() = 0;

  // ---- transactional acknowledgements (protocol 1.1), in the order of the steps
  // Which state partitions hold these source partitions; makes the topic on first use.
  virtual io::Task<Result<std::vector<int32_t>>> state_partitions(
      GroupId group, std::vector<TopicIdPartition> partitions) = 0;
  // Step 5's exception: everything is staged by this owner with the same types already.
  virtual io::Task<bool> already_staged(GroupId group, Owner owner,
                                        std::vector<AcknowledgePartition> partitions) = 0;
  // Step 6.
  virtual io::Task<Result<Guards>> take_guards(OwnerId owner,
                                               std::vector<int32_t> state_partitions) = 0;
  // Step 8. One reply per partition, in order; durable when it ends. `check` is asked on each
  // shard's core at the moment of the decision: what it answers but NONE refuses the stage there.
  // A producer's stage brings one that knows whether its transaction was kept for a successor
  // meanwhile. Refused is also what comes after share.version has gone down (UNSUPPORTED_VERSION).
  virtual io::Task<std::vector<Stage::PartitionReply>> stage(
      GroupId group, Owner owner, std::string member, Guards guards,
      std::vector<AcknowledgePartition> partitions, StageCheck check) = 0;
  // The end of a producer's transaction on one state partition (protocol 1.3). COORDINATOR_* as
  // NOT_LEADER_OR_FOLLOWER.
  virtual io::Task<ErrorCode> write_marker(int32_t state_partition, log::EndMarker marker) = 0;
  // A marker from the wire may not tear an open transaction (1.5). The watch begins before the
  // transaction coordinator is asked whether one lists the state partition.
  virtual io::Task<Result<WatchProducer::Reply>> watch_producer(int32_t state_partition,
                                                                ProducerId producer_id) = 0;
  virtual io::Task<ErrorCode> write_foreign_marker(int32_t state_partition, log::EndMarker marker,
                                                   Marker::FromTheWire from_the_wire) = 0;
};

std::unique_ptr<ShareService> make_share_service(io::Environment& environment, log::LogService& log,
                                                 metadata::MetadataService& metadata);

}  // namespace ackord::share
