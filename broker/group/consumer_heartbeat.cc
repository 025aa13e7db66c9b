#include "broker/group/consumer_heartbeat.h"

#include <algorithm>
#include <map>
#include <utility>

#include "broker/group/consumer_assignors.h"
#include "broker/group/consumer_reconciliation.h"
#include "broker/group/consumer_records.h"
#include "broker/group/topic_patterns.h"

namespace ackord::group {
namespace {

// Patterns are looked at again no sooner than this after the last look.
constexpr int64_t kLeastRegexRefreshMs = 10000;

ConsumerHeartbeatDecision refuse(ErrorCode code, std::string message) {
  ConsumerHeartbeatDecision decision;
  decision.reply.error = code;
  decision.reply.message = std::move(message);
  return decision;
}

using Interests = std::map<std::string, ConsumerGroup::Interest, std::less<>>;

// By how much interest in some topics changes.
class InterestChange {
 public:
  void names(const Names& topics, int32_t by) {
    for (const std::string& topic : topics) by_topic_[topic] += by;
  }
  // The hash of what `interests` are with this change.
  int64_t hash(const Interests& interests, const TopicView& view) const {
    std::vector<SubscribedTopic> topics;
    const auto add = [&](const std::string& name) {
      if (const auto topic = view.image.topic(name))
        topics.push_back({topic->name, topic->id, topic->partitions});
    };
    for (const auto& [name, interest] : interests) {
      const auto change = by_topic_.find(name);
      const int32_t by = change == by_topic_.end() ? 0 : change->second;
      if (interest.names + interest.patterns + by > 0) add(name);
    }
    for (const auto& [name, by] : by_topic_) {
      if (by > 0 && !interests.contains(name)) add(name);
    }
    return metadata_hash(topics, view.rack);
  }

 private:
  std::map<std::string, int32_t, std::less<>> by_topic_;
};

const Names& topics_of(const ConsumerGroup& group, const std::string& regex) {
  static const Names nothing;
  const auto at = group.resolved().find(regex);
  return at == group.resolved().end() ? nothing : at->second.topics;
}

void adjust(ConsumerGroup::Counts& counts, const std::optional<std::string>& key, int32_t by) {
  if (key) counts[*key] += by;
}

bool is_subset(const std::optional<std::vector<TopicPartitions>>& owned,
               const OwnedPartitions& assigned) {
  if (!owned) return false;
  return std::all_of(owned->begin(), owned->end(), [&](const TopicPartitions& topic) {
    return std::all_of(topic.partitions.begin(), topic.partitions.end(),
                       [&](int32_t p) { return assigned.contains({topic.topic_id, p}); });
  });
}

std::vector<TopicPartitions> to_topics(const OwnedPartitions& partitions) {
  std::vector<TopicPartitions> topics;
  for (const auto& [partition, since] : partitions) {
    if (topics.empty() || topics.back().topic_id != partition.topic_id)
      topics.push_back({partition.topic_id, {}});
    topics.back().partitions.push_back(partition.partition);
  }
  return topics;
}

class Heartbeat {
 public:
  Heartbeat(const ConsumerGroup* group, const ConsumerHeartbeatInput& input)
      : exists_(group != nullptr),
        group_(group != nullptr ? *group : none()),
        in_(input),
        request_(input.request),
        id_(input.request.group.sv()) {}

  ConsumerHeartbeatDecision run() {
    if (auto refused = find_member(); refused.reply.error != ErrorCode::NONE) return refused;
    if (auto refused = update_member(); refused.reply.error != ErrorCode::NONE) return refused;
    update_epoch();
    update_target();
    reconcile();
    answer();
    return std::move(out_);
  }

 private:
  static const ConsumerGroup& none() {
    static const ConsumerGroup empty;
    return empty;
  }

  // ---- who speaks

