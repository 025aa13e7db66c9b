// Fetch (key 1), versions 4-18.
//   v4  isolation level      v5  log start offset     v7  sessions (KIP-227)     v9  current leader
//   epoch v11 rack, preferred replica (always -1: one node)  v12 flexible, diverging epoch
//   (KIP-595)        v13 topic ids            v15 replica state         v16 node endpoints v17
//   directory id, v18 high watermark
// Long poll: answers when MinBytes are there, when MaxWaitMs is over, or at once when a partition
// has an error. The first partition that has data gives at least one whole batch, whatever the
// limits; the others obey them. Sessions: fetch_session.h. An incremental answer has only the
// partitions with records, an error or moved positions. May: READ on each topic; a replica
// CLUSTER_ACTION.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "broker/api/fetch_polling.h"
#include "broker/api/fetch_quota.h"
#include "broker/api/fetch_session.h"
#include "broker/api/handlers.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"

namespace ackord::api {
namespace {

using protocol::FetchRequest;
using protocol::FetchResponse;

constexpr int32_t kInitialEpoch = 0;
constexpr int32_t kFinalEpoch = -1;
constexpr int16_t kFirstWithLeader = 16;
constexpr int16_t kFirstWithReplicaState = 15;

bool is_replica(const FetchRequest& request, int16_t version) {
  const BrokerId id =
      version >= kFirstWithReplicaState ? request.replica_state.replica_id : request.replica_id;
  return id.value >= 0;
}

FetchTarget target_of(const FetchRequest::FetchTopic& topic,
                      const FetchRequest::FetchPartition& partition) {
  FetchTarget target;
  target.topic = topic.topic;
  target.topic_id = topic.topic_id;
  target.partition = partition.partition;
  target.current_leader_epoch = partition.current_leader_epoch;
  target.fetch_offset = partition.fetch_offset;
  target.last_fetched_epoch = partition.last_fetched_epoch;
  target.max_bytes = partition.partition_max_bytes;
  return target;
}

bool is_unknown(ErrorCode error) {
  return error == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION || error == ErrorCode::UNKNOWN_TOPIC_ID ||
         error == ErrorCode::TOPIC_AUTHORIZATION_FAILED;
}

FetchResponse::PartitionData partition_data(const RequestContext& context,
                                            const FetchTarget& target, FetchResult& result,
                                            log::Isolation isolation) {
  FetchResponse::PartitionData data;
  data.partition_index = target.partition;
  data.error_code = result.error;
  data.high_watermark = result.high_watermark;
  data.last_stable_offset = result.last_stable_offset;
  data.log_start_offset = result.log_start_offset;
  // The schema's default is an empty list, which is what stands beside a partition that is not
  // known, or may not be; a reader of everything is told null.
  if (!is_unknown(result.error)) data.aborted_transactions.reset();
  if (isolation == log::Isolation::kReadCommitted && result.error == ErrorCode::NONE) {
    auto& aborted = data.aborted_transactions.emplace();
    for (const auto& one : result.aborted) aborted.push_back({one.producer_id, one.first_offset});
  }
  if (result.diverging) {
    data.diverging_epoch.epoch = result.diverging->first;
    data.diverging_epoch.end_offset = result.diverging->second;
  }
  if (result.leader_epoch >= 0 && context.api_version >= kFirstWithLeader) {
    data.current_leader.leader_id = context.services.metadata.this_node().id;
    data.current_leader.leader_epoch = result.leader_epoch;
  }
  data.records = std::move(result.records);
  return data;
}

// A partition that is named again is asked for once, in its first place, as it was named last.
struct TargetKey {
  TopicName topic;
  Uuid topic_id;
  int32_t partition;
  friend auto operator<=>(const TargetKey&, const TargetKey&) = default;
};
std::vector<FetchTarget> distinct_targets(const FetchRequest& request) {
  std::vector<FetchTarget> targets;
  std::map<TargetKey, size_t> places;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      const auto [at, is_new] = places.emplace(
          TargetKey{topic.topic, topic.topic_id, partition.partition}, targets.size());
      if (is_new)
        targets.push_back(target_of(topic, partition));
      else
        targets[at->second] = target_of(topic, partition);
    }
  }
  return targets;
}

