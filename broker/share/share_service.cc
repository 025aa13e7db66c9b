#include "broker/share/share_service.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "broker/base/logging.h"
#include "broker/share/share_fetcher.h"
#include "broker/share/state_shards.h"

namespace ackord::share {
namespace {

// The items of one request by the state partition that holds them, with their places in the
// request.
template <class Item>
struct ByShard {
  std::vector<size_t> places;
  std::vector<Item> items;
};

// How the answer of a coordinator that is not there looks to a client of share RPCs (semantics
// A.11).
PartitionError unavailable(const Error& error) { return {error.code, error.message}; }

class Service : public ShareService {
 public:
  Service(io::Environment& environment, log::LogService& log, metadata::MetadataService& metadata)
      : environment_(environment),
        log_(log),
        metadata_(metadata),
        shards_(environment, log, metadata),
        fetcher_(environment, log, shards_) {
    metadata.on_topic_removed([this](const metadata::TopicImage& topic) { topic_removed(topic); });
    const auto cores = static_cast<int32_t>(environment.cores.size());
    const int32_t slots = metadata.broker_config().group_share_max_share_sessions;
    for (int32_t i = 0; i < cores; ++i) sessions_.emplace_back((slots + cores - 1) / cores);
  }

  io::Task<Result<void>> load() override;

  io::Task<ShareFetchReply> fetch(ShareFetch call) override;
  io::Task<ShareAcknowledgeReply> acknowledge(ShareAcknowledgeCall call) override;
  void connection_closed(uint64_t connection_id) override;

  io::Task<ErrorCode> initialize(GroupId group, Uuid topic_id, int32_t partition,
                                 int32_t state_epoch, Offset start_offset) override;
  io::Task<OffsetInfo> offset_info(GroupId group, Uuid topic_id, int32_t partition) override;
  io::Task<Result<Describe::Reply>> describe(GroupId group, TopicIdPartition partition,
                                             int32_t max_ranges) override;

  io::Task<Result<std::vector<int32_t>>> state_partitions(
      GroupId group, std::vector<TopicIdPartition> partitions) override;
  io::Task<bool> already_staged(GroupId group, Owner owner,
                                std::vector<AcknowledgePartition> partitions) override;
  io::Task<Result<Guards>> take_guards(OwnerId owner,
                                       std::vector<int32_t> state_partitions) override;
  io::Task<std::vector<Stage::PartitionReply>> stage(
      GroupId group, Owner owner, std::string member, Guards guards,
      std::vector<AcknowledgePartition> partitions) override;
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