  ConsumerHeartbeatDecision find_member() {
    const bool joins = request_.epoch == kJoinEpoch;
    if (!exists_ && !joins) {
      return refuse(ErrorCode::GROUP_ID_NOT_FOUND,
                    "Consumer group " + request_.group.str() + " not found.");
    }
    const std::string* holder =
        request_.instance ? group_.static_member(*request_.instance) : nullptr;
    const ConsumerMember* own = group_.member(request_.member);
    if (holder == nullptr && own == nullptr &&
        group_.members().size() >= static_cast<size_t>(in_.limits.max_size)) {
      return refuse(ErrorCode::GROUP_MAX_SIZE_REACHED,
                    "The consumer group has reached its maximum capacity of " +
                        std::to_string(in_.limits.max_size) + " members.");
    }
    if (request_.instance) return find_static(holder, joins);
    if (own == nullptr && !joins) {
      return refuse(
          ErrorCode::UNKNOWN_MEMBER_ID,
          "Member " + request_.member + " is not a member of group " + request_.group.str() + ".");
    }
    if (own == nullptr) return {};
    before_ = *own;
    known_ = true;
    return check_epoch();
  }

  ConsumerHeartbeatDecision find_static(const std::string* holder, bool joins) {
    const std::string& instance = *request_.instance;
    joins = joins && !in_.knows_its_id;
    if (holder == nullptr && !joins)
      return refuse(ErrorCode::UNKNOWN_MEMBER_ID, "Instance id " + instance + " is unknown.");
    if (holder == nullptr) {
      if (const ConsumerMember* own = group_.member(request_.member)) {
        before_ = *own;
        known_ = true;
      }
      return {};
    }
    before_ = *group_.member(*holder);
    known_ = true;
    if (joins) return replace_static(*holder);
    if (*holder != request_.member) {
      return refuse(ErrorCode::FENCED_INSTANCE_ID, "Static member " + request_.member +
                                                       " with instance id " + instance +
                                                       " was fenced by member " + *holder + ".");
    }
    return check_epoch();
  }

  // A new member takes the place of the instance's old one, with its assignment.
  ConsumerHeartbeatDecision replace_static(const std::string& holder) {
    if (!in_.classic && !before_.classic && before_.epoch != kStaticLeaveEpoch) {
      return refuse(ErrorCode::UNRELEASED_INSTANCE_ID,
                    "Static member " + request_.member + " with instance id " + *request_.instance +
                        " cannot join the group because the instance id is owned by " + holder +
                        " member.");
    }
    before_.epoch = 0;
    before_.previous_epoch = 0;
    replaced_ = holder;
    add_member_tombstones(id_, holder, out_.records);
    out_.records.emplace_back(consumer_member_record(id_, request_.member, before_));
    out_.records.emplace_back(consumer_target_record(id_, request_.member, group_.target(holder)));
    out_.records.emplace_back(consumer_current_record(id_, request_.member, before_));
    return {};
  }

  ConsumerHeartbeatDecision check_epoch() const {
    const int32_t received = request_.epoch;
    const bool lost_answer =
        received == before_.previous_epoch && is_subset(request_.owned, before_.assigned);
    if (received == kJoinEpoch || received == before_.epoch ||
        (received < before_.epoch && lost_answer)) {
      const bool owns_nothing = request_.owned && request_.owned->empty();
      if (before_.state != MemberState::kUnknown || owns_nothing) return {};
      return refuse(ErrorCode::FENCED_MEMBER_EPOCH,
                    "The consumer group member is in a unknown state. The member must abandon all "
                    "its partitions and rejoin.");
    }
    return refuse(ErrorCode::FENCED_MEMBER_EPOCH,
                  std::string("The consumer group member has a ") +
                      (received > before_.epoch ? "greater" : "smaller") + " member epoch (" +
                      std::to_string(received) + ") than the one known by the group coordinator (" +
                      std::to_string(before_.epoch) +
                      "). The member must abandon all its partitions and rejoin.");
  }

  // ---- what it says of itself