FetchResponse::FetchableTopicResponse& topic_entry(FetchResponse& response,
                                                   const FetchTarget& target) {
  if (response.responses.empty() || response.responses.back().topic != target.topic ||
      response.responses.back().topic_id != target.topic_id) {
    auto& entry = response.responses.emplace_back();
    entry.topic = target.topic;
    entry.topic_id = target.topic_id;
  }
  return response.responses.back();
}

io::Task<std::unique_ptr<FetchSession>> create_session(FetchSessions& sessions, bool by_id,
                                                       uint64_t random, int64_t now_ms) {
  co_return sessions.create(by_id, random, now_ms);
}
io::Task<Result<std::unique_ptr<FetchSession>>> take_session(FetchSessions& sessions, int32_t id,
                                                             int32_t epoch, bool by_id) {
  co_return sessions.take(id, epoch, by_id);
}
io::Task<bool> put_session_back(FetchSessions& sessions, std::unique_ptr<FetchSession> session,
                                int64_t now_ms) {
  sessions.put_back(std::move(session), now_ms);
  co_return true;
}
io::Task<bool> remove_session(FetchSessions& sessions, int32_t id) {
  co_return sessions.remove(id);
}

FetchSessions& sessions_of(RequestContext& context, int32_t id) {
  auto& all = context.services.fetch_sessions;
  return all[static_cast<size_t>(id) % all.size()];
}
io::Executor& executor_of(RequestContext& context, int32_t id) {
  return context.services.environment.core(static_cast<size_t>(id)).executor;
}

struct Opened {
  ErrorCode error = ErrorCode::NONE;
  std::unique_ptr<FetchSession> session;  // null: a full fetch without one
  bool incremental = false;
};

// Finds or makes the request's session and brings it up to date (KIP-227: id and epoch say which of
// the two).
io::Task<Opened> open_session(RequestContext& context, const FetchRequest& request) {
  const bool by_id = context.api_version >= 13;
  Opened opened;
  if (request.session_epoch == kFinalEpoch || request.session_epoch == kInitialEpoch) {
    if (request.session_id > 0) {
      auto removing =
          io::on(executor_of(context, request.session_id),
                 remove_session(sessions_of(context, request.session_id), request.session_id));
      (void)co_await std::move(removing);
    }
    if (request.session_epoch == kFinalEpoch) co_return opened;
    auto creating = create_session(
        context.services.fetch_sessions[static_cast<size_t>(context.core.index)], by_id,
        context.services.environment.random.next(), context.core.clock.now().steady_ms);
    opened.session = co_await std::move(creating);
  } else {
    if (request.session_id <= 0) {
      opened.error = ErrorCode::FETCH_SESSION_ID_NOT_FOUND;
      co_return opened;
    }
    auto taking = io::on(executor_of(context, request.session_id),
                         take_session(sessions_of(context, request.session_id), request.session_id,
                                      request.session_epoch, by_id));
    Result<std::unique_ptr<FetchSession>> taken = co_await std::move(taking);
    if (!taken) {
      opened.error = taken.error().code;
      co_return opened;
    }
    opened.session = std::move(*taken);
    opened.session->advance_epoch();
    opened.incremental = true;
  }
  if (opened.session) {
    opened.session->follow(context.core.executor);
    for (const auto& topic : request.topics) {
      for (const auto& partition : topic.partitions)
        opened.session->add(target_of(topic, partition));
    }
    for (const auto& topic : request.forgotten_topics_data) {
      for (const int32_t partition : topic.partitions)
        opened.session->forget(topic.topic, topic.topic_id, partition);
    }
    // One that has nothing left ends (KIP-227); it has been taken out already.
    if (opened.incremental && opened.session->size() == 0) {
      auto removing =
          io::on(executor_of(context, opened.session->id()),
                 remove_session(sessions_of(context, opened.session->id()), opened.session->id()));
      (void)co_await std::move(removing);
      opened.session.reset();
    }
  }
  co_return opened;
}