  io::Task<std::vector<PartitionError>> acknowledge_all(
      GroupId group, std::string member, int8_t max_type,
      std::vector<AcknowledgePartition> partitions);
  io::Task<void> poll(const ShareFetch& call, std::vector<TopicIdPartition> partitions,
                      ShareFetchReply& reply);
  io::Task<bool> poll_once(const ShareFetch& call, const std::vector<TopicIdPartition>& partitions,
                           metadata::GroupConfig config, std::shared_ptr<io::Wakeup> wakeup,
                           ShareFetchReply& reply);
  io::Task<void> release(GroupId group, std::string member,
                         std::vector<TopicIdPartition> partitions, bool last_of_group);
  io::Task<void> close_sessions(const io::Core& core, uint64_t connection_id);
  io::Task<Result<Stage::Reply>> stage_here(int32_t index, Stage op);
  io::Task<Result<Marker::Reply>> marker_here(int32_t index, Marker op);
  io::Task<ErrorCode> write(int32_t index, Marker op);
  // NONE: the state partition is there.
  ErrorCode check_state_partition(int32_t index) const;
  void topic_removed(const metadata::TopicImage& topic);
  io::Task<Result<void>> delete_here(int32_t index, std::vector<Uuid> topics);
  io::Task<Result<void>> sweep_here(int32_t index);

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
  ShareFetcher fetcher_;
  std::vector<ShareSessions> sessions_;  // by core
};

Result<std::shared_ptr<const metadata::TopicImage>> Service::source_of(
    const TopicIdPartition& partition) const {
  auto topic = metadata_.image().topic(partition.topic_id);
  if (!topic) return error(ErrorCode::UNKNOWN_TOPIC_ID);
  if (partition.partition < 0 || partition.partition >= topic->partitions) {
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
  return topic;
}

// ---------------------------------------------------------------- topics that are gone

io::Task<Result<void>> Service::load() {
  if (!metadata_.image().topic(metadata::kShareStateTopic)) co_return Result<void>();
  auto ensuring = shards_.ensure();
  const Result<void> done = co_await std::move(ensuring);
  if (!done) co_return done;
  std::vector<io::Task<Result<void>>> sweeps;
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    sweeps.push_back(io::on(shards_.runner(index).core().executor, sweep_here(index)));
  }
  auto all = io::when_all(std::move(sweeps));
  const std::vector<Result<void>> swept = co_await std::move(all);
  for (const Result<void>& one : swept) {
    if (!one) co_return one;
  }
  co_return Result<void>();
}

// A stop may have come between the removal of a topic and that of its state.
io::Task<Result<void>> Service::sweep_here(int32_t index) {
  std::vector<Uuid> gone;
  for (const Uuid& topic : shards_.runner(index).shard().topics()) {
    if (!metadata_.image().topic(topic)) gone.push_back(topic);
  }
  return delete_here(index, std::move(gone));
}

io::Task<Result<void>> Service::delete_here(int32_t index, std::vector<Uuid> topics) {
  for (const Uuid& topic : topics) {
    auto deleting = shards_.runner(index).run(DeleteTopic{topic});
    const Result<DeleteTopic::Reply> deleted = co_await std::move(deleting);
    if (!deleted) {
      base::log_warn("share state of a removed topic stays topic_id={} error={}", topic,
                     deleted.error().code);
      co_return deleted.error();
    }
  }
  co_return Result<void>();
}

// Told on every core: each sees to its own shards.
void Service::topic_removed(const metadata::TopicImage& topic) {
  auto deleting = [](io::Task<Result<void>> task) -> io::Task<void> {
    (void)co_await std::move(task);
  };
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    io::Executor& executor = shards_.runner(index).core().executor;
    if (&executor != io::Executor::current()) continue;
    io::spawn(executor, deleting(delete_here(index, {topic.id})));
  }
}

// ---------------------------------------------------------------- sessions

void Service::connection_closed(uint64_t connection_id) {
  for (const io::Core& core : environment_.cores)
    io::spawn(core.executor, close_sessions(core, connection_id));
}

io::Task<void> Service::close_sessions(const io::Core& core, uint64_t connection_id) {
  std::vector<ClosedSession> closed =
      sessions_[static_cast<size_t>(core.index)].close_connection(connection_id);
  for (ClosedSession& session : closed) {
    auto releasing = release(session.group, session.member, std::move(session.partitions),
                             session.last_of_group);
    co_await std::move(releasing);
  }
}

io::Task<void> Service::release(GroupId group, std::string member,
                                std::vector<TopicIdPartition> partitions, bool last_of_group) {
  if (!shards_.partitions()) co_return;
  const metadata::GroupConfig config = metadata_.group_config(group);
  std::map<int32_t, std::vector<SharePartitionKey>> keys;
  for (const TopicIdPartition& partition : partitions) {
    SharePartitionKey key{group, partition.topic_id, partition.partition};
    const int32_t index = shards_.index_of(key);
    keys[index].push_back(std::move(key));
  }
  for (auto& [index, mine] : keys) {
    ReleaseMember op;
    op.member_id = member;
    op.keys = std::move(mine);
    op.delivery_count_limit = static_cast<int16_t>(config.share_delivery_count_limit);
    auto releasing = shards_.run(index, std::move(op));
    const Result<ReleaseMember::Reply> released = co_await std::move(releasing);
    if (!released)
      base::log_warn(
          "records of a closed session wait for their lock to expire group={} member={} error={}",
          group, member, released.error().code);
  }
  if (!last_of_group) co_return;
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    auto dropping = shards_.run(index, DropSoft{group});
    (void)co_await std::move(dropping);
  }
}

// ---------------------------------------------------------------- fetch