  ConsumerHeartbeatDecision update_member() {
    member_ = before_;
    if (request_.instance) member_.instance = request_.instance;
    if (request_.rack) member_.rack = request_.rack;
    if (request_.rebalance_timeout_ms != -1)
      member_.rebalance_timeout_ms = request_.rebalance_timeout_ms;
    if (request_.assignor) member_.assignor = request_.assignor;
    if (request_.topics) {
      member_.topics.clear();
      for (const TopicName& topic : *request_.topics) member_.topics.insert(topic.str());
    }
    if (request_.regex) member_.regex = *request_.regex;
    member_.client_id = request_.client_id;
    member_.client_host = request_.client_host;
    member_.classic.reset();
    if (in_.classic != nullptr) member_.classic = *in_.classic;
    // A member without a record of its own gets one, whatever it says.
    if (!known_ || member_ != before_)
      out_.records.emplace_back(consumer_member_record(id_, request_.member, member_));
    bump_ = member_.topics != before_.topics;
    subscription_changed_ = bump_;
    if (auto refused = update_pattern(); refused.reply.error != ErrorCode::NONE) return refused;
    schedule_resolution();
    bump_ = bump_ || assignor_changes();
    return {};
  }

  ConsumerHeartbeatDecision update_pattern() {
    if (member_.regex == before_.regex) return {};
    subscription_changed_ = true;
    if (!before_.regex.empty() && group_.members_with(before_.regex) == 1)
      out_.records.emplace_back(consumer_regex_tombstone(id_, before_.regex));
    if (member_.regex.empty()) {
      bump_ = true;
    } else if (group_.members_with(member_.regex) == 0) {
      if (Result<void> checked = check_pattern(member_.regex); !checked)
        return refuse(checked.error().code, checked.error().message);
      new_pattern_ = true;
    } else if (group_.resolved().contains(member_.regex)) {
      bump_ = true;
    }
    return {};
  }

  // Behind the answer, and not too often: a look goes through all topics.
  void schedule_resolution() {
    if ((!new_pattern_ && group_.patterns().empty()) || in_.soft.resolving) return;
    const ResolvedRegex* last =
        group_.resolved().empty() ? nullptr : &group_.resolved().begin()->second;
    if (last != nullptr && in_.now_wall_ms <= last->timestamp_ms + kLeastRegexRefreshMs) return;
    ConsumerGroup::Counts patterns = group_.patterns();
    if (!before_.regex.empty()) --patterns[before_.regex];
    if (!member_.regex.empty()) ++patterns[member_.regex];
    std::erase_if(patterns, [](const auto& entry) { return entry.second <= 0; });
    const bool due = new_pattern_ || last == nullptr ||
                     patterns.size() != group_.resolved().size() ||
                     last->version < in_.topics.image.last_topic_version() ||
                     in_.now_wall_ms > last->timestamp_ms + in_.limits.regex_refresh_interval_ms;
    if (!due) return;
    for (const auto& [regex, members] : patterns) out_.resolve.push_back(regex);
  }

  std::string assignor_then() const {
    ConsumerGroup::Counts counts = group_.assignors();
    adjust(counts, before_.assignor, -1);
    adjust(counts, member_.assignor, 1);
    return preferred_assignor(counts, in_.limits.default_assignor);
  }
  bool assignor_changes() const {
    if (member_.assignor == before_.assignor) return false;
    return assignor_then() != preferred_assignor(group_.assignors(), in_.limits.default_assignor);
  }

  // ---- what follows for the group

  void update_epoch() {
    epoch_ = group_.epoch();
    const uint64_t version = in_.topics.image.topics_version();
    if (!bump_ && in_.soft.checked_topics_version == version) return;
    InterestChange change;
    change.names(before_.topics, -1);
    change.names(member_.topics, 1);
    if (!before_.regex.empty() && before_.regex != member_.regex &&
        group_.members_with(before_.regex) == 1)
      change.names(topics_of(group_, before_.regex), -1);
    const int64_t hash = change.hash(group_.subscribed_topics(), in_.topics);
    out_.checked_topics_version = version;
    if (!bump_ && hash == group_.metadata_hash()) return;
    out_.records.emplace_back(consumer_epoch_record(id_, ++epoch_, hash));
    if (group_.has_partition_metadata())
      out_.records.emplace_back(consumer_partition_metadata_tombstone(id_));
  }

