#include "broker/group/group_service.h"

#include <atomic>
#include <functional>
#include <utility>

#include "broker/base/logging.h"
#include "broker/coordinator/runtime.h"
#include "broker/group/group_shard.h"
#include "broker/io/signal.h"

namespace ackord::group {
namespace {

using Runner = coordinator::ShardRunner<GroupShard>;

// One partition of the offsets topic. Its runner is used on its core only.
struct Slot {
  const io::Core* core = nullptr;
  std::unique_ptr<Runner> runner;
};

// Initialisations of one heartbeat that run at the same time.
constexpr size_t kInitializationsAtOnce = 64;

class GroupServiceImpl final : public GroupService {
 public:
  GroupServiceImpl(io::Environment& environment, log::LogService& log, metadata::MetadataService& metadata,
                   ShareStateInitializer& initializer)
      : environment_(environment), log_(log), metadata_(metadata), initializer_(initializer) {
    metadata_.on_topic_removed([this](const metadata::TopicImage& topic) { topic_removed(topic); });
  }

  io::Task<Result<void>> load() override;
  io::Task<Result<void>> ensure_ready() override;
  io::Task<Result<int32_t>> partition_of(GroupId group) override;
  io::Task<ShareHeartbeatReply> share_heartbeat(ShareHeartbeat heartbeat) override;
  io::Task<ErrorCode> check_share_member(GroupId group, std::string member, int32_t epoch) override;
  io::Task<ShareGroupPartitions> share_group_partitions(GroupId group) override;
  io::Task<ErrorCode> txn_offset_commit(TxnOffsetCommit commit, std::optional<uint64_t> guard) override;
  io::Task<Result<std::optional<uint64_t>>> begin_txn_offset_commit(GroupId group,
                                                                    log::ProducerStamp producer) override;
  io::Task<ErrorCode> commit_offsets(GroupId group, std::vector<OffsetToCommit> offsets) override;
  io::Task<Result<CommittedOffset>> committed_offset(GroupId group, TopicPartition partition) override;
  io::Task<ErrorCode> write_marker(int32_t offsets_partition, log::EndMarker marker) override;

 private:
  // ---- opening: on the first core, one at a time
  io::Task<Result<void>> open(bool create);
  io::Task<Result<void>> open_here(bool create);
  io::Task<Result<void>> open_slots(int32_t partitions);
  io::Task<Result<void>> load_slot(size_t at);
  io::Task<void> sweep(Runner& runner);

  // ---- on the slot's core
  io::Task<Result<ShareHeartbeatDecision>> heartbeat_here(Slot& slot, ShareHeartbeat heartbeat);
  io::Task<void> initialize_here(Slot& slot, GroupId group, int32_t state_epoch, std::vector<ShareInitialization> work);
  io::Task<Result<Verdict>> commit_here(Slot& slot, TxnOffsetCommit commit, std::optional<uint64_t> guard);
  io::Task<Result<Verdict>> write_marker_here(Slot& slot, log::EndMarker marker);
  io::Task<void> topic_removed_here(Slot& slot, RemovedTopic topic);

  void topic_removed(const metadata::TopicImage& topic);
  std::vector<SubscribedTopic> topics_of(const GroupShard& shard, const ShareHeartbeat& heartbeat) const;
  ShareGroupLimits limits_of(std::string_view group) const;

  // The group's slot, opened if need be.
  io::Task<Result<Slot*>> slot_of(GroupId group);
  // Runs the operation on the group's shard.
  template <class Op>
  io::Task<Result<typename Op::Reply>> run(GroupId group, Op op) {
    auto finding = slot_of(std::move(group));
    Result<Slot*> slot = co_await std::move(finding);
    if (!slot) co_return slot.error();
    auto running = io::on((*slot)->core->executor, (*slot)->runner->run(std::move(op)));
    auto reply = co_await std::move(running);
    co_return reply;
  }

  io::Environment& environment_;
  log::LogService& log_;
  metadata::MetadataService& metadata_;
  ShareStateInitializer& initializer_;