void answer_session(const RequestContext& context, FetchResponse& response, Opened& opened,
                    std::vector<FetchLook>& looks, log::Isolation isolation) {
  FetchSession& session = *opened.session;
  response.session_id = session.id();
  std::vector<FetchTarget*> with_data;
  for (FetchLook& look : looks) {
    FetchTarget& target = *look.target;
    FetchResult& result = look.result;
    const bool answers = !opened.incremental || has_news(look);
    if (result.records.size() != 0) {
      with_data.push_back(&target);
    } else if (comes_again(look)) {
      session.look_again(target);
    }
    if (!answers) continue;
    target.told = result.error == ErrorCode::NONE;
    target.told_high_watermark = result.high_watermark;
    target.told_last_stable_offset = result.last_stable_offset;
    target.told_log_start_offset = result.log_start_offset;
    topic_entry(response, target)
        .partitions.push_back(partition_data(context, target, result, isolation));
  }
  for (FetchTarget* target : with_data) {
    session.move_to_end(*target);
    session.look_again(*target);
  }
}

// An empty answer. A session goes on as it was; one that was to begin does not (KIP-219).
io::Task<void> answer_nothing(RequestContext& context, FetchResponse& response, Opened opened) {
  if (!opened.session) co_return;
  const int32_t id = opened.session->id();
  if (opened.incremental) {
    response.session_id = id;
    auto putting = io::on(executor_of(context, id),
                          put_session_back(sessions_of(context, id), std::move(opened.session),
                                           context.core.clock.now().steady_ms));
    (void)co_await std::move(putting);
  } else {
    auto removing = io::on(executor_of(context, id), remove_session(sessions_of(context, id), id));
    (void)co_await std::move(removing);
  }
}

}  // namespace

io::Task<FetchResponse> handle(RequestContext& context, FetchRequest request) {
  FetchResponse response;
  auto opening = open_session(context, request);
  Opened opened = co_await std::move(opening);
  if (opened.error != ErrorCode::NONE) {
    response.error_code = opened.error;
    co_return response;
  }
  const int32_t fetch_max_bytes = context.services.metadata.broker_config().fetch_max_bytes;
  auto charging = fetch_charge(context);
  quota::Charge charge = co_await std::move(charging);
  const auto max_bytes = static_cast<int32_t>(
      std::min<int64_t>(std::min(request.max_bytes, fetch_max_bytes), charge.most()));
  // What the limit never lets through is not waited for.
  const FetchLimits limits{max_bytes, std::min(request.min_bytes, max_bytes),
                           context.core.clock.now().steady_ms + std::max(request.max_wait_ms, 0),
                           static_cast<log::Isolation>(request.isolation_level == 1),
                           is_replica(request, context.api_version)};
  std::vector<FetchTarget> own;
  std::vector<FetchLook> looks;
  if (opened.session) {
    const size_t portion = opened.incremental ? kFetchPortion : opened.session->size();
    auto polling = poll_session(context, *opened.session, limits, portion);
    looks = co_await std::move(polling);
  } else {
    own = distinct_targets(request);
    auto polling = poll_all(context, &own, limits);
    looks = co_await std::move(polling);
  }
  if (is_throttled(context, charge, looks, response)) {
    if (opened.session) {
      for (const FetchLook& look : looks) opened.session->look_again(*look.target);
    }
    auto answering = answer_nothing(context, response, std::move(opened));
    co_await std::move(answering);
    co_return response;
  }
  if (!opened.session) {
    for (FetchLook& look : looks) {
      topic_entry(response, *look.target)
          .partitions.push_back(
              partition_data(context, *look.target, look.result, limits.isolation));
    }
    co_return response;
  }
  answer_session(context, response, opened, looks, limits.isolation);
  const int32_t id = opened.session->id();
  auto putting = io::on(executor_of(context, id),
                        put_session_back(sessions_of(context, id), std::move(opened.session),
                                         context.core.clock.now().steady_ms));
  (void)co_await std::move(putting);
  co_return response;
}

}  // namespace ackord::api
