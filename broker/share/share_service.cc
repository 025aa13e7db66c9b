#include "broker/share/share_service.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "broker/base/logging.h"
#include "broker/share/local_share_service.h"

namespace ackord::share {
namespace {

// The entries of a reply, found by their partition.
class Entries {
 public:
  explicit Entries(ShareFetchReply& reply) : reply_(reply) {
    for (size_t i = 0; i < reply.partitions.size(); ++i)
      places_.emplace(reply.partitions[i].partition, i);
  }
  ShareFetchPartition& of(const TopicIdPartition& partition) {
    const auto [at, is_new] = places_.emplace(partition, reply_.partitions.size());
    if (is_new)
      reply_.partitions.push_back(ShareFetchPartition{partition, ErrorCode::NONE, {}, {}, {}});
    return reply_.partitions[at->second];
  }

 private:
  ShareFetchReply& reply_;
  std::unordered_map<TopicIdPartition, size_t> places_;
};

}  // namespace

Result<std::shared_ptr<const metadata::TopicImage>> LocalShareService::source_of(
    const TopicIdPartition& partition) const {
  auto topic = metadata_.image().topic(partition.topic_id);
  if (!topic) return error(ErrorCode::UNKNOWN_TOPIC_ID);
  if (partition.partition < 0 || partition.partition >= topic->partitions) {
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
  return topic;
}

Result<std::shared_ptr<const metadata::TopicImage>> LocalShareService::readable(
    const TopicIdPartition& partition, const MayRead& may_read) const {
  const auto topic = metadata_.image().topic(partition.topic_id);
  if (topic && may_read && !may_read(topic->name))
    return error(ErrorCode::TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed.");
  return source_of(partition);
}

// ---------------------------------------------------------------- sessions

void LocalShareService::connection_closed(uint64_t connection_id) {
  for (const io::Core& core : environment_.cores)
    io::spawn(core.executor, close_sessions(core, connection_id));
}

io::Task<void> LocalShareService::close_sessions(const io::Core& core, uint64_t connection_id) {
  std::vector<ClosedSession> closed =
      sessions_[static_cast<size_t>(core.index)].close_connection(connection_id);
  for (ClosedSession& session : closed) {
    auto releasing =
        release(session.group, {session.member, session.number}, std::move(session.partitions),
                session.last_of_group ? SessionEnd::kLastOfGroupGone : SessionEnd::kConnectionGone);
    co_await std::move(releasing);
  }
}

io::Task<void> LocalShareService::release(GroupId group, Holder holder, PartitionList partitions,
                                          SessionEnd end) {
  if (!shards_.partitions()) co_return;
  const metadata::GroupConfig config = metadata_.group_config(group);
  std::map<int32_t, std::vector<SharePartitionKey>> keys;
  for (const TopicIdPartition& partition : *partitions) {
    SharePartitionKey key{group, partition.topic_id, partition.partition};
    const int32_t index = shards_.index_of(key);
    keys[index].push_back(std::move(key));
  }
  for (auto& [index, mine] : keys) {
    ReleaseMember op;
    op.holder = holder;
    op.keys = std::move(mine);
    op.limit = limit_of(config);
    op.closed = end == SessionEnd::kClosed;
    auto releasing = shards_.run(index, std::move(op));
    const Result<ReleaseMember::Reply> released = co_await std::move(releasing);
    if (!released)
      base::log_warn(
          "records of a closed session wait for their lock to expire group={} member={} error={}",
          group, holder.member_id, released.error().code);
  }
  if (end != SessionEnd::kLastOfGroupGone) co_return;
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    auto dropping = shards_.run(index, DropSoft{group, holder.session});
    (void)co_await std::move(dropping);
  }
}

// ---------------------------------------------------------------- fetch

io::Task<ShareFetchReply> LocalShareService::fetch(ShareFetch call) {
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
                                         std::move(acknowledged), call.may_read);
    const std::vector<PartitionError> errors = co_await std::move(acknowledging);
    for (size_t i = 0; i < names.size(); ++i) {
      reply.partitions.push_back({names[i], ErrorCode::NONE, errors[i], {}, {}});
    }
  }
  if (step->final) {
    auto releasing = release(call.group, {call.member, step->number}, std::move(step->partitions),
                             SessionEnd::kClosed);
    co_await std::move(releasing);
  } else if (!call.renew && call.max_records > 0 && call.max_bytes > 0 &&
             !step->partitions->empty()) {
    auto polling = poll(call, *step, reply);
    co_await std::move(polling);
  }
  co_return reply;
}

io::Task<void> LocalShareService::poll(const ShareFetch& call, const SessionStep& step,
                                       ShareFetchReply& reply) {
  const io::Core& core = environment_.here();
  const int64_t deadline_ms = core.clock.now().steady_ms + std::max(call.max_wait_ms, 0);
  Ready& ready = step.watch->follow(core.executor, step.partitions);
  std::shared_ptr<io::Wakeup> wakeup;
  if (call.max_wait_ms > 0) {
    wakeup = io::Wakeup::make(core.executor, core.clock);
    if (call.on_gone) call.on_gone->subscribe(wakeup);
  }
  while (true) {
    const metadata::GroupConfig config = metadata_.group_config(call.group);
    if (wakeup) ready.news().subscribe(wakeup);
    bool found = true;
    if (call.min_bytes > 1 && core.clock.now().steady_ms < deadline_ms) {
      auto weighing = enough_bytes(call, step.number, ready, config);
      found = co_await std::move(weighing);
    }
    if (found) {
      auto looking = poll_once(call, step.number, ready, config, reply);
      found = co_await std::move(looking);
    }
    const bool gone = call.gone != nullptr && *call.gone;
    if (gone) {
      // The session has ended with its connection while this request was taking records for it.
      auto releasing = release(call.group, {call.member, step.number}, step.partitions,
                               SessionEnd::kConnectionGone);
      co_await std::move(releasing);
      co_return;
    }
    if (found || core.clock.now().steady_ms >= deadline_ms) co_return;
    auto waiting = wakeup->wait_until(deadline_ms);
    (void)co_await std::move(waiting);
    if (call.on_gone) call.on_gone->subscribe(wakeup);
  }
}

