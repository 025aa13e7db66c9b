// What GroupShard decides about groups of any kind: lists, descriptions, deletion.
#include <algorithm>
#include <iterator>

#include "broker/group/consumer_records.h"
#include "broker/group/group_shard.h"

namespace ackord::group {
namespace {

// A protocol, and what members have by it, is in force only while the group is stable.
DescribedClassicGroup described(const ClassicLife& life) {
  const ClassicPhase& phase = life.phase();
  const bool stable = phase.state == ClassicGroupState::kStable;
  DescribedClassicGroup answer;
  answer.state = name_of(phase.state);
  answer.protocol_type = phase.protocol_type.value_or("");
  if (stable) answer.protocol = phase.protocol.value_or("");
  for (const auto& [id, member] : life.members()) {
    auto& out = answer.members.emplace_back();
    out.id = id;
    out.instance = member.instance;
    out.client_id = member.client_id;
    out.client_host = member.client_host;
    if (!stable) continue;
    out.metadata = member.metadata(answer.protocol);
    out.assignment = member.assignment;
  }
  return answer;
}

}  // namespace

GroupShard::Outcome<std::vector<ListedGroup>> GroupShard::decide(const ListGroups&, io::Now) const {
  std::vector<ListedGroup> groups;
  for_each<ShareGroup>([&groups](const std::string& id, const ShareGroup& group) {
    groups.push_back({GroupId(id), "share", std::string(name_of(group.state())), "share"});
  });
  for_each<ConsumerGroup>([&groups](const std::string& id, const ConsumerGroup& group) {
    groups.push_back({GroupId(id), "consumer", std::string(name_of(group.state())), "consumer"});
  });
  for_each<ClassicGroup>([&](const std::string& id, const ClassicGroup& group) {
    with_life(id, group, [&](const ClassicLife& life) {
      const ClassicPhase& phase = life.phase();
      groups.push_back({GroupId(id), phase.protocol_type.value_or(""),
                        std::string(name_of(phase.state)), "classic"});
    });
  });
  return Outcome<std::vector<ListedGroup>>::answer(std::move(groups));
}

GroupShard::Outcome<DescribedClassicGroup> GroupShard::decide(const DescribeClassicGroup& op,
                                                              io::Now) const {
  const std::string id = op.group.str();
  if (const ClassicGroup* group = find<ClassicGroup>(id)) {
    return Outcome<DescribedClassicGroup>::answer(
        with_life(id, *group, [](const ClassicLife& life) { return described(life); }));
  }
  DescribedClassicGroup answer;
  answer.error = ErrorCode::GROUP_ID_NOT_FOUND;
  answer.state = name_of(ClassicGroupState::kDead);
  const bool other = hard_.groups.contains(id);
  answer.message = "Group " + id + (other ? " is not a classic group." : " not found.");
  return Outcome<DescribedClassicGroup>::answer(std::move(answer));
}

GroupShard::Outcome<BeginDeletion::Reply> GroupShard::decide(const BeginDeletion& op,
                                                             io::Now) const {
  using Decision = Outcome<BeginDeletion::Reply>;
  const std::string id = op.group.str();
  const ClassicGroup* classic = find<ClassicGroup>(id);
  const ConsumerGroup* consumers = consumer_group(id);
  if (!hard_.groups.contains(id))
    return Decision::answer({ErrorCode::GROUP_ID_NOT_FOUND, true, {}});
  if (classic != nullptr || consumers != nullptr) {
    if (classic != nullptr ? has_members(id, *classic)
                           : consumers->state() != ConsumerGroupState::kEmpty)
      return Decision::answer({ErrorCode::NON_EMPTY_GROUP, true, {}});
    std::vector<Record> records;
    for (const TopicPartition& partition : hard_.offsets.held(id))
      records.emplace_back(offset_tombstone(id, partition));
    std::vector<Record> ends;
    if (consumers != nullptr) ends = consumer_group_tombstones(id, *consumers);
    if (classic != nullptr) ends.emplace_back(classic_group_tombstone(id));
    std::move(ends.begin(), ends.end(), std::back_inserter(records));
    return Decision::of(std::move(records), {ErrorCode::NONE, true, {}});
  }
  const ShareGroup* group = share_group(id);
  if (group->state() != ShareGroupState::kEmpty)
    return Decision::answer({ErrorCode::NON_EMPTY_GROUP, true, {}});
  if (soft_.state_changes.contains(id))
    return Decision::answer({ErrorCode::COORDINATOR_LOAD_IN_PROGRESS, true, {}});
  BeginDeletion::Reply reply{ErrorCode::NONE, false, held_by(*group)};
  // From here on the group does not count on that state; a crash leaves it to be initialised again.
  std::vector<Record> records;
  if (!reply.states.empty()) records.emplace_back(deleting_record(id, {}, {}, reply.states));
  auto outcome = Decision::of(std::move(records), std::move(reply));
  outcome.effects.emplace_back(StateChangeBegun{id});
  return outcome;
}

GroupShard::Outcome<EndDeletion::Reply> GroupShard::decide(const EndDeletion& op, io::Now) const {
  const std::string id = op.group.str();
  std::vector<Record> records;
  if (share_group(id) != nullptr && op.kept.empty()) {
    records = group_tombstones(id);
  } else if (share_group(id) != nullptr) {
    HeldTopics kept;
    for (const ShareGroupTopic& topic : op.kept)
      kept[topic.topic_id] = {topic.name.str(), {topic.partitions.begin(), topic.partitions.end()}};
    records.emplace_back(state_partitions_record(id, {}, kept));
  }
  auto outcome = Outcome<EndDeletion::Reply>::of(std::move(records), {});
  outcome.effects.emplace_back(StateChangeEnded{id});
  return outcome;
}

}  // namespace ackord::group
