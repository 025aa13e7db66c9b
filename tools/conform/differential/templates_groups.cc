// Templates of committed offsets, classic groups and KIP-848 groups. Members are strangers: none
// lives on, so that nothing depends on how fast a broker is.
#include "tools/conform/differential/templates.h"

namespace ackord::conform::differential {
namespace {

constexpr int16_t kByTopicId = 10;

Object offset_commit(World& world, Random& random, int16_t version) {
  const auto topic = [&] {
    const TopicState one = world.topic(random);
    const Object partition = Body(version)
                                 .field("partitionIndex", some_partition(random, one))
                                 .field("committedOffset", random.number(100))
                                 .since(6, "committedLeaderEpoch", random.number(2) - 1)
                                 .field("committedMetadata", random.one_in(2) ? "m" : "")
                                 .take();
    return Body(version)
        .until(kByTopicId - 1, "name", one.name)
        .since(kByTopicId, "topicId", one.id)
        .field("partitions", list(partition))
        .take();
  };
  return Body(version)
      .field("groupId", world.group(random))
      .field("generationIdOrMemberEpoch", random.one_in(6) ? 1 : -1)
      .field("memberId", random.one_in(6) ? "someone" : "")
      .since(7, "groupInstanceId", nullptr)
      .until(4, "retentionTimeMs", -1)
      .field("topics", some(random, topic))
      .take();
}

Object offset_fetch(World& world, Random& random, int16_t version) {
  const auto topic = [&] {
    const TopicState one = world.topic(random);
    return Body(version)
        .until(kByTopicId - 1, "name", one.name)
        .since(kByTopicId, "topicId", one.id)
        .field("partitionIndexes", list(some_partition(random, one)))
        .take();
  };
  json::value topics = some(random, topic);
  if (version >= 2 && random.one_in(4)) topics = nullptr;
  const std::string group = world.group(random);
  const Object of_group = Body(version)
                              .field("groupId", group)
                              .since(9, "memberId", nullptr)
                              .since(9, "memberEpoch", -1)
                              .field("topics", topics)
                              .take();
  return Body(version)
      .until(7, "groupId", group)
      .until(7, "topics", topics)
      .since(8, "groups", list(of_group))
      .since(7, "requireStable", random.one_in(2))
      .take();
}

Object offset_delete(World& world, Random& random, int16_t) {
  const TopicState topic = world.topic(random);
  return {
      {"groupId", world.group(random)},
      {"topics", list(Object{{"name", topic.name},
                             {"partitions",
                              list(Object{{"partitionIndex", some_partition(random, topic)}})}})}};
}

Object heartbeat(World& world, Random& random, int16_t version) {
  return Body(version)
      .field("groupId", world.group(random))
      .field("generationId", random.number(3) - 1)
      .field("memberId", random.one_in(2) ? "someone" : "")
      .since(3, "groupInstanceId", random.one_in(3) ? json::value("instance") : nullptr)
      .take();
}

// Refused, or answered with an id to come back with (MEMBER_ID_REQUIRED): no member is made.
Object join_group(World& world, Random& random, int16_t version) {
  const bool asks_for_id = version >= 4 && random.one_in(2);
  return Body(version)
      .field("groupId", world.group(random))
      .field("sessionTimeoutMs", random.one_in(5) ? 1 : 10000)
      .since(1, "rebalanceTimeoutMs", 1000)
      .field("memberId", asks_for_id ? "" : "someone")
      .since(5, "groupInstanceId", nullptr)
      .field("protocolType", "consumer")
      .field("protocols", list(Object{{"name", "range"}, {"metadata", bytes("x")}}))
      .since(8, "reason", nullptr)
      .take();
}

Object sync_group(World& world, Random& random, int16_t version) {
  return Body(version)
      .field("groupId", world.group(random))
      .field("generationId", random.number(3))
      .field("memberId", "someone")
      .since(3, "groupInstanceId", nullptr)
      .since(5, "protocolType", random.one_in(3) ? nullptr : json::value("consumer"))
      .since(5, "protocolName", random.one_in(3) ? nullptr : json::value("range"))
      .field("assignments", json::array())
      .take();
}

Object leave_group(World& world, Random& random, int16_t version) {
  const Object member = Body(version)
                            .field("memberId", "someone")
                            .field("groupInstanceId", nullptr)
                            .since(5, "reason", nullptr)
                            .take();
  return Body(version)
      .field("groupId", world.group(random))
      .until(2, "memberId", "someone")
      .since(3, "members", list(member))
      .take();
}

Object list_groups(World&, Random& random, int16_t version) {
  return Body(version)
      .since(4, "statesFilter", random.one_in(3) ? list("Empty") : json::array())
      .since(5, "typesFilter", random.one_in(3) ? list("share") : json::array())
      .take();
}

Object describe_groups(World& world, Random& random, int16_t version) {
  return Body(version)
      .field("groups", list(world.group(random)))
      .since(3, "includeAuthorizedOperations", random.one_in(2))
      .take();
}

Object describe_consumer_groups(World& world, Random& random, int16_t) {
  return {{"groupIds", list(world.group(random))},
          {"includeAuthorizedOperations", random.one_in(2)}};
}

Object delete_groups(World& world, Random& random, int16_t) {
  return {{"groupsNames", list(random.one_in(4) ? world.group(random) : world.new_name("group"))}};
}

Object consumer_heartbeat(World& world, Random& random, int16_t version) {
  return Body(version)
      .field("groupId", world.group(random))
      .field("memberId", random.one_in(4) ? "" : "someone")
      .field("memberEpoch", 1 + random.number(3))
      .field("instanceId", nullptr)
      .field("rackId", nullptr)
      .field("rebalanceTimeoutMs", -1)
      .field("subscribedTopicNames", nullptr)
      .since(1, "subscribedTopicRegex", nullptr)
      .field("serverAssignor", nullptr)
      .field("topicPartitions", nullptr)
      .take();
}

}  // namespace

std::vector<Template> group_templates() {
  return {
      {"OffsetCommit", 4, false, offset_commit},
      {"OffsetFetch", 5, true, offset_fetch},
      {"OffsetDelete", 1, false, offset_delete},
      {"Heartbeat", 1, false, heartbeat},
      {"JoinGroup", 1, false, join_group},
      {"SyncGroup", 1, false, sync_group},
      {"LeaveGroup", 1, false, leave_group},
      {"ListGroups", 1, true, list_groups},
      {"DescribeGroups", 2, true, describe_groups},
      {"ConsumerGroupDescribe", 1, true, describe_consumer_groups},
      {"DeleteGroups", 1, false, delete_groups},
      {"ConsumerGroupHeartbeat", 1, false, consumer_heartbeat},
  };
}

}  // namespace ackord::conform::differential