io::Task<ShareFetchReply> Service::fetch(ShareFetch call) {
  ShareFetchReply reply;
  const int64_t deadline_ms =
      environment_.here().clock.now().steady_ms + std::max(call.max_wait_ms, 0);
  reply.acquisition_lock_timeout_ms =
      metadata_.group_config(call.group).share_record_lock_duration_ms;
  SessionRequest request{call.group, call.member, call.session_epoch, true,
                         false,      {},          call.forgotten,     call.connection_id};
  std::vector<AcknowledgePartition> acknowledged;
  for (AcknowledgePartition& listed : call.listed) {
    request.listed.push_back(listed.partition);
    if (listed.batches.empty()) continue;
    request.has_acknowledgements = true;
    acknowledged.push_back(std::move(listed));
  }
  const io::Core& core = session_core(call.group);
  auto accepting = io::on(core.executor, accept_session(core, std::move(request)));
  Result<SessionStep> step = co_await std::move(accepting);
  if (!step) {
    reply.error_code = step.error().code;
    // No session is to be had: a client that asked again at once would only add to the load.
    if (reply.error_code == ErrorCode::SHARE_SESSION_LIMIT_REACHED) {
      io::SleepUntil sleep(environment_.here().clock, deadline_ms);
      co_await sleep;
    }
    co_return reply;
  }
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) {
    reply.error_code = ready.error().code;
    co_return reply;
  }
  if (!acknowledged.empty()) {
    std::vector<TopicIdPartition> names;
    for (const AcknowledgePartition& one : acknowledged) names.push_back(one.partition);
    auto acknowledging = acknowledge_all(call.group, call.member, call.max_acknowledge_type,
                                         std::move(acknowledged));
    const std::vector<PartitionError> errors = co_await std::move(acknowledging);
    for (size_t i = 0; i < names.size(); ++i) {
      reply.partitions.push_back({names[i], ErrorCode::NONE, errors[i], {}, {}});
    }
  }
  if (step->final) {
    auto releasing = release(call.group, call.member, std::move(step->partitions), false);
    co_await std::move(releasing);
  } else if (!call.renew && call.max_records > 0 && call.max_bytes > 0 &&
             !step->partitions.empty()) {
    auto polling = poll(call, std::move(step->partitions), reply);
    co_await std::move(polling);
  }
  co_return reply;
}

ShareFetchPartition& entry(ShareFetchReply& reply, const TopicIdPartition& partition) {
  for (ShareFetchPartition& one : reply.partitions) {
    if (one.partition == partition) return one;
  }
  return reply.partitions.emplace_back(ShareFetchPartition{partition, ErrorCode::NONE, {}, {}, {}});
}

io::Task<void> Service::poll(const ShareFetch& call, std::vector<TopicIdPartition> partitions,
                             ShareFetchReply& reply) {
  const io::Core& core = environment_.here();
  const int64_t deadline_ms = core.clock.now().steady_ms + std::max(call.max_wait_ms, 0);
  std::shared_ptr<io::Wakeup> wakeup;
  while (true) {
    auto looking = poll_once(call, partitions, metadata_.group_config(call.group), wakeup, reply);
    const bool found = co_await std::move(looking);
    const bool gone = call.gone != nullptr && *call.gone;
    if (gone) {
      // The session has ended with its connection while this request was taking records for it.
      auto releasing = release(call.group, call.member, partitions, false);
      co_await std::move(releasing);
      co_return;
    }
    if (found || core.clock.now().steady_ms >= deadline_ms) co_return;
    if (!wakeup) {
      // Nothing yet: look once more, now as one who will be woken.
      wakeup = io::Wakeup::make(core.executor, core.clock);
      if (call.on_gone) call.on_gone->subscribe(wakeup);
      continue;
    }
    auto waiting = wakeup->wait_until(deadline_ms);
    (void)co_await std::move(waiting);
    if (call.on_gone) call.on_gone->subscribe(wakeup);
  }
}

