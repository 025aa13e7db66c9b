#include "broker/group/consumer_group.h"

#include <algorithm>

#include "broker/base/assert.h"

namespace ackord::group {
namespace {

using CurrentAssignment = protocol::ConsumerGroupCurrentMemberAssignmentValue;

void count(ConsumerGroup::Counts& counts, const std::string& key, int32_t by) {
  const auto at = counts.try_emplace(key, 0).first;
  at->second += by;
  if (at->second <= 0) counts.erase(at);
}

std::optional<std::string> owned(const std::optional<String>& text) {
  if (!text) return std::nullopt;
  return text->str();
}

MemberState state_of(int8_t number) {
  switch (static_cast<MemberState>(number)) {
    case MemberState::kStable:
    case MemberState::kUnrevokedPartitions:
    case MemberState::kUnreleasedPartitions: return static_cast<MemberState>(number);
    case MemberState::kUnknown: break;
  }
  return MemberState::kUnknown;
}

// Before 4.4 partitions had no epochs: then they have the member's, which is no older.
OwnedPartitions partitions_of(const std::vector<CurrentAssignment::TopicPartitions>& topics,
                              int32_t member_epoch) {
  OwnedPartitions out;
  for (const auto& topic : topics) {
    const bool has_epochs =
        topic.assignment_epochs && topic.assignment_epochs->size() == topic.partitions.size();
    for (size_t i = 0; i < topic.partitions.size(); ++i) {
      const int32_t epoch =
          has_epochs ? (*topic.assignment_epochs)[i] : std::max(member_epoch, int32_t{0});
      out[{topic.topic_id, topic.partitions[i]}] = epoch;
    }
  }
  return out;
}

}  // namespace

// ---- looking

const ConsumerMember* ConsumerGroup::member(std::string_view id) const {
  const auto at = members_.find(id);
  return at == members_.end() ? nullptr : &at->second;
}

const std::string* ConsumerGroup::static_member(std::string_view instance) const {
  const auto at = static_members_.find(instance);
  return at == static_members_.end() ? nullptr : &at->second;
}

const Assignment& ConsumerGroup::target(std::string_view member) const {
  static const Assignment nothing;
  const auto at = target_.find(member);
  return at == target_.end() ? nothing : at->second;
}

int32_t ConsumerGroup::partition_epoch(const TopicIdPartition& partition) const {
  const auto at = partition_epochs_.find(partition);
  return at == partition_epochs_.end() ? kFree : at->second;
}

int32_t ConsumerGroup::members_with(std::string_view regex) const {
  const auto at = patterns_.find(regex);
  return at == patterns_.end() ? 0 : at->second;
}

// ---- changes

void ConsumerGroup::apply(const ConsumerGroupMemberMetadata& record) {
  const std::string id = record.key.member_id.str();
  const auto at = members_.find(id);
  if (at != members_.end()) count_subscription(id, at->second, -1);
  if (!record.value) {
    if (at == members_.end()) return;
    remove_partitions(at->second);
    if (at->second.is_at(assignment_epoch_)) --settled_;
    members_.erase(at);
    update_state();
    return;
  }
  const bool added = at == members_.end();
  ConsumerMember& member = added ? members_[id] : at->second;
  if (added && member.is_at(assignment_epoch_)) ++settled_;
  const auto& value = *record.value;
  member.instance = owned(value.instance_id);
  member.rack = owned(value.rack_id);
  member.client_id = value.client_id.str();
  member.client_host = value.client_host.str();
  member.topics.clear();
  for (const String& topic : value.subscribed_topic_names) member.topics.insert(topic.str());
  member.regex = value.subscribed_topic_regex ? value.subscribed_topic_regex->str() : "";
  member.rebalance_timeout_ms = value.rebalance_timeout_ms;
  member.assignor = owned(value.server_assignor);
  member.classic = value.classic_member_metadata;
  count_subscription(id, member, 1);
  update_state();
}

void ConsumerGroup::apply(const ConsumerGroupMetadata& record) {
  if (!record.value) {
    move_to(ConsumerGroupState::kDead);
    return;
  }
  epoch_ = record.value->epoch;
  metadata_hash_ = record.value->metadata_hash;
  update_state();
}

void ConsumerGroup::apply(const ConsumerGroupPartitionMetadata& record) {
  has_partition_metadata_ = record.value.has_value();
}

void ConsumerGroup::apply(const ConsumerGroupTargetAssignmentMetadata& record) {
  if (!record.value) return;
  assignment_epoch_ = record.value->assignment_epoch;
  assignment_timestamp_ = record.value->assignment_timestamp;
  settled_ = static_cast<size_t>(
      std::count_if(members_.begin(), members_.end(),
                    [this](const auto& entry) { return entry.second.is_at(assignment_epoch_); }));
  update_state();
}

void ConsumerGroup::apply(const ConsumerGroupTargetAssignmentMember& record) {
  if (!record.value) {
    target_.erase(record.key.member_id.str());
    return;
  }
  target_[record.key.member_id.str()] = to_assignment(record.value->topic_partitions);
}

void ConsumerGroup::apply(const ConsumerGroupCurrentMemberAssignment& record) {
  const std::string id = record.key.member_id.str();
  const auto at = members_.find(id);
  // After compaction a tombstone may stand before the member's own record, or without it.
  if (at == members_.end() && !record.value) return;
  ConsumerMember& member = at == members_.end() ? members_[id] : at->second;
  if (at != members_.end() && member.is_at(assignment_epoch_)) --settled_;
  remove_partitions(member);
  set_current(member, record.value);
  add_partitions(member);
  if (member.is_at(assignment_epoch_)) ++settled_;
  update_state();
}

void ConsumerGroup::set_current(ConsumerMember& member,
                                const std::optional<CurrentAssignment>& value) {
  if (!value) {
    member.epoch = kLeaveEpoch;
    member.previous_epoch = kLeaveEpoch;
    member.assigned.clear();
    member.pending_revocation.clear();
    return;
  }
  member.epoch = value->member_epoch;
  member.previous_epoch = value->previous_member_epoch;
  member.state = state_of(value->state);
  member.assigned = partitions_of(value->assigned_partitions, value->member_epoch);
  member.pending_revocation =
      partitions_of(value->partitions_pending_revocation, value->member_epoch);
}

void ConsumerGroup::apply(const ConsumerGroupRegularExpression& record) {
  const std::string regex = record.key.regular_expression.str();
  if (const auto at = resolved_.find(regex); at != resolved_.end()) {
    count_patterns_topics(at->second.topics, -1);
    resolved_.erase(at);
  }
  if (!record.value) return;
  ResolvedRegex& resolved = resolved_[regex];
  for (const String& topic : record.value->topics) resolved.topics.insert(topic.str());
  resolved.version = record.value->version;
  resolved.timestamp_ms = record.value->timestamp;
  count_patterns_topics(resolved.topics, 1);
}

// ---- what is counted

void ConsumerGroup::count_subscription(const std::string& id, const ConsumerMember& member,
                                       int32_t by) {
  for (const std::string& topic : member.topics) {
    const auto at = topics_.try_emplace(topic).first;
    at->second.names += by;
    if (at->second.names <= 0 && at->second.patterns <= 0) topics_.erase(at);
  }
  if (!member.regex.empty()) count(patterns_, member.regex, by);
  if (member.assignor) count(assignors_, *member.assignor, by);
  if (member.classic) {
    classic_members_ += by;
    for (const auto& protocol : member.classic->supported_protocols)
      count(classic_protocols_, protocol.name.str(), by);
  }
  if (!member.instance) return;
  if (by > 0) {
    static_members_[*member.instance] = id;
  } else if (const auto at = static_members_.find(*member.instance);
             at != static_members_.end() && at->second == id) {
    static_members_.erase(at);
  }
}

void ConsumerGroup::count_patterns_topics(const Names& topics, int32_t by) {
  for (const std::string& topic : topics) {
    const auto at = topics_.try_emplace(topic).first;
    at->second.patterns += by;
    if (at->second.names <= 0 && at->second.patterns <= 0) topics_.erase(at);
  }
}

void ConsumerGroup::add_partitions(const ConsumerMember& member) {
  for (const OwnedPartitions* partitions : {&member.assigned, &member.pending_revocation}) {
    for (const auto& [partition, since] : *partitions) {
      const auto at = partition_epochs_.try_emplace(partition, member.epoch).first;
      at->second = std::max(at->second, member.epoch);
    }
  }
}

// A partition that has a later owner meanwhile stays with that one.
void ConsumerGroup::remove_partitions(const ConsumerMember& member) {
  for (const OwnedPartitions* partitions : {&member.assigned, &member.pending_revocation}) {
    for (const auto& [partition, since] : *partitions) {
      const auto at = partition_epochs_.find(partition);
      if (at != partition_epochs_.end() && at->second == member.epoch) partition_epochs_.erase(at);
    }
  }
}

void ConsumerGroup::update_state() {
  ConsumerGroupState now = ConsumerGroupState::kReconciling;
  if (members_.empty()) {
    now = ConsumerGroupState::kEmpty;
  } else if (epoch_ > assignment_epoch_) {
    now = ConsumerGroupState::kAssigning;
  } else if (settled_ == members_.size()) {
    now = ConsumerGroupState::kStable;
  }
  if (now != state_) move_to(now);
}

void ConsumerGroup::move_to(ConsumerGroupState state) {
  ACKORD_ASSERT(transition_allowed(state_, state), "a consumer group follows the transition table");
  state_ = state;
}

}  // namespace ackord::group
