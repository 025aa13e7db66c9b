// What GroupShard decides about groups of any kind: lists, descriptions, deletion.
#include <algorithm>
#include <iterator>

#include "broker/group/consumer_records.h"
#include "broker/group/group_shard.h"

namespace ackord::group {
GroupShard::Outcome<std::vector<ListedGroup>> GroupShard::decide(const ListGroups&, io::Now) const {
  std::vector<ListedGroup> groups;
  for_each<ShareGroup>([&groups](const std::string& id, const ShareGroup& group) {
    groups.push_back({GroupId(id), "share", std::string(name_of(group.state())), "share"});
  });
  for_each<ConsumerGroup>([&groups](const std::string& id, const ConsumerGroup& group) {
    groups.push_back({GroupId(id), "consumer", std::string(name_of(group.state())), "consumer"});
  });
  hard_.offsets.for_each_group([&](const std::string& id) {
    if (hard_.groups.contains(id)) return;
    groups.push_back({GroupId(id), "", std::string(name_of(ShareGroupState::kEmpty)), "classic"});
  });
  return Outcome<std::vector<ListedGroup>>::answer(std::move(groups));
}

GroupShard::Outcome<DescribedClassicGroup> GroupShard::decide(const DescribeClassicGroup& op,
                                                              io::Now) const {
  DescribedClassicGroup answer;
  const bool other = hard_.groups.contains(op.group.sv());
  if (!other && hard_.offsets.holds(op.group.sv())) {
    answer.state = name_of(ShareGroupState::kEmpty);
  } else {
    answer.error = ErrorCode::GROUP_ID_NOT_FOUND;
    answer.state = name_of(ShareGroupState::kDead);
    answer.message =
        "Group " + op.group.str() + (other ? " is not a classic group." : " not found.");
  }
  return Outcome<DescribedClassicGroup>::answer(std::move(answer));
}

GroupShard::Outcome<BeginDeletion::Reply> GroupShard::decide(const BeginDeletion& op,
                                                             io::Now) const {
  using Decision = Outcome<BeginDeletion::Reply>;
  const std::string id = op.group.str();
  const ShareGroup* group = share_group(id);
  if (group == nullptr) {
    const ConsumerGroup* consumers = consumer_group(id);
    if (consumers == nullptr && !hard_.offsets.holds(id))
      return Decision::answer({ErrorCode::GROUP_ID_NOT_FOUND, true, {}});
    if (consumers != nullptr && consumers->state() != ConsumerGroupState::kEmpty)
      return Decision::answer({ErrorCode::NON_EMPTY_GROUP, true, {}});
    std::vector<Record> records;
    for (const TopicPartition& partition : hard_.offsets.held(id))
      records.emplace_back(offset_tombstone(id, partition));
    if (consumers != nullptr) {
      auto tombstones = consumer_group_tombstones(id, *consumers);
      std::move(tombstones.begin(), tombstones.end(), std::back_inserter(records));
    }
    return Decision::of(std::move(records), {ErrorCode::NONE, true, {}});
  }
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