io::Task<bool> Service::poll_once(const ShareFetch& call,
                                  const std::vector<TopicIdPartition>& partitions,
                                  metadata::GroupConfig config, std::shared_ptr<io::Wakeup> wakeup,
                                  ShareFetchReply& reply) {
  bool found = false;
  int64_t records_left = call.max_records;
  const int64_t bytes_each =
      std::max<int64_t>(1, call.max_bytes / static_cast<int64_t>(partitions.size()));
  for (const TopicIdPartition& partition : partitions) {
    if (records_left <= 0) break;
    const auto source = source_of(partition);
    if (!source) {
      entry(reply, partition).error_code = source.error().code;
      found = true;
      continue;
    }
    FetchOne one;
    one.key = {call.group, partition.topic_id, partition.partition};
    one.source = {(*source)->name, partition.partition};
    one.member = call.member;
    one.max_bytes = bytes_each;
    one.max_records = static_cast<int32_t>(records_left);
    one.batch_size = call.batch_size;
    one.mode = call.mode;
    one.config = config;
    one.wakeup = wakeup;
    auto fetching = fetcher_.fetch(std::move(one));
    FetchedOne fetched = co_await std::move(fetching);
    if (fetched.error_code == ErrorCode::NONE && fetched.acquired.empty()) continue;
    found = true;
    ShareFetchPartition& out = entry(reply, partition);
    out.error_code = fetched.error_code;
    out.records = std::move(fetched.records);
    out.acquired = std::move(fetched.acquired);
    records_left -= fetched.record_count;
  }
  co_return found;
}

// ---------------------------------------------------------------- acknowledge

io::Task<ShareAcknowledgeReply> Service::acknowledge(ShareAcknowledgeCall call) {
  ShareAcknowledgeReply reply;
  reply.acquisition_lock_timeout_ms =
      metadata_.group_config(call.group).share_record_lock_duration_ms;
  SessionRequest request{call.group, call.member, call.session_epoch, false, true, {}, {}, 0};
  const io::Core& core = session_core(call.group);
  auto accepting = io::on(core.executor, accept_session(core, std::move(request)));
  Result<SessionStep> step = co_await std::move(accepting);
  if (!step) {
    reply.error_code = step.error().code;
    co_return reply;
  }
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) {
    reply.error_code = ready.error().code;
    co_return reply;
  }
  auto acknowledging = acknowledge_all(call.group, call.member, call.max_acknowledge_type,
                                       std::move(call.partitions));
  reply.partitions = co_await std::move(acknowledging);
  if (step->final) {
    auto releasing = release(call.group, call.member, std::move(step->partitions), false);
    co_await std::move(releasing);
  }
  co_return reply;
}

io::Task<std::vector<PartitionError>> Service::acknowledge_all(
    GroupId group, std::string member, int8_t max_type,
    std::vector<AcknowledgePartition> partitions) {
  std::vector<PartitionError> errors(partitions.size());
  std::vector<AcknowledgePartition> known;
  std::vector<size_t> places;
  for (size_t i = 0; i < partitions.size(); ++i) {
    const auto source = source_of(partitions[i].partition);
    if (!source) {
      errors[i] = unavailable(source.error());
      continue;
    }
    places.push_back(i);
    known.push_back(std::move(partitions[i]));
  }
  const metadata::GroupConfig config = metadata_.group_config(group);
  auto shards = by_shard(group, std::move(known));
  std::vector<io::Task<Result<Acknowledge::Reply>>> tasks;
  for (auto& [index, shard] : shards) {
    Acknowledge op;
    op.member_id = member;
    op.max_type = max_type;
    for (AcknowledgePartition& one : shard.items) {
      Acknowledge::Partition part;
      part.key = {group, one.partition.topic_id, one.partition.partition};
      part.batches = std::move(one.batches);
      part.delivery_count_limit = static_cast<int16_t>(config.share_delivery_count_limit);
      part.lock_duration_ms = config.share_record_lock_duration_ms;
      part.renew_enabled = config.share_renew_acknowledge_enable;
      op.partitions.push_back(std::move(part));
    }
    tasks.push_back(shards_.run(index, std::move(op)));
  }
  auto running = io::when_all(std::move(tasks));
  std::vector<Result<Acknowledge::Reply>> replies = co_await std::move(running);
  size_t which = 0;
  for (auto& [index, shard] : shards) {
    const Result<Acknowledge::Reply>& reply = replies[which++];
    for (size_t i = 0; i < shard.places.size(); ++i) {
      errors[places[shard.places[i]]] = reply ? (*reply)[i] : unavailable(reply.error());
    }
  }
  co_return errors;
}

