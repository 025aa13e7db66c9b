// LocalShareService: ShareService over the shards of this process.
// share_service.cc: sessions, fetching, acknowledging. share_service_rpcs.cc: delivery state.
// share_service_state.cc: staging and markers, topics that go. Ownership, threads and errors:
// share_service.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/share/archive_report.h"
#include "broker/share/dead_letter_queue.h"
#include "broker/share/local_batch_txn_service.h"
#include "broker/share/share_fetcher.h"
#include "broker/share/share_service.h"
#include "broker/share/share_session.h"
#include "broker/share/staging_gate.h"
#include "broker/share/state_shards.h"

namespace ackord::share {

// The items of one request by the state partition that holds them, with their places in the
// request.
template <class Item>
struct ByShard {
  std::vector<size_t> places;
  std::vector<Item> items;
};

// How the answer of a coordinator that is not there looks to a client of share RPCs (semantics
// A.11).
inline PartitionError unavailable(const Error& error) { return {error.code, error.message}; }

class LocalShareService : public ShareService {
 public:
  LocalShareService(io::Environment& environment, log::LogService& log,
                    metadata::MetadataService& metadata)
      : environment_(environment),
        log_(log),
        metadata_(metadata),
        shards_(environment, log, metadata),
        report_(environment, metadata),
        letters_(environment, log, metadata, shards_, report_),
        gate_(environment, metadata),
        batch_transactions_(environment, metadata, shards_, gate_),
        fetcher_(environment, log, shards_),
        session_slots_(metadata.broker_config().group_share_max_share_sessions) {
    shards_.on_archived([this](std::vector<Archived> archived) {
      for (const Archived& one : archived) {
        report_.archived(one);
        letters_.accept(one.key, one.ranges);
      }
    });
    metadata.on_group_config_changed([this](std::string_view group) { shards_.wake(group); });
    metadata.on_topic_removed([this](const metadata::TopicImage& topic) { topic_removed(topic); });
    for (size_t i = 0; i < environment.cores.size(); ++i) sessions_.emplace_back(session_slots_);
  }

  io::Task<Result<void>> load() override;

  io::Task<ShareFetchReply> fetch(ShareFetch call) override;
  io::Task<ShareAcknowledgeReply> acknowledge(ShareAcknowledgeCall call) override;
  void connection_closed(uint64_t connection_id) override;

  io::Task<PartitionError> initialize_state(Initialize op) override;
  io::Task<Read::Reply> read_state(Read op) override;
  io::Task<PartitionError> write_state(Write op) override;
  io::Task<PartitionError> delete_state(Delete op) override;
  io::Task<Summary::Reply> summarize_state(Summary op) override;
  io::Task<Result<Describe::Reply>> describe(GroupId group, TopicIdPartition partition,
                                             int32_t max_ranges) override;
  io::Task<Result<ReleaseRanges::Reply>> release_ranges(
      SharePartitionKey key, std::vector<OffsetRange> ranges,
      std::optional<std::string> member_id) override;
  io::Task<std::vector<PartitionGauges>> gauges() override;
  io::Task<ArchiveReport::ByTopic> archived() override;
  io::Task<Result<int64_t>> staged_records() override;
  BatchTxnService& batch_transactions() override { return batch_transactions_; }

  io::Task<Result<std::vector<int32_t>>> state_partitions(
      GroupId group, std::vector<TopicIdPartition> partitions) override;
  io::Task<bool> already_staged(GroupId group, Owner owner,
                                std::vector<AcknowledgePartition> partitions) override;
  io::Task<Result<Guards>> take_guards(OwnerId owner,
                                       std::vector<int32_t> state_partitions) override;
  io::Task<std::vector<Stage::PartitionReply>> stage(GroupId group, Owner owner, std::string member,
                                                     Guards guards,
                                                     std::vector<AcknowledgePartition> partitions,
                                                     StageCheck check) override;
  io::Task<void> close_staging() override { return gate_.close(); }
  io::Task<void> open_staging() override { return gate_.open(); }
  io::Task<ErrorCode> write_marker(int32_t state_partition, log::EndMarker marker) override;
  io::Task<Result<WatchProducer::Reply>> watch_producer(int32_t state_partition,
                                                        ProducerId producer_id) override;
  io::Task<ErrorCode> write_foreign_marker(int32_t state_partition, log::EndMarker marker,
                                           Marker::FromTheWire from_the_wire) override;