FetchOne LocalShareService::fetch_of(const ShareFetch& call, SessionNumber session,
                                     const TopicIdPartition& partition, TopicName topic,
                                     size_t partitions) const {
  FetchOne one;
  one.key = {call.group, partition.topic_id, partition.partition};
  one.source = {std::move(topic), partition.partition};
  one.holder = {call.member, session};
  one.max_bytes = std::max<int64_t>(1, call.max_bytes / static_cast<int64_t>(partitions));
  one.max_records = call.max_records;
  one.batch_size = call.batch_size;
  one.mode = call.mode;
  return one;
}

io::Task<bool> LocalShareService::enough_bytes(const ShareFetch& call, SessionNumber session,
                                               Ready& ready, metadata::GroupConfig config) {
  int64_t bytes = 0;
  const size_t partitions = ready.ready();
  for (size_t i = 0; i < partitions && bytes < call.min_bytes; ++i) {
    const std::optional<TopicIdPartition> partition = ready.take();
    if (!partition) break;
    const auto source = readable(*partition, call.may_read);
    std::optional<int64_t> available;
    if (source) {
      FetchOne one = fetch_of(call, session, *partition, (*source)->name, partitions);
      one.config = config;
      one.watch = ready.watch(*partition);
      auto looking = fetcher_.available_bytes(std::move(one));
      available = co_await std::move(looking);
    }
    if (!available || *available > 0) ready.put_back(*partition);
    if (!available) co_return true;
    bytes += *available;
  }
  co_return bytes >= call.min_bytes;
}

io::Task<bool> LocalShareService::poll_once(const ShareFetch& call, SessionNumber session,
                                            Ready& ready, metadata::GroupConfig config,
                                            ShareFetchReply& reply) {
  bool found = false;
  Entries entries(reply);
  int64_t records_left = call.max_records;
  const size_t partitions = ready.ready();
  for (size_t i = 0; i < partitions && records_left > 0; ++i) {
    const std::optional<TopicIdPartition> partition = ready.take();
    if (!partition) break;
    const auto source = readable(*partition, call.may_read);
    if (!source) {
      entries.of(*partition).error_code = source.error().code;
      ready.put_back(*partition);
      found = true;
      continue;
    }
    FetchOne one = fetch_of(call, session, *partition, (*source)->name, partitions);
    one.max_records = static_cast<int32_t>(records_left);
    one.config = config;
    one.limit = limit_of(config);
    one.watch = ready.watch(*partition);
    auto fetching = fetcher_.fetch(std::move(one));
    FetchedOne fetched = co_await std::move(fetching);
    const bool nothing = fetched.error_code == ErrorCode::NONE && fetched.acquired.empty();
    if (!nothing || fetched.undecided) ready.put_back(*partition);
    if (nothing) continue;
    found = true;
    ShareFetchPartition& out = entries.of(*partition);
    out.error_code = fetched.error_code;
    out.records = std::move(fetched.records);
    out.acquired = std::move(fetched.acquired);
    records_left -= fetched.record_count;
  }
  co_return found;
}

// ---------------------------------------------------------------- acknowledge

io::Task<ShareAcknowledgeReply> LocalShareService::acknowledge(ShareAcknowledgeCall call) {
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
                                       std::move(call.partitions), call.may_read);
  reply.partitions = co_await std::move(acknowledging);
  if (step->final) {
    auto releasing = release(call.group, {call.member, step->number}, std::move(step->partitions),
                             SessionEnd::kClosed);
    co_await std::move(releasing);
  }
  co_return reply;
}

io::Task<std::vector<PartitionError>> LocalShareService::acknowledge_all(
    GroupId group, std::string member, int8_t max_type,
    std::vector<AcknowledgePartition> partitions, MayRead may_read) {
  std::vector<PartitionError> errors(partitions.size());
  std::vector<AcknowledgePartition> known;
  std::vector<size_t> places;
  for (size_t i = 0; i < partitions.size(); ++i) {
    errors[i] = check_acknowledgement_batches(partitions[i].batches, max_type);
    if (!errors[i].ok()) continue;
    const auto source = readable(partitions[i].partition, may_read);
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
      part.limit = limit_of(config);
      part.lock_duration_ms = config.share_record_lock_duration_ms;
      part.renew_enabled = config.share_renew_acknowledge_enable;
      part.tolerate_repeats = config.share_acknowledgement_retry_tolerance;
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

std::unique_ptr<ShareService> make_share_service(io::Environment& environment, log::LogService& log,
                                                 metadata::MetadataService& metadata) {
  return std::make_unique<LocalShareService>(environment, log, metadata);
}

}  // namespace ackord::share