  bool target_may_change() const {
    return group_.assignment_timestamp() == 0 || in_.limits.assignment_interval_ms == 0 ||
           in_.now_wall_ms >= group_.assignment_timestamp() + in_.limits.assignment_interval_ms;
  }

  const std::string& target_holder() const {
    return replaced_.empty() ? request_.member : replaced_;
  }

  void update_target() {
    target_epoch_ = group_.assignment_epoch();
    if (target_epoch_ >= epoch_ || !target_may_change()) {
      target_ = &group_.target(target_holder());
      return;
    }
    PartitionCounts counts;
    Subscribers subscribers;
    for (const auto& [id, member] : group_.members()) {
      if (id != request_.member && id != replaced_) subscribe(id, id, member, counts, subscribers);
    }
    subscribe(request_.member, target_holder(), member_, counts, subscribers);
    const Assignor assign = assignor_of(assignor_then());
    new_targets_ = assign(subscribers, counts);
    for (const auto& [id, target] : new_targets_) {
      const std::string& holder = id == request_.member ? target_holder() : id;
      const auto at = group_.target().find(holder);
      if (at == group_.target().end() || at->second != target)
        out_.records.emplace_back(consumer_target_record(id_, id, target));
    }
    out_.records.emplace_back(consumer_target_epoch_record(id_, epoch_, in_.now_wall_ms));
    target_ = &new_targets_.at(request_.member);
    target_epoch_ = epoch_;
  }

  void subscribe(const std::string& id, const std::string& holder, const ConsumerMember& member,
                 PartitionCounts& counts, Subscribers& subscribers) const {
    Subscriber& subscriber = subscribers[id];
    subscriber.instance = member.instance;
    subscriber.previous = group_.target(holder);
    for (const Names* names : {&member.topics, &topics_of(group_, member.regex)}) {
      for (const std::string& name : *names) {
        const auto topic = in_.topics.image.topic(name);
        if (topic == nullptr) continue;
        subscriber.topics.insert(topic->id);
        counts[topic->id] = topic->partitions;
      }
    }
  }

  void reconcile() {
    if (!subscription_changed_ && member_.is_at(target_epoch_)) return;
    PartitionCounts unused;
    Subscribers subscribed;
    subscribe(request_.member, target_holder(), member_, unused, subscribed);
    ConsumerMember next =
        reconciled(member_, {group_, target_epoch_, *target_, subscribed.at(request_.member).topics,
                             subscription_changed_, request_.owned});
    if (next == member_) return;
    member_ = std::move(next);
    out_.records.emplace_back(consumer_current_record(id_, request_.member, member_));
    if (member_.state == MemberState::kUnrevokedPartitions)
      out_.revocation_timeout_ms = member_.rebalance_timeout_ms;
  }

  void answer() {
    out_.reply.member = request_.member;
    out_.reply.member_epoch = member_.epoch;
    out_.reply.heartbeat_interval_ms = in_.limits.heartbeat_interval_ms;
    const bool full = request_.rebalance_timeout_ms != -1 && (request_.topics || request_.regex) &&
                      request_.owned.has_value();
    if (request_.epoch == kJoinEpoch || full || member_.assigned != before_.assigned)
      out_.reply.assignment = to_topics(member_.assigned);
  }

  const bool exists_;
  const ConsumerGroup& group_;
  const ConsumerHeartbeatInput& in_;
  const ConsumerHeartbeat& request_;
  const std::string_view id_;

