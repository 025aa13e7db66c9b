// GroupServiceImpl: GroupService on the shards of this process. Its members are in
// {group,share,consumer,offset}_service.cc, by subject; nobody else includes this.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/coordinator/shard_set.h"
#include "broker/group/classic_waits.h"
#include "broker/group/group_service.h"
#include "broker/group/group_shard.h"

namespace ackord::group {

OffsetRetention retention_of(const metadata::BrokerConfig& config);
ClassicGroupLimits classic_limits_of(const metadata::BrokerConfig& config);

class GroupServiceImpl final : public GroupService {
 public:
  GroupServiceImpl(io::Environment& environment, log::LogService& log,
                   metadata::MetadataService& metadata, ShareStateKeeper& states)
      : environment_(environment),
        metadata_(metadata),
        states_(states),
        shards_(
            environment, log, std::string(metadata::kOffsetsTopic), [this] { return make_topic(); },
            [retention = retention_of(metadata.broker_config()),
             limits = classic_limits_of(metadata.broker_config())](int32_t) {
              return GroupShard(retention, limits);
            },
            [this](int32_t, Runner& runner) { prepare(runner); }),
        classic_waits_(environment.cores.size()) {
    metadata_.on_topic_removed([this](const metadata::TopicImage& topic) { topic_removed(topic); });
  }

  io::Task<Result<void>> load() override;
  io::Task<Result<void>> ensure_ready() override;
  io::Task<Result<int32_t>> partition_of(GroupId group) override;
  io::Task<ShareHeartbeatReply> share_heartbeat(ShareHeartbeat heartbeat) override;
  io::Task<ErrorCode> check_share_member(GroupId group, std::string member, int32_t epoch) override;
  io::Task<ShareGroupPartitions> share_group_partitions(GroupId group) override;
  io::Task<DescribedShareGroup> describe_share_group(GroupId group) override;
  io::Task<AlteredShareOffsets> alter_share_offsets(GroupId group,
                                                    std::vector<ShareOffset> offsets) override;
  io::Task<DeletedShareOffsets> delete_share_offsets(GroupId group,
                                                     std::vector<Uuid> topics) override;
  io::Task<ConsumerHeartbeatReply> consumer_heartbeat(ConsumerHeartbeat heartbeat) override;
  io::Task<DescribedConsumerGroup> describe_consumer_group(GroupId group) override;
  io::Task<ClassicJoinReply> join_classic_group(ClassicJoin join, Caller caller) override;
  io::Task<ClassicSyncReply> sync_classic_group(ClassicSync sync, Caller caller) override;
  io::Task<ErrorCode> classic_heartbeat(ClassicMemberName who) override;
  io::Task<Result<std::vector<ErrorCode>>> leave_classic_group(ClassicLeave leave) override;
  io::Task<ErrorCode> txn_offset_commit(TxnOffsetCommit commit, std::optional<uint64_t> guard,
                                        CommitCheck check) override;
  io::Task<Result<std::optional<uint64_t>>> begin_txn_offset_commit(
      GroupId group, log::ProducerStamp producer) override;
  io::Task<ErrorCode> commit_offsets(OffsetsToCommit commit) override;
  io::Task<Result<FetchedOffsets>> fetch_offsets(OffsetsToFetch fetch) override;
  io::Task<Result<std::vector<ListedGroup>>> list_groups() override;
  io::Task<Result<DescribedClassicGroup>> describe_classic_group(GroupId group) override;
  io::Task<Result<void>> delete_group(GroupId group) override;
  io::Task<DeletedOffsets> delete_offsets(GroupId group,
                                          std::vector<TopicPartition> partitions) override;
  io::Task<ErrorCode> write_marker(int32_t offsets_partition, log::EndMarker marker) override;

 private:
  using Runner = coordinator::ShardRunner<GroupShard>;

  // Sets the hooks of a shard that is about to load.
  void prepare(Runner& runner);
  io::Task<Result<int32_t>> make_topic();
  // The runner of the group's shard, made ready if need be.
  io::Task<Result<Runner*>> runner_of(GroupId group);

  // ---- classic groups
  // Asks the group's shard and waits for the answer; absent when the caller has gone.
  template <class Op>
  io::Task<Result<std::optional<ClassicAnswer>>> ask_and_wait(GroupId group, Op op, Caller caller);
  ClassicWaits& waits_of(const Runner& runner);

  // ---- on the runner's core
  template <class Op>
  io::Task<Result<Ticket>> ask_here(Runner& runner, Op op, std::shared_ptr<ClassicWait> wait);
  io::Task<Result<std::vector<ErrorCode>>> leave_here(Runner& runner, ClassicLeave leave);
  io::Task<bool> forget_here(Runner& runner, Ticket ticket);
  io::Task<Result<void>> sweep_here(Runner& runner);
  io::Task<Result<ShareHeartbeatDecision>> heartbeat_here(Runner& runner, ShareHeartbeat heartbeat);
  io::Task<void> initialize_here(Runner& runner, GroupId group, int32_t state_epoch,
                                 std::vector<ShareInitialization> work);
  io::Task<Result<ConsumerHeartbeatDecision>> consumer_heartbeat_here(Runner& runner,
                                                                      ConsumerHeartbeat heartbeat);
  io::Task<void> resolve_here(Runner& runner, GroupId group, std::vector<std::string> patterns,
                              TopicFilter may_see);
  void fence_consumers(Runner& runner, const GroupShard::TickReply& tick);
  io::Task<void> fence_here(Runner& runner, std::string group, std::vector<std::string> members);
  io::Task<Result<Verdict>> commit_here(Runner& runner, TxnOffsetCommit commit,
                                        std::optional<uint64_t> guard, CommitCheck check);
  io::Task<Result<Verdict>> write_marker_here(Runner& runner, log::EndMarker marker);
  io::Task<void> topic_removed_here(Runner& runner, RemovedTopic topic);

  io::Task<ErrorCode> remove_states(GroupId group, std::vector<ShareGroupTopic> states,
                                    std::vector<ShareGroupTopic>& kept);
  void topic_removed(const metadata::TopicImage& topic);
  std::vector<SubscribedTopic> topics_of(const GroupShard& shard,
                                         const ShareHeartbeat& heartbeat) const;
  ShareGroupLimits limits_of(std::string_view group) const;
  ConsumerGroupLimits consumer_limits_of(std::string_view group) const;
  // As the core sees them that it is called on.
  TopicView topics_here() const;

  // Runs the operation on the group's shard.
  template <class Op>
  io::Task<Result<typename Op::Reply>> run(GroupId group, Op op) {
    auto finding = runner_of(std::move(group));
    Result<Runner*> runner = co_await std::move(finding);
    if (!runner) co_return runner.error();
    auto running = io::on((*runner)->core().executor, (*runner)->run(std::move(op)));
    auto reply = co_await std::move(running);
    co_return reply;
  }

  io::Environment& environment_;
  metadata::MetadataService& metadata_;
  ShareStateKeeper& states_;
  coordinator::ShardSet<GroupShard> shards_;
  std::vector<ClassicWaits> classic_waits_;  // by core, each used on its own
};

}  // namespace ackord::group
