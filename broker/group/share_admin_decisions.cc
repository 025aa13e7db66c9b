// What GroupShard decides about the offsets of share groups, and how it describes their members.
#include <algorithm>

#include "broker/group/group_shard.h"

namespace ackord::group {
namespace {

std::string not_found(std::string_view id) { return "Group " + std::string(id) + " not found."; }

// The topics that are not in `gone`.
HeldTopics without(const HeldTopics& held, const std::vector<ShareGroupTopic>& gone) {
  HeldTopics rest = held;
  for (const ShareGroupTopic& topic : gone) rest.erase(topic.topic_id);
  return rest;
}

}  // namespace

GroupShard::Outcome<DescribedShareGroup> GroupShard::decide(const DescribeShareMembers& op,
                                                            io::Now) const {
  DescribedShareGroup answer;
  const ShareGroup* group = share_group(op.group.sv());
  if (group == nullptr) {
    answer.error = ErrorCode::GROUP_ID_NOT_FOUND;
    answer.message = not_found(op.group.sv());
    return Outcome<DescribedShareGroup>::answer(std::move(answer));
  }
  answer.state = name_of(group->state());
  answer.epoch = group->epoch();
  answer.assignment_epoch = group->assignment_epoch();
  for (const auto& [id, member] : group->members()) {
    DescribedShareMember& out = answer.members.emplace_back();
    out.id = id;
    out.rack = member.rack;
    out.epoch = member.epoch;
    out.client_id = member.client_id;
    out.client_host = member.client_host;
    out.topics.assign(member.topics.begin(), member.topics.end());
    out.assigned = to_topic_partitions(member.assigned);
  }
  return Outcome<DescribedShareGroup>::answer(std::move(answer));
}

// NONE: the share group is there, has no members and may be changed, or there is no group of the
// name.
ErrorCode GroupShard::check_state_change(const std::string& id, std::string& message) const {
  const ShareGroup* group = share_group(id);
  if (group == nullptr && is_taken(id)) {
    message = "Group " + id + " is not a share group.";
    return ErrorCode::GROUP_ID_NOT_FOUND;
  }
  if (soft_.state_changes.contains(id)) {
    message = "The state of group " + id + " is being changed.";
    return ErrorCode::COORDINATOR_LOAD_IN_PROGRESS;
  }
  if (group != nullptr && group->state() != ShareGroupState::kEmpty) {
    message = "Group " + id + " is not empty.";
    return ErrorCode::NON_EMPTY_GROUP;
  }
  return ErrorCode::NONE;
}

GroupShard::Outcome<BeginAlterShareOffsets::Reply> GroupShard::decide(
    const BeginAlterShareOffsets& op, io::Now) const {
  using Decision = Outcome<BeginAlterShareOffsets::Reply>;
  const std::string id = op.group.str();
  BeginAlterShareOffsets::Reply reply;
  reply.error = check_state_change(id, reply.message);
  if (reply.error != ErrorCode::NONE || op.offsets.empty())
    return Decision::answer(std::move(reply));
  const ShareGroup* group = share_group(id);
  std::vector<Record> records;
  if (group == nullptr) records.emplace_back(group_metadata_record(id, ShareGroup::kFirstEpoch, 0));
  const HeldTopics initialized = group != nullptr ? group->initialized() : HeldTopics();
  const HeldTopics before = group != nullptr ? group->initializing() : HeldTopics();
  HeldTopics initializing = before;
  for (const ShareOffset& offset : op.offsets) {
    const auto held = initialized.find(offset.partition.topic_id);
    if (held != initialized.end() && held->second.partitions.contains(offset.partition.partition))
      continue;
    HeldTopic& topic = initializing[offset.partition.topic_id];
    topic.name = offset.topic.str();
    topic.partitions.insert(offset.partition.partition);
  }
  if (initializing != before)
    records.emplace_back(state_partitions_record(id, initializing, initialized));
  reply.state_epoch = group != nullptr ? group->epoch() : ShareGroup::kFirstEpoch;
  auto outcome = Decision::of(std::move(records), std::move(reply));
  outcome.effects.emplace_back(StateChangeBegun{id});
  return outcome;
}

GroupShard::Outcome<EndAlterShareOffsets::Reply> GroupShard::decide(const EndAlterShareOffsets& op,
                                                                    io::Now now) const {
  auto settled = decide(ShareInitializationEnded{op.group, op.results}, now);
  Outcome<EndAlterShareOffsets::Reply> outcome;
  outcome.batches = std::move(settled.batches);
  outcome.effects = std::move(settled.effects);
  outcome.effects.emplace_back(StateChangeEnded{op.group.str()});
  return outcome;
}

GroupShard::Outcome<BeginDeleteShareOffsets::Reply> GroupShard::decide(
    const BeginDeleteShareOffsets& op, io::Now) const {
  using Decision = Outcome<BeginDeleteShareOffsets::Reply>;
  const std::string id = op.group.str();
  const ShareGroup* group = share_group(id);
  BeginDeleteShareOffsets::Reply reply;
  reply.error = check_state_change(id, reply.message);
  if (group == nullptr && reply.error == ErrorCode::NONE) {
    reply.error = ErrorCode::GROUP_ID_NOT_FOUND;
    reply.message = not_found(id);
  }
  if (reply.error != ErrorCode::NONE) return Decision::answer(std::move(reply));
  for (ShareGroupTopic& topic : held_by(*group)) {
    if (std::ranges::find(op.topics, topic.topic_id) != op.topics.end())
      reply.states.push_back(std::move(topic));
  }
  if (reply.states.empty()) return Decision::answer(std::move(reply));
  std::vector<Record> records;
  records.emplace_back(deleting_record(id, without(group->initializing(), reply.states),
                                       without(group->initialized(), reply.states), reply.states));
  auto outcome = Decision::of(std::move(records), std::move(reply));
  outcome.effects.emplace_back(StateChangeBegun{id});
  return outcome;
}

GroupShard::Outcome<EndDeleteShareOffsets::Reply> GroupShard::decide(
    const EndDeleteShareOffsets& op, io::Now) const {
  const std::string id = op.group.str();
  std::vector<Record> records;
  if (const ShareGroup* group = share_group(id)) {
    HeldTopics initialized = group->initialized();
    for (const ShareGroupTopic& topic : op.kept) {
      HeldTopic& held = initialized[topic.topic_id];
      held.name = topic.name.str();
      held.partitions.insert(topic.partitions.begin(), topic.partitions.end());
    }
    records.emplace_back(state_partitions_record(id, group->initializing(), initialized));
  }
  auto outcome = Outcome<EndDeleteShareOffsets::Reply>::of(std::move(records), {});
  outcome.effects.emplace_back(StateChangeEnded{id});
  return outcome;
}

}  // namespace ackord::group