  // Set once, after slots_ is complete.
  std::atomic<bool> ready_ = false;
  std::vector<Slot> slots_;
  // First core only.
  bool opening_ = false;
  io::Signal opened_;
};

// ---- opening

io::Task<Result<void>> GroupServiceImpl::load() { return open(false); }

io::Task<Result<void>> GroupServiceImpl::ensure_ready() { return open(true); }

io::Task<Result<void>> GroupServiceImpl::open(bool create) {
  if (ready_.load(std::memory_order_acquire)) co_return Result<void>();
  auto opening = io::on(environment_.cores.front().executor, open_here(create));
  Result<void> done = co_await std::move(opening);
  co_return done;
}

io::Task<Result<void>> GroupServiceImpl::open_here(bool create) {
  const io::Core& core = environment_.cores.front();
  while (opening_) {
    auto wakeup = io::Wakeup::make(core.executor, core.clock);
    opened_.subscribe(wakeup);
    auto waiting = wakeup->wait_until(core.clock.now().steady_ms + 1000);
    co_await std::move(waiting);
  }
  if (ready_.load(std::memory_order_relaxed)) co_return Result<void>();
  opening_ = true;
  std::shared_ptr<const metadata::TopicImage> topic = metadata_.image().topic(metadata::kOffsetsTopic);
  Result<void> done;
  if (!topic && create) {
    auto creating = metadata_.ensure_internal_topic(metadata::kOffsetsTopic);
    Result<std::shared_ptr<const metadata::TopicImage>> created = co_await std::move(creating);
    if (created) {
      topic = *created;
    } else {
      done = created.error();
    }
  }
  if (topic) {
    auto opening = open_slots(topic->partitions);
    done = co_await std::move(opening);
  }
  opening_ = false;
  opened_.notify();
  co_return done;
}

io::Task<Result<void>> GroupServiceImpl::open_slots(int32_t partitions) {
  slots_ = std::vector<Slot>(static_cast<size_t>(partitions));
  std::vector<io::Task<Result<void>>> loading;
  for (size_t at = 0; at < slots_.size(); ++at) {
    const TopicPartition name{TopicName(metadata::kOffsetsTopic), static_cast<int32_t>(at)};
    slots_[at].core = &log_.core_of(name);
    loading.push_back(io::on(slots_[at].core->executor, load_slot(at)));
  }
  auto all = io::when_all(std::move(loading));
  std::vector<Result<void>> results = co_await std::move(all);
  for (Result<void>& result : results) {
    if (!result) co_return result.error();
  }
  ready_.store(true, std::memory_order_release);
  co_return Result<void>();
}

io::Task<Result<void>> GroupServiceImpl::load_slot(size_t at) {
  const TopicPartition name{TopicName(metadata::kOffsetsTopic), static_cast<int32_t>(at)};
  Slot& slot = slots_[at];
  std::shared_ptr<log::Partition> partition = log_.find(name);
  if (!partition) {
    co_return error(ErrorCode::COORDINATOR_NOT_AVAILABLE,
                    name.topic.str() + "-" + std::to_string(name.partition) + " is not there");
  }
  slot.runner = std::make_unique<Runner>(*slot.core, std::move(partition), GroupShard());
  auto loading = slot.runner->load();
  Result<void> loaded = co_await std::move(loading);
  if (!loaded) {
    co_return error(loaded.error().code,
                    name.topic.str() + "-" + std::to_string(name.partition) + ": " + loaded.error().message);
  }
  auto sweeping = sweep(*slot.runner);
  co_await std::move(sweeping);
  co_return Result<void>();
}

// What a stop may have left undone: sessions are not logged, and a topic may have gone without our being told.
io::Task<void> GroupServiceImpl::sweep(Runner& runner) {
  StartSessions sessions;
  for (const std::string& group : runner.shard().share_groups()) {
    sessions.timeouts_ms[group] = limits_of(group).session_timeout_ms;
  }
  TopicsRemoved removed;
  for (const RemovedTopic& topic : runner.shard().held_topics()) {
    const auto by_name = metadata_.image().topic(topic.name.sv());
    const bool there = topic.id.is_zero() ? by_name != nullptr : metadata_.image().topic(topic.id) != nullptr;
    if (!there) removed.topics.push_back(topic);
  }
  if (!sessions.timeouts_ms.empty()) {
    auto starting = runner.run(std::move(sessions));
    auto started = co_await std::move(starting);
    if (!started) co_return;
  }
  if (!removed.topics.empty()) {
    auto removing = runner.run(std::move(removed));
    auto done = co_await std::move(removing);
    if (!done) base::log_warn("offsets of removed topics stay error={}", done.error().code);
  }
}

io::Task<Result<Slot*>> GroupServiceImpl::slot_of(GroupId group) {
  if (group.empty()) co_return error(ErrorCode::INVALID_GROUP_ID);
  auto opening = ensure_ready();
  Result<void> ready = co_await std::move(opening);
  if (!ready) co_return ready.error();
  const int32_t at = metadata::coordinator_partition(group.sv(), static_cast<int32_t>(slots_.size()));
  co_return &slots_[static_cast<size_t>(at)];
}

io::Task<Result<int32_t>> GroupServiceImpl::partition_of(GroupId group) {
  auto opening = ensure_ready();
  Result<void> ready = co_await std::move(opening);
  if (!ready) co_return ready.error();
  co_return metadata::coordinator_partition(group.sv(), static_cast<int32_t>(slots_.size()));
}

// ---- share groups

ShareGroupLimits GroupServiceImpl::limits_of(std::string_view group) const {
  const metadata::GroupConfig config = metadata_.group_config(group);
  ShareGroupLimits limits;
  limits.session_timeout_ms = config.share_session_timeout_ms;
  limits.heartbeat_interval_ms = config.share_heartbeat_interval_ms;
  limits.assignment_interval_ms = config.share_assignment_interval_ms;
  limits.max_size = metadata_.broker_config().group_share_max_size;
  return limits;
}

std::vector<SubscribedTopic> GroupServiceImpl::topics_of(const GroupShard& shard,
                                                         const ShareHeartbeat& heartbeat) const {
  auto names = shard.subscribed_topics(heartbeat.group.sv());
  if (heartbeat.topics) {
    for (const TopicName& topic : *heartbeat.topics) names.insert(topic.str());
  }
  std::vector<SubscribedTopic> topics;
  for (const std::string& name : names) {
    if (const auto topic = metadata_.image().topic(name)) topics.push_back({topic->name, topic->id, topic->partitions});
  }
  return topics;
}

io::Task<ShareHeartbeatReply> GroupServiceImpl::share_heartbeat(ShareHeartbeat heartbeat) {
  ShareHeartbeatReply failed;
  auto finding = slot_of(heartbeat.group);
  Result<Slot*> slot = co_await std::move(finding);
  if (!slot) {
    failed.error = slot.error().code;
    failed.message = slot.error().message;
    co_return failed;
  }
  auto deciding = io::on((*slot)->core->executor, heartbeat_here(**slot, std::move(heartbeat)));
  Result<ShareHeartbeatDecision> decided = co_await std::move(deciding);
  if (!decided) {
    failed.error = decided.error().code;
    failed.message = decided.error().message;
    co_return failed;
  }
  co_return std::move(decided->reply);
}

io::Task<Result<ShareHeartbeatDecision>> GroupServiceImpl::heartbeat_here(Slot& slot, ShareHeartbeat heartbeat) {
  ShareHeartbeatOp op;
  op.topics = topics_of(slot.runner->shard(), heartbeat);
  op.limits = limits_of(heartbeat.group.sv());
  const GroupId group = heartbeat.group;
  op.heartbeat = std::move(heartbeat);
  auto running = slot.runner->run(std::move(op));
  Result<ShareHeartbeatDecision> decided = co_await std::move(running);
  // The heartbeat does not wait for this; the assignment comes with a later one.
  if (decided && !decided->initialize.empty()) {
    io::spawn(slot.core->executor,
              initialize_here(slot, group, decided->state_epoch, std::move(decided->initialize)));
  }
  co_return decided;
}

io::Task<void> GroupServiceImpl::initialize_here(Slot& slot, GroupId group, int32_t state_epoch,
                                                 std::vector<ShareInitialization> work) {
  ShareInitializationEnded ended;
  ended.group = group;
  for (size_t from = 0; from < work.size(); from += kInitializationsAtOnce) {
    const size_t to = std::min(work.size(), from + kInitializationsAtOnce);
    std::vector<io::Task<ErrorCode>> calls;
    for (size_t i = from; i < to; ++i) {
      calls.push_back(initializer_.initialize(group, work[i].partition.topic_id, work[i].partition.partition,
                                              state_epoch, work[i].start_offset));
    }
    auto all = io::when_all(std::move(calls));
    std::vector<ErrorCode> errors = co_await std::move(all);
    for (size_t i = from; i < to; ++i) {
      const ErrorCode error = errors[i - from];
      ended.results.emplace_back(work[i].partition, error == ErrorCode::NONE);
      if (error == ErrorCode::NONE) continue;
      base::log_warn("share partition not initialised group={} topic={} partition={} error={}", group,
                     work[i].partition.topic_id, work[i].partition.partition, error);
    }
  }
  auto running = slot.runner->run(std::move(ended));
  auto done = co_await std::move(running);
  if (!done) base::log_warn("end of initialisation not logged group={} error={}", group, done.error().code);
}

io::Task<ErrorCode> GroupServiceImpl::check_share_member(GroupId group, std::string member, int32_t epoch) {
  CheckShareMember op{group, std::move(member), epoch};
  auto running = run(std::move(group), std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

io::Task<ShareGroupPartitions> GroupServiceImpl::share_group_partitions(GroupId group) {
  DescribeShareGroup op{group};
  auto running = run(std::move(group), std::move(op));
  Result<ShareGroupPartitions> reply = co_await std::move(running);
  if (reply) co_return std::move(*reply);
  ShareGroupPartitions failed;
  failed.error = reply.error().code;
  failed.message = reply.error().message;
  co_return failed;
}

void GroupServiceImpl::topic_removed(const metadata::TopicImage& topic) {
  if (!ready_.load(std::memory_order_acquire)) return;
  for (Slot& slot : slots_) {
    if (&slot.core->executor != io::Executor::current()) continue;
    io::spawn(slot.core->executor, topic_removed_here(slot, RemovedTopic{topic.name, topic.id}));
  }
}

io::Task<void> GroupServiceImpl::topic_removed_here(Slot& slot, RemovedTopic topic) {
  TopicsRemoved op;
  op.topics.push_back(std::move(topic));
  auto running = slot.runner->run(std::move(op));
  auto done = co_await std::move(running);
  if (!done) base::log_warn("offsets of a removed topic stay error={}", done.error().code);
}

// ---- offsets

io::Task<Result<std::optional<uint64_t>>> GroupServiceImpl::begin_txn_offset_commit(GroupId group,
                                                                                    log::ProducerStamp producer) {
  BeginTxnOffsetCommit op{producer, environment_.random.next()};
  return run(std::move(group), op);
}

io::Task<ErrorCode> GroupServiceImpl::txn_offset_commit(TxnOffsetCommit commit, std::optional<uint64_t> guard) {
  auto finding = slot_of(commit.group);
  Result<Slot*> slot = co_await std::move(finding);
  if (!slot) co_return slot.error().code;
  auto running = io::on((*slot)->core->executor, commit_here(**slot, std::move(commit), guard));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

// The log is looked at and decided on without a break in between.
io::Task<Result<Verdict>> GroupServiceImpl::commit_here(Slot& slot, TxnOffsetCommit commit,
                                                          std::optional<uint64_t> guard) {
  auto known = slot.runner->partition().producer(commit.producer.id);
  TxnOffsetCommitOp op{std::move(commit), guard, std::move(known)};
  auto running = slot.runner->run(std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  co_return reply;
}

io::Task<ErrorCode> GroupServiceImpl::commit_offsets(GroupId group, std::vector<OffsetToCommit> offsets) {
  CommitOffsets op{group, std::move(offsets)};
  auto running = run(std::move(group), std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

io::Task<Result<CommittedOffset>> GroupServiceImpl::committed_offset(GroupId group, TopicPartition partition) {
  FetchOffset op{group, std::move(partition)};
  return run(std::move(group), std::move(op));
}

// ---- transactions

io::Task<ErrorCode> GroupServiceImpl::write_marker(int32_t offsets_partition, log::EndMarker marker) {
  if (!ready_.load(std::memory_order_acquire)) co_return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  if (offsets_partition < 0 || static_cast<size_t>(offsets_partition) >= slots_.size()) {
    co_return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  }
  Slot& slot = slots_[static_cast<size_t>(offsets_partition)];
  auto running = io::on(slot.core->executor, write_marker_here(slot, marker));
  Result<Verdict> reply = co_await std::move(running);
  // A coordinator that cannot answer now is no leader, to the sender: it tries again.
  if (!reply) co_return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  co_return reply->error;
}

io::Task<Result<Verdict>> GroupServiceImpl::write_marker_here(Slot& slot, log::EndMarker marker) {
  auto known = slot.runner->partition().producer(marker.producer.id);
  WriteMarker op{marker, std::move(known)};
  auto running = slot.runner->run(std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  co_return reply;
}

}  // namespace

std::unique_ptr<GroupService> make_group_service(io::Environment& environment, log::LogService& log,
                                                 metadata::MetadataService& metadata,
                                                 ShareStateInitializer& initializer) {
  return std::make_unique<GroupServiceImpl>(environment, log, metadata, initializer);
}

}  // namespace ackord::group