// ---------------------------------------------------------------- delivery state

io::Task<ErrorCode> Service::initialize(GroupId group, Uuid topic_id, int32_t partition,
                                        int32_t state_epoch, Offset start_offset) {
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return ready.error().code;
  Initialize op;
  op.key = {std::move(group), topic_id, partition};
  op.state_epoch = state_epoch;
  op.start_offset = start_offset;
  op.only_if_absent = true;
  const int32_t index = shards_.index_of(op.key);
  auto running = shards_.run(index, std::move(op));
  const Result<PartitionError> reply = co_await std::move(running);
  co_return reply ? reply->error_code : reply.error().code;
}

io::Task<OffsetInfo> Service::offset_info(GroupId group, Uuid topic_id, int32_t partition) {
  OffsetInfo info;
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) {
    info.error = ready.error().code;
    co_return info;
  }
  Summary op;
  op.key = {std::move(group), topic_id, partition};
  const int32_t index = shards_.index_of(op.key);
  auto running = shards_.run(index, std::move(op));
  const Result<Summary::Reply> reply = co_await std::move(running);
  if (!reply) {
    info.error = reply.error().code;
    co_return info;
  }
  info.error = reply->error.error_code;
  info.start_offset = reply->start_offset;
  info.leader_epoch = reply->leader_epoch;
  info.delivery_complete_count = reply->delivery_complete_count;
  co_return info;
}

io::Task<Result<Describe::Reply>> Service::describe(GroupId group, TopicIdPartition partition,
                                                    int32_t max_ranges) {
  const auto source = source_of(partition);
  if (!source) co_return source.error();
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return ready.error();
  Describe op;
  op.key = {std::move(group), partition.topic_id, partition.partition};
  op.max_ranges = max_ranges;
  const int32_t index = shards_.index_of(op.key);
  auto running = shards_.run(index, std::move(op));
  Result<Describe::Reply> reply = co_await std::move(running);
  co_return reply;
}

// ---------------------------------------------------------------- transactional acknowledgements

io::Task<Result<std::vector<int32_t>>> Service::state_partitions(
    GroupId group, std::vector<TopicIdPartition> partitions) {
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return ready.error();
  std::vector<int32_t> indexes;
  indexes.reserve(partitions.size());
  for (const TopicIdPartition& partition : partitions) {
    indexes.push_back(shards_.index_of({group, partition.topic_id, partition.partition}));
  }
  co_return indexes;
}

io::Task<bool> Service::already_staged(GroupId group, Owner owner,
                                       std::vector<AcknowledgePartition> partitions) {
  for (auto& [index, shard] : by_shard(group, std::move(partitions))) {
    IsStagedBy op;
    op.owner = owner;
    for (AcknowledgePartition& one : shard.items) {
      op.partitions.push_back(
          {{group, one.partition.topic_id, one.partition.partition}, std::move(one.batches)});
    }
    auto running = shards_.run(index, std::move(op));
    const Result<IsStagedBy::Reply> reply = co_await std::move(running);
    if (!reply || !reply->staged) co_return false;
  }
  co_return true;
}

io::Task<Result<Guards>> Service::take_guards(OwnerId owner,
                                              std::vector<int32_t> state_partitions) {
  Guards guards;
  for (const int32_t index : state_partitions) {
    if (guards.contains(index)) continue;
    TakeGuard op{owner, environment_.random.next() | 1};
    auto running = shards_.run(index, std::move(op));
    const Result<Guard> guard = co_await std::move(running);
    if (!guard) co_return guard.error();
    guards.emplace(index, *guard);
  }
  co_return guards;
}