 private:
  const io::Core& session_core(const GroupId& group) const {
    return environment_.core(std::hash<GroupId>()(group));
  }
  io::Task<Result<SessionStep>> accept_session(const io::Core& core, SessionRequest request) {
    co_return sessions_[static_cast<size_t>(core.index)].accept(request);
  }
  // The topic of a share partition, or the error that its entry is answered.
  Result<std::shared_ptr<const metadata::TopicImage>> source_of(
      const TopicIdPartition& partition) const;

  // The same for a caller: TOPIC_AUTHORIZATION_FAILED.
  Result<std::shared_ptr<const metadata::TopicImage>> readable(const TopicIdPartition& partition,
                                                               const MayRead& may_read) const;
  io::Task<std::vector<PartitionError>> acknowledge_all(
      GroupId group, std::string member, int8_t max_type,
      std::vector<AcknowledgePartition> partitions, MayRead may_read);
  using Ready = io::ReadySet<TopicIdPartition>;
  io::Task<void> poll(const ShareFetch& call, const SessionStep& step, ShareFetchReply& reply);
  // Whether MinBytes are there, or an error.
  io::Task<bool> enough_bytes(const ShareFetch& call, SessionNumber session, Ready& ready,
                              metadata::GroupConfig config);
  FetchOne fetch_of(const ShareFetch& call, SessionNumber session,
                    const TopicIdPartition& partition, TopicName topic, size_t partitions) const;
  io::Task<bool> poll_once(const ShareFetch& call, SessionNumber session, Ready& ready,
                           metadata::GroupConfig config, ShareFetchReply& reply);
  enum class SessionEnd { kClosed, kConnectionGone, kLastOfGroupGone };
  io::Task<void> release(GroupId group, Holder holder, PartitionList partitions, SessionEnd end);
  io::Task<std::vector<PartitionGauges>> gauges_of(int32_t index);
  io::Task<PartitionGauges> look_into_log(TopicPartition source, Positions::Entry position);
  io::Task<void> close_sessions(const io::Core& core, uint64_t connection_id);
  template <class Op>
  io::Task<typename Op::Reply> run_on_state(Op op);
  template <class Op>
  io::Task<Result<typename Op::Reply>> run_on_state_here(int32_t index, Op op);
  io::Task<Result<Stage::Reply>> stage_here(int32_t index, Stage op, StageCheck check);
  io::Task<Result<Marker::Reply>> marker_here(int32_t index, Marker op);
  io::Task<ErrorCode> write(int32_t index, Marker op);
  // NONE: the state partition is there.
  ErrorCode check_state_partition(int32_t index) const;
  void topic_removed(const metadata::TopicImage& topic);
  io::Task<Result<void>> delete_here(int32_t index, std::vector<Uuid> topics);
  io::Task<Result<void>> sweep_here(int32_t index);
  io::Task<Result<void>> resume_letters();
  DeliveryLimit limit_of(const metadata::GroupConfig& config) const {
    return {static_cast<int16_t>(config.share_delivery_count_limit),
            dead_letters_on(metadata_, config),
            {config.share_retry_backoff_ms, config.share_retry_backoff_multiplier,
             config.share_retry_backoff_max_ms}};
  }

  template <class Item>
  std::map<int32_t, ByShard<Item>> by_shard(const GroupId& group, std::vector<Item> items) const {
    std::map<int32_t, ByShard<Item>> shards;
    for (size_t i = 0; i < items.size(); ++i) {
      const SharePartitionKey key{group, items[i].partition.topic_id, items[i].partition.partition};
      auto& shard = shards[shards_.index_of(key)];
      shard.places.push_back(i);
      shard.items.push_back(std::move(items[i]));
    }
    return shards;
  }

  io::Environment& environment_;
  log::LogService& log_;
  metadata::MetadataService& metadata_;
  mutable StateShards shards_;
  ArchiveReport report_;
  DeadLetterQueue letters_;
  StagingGate gate_;
  LocalBatchTxnService batch_transactions_;
  ShareFetcher fetcher_;
  SessionSlots session_slots_;
  std::vector<ShareSessions> sessions_;  // by core
};

}  // namespace ackord::share