  bool known_ = false;
  ConsumerMember
      before_;  // as the group knows it, or, of a static one that came back, its successor
  std::string replaced_;   // the id of the member whose place it takes
  ConsumerMember member_;  // as it will be
  bool bump_ = false;
  bool subscription_changed_ = false;
  bool new_pattern_ = false;
  int32_t epoch_ = 0;
  int32_t target_epoch_ = 0;
  Assignments new_targets_;
  const Assignment* target_ = nullptr;
  ConsumerHeartbeatDecision out_;
};

}  // namespace

std::string preferred_assignor(const ConsumerGroup::Counts& preferred,
                               const std::string& default_assignor) {
  const std::string* best = nullptr;
  int32_t most = 0;
  for (const auto& [name, count] : preferred) {
    if (count > most || (count == most && name == default_assignor)) {
      if (count == 0) continue;
      best = &name;
      most = count;
    }
  }
  return best == nullptr ? default_assignor : *best;
}

ConsumerHeartbeatDecision decide_heartbeat(const ConsumerGroup* group,
                                           const ConsumerHeartbeatInput& input) {
  return Heartbeat(group, input).run();
}

ConsumerHeartbeatDecision decide_leave(const ConsumerGroup& group,
                                       const ConsumerHeartbeatInput& input) {
  const ConsumerHeartbeat& request = input.request;
  const std::string_view id = request.group.sv();
  if (request.instance) {
    const std::string* holder = group.static_member(*request.instance);
    if (holder == nullptr) {
      return refuse(ErrorCode::UNKNOWN_MEMBER_ID,
                    "Instance id " + *request.instance + " is unknown.");
    }
    if (*holder != request.member) {
      return refuse(ErrorCode::FENCED_INSTANCE_ID, "Static member " + request.member +
                                                       " with instance id " + *request.instance +
                                                       " was fenced by member " + *holder + ".");
    }
  } else if (group.member(request.member) == nullptr) {
    return refuse(
        ErrorCode::UNKNOWN_MEMBER_ID,
        "Member " + request.member + " is not a member of group " + request.group.str() + ".");
  }
  ConsumerHeartbeatDecision decision;
  decision.reply.member = request.member;
  decision.reply.member_epoch = request.epoch;
  if (request.epoch == kStaticLeaveEpoch) {
    // Its partitions stay its own, from no epoch on: what it commits late is refused.
    ConsumerMember member = *group.member(request.member);
    member.epoch = kStaticLeaveEpoch;
    member.pending_revocation.clear();
    for (auto& [partition, since] : member.assigned) since = 0;
    decision.records.emplace_back(consumer_current_record(id, request.member, member));
  }
  return decision;
}

std::vector<GroupRecord> remove_consumers(std::string_view group_id, const ConsumerGroup& group,
                                          const std::vector<std::string>& members,
                                          const TopicView& topics) {
  std::vector<GroupRecord> records;
  ConsumerGroup::Counts patterns;
  InterestChange change;
  for (const std::string& id : members) {
    add_member_tombstones(group_id, id, records);
    const ConsumerMember& member = *group.member(id);
    change.names(member.topics, -1);
    if (!member.regex.empty()) ++patterns[member.regex];
  }
  for (const auto& [regex, count] : patterns) {
    if (group.members_with(regex) != count) continue;
    records.emplace_back(consumer_regex_tombstone(group_id, regex));
    change.names(topics_of(group, regex), -1);
  }
  const int32_t epoch = group.epoch() + 1;
  records.emplace_back(
      consumer_epoch_record(group_id, epoch, change.hash(group.subscribed_topics(), topics)));
  // Timestamp 0: the next member is assigned to at once.
  if (members.size() == group.members().size())
    records.emplace_back(consumer_target_epoch_record(group_id, epoch, 0));
  return records;
}

std::vector<GroupRecord> apply_resolution(std::string_view group_id, const ConsumerGroup& group,
                                          const std::map<std::string, ResolvedRegex>& found,
                                          const TopicView& topics) {
  std::vector<GroupRecord> records;
  InterestChange change;
  bool bump = false;
  for (const auto& [regex, resolved] : found) {
    if (group.members_with(regex) == 0) continue;
    const Names& before = topics_of(group, regex);
    if (before != resolved.topics) {
      bump = true;
      change.names(before, -1);
      change.names(resolved.topics, 1);
    }
    records.emplace_back(consumer_regex_record(group_id, regex, resolved));
  }
  const int64_t hash = change.hash(group.subscribed_topics(), topics);
  if (bump || hash != group.metadata_hash())
    records.emplace_back(consumer_epoch_record(group_id, group.epoch() + 1, hash));
  return records;
}

}  // namespace ackord::group
