#include "broker/group/share_heartbeat.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ackord::group {
namespace {

using Names = std::set<std::string, std::less<>>;

ShareHeartbeatDecision refuse(ErrorCode code, std::string message) {
  ShareHeartbeatDecision decision;
  decision.reply.error = code;
  decision.reply.message = std::move(message);
  return decision;
}

std::string unknown_member(const ShareHeartbeat& request) {
  return "Member " + request.member + " is not a member of group " + request.group.str() + ".";
}

std::vector<SubscribedTopic> only(const std::vector<SubscribedTopic>& topics, const Names& names) {
  std::vector<SubscribedTopic> chosen;
  for (const SubscribedTopic& topic : topics) {
    if (names.contains(topic.name.sv())) chosen.push_back(topic);
  }
  return chosen;
}

std::set<Uuid> ids_of(const std::vector<SubscribedTopic>& topics, const Names& names) {
  std::set<Uuid> ids;
  for (const SubscribedTopic& topic : topics) {
    if (names.contains(topic.name.sv())) ids.insert(topic.id);
  }
  return ids;
}

class Heartbeat {
 public:
  Heartbeat(const ShareGroup* group, const ShareHeartbeatInput& input)
      : exists_(group != nullptr),
        group_(group != nullptr ? *group : none()),
        in_(input),
        id_(input.request.group.sv()),
        known_(group_.member(input.request.member)) {}

  ShareHeartbeatDecision run() {
    if (auto refused = check(); refused.reply.error != ErrorCode::NONE) return refused;
    update_member();
    update_epoch();
    update_target();
    reconcile();
    initialize();
    answer();
    return std::move(out_);
  }

 private:
  static const ShareGroup& none() {
    static const ShareGroup empty;
    return empty;
  }

  ShareHeartbeatDecision check() const {
    const ShareHeartbeat& request = in_.request;
    if (!exists_ && request.epoch != 0) {
      return refuse(ErrorCode::GROUP_ID_NOT_FOUND,
                    "Share group " + request.group.str() + " not found.");
    }
    if (known_ == nullptr) {
      if (request.epoch != 0) return refuse(ErrorCode::UNKNOWN_MEMBER_ID, unknown_member(request));
      if (group_.members().size() >= static_cast<size_t>(in_.limits.max_size)) {
        return refuse(ErrorCode::GROUP_MAX_SIZE_REACHED,
                      "The share group has reached its maximum capacity of " +
                          std::to_string(in_.limits.max_size) + " members.");
      }
      return {};
    }
    if (request.epoch == 0 || request.epoch == known_->epoch ||
        request.epoch == known_->previous_epoch)
      return {};
    const std::string known = std::to_string(known_->epoch);
    const std::string abandon = " The member must abandon all its partitions and rejoin.";
    if (request.epoch > known_->epoch) {
      return refuse(ErrorCode::FENCED_MEMBER_EPOCH,
                    "The share group member has a greater member epoch (" +
                        std::to_string(request.epoch) +
                        ") than the one known by the group coordinator (" + known + ")." + abandon);
    }
    return refuse(ErrorCode::FENCED_MEMBER_EPOCH,
                  "The share group member has a smaller member epoch (" +
                      std::to_string(request.epoch) +
                      ") than the one known by the group coordinator (" + known +
                      "), and it does not match the previous member epoch (" +
                      std::to_string(known_->previous_epoch) + ")." + abandon);
  }

  void update_member() {
    const ShareHeartbeat& request = in_.request;
    if (known_ != nullptr) member_ = *known_;
    if (request.rack) member_.rack = request.rack;
    member_.client_id = request.client_id;
    member_.client_host = request.client_host;
    if (request.topics) {
      member_.topics.clear();
      for (const TopicName& topic : *request.topics) member_.topics.insert(topic.str());
    }
    bump_ = known_ == nullptr || member_.topics != known_->topics;
    if (bump_ || member_.rack != known_->rack || member_.client_id != known_->client_id ||
        member_.client_host != known_->client_host) {
      out_.records.emplace_back(member_metadata_record(id_, request.member, member_));
    }
    Names subscribed = member_.topics;
    for (const auto& [id, other] : group_.members()) {
      if (id != request.member) subscribed.insert(other.topics.begin(), other.topics.end());
    }
    topics_ = only(in_.topics, subscribed);
  }

  void update_epoch() {
    for (const SubscribedTopic& topic : topics_) {
      const auto held = group_.initialized().find(topic.id);
      if (held == group_.initialized().end()) continue;
      for (const int32_t partition : held->second.partitions) {
        if (partition < topic.partitions) assignable_.insert({topic.id, partition});
      }
    }
    epoch_ = group_.epoch();
    const int64_t hash = metadata_hash(topics_, in_.limits.rack);
    bump_ = bump_ || hash != group_.metadata_hash();
    // Partitions that have become assignable since. A target that is behind the epoch will take
    // them in anyway.
    bump_ = bump_ || (epoch_ == group_.assignment_epoch() && assignable_is_missing());
    if (bump_) out_.records.emplace_back(group_metadata_record(id_, ++epoch_, hash));
  }

  bool assignable_is_missing() const {
    Assignment assigned;
    for (const auto& [id, target] : group_.target()) assigned.insert(target.begin(), target.end());
    return !std::includes(assigned.begin(), assigned.end(), assignable_.begin(), assignable_.end());
  }