io::Task<std::vector<Stage::PartitionReply>> Service::stage(
    GroupId group, Owner owner, std::string member, Guards guards,
    std::vector<AcknowledgePartition> partitions) {
  std::vector<Stage::PartitionReply> replies(partitions.size());
  const int32_t limit = metadata_.group_config(group).share_partition_max_staged_records;
  auto shards = by_shard(group, std::move(partitions));
  std::vector<io::Task<Result<Stage::Reply>>> tasks;
  for (auto& [index, shard] : shards) {
    Stage op;
    op.owner = owner;
    op.guard = guards[index];
    op.member_id = member;
    for (AcknowledgePartition& one : shard.items) {
      Stage::Partition part;
      part.key = {group, one.partition.topic_id, one.partition.partition};
      part.batches = std::move(one.batches);
      part.max_staged_records = limit;
      op.partitions.push_back(std::move(part));
    }
    tasks.push_back(
        io::on(shards_.runner(index).core().executor, stage_here(index, std::move(op))));
  }
  auto running = io::when_all(std::move(tasks));
  std::vector<Result<Stage::Reply>> staged = co_await std::move(running);
  size_t which = 0;
  for (auto& [index, shard] : shards) {
    Result<Stage::Reply>& reply = staged[which++];
    for (size_t i = 0; i < shard.places.size(); ++i) {
      replies[shard.places[i]] =
          reply ? std::move((*reply)[i]) : Stage::PartitionReply{unavailable(reply.error()), false};
    }
  }
  co_return replies;
}

// What the log knows of the producer is looked up on the shard's core, at the moment of the
// decision.
io::Task<Result<Stage::Reply>> Service::stage_here(int32_t index, Stage op) {
  op.producer = shards_.runner(index).partition().producer(op.owner.producer_id);
  auto running = shards_.runner(index).run(std::move(op));
  Result<Stage::Reply> reply = co_await std::move(running);
  co_return reply;
}

io::Task<Result<Marker::Reply>> Service::marker_here(int32_t index, Marker op) {
  op.producer = shards_.runner(index).partition().producer(op.marker.producer.id);
  auto running = shards_.runner(index).run(std::move(op));
  Result<Marker::Reply> reply = co_await std::move(running);
  co_return reply;
}

ErrorCode Service::check_state_partition(int32_t index) const {
  if (!shards_.partitions()) return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  if (index < 0 || index >= shards_.partitions()) return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  return ErrorCode::NONE;
}

io::Task<ErrorCode> Service::write(int32_t index, Marker op) {
  const ErrorCode refusal = check_state_partition(index);
  if (refusal != ErrorCode::NONE) co_return refusal;
  auto running =
      io::on(shards_.runner(index).core().executor, marker_here(index, std::move(op)));
  const Result<Marker::Reply> reply = co_await std::move(running);
  // The sender retries it; a coordinator's own codes would end the transaction's completion.
  if (!reply) co_return ErrorCode::NOT_LEADER_OR_FOLLOWER;
  co_return reply->error.error_code;
}

io::Task<ErrorCode> Service::write_marker(int32_t state_partition, log::EndMarker marker) {
  Marker op;
  op.marker = marker;
  return write(state_partition, std::move(op));
}

io::Task<Result<WatchProducer::Reply>> Service::watch_producer(int32_t state_partition,
                                                               ProducerId producer_id) {
  const ErrorCode refusal = check_state_partition(state_partition);
  if (refusal != ErrorCode::NONE) co_return error(refusal);
  auto running =
      shards_.run(state_partition, WatchProducer{producer_id, environment_.random.next() | 1});
  Result<WatchProducer::Reply> reply = co_await std::move(running);
  if (!reply) co_return error(ErrorCode::NOT_LEADER_OR_FOLLOWER, reply.error().message);
  co_return reply;
}

io::Task<ErrorCode> Service::write_foreign_marker(int32_t state_partition, log::EndMarker marker,
                                                  Marker::FromTheWire from_the_wire) {
  Marker op;
  op.marker = marker;
  op.from_the_wire = from_the_wire;
  return write(state_partition, std::move(op));
}

}  // namespace

std::unique_ptr<ShareService> make_share_service(io::Environment& environment, log::LogService& log,
                                                 metadata::MetadataService& metadata) {
  return std::make_unique<Service>(environment, log, metadata);
}

}  // namespace ackord::share
