#include "broker/api/fetch_polling.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/by_core.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {
namespace {

// The whole-request limit, in the order of the looks: what does not fit is left for the next
// request. `total` is what stays of the looks before and, then, of these, too.
void apply_limit(std::vector<FetchLook>& looks, int64_t max_bytes, int64_t& total) {
  for (FetchLook& look : looks) {
    const auto size = static_cast<int64_t>(look.result.records.size());
    if (size == 0) continue;
    const bool fits = total + size <= max_bytes && size <= look.target->max_bytes;
    if (fits || total == 0) {
      total += size;
    } else {
      look.result.records = Records();
      look.left_out = true;
    }
  }
}

// Whether a topic may be read. A name that no topic has is answered as one that may not be.
bool may_read(const Access& access, const FetchLimits& limits, std::string_view topic) {
  return limits.from_replica ? access.may_cluster(Operation::kClusterAction)
                             : access.may_topic(Operation::kRead, topic);
}

Read read_for(RequestContext& context, const Access& access, const FetchTarget& target,
              const FetchLimits& limits) {
  const metadata::MetadataImage& image = context.services.metadata.image();
  const bool by_id = context.api_version >= 13;
  const auto topic = by_id ? image.topic(target.topic_id) : image.topic(target.topic);
  Read read;
  read.partition = {topic ? topic->name : target.topic, target.partition};
  if (!topic)
    read.error = by_id ? ErrorCode::UNKNOWN_TOPIC_ID : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  if (read.error != ErrorCode::UNKNOWN_TOPIC_ID &&
      !may_read(access, limits, read.partition.topic.sv()))
    read.error = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
  read.from_replica = limits.from_replica;
  read.current_leader_epoch = target.current_leader_epoch;
  read.last_fetched_epoch = target.last_fetched_epoch;
  read.spec = {target.fetch_offset, std::min<int64_t>(target.max_bytes, limits.max_bytes), true,
               limits.isolation, false};
  return read;
}

// An error says nothing else of the partition (as Kafka).
FetchResult without_positions(FetchResult result) {
  result.high_watermark = result.last_stable_offset = result.log_start_offset = -1;
  result.records = Records();
  return result;
}

io::Task<std::vector<FetchLook>> look(RequestContext& context, std::vector<FetchTarget*> targets,
                                      std::vector<Read> reads) {
  log::LogService& logs = context.services.log;
  Reading work{logs};
  auto core_of = [&logs](const Read& read) -> const io::Core& {
    return logs.core_of(read.partition);
  };
  auto running = by_core<FetchResult>(std::move(reads), core_of, work);
  std::vector<FetchResult> results = co_await std::move(running);
  std::vector<FetchLook> looks;
  looks.reserve(targets.size());
  for (size_t i = 0; i < targets.size(); ++i) {
    FetchResult& result = results[i];
    if (result.error != ErrorCode::NONE) result = without_positions(std::move(result));
    looks.push_back({targets[i], std::move(result)});
  }
  co_return looks;
}

bool ends_poll(const std::vector<FetchLook>& looks) {
  return std::any_of(looks.begin(), looks.end(), [](const FetchLook& one) {
    return one.result.error != ErrorCode::NONE || one.result.diverging;
  });
}

std::shared_ptr<io::Wakeup> wakeup_for(RequestContext& context, const FetchLimits& limits) {
  const io::Core& core = context.core;
  const bool may_wait = limits.min_bytes > 0 && core.clock.now().steady_ms < limits.deadline_ms &&
                        !context.client->gone;
  if (!may_wait) return nullptr;
  auto wakeup = io::Wakeup::make(core.executor, core.clock);
  context.client->on_gone.subscribe(wakeup);
  return wakeup;
}

// Portion after portion, until none is ready or one has met the limit.
io::Task<std::vector<FetchLook>> look_at_ready(RequestContext& context, FetchSession& session,
                                               FetchLimits limits, size_t most, int64_t* bytes) {
  const Access access(context);
  std::vector<FetchLook> looks;
  bool full = false;
  while (!full) {
    std::vector<FetchTarget*> targets = session.take_ready(most);
    if (targets.empty()) break;
    std::vector<Read> reads;
    reads.reserve(targets.size());
    for (FetchTarget* target : targets) {
      reads.push_back(read_for(context, access, *target, limits));
      reads.back().watch = session.watch(*target);
    }
    auto looking = look(context, std::move(targets), std::move(reads));
    std::vector<FetchLook> portion = co_await std::move(looking);
    apply_limit(portion, limits.max_bytes, *bytes);
    full = *bytes >= limits.max_bytes ||
           std::any_of(portion.begin(), portion.end(),
                       [](const FetchLook& one) { return one.left_out; });
    std::move(portion.begin(), portion.end(), std::back_inserter(looks));
  }
  co_return looks;
}

}  // namespace

bool has_news(const FetchLook& look) {
  const FetchTarget& target = *look.target;
  const FetchResult& result = look.result;
  return result.error != ErrorCode::NONE || result.diverging || result.records.size() != 0 ||
         !target.told || target.told_high_watermark != result.high_watermark ||
         target.told_last_stable_offset != result.last_stable_offset ||
         target.told_log_start_offset != result.log_start_offset;
}

bool comes_again(const FetchLook& look) {
  return look.left_out || look.result.error != ErrorCode::NONE || look.result.diverging ||
         look.result.records.size() != 0;
}

io::Task<std::vector<FetchLook>> poll_all(RequestContext& context,
                                          std::vector<FetchTarget>* targets, FetchLimits limits) {
  const Access access(context);
  std::vector<FetchTarget*> all;
  for (FetchTarget& target : *targets) all.push_back(&target);
  while (true) {
    const std::shared_ptr<io::Wakeup> wakeup = wakeup_for(context, limits);
    std::vector<Read> reads;
    reads.reserve(all.size());
    for (const FetchTarget* target : all) {
      reads.push_back(read_for(context, access, *target, limits));
      reads.back().watch = wakeup;
    }
    auto looking = look(context, all, std::move(reads));
    std::vector<FetchLook> looks = co_await std::move(looking);
    int64_t bytes = 0;
    apply_limit(looks, limits.max_bytes, bytes);
    if (!wakeup || all.empty() || ends_poll(looks) || bytes >= limits.min_bytes) co_return looks;
    auto waiting = wakeup->wait_until(limits.deadline_ms);
    (void)co_await std::move(waiting);
  }
}

io::Task<std::vector<FetchLook>> poll_session(RequestContext& context, FetchSession& session,
                                              FetchLimits limits, size_t portion) {
  const uint64_t acls = context.services.metadata.image().acls().version();
  session.look_as({limits.isolation, limits.from_replica, acls});
  while (true) {
    const std::shared_ptr<io::Wakeup> wakeup = wakeup_for(context, limits);
    if (wakeup) session.news().subscribe(wakeup);
    int64_t bytes = 0;
    auto looking = look_at_ready(context, session, limits, portion, &bytes);
    std::vector<FetchLook> looks = co_await std::move(looking);
    if (!wakeup || session.size() == 0 || ends_poll(looks) || bytes >= limits.min_bytes)
      co_return looks;
    for (const FetchLook& one : looks) {
      if (has_news(one) || comes_again(one)) session.look_again(*one.target);
    }
    auto waiting = wakeup->wait_until(limits.deadline_ms);
    (void)co_await std::move(waiting);
  }
}

}  // namespace ackord::api