  // A target that gave nobody anything need not be kept for a while.
  bool target_may_change() const {
    const TimeMs since = in_.now_wall_ms - group_.assignment_timestamp();
    if (since < 0 || since >= in_.limits.assignment_interval_ms) return true;
    return std::all_of(group_.target().begin(), group_.target().end(),
                       [](const auto& entry) { return entry.second.empty(); });
  }

  void update_target() {
    const auto old = group_.target().find(in_.request.member);
    if (old != group_.target().end()) target_ = old->second;
    target_epoch_ = group_.assignment_epoch();
    if (epoch_ <= target_epoch_ || !target_may_change()) return;
    std::map<std::string, AssignorMember> members;
    for (const auto& [id, member] : group_.members())
      members[id].topics = ids_of(topics_, member.topics);
    members[in_.request.member].topics = ids_of(topics_, member_.topics);
    for (auto& [id, member] : members) {
      const auto at = group_.target().find(id);
      if (at != group_.target().end()) member.previous = at->second;
    }
    const auto targets = assign_share_partitions(members, assignable_);
    for (const auto& [id, target] : targets) {
      const auto at = group_.target().find(id);
      if (at != group_.target().end() && at->second == target) continue;
      out_.records.emplace_back(target_member_record(id_, id, target));
    }
    out_.records.emplace_back(target_metadata_record(id_, epoch_, in_.now_wall_ms));
    target_ = targets.at(in_.request.member);
    target_epoch_ = epoch_;
  }

  // A share member has nothing to give back first: it is at its target at once.
  void reconcile() {
    const std::set<Uuid> subscribed = ids_of(topics_, member_.topics);
    member_.assigned = target_;
    std::erase_if(member_.assigned,
                  [&](const auto& partition) { return !subscribed.contains(partition.topic_id); });
    if (member_.epoch != target_epoch_) {
      member_.previous_epoch = member_.epoch;
      member_.epoch = target_epoch_;
    }
    if (known_ == nullptr || member_.epoch != known_->epoch ||
        member_.assigned != known_->assigned) {
      out_.records.emplace_back(current_assignment_record(id_, in_.request.member, member_));
    }
  }

  void initialize() {
    HeldTopics initializing = group_.initializing();
    for (const SubscribedTopic& topic : topics_) {
      const auto held = group_.initialized().find(topic.id);
      const auto begun = group_.initializing().find(topic.id);
      const bool has_state = held != group_.initialized().end();
      for (int32_t partition = 0; partition < topic.partitions; ++partition) {
        const TopicIdPartition name{topic.id, partition};
        if (has_state && held->second.partitions.contains(partition)) continue;
        if (in_.in_flight.contains(name)) continue;
        const bool again =
            begun != group_.initializing().end() && begun->second.partitions.contains(partition);
        const bool added_later = has_state || (begun != group_.initializing().end() && !again);
        out_.initialize.push_back({name, added_later ? Offset{0} : Offset{-1}});
        initializing[topic.id].name = topic.name.str();
        initializing[topic.id].partitions.insert(partition);
      }
    }
    if (initializing != group_.initializing()) {
      out_.records.emplace_back(state_partitions_record(id_, initializing, group_.initialized()));
    }
    out_.state_epoch = epoch_;
  }

  void answer() {
    out_.reply.member = in_.request.member;
    out_.reply.member_epoch = member_.epoch;
    out_.reply.heartbeat_interval_ms = in_.limits.heartbeat_interval_ms;
    const bool full = in_.request.epoch == 0 || in_.request.topics.has_value();
    if (full || known_ == nullptr || member_.assigned != known_->assigned) {
      out_.reply.assignment = to_topic_partitions(member_.assigned);
    }
  }

  const bool exists_;
  const ShareGroup& group_;
  const ShareHeartbeatInput& in_;
  const std::string_view id_;
  const ShareMember* known_;

  ShareMember member_;                   // as it will be
  std::vector<SubscribedTopic> topics_;  // subscribed by anybody
  Assignment assignable_;
  bool bump_ = false;
  int32_t epoch_ = 0;
  Assignment target_;
  int32_t target_epoch_ = 0;
  ShareHeartbeatDecision out_;
};

}  // namespace

ShareHeartbeatDecision decide_heartbeat(const ShareGroup* group, const ShareHeartbeatInput& input) {
  return Heartbeat(group, input).run();
}

ShareHeartbeatDecision decide_leave(const ShareGroup& group, const ShareHeartbeatInput& input) {
  const ShareHeartbeat& request = input.request;
  if (group.member(request.member) == nullptr) {
    return refuse(ErrorCode::UNKNOWN_MEMBER_ID, unknown_member(request));
  }
  Names left;
  for (const auto& [id, member] : group.members()) {
    if (id != request.member) left.insert(member.topics.begin(), member.topics.end());
  }
  ShareHeartbeatDecision decision;
  decision.records = remove_members(request.group.sv(), group, {request.member},
                                    metadata_hash(only(input.topics, left), input.limits.rack));
  decision.reply.member = request.member;
  decision.reply.member_epoch = request.epoch;
  return decision;
}

}  // namespace ackord::group
