#include "broker/share/share_session.h"

#include <algorithm>
#include <utility>

namespace ackord::share {
namespace {

int32_t epoch_after(int32_t epoch) { return epoch == INT32_MAX ? 1 : epoch + 1; }

}  // namespace

Result<SessionStep> ShareSessions::accept(const SessionRequest& request) {
  if (request.epoch == kInitialSessionEpoch) {
    if (!request.fetch) return error(ErrorCode::INVALID_SHARE_SESSION_EPOCH);
    // Nothing can have been acquired in a session that does not exist yet.
    if (request.has_acknowledgements) return error(ErrorCode::INVALID_REQUEST);
    return open(request);
  }
  const auto group = groups_.find(request.group);
  if (group == groups_.end()) return error(ErrorCode::SHARE_SESSION_NOT_FOUND);
  const auto member = group->second.find(request.member);
  if (member == group->second.end()) return error(ErrorCode::SHARE_SESSION_NOT_FOUND);
  if (request.epoch == kFinalSessionEpoch) return end(group, member);
  Session& session = member->second;
  if (request.epoch != session.next_epoch) return error(ErrorCode::INVALID_SHARE_SESSION_EPOCH);
  SessionStep step;
  step.number = session.number;
  if (request.fetch) {
    change(session, request);
    step.watch = session.watch;
  }
  step.partitions = session.partitions;
  session.next_epoch = epoch_after(session.next_epoch);
  return step;
}

Result<SessionStep> ShareSessions::open(const SessionRequest& request) {
  auto group = groups_.find(request.group);
  if (group != groups_.end()) {
    const auto old = group->second.find(request.member);
    if (old != group->second.end()) {
      // Replaced: what the member has acquired stays acquired.
      end(group, old);
      group = groups_.find(request.group);
    }
  }
  if (!slots_.take()) return error(ErrorCode::SHARE_SESSION_LIMIT_REACHED);
  Session session;
  session.number = ++opened_;
  session.connection_id = request.connection_id;
  change(session, request);
  SessionStep step;
  step.number = session.number;
  step.watch = session.watch;
  step.partitions = session.partitions;
  groups_[request.group].emplace(request.member, std::move(session));
  by_connection_[request.connection_id].emplace_back(request.group, request.member);
  ++count_;
  return step;
}

void ShareSessions::change(Session& session, const SessionRequest& request) {
  std::vector<TopicIdPartition> joined;
  for (const TopicIdPartition& partition : request.listed) {
    if (session.members.insert(partition).second) joined.push_back(partition);
  }
  bool left = false;
  // In an opening request there is nothing to forget.
  if (request.epoch != kInitialSessionEpoch) {
    for (const TopicIdPartition& partition : request.forgotten)
      left = session.members.erase(partition) != 0 || left;
  }
  if (!joined.empty() || left || !session.partitions) {
    auto partitions = std::make_shared<std::vector<TopicIdPartition>>();
    if (session.partitions) *partitions = *session.partitions;
    partitions->insert(partitions->end(), joined.begin(), joined.end());
    std::erase_if(*partitions, [&](const auto& one) { return !session.members.contains(one); });
    session.partitions = std::move(partitions);
  }
  if (!session.watch || session.watched_by != request.connection_id) {
    session.watch = std::make_shared<SessionWatch>();
    session.watched_by = request.connection_id;
  }
}

SessionStep ShareSessions::end(std::unordered_map<GroupId, Members>::iterator group,
                               Members::iterator member) {
  SessionStep step;
  step.final = true;
  step.number = member->second.number;
  step.partitions = std::move(member->second.partitions);
  const auto connection = by_connection_.find(member->second.connection_id);
  if (connection != by_connection_.end()) {
    std::erase(connection->second, std::pair(group->first, member->first));
    if (connection->second.empty()) by_connection_.erase(connection);
  }
  group->second.erase(member);
  --count_;
  slots_.give_back();
  if (group->second.empty()) {
    step.last_of_group = true;
    groups_.erase(group);
  }
  return step;
}

std::vector<ClosedSession> ShareSessions::close_connection(uint64_t connection_id) {
  std::vector<ClosedSession> closed;
  const auto connection = by_connection_.find(connection_id);
  if (connection == by_connection_.end()) return closed;
  const auto keys = connection->second;
  for (const auto& [group_id, member_id] : keys) {
    const auto group = groups_.find(group_id);
    if (group == groups_.end()) continue;
    const auto member = group->second.find(member_id);
    if (member == group->second.end()) continue;
    SessionStep step = end(group, member);
    closed.push_back(
        {group_id, member_id, step.number, std::move(step.partitions), step.last_of_group});
  }
  return closed;
}

}  // namespace ackord::share
