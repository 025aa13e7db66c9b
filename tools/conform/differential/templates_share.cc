// Templates of share groups.
#include "tools/conform/differential/templates.h"

namespace ackord::conform::differential {
namespace {

constexpr int32_t kLeave = -1;

Object heartbeat(World& world, Random& random, int16_t) {
  const ShareGroupState group = world.share_group(random);
  json::value names = nullptr;
  if (random.one_in(5)) {
    json::array list;
    for (const TopicState& topic : group.topics) list.emplace_back(topic.name);
    names = list;
  }
  json::value epoch = group.member_epoch;
  if (random.one_in(12)) epoch = random.of(std::vector<int64_t>{-2, 1, 100, INT32_MAX});
  return {{"groupId", group.group},
          {"memberId", random.one_in(15) ? std::string("another") : group.member},
          {"memberEpoch", epoch},
          {"rackId", nullptr},
          {"subscribedTopicNames", names}};
}

json::array some_acks(Random& random, int most) {
  json::array batches;
  int64_t offset = random.number(4);
  for (int32_t left = random.number(most + 1); left > 0; --left) {
    const int64_t last = offset + random.number(3);
    json::array types = list(random.one_in(15) ? random.number(7) - 1 : 1 + random.number(3));
    if (random.one_in(4))
      for (int64_t i = offset; i < last; ++i) types.emplace_back(random.number(4));
    batches.push_back(
        Object{{"firstOffset", offset}, {"lastOffset", last}, {"acknowledgeTypes", types}});
    offset = last + 1 + random.number(2);
  }
  return batches;
}

int32_t some_session_epoch(Random& random, const ShareGroupState& group) {
  if (random.one_in(20)) return kLeave;
  return group.session_epoch + (random.one_in(15) ? random.number(3) - 1 : 0);
}

json::array share_topics(World& world, Random& random, const ShareGroupState& group, int acks) {
  const auto topic = [&] {
    const bool other = group.topics.empty() || random.one_in(10);
    const TopicState one = other ? world.topic(random) : random.of(group.topics);
    return Object{
        {"topicId", one.id},
        {"partitions", list(Object{{"partitionIndex", some_partition(random, one)},
                                   {"acknowledgementBatches", some_acks(random, acks)}})}};
  };
  return acks > 0 ? some(random, topic) : list(topic());
}

Object share_fetch(World& world, Random& random, int16_t version) {
  const ShareGroupState group = world.share_group(random);
  const int32_t epoch = some_session_epoch(random, group);
  const bool acks = epoch > 0 && random.one_in(3);
  json::array forgotten;
  if (epoch > 0 && !group.topics.empty() && random.one_in(10))
    forgotten.push_back(Object{{"topicId", group.topics[0].id}, {"partitions", list(0)}});
  const bool none = epoch > 0 && random.one_in(3);
  return Body(version)
      .field("groupId", group.group)
      .field("memberId", group.member)
      .field("shareSessionEpoch", epoch)
      .field("maxWaitMs", 300)
      .field("minBytes", 1)
      .field("maxBytes", 1 << 20)
      .field("maxRecords", random.one_in(3) ? 1 + random.number(5) : 500)
      .field("batchSize", 500)
      .since(2, "shareAcquireMode", random.number(2))
      .since(2, "isRenewAck", random.one_in(20))
      .field("topics", none ? json::array() : share_topics(world, random, group, acks ? 2 : 0))
      .field("forgottenTopicsData", forgotten)
      .take();
}

Object share_acknowledge(World& world, Random& random, int16_t version) {
  const ShareGroupState group = world.share_group(random);
  return Body(version)
      .field("groupId", group.group)
      .field("memberId", group.member)
      .field("shareSessionEpoch", some_session_epoch(random, group))
      .since(2, "isRenewAck", random.one_in(20))
      .field("topics", share_topics(world, random, group, 3))
      .take();
}

// The session's next epoch.
void asked_in_session(World& world, const Answered& answered) {
  if (answered.answer.at("errorCode").as_int64() != 0) return;
  ShareGroupState* group = world.find_share_group(answered.request);
  if (group == nullptr) return;
  const int64_t epoch = answered.request.at("shareSessionEpoch").as_int64();
  group->session_epoch = epoch == kLeave ? 0 : static_cast<int32_t>(epoch) + 1;
}

// Its own epoch on each broker.
void beaten(World& world, const Answered& answered) {
  if (answered.answer.at("errorCode").as_int64() != 0) return;
  const ShareGroupState* group = world.find_share_group(answered.request);
  if (group == nullptr) return;
  const int64_t first = answered.first.at("memberEpoch").as_int64();
  if (first < 0) {
    const std::string id = group->group;
    std::erase_if(world.share_groups, [&](const auto& one) { return one.group == id; });
    return;
  }
  answered.first_symbols.learn(group->member_epoch, first);
  answered.second_symbols.learn(group->member_epoch, answered.second.at("memberEpoch").as_int64());
}

Object describe_offsets(World& world, Random& random, int16_t) {
  const ShareGroupState group = world.share_group(random);
  const auto topic = [&] {
    const TopicState one = world.topic(random);
    return Object{{"topicName", one.name}, {"partitions", list(some_partition(random, one))}};
  };
  return {
      {"groups", list(Object{{"groupId", random.one_in(8) ? world.group(random) : group.group},
                             {"topics", random.one_in(3) ? json::value(nullptr)
                                                         : json::value(some(random, topic))}})}};
}

Object describe_group(World& world, Random& random, int16_t) {
  return {
      {"groupIds", list(random.one_in(3) ? world.group(random) : world.share_group(random).group)},
      {"includeAuthorizedOperations", random.one_in(2)}};
}

Object alter_offsets(World& world, Random& random, int16_t) {
  const TopicState topic = world.topic(random);
  return {{"groupId", world.share_group(random).group},
          {"topics",
           list(Object{{"topicName", topic.name},
                       {"partitions", list(Object{{"partitionIndex", some_partition(random, topic)},
                                                  {"startOffset", random.number(5)}})}})}};
}

Object delete_offsets(World& world, Random& random, int16_t) {
  return {{"groupId", world.share_group(random).group},
          {"topics", list(Object{{"topicName", world.topic(random).name}})}};
}

}  // namespace

std::vector<Template> share_templates() {
  return {
      {"ShareGroupHeartbeat", 4, false, heartbeat, beaten},
      {"ShareFetch", 10, false, share_fetch, asked_in_session},
      {"ShareAcknowledge", 8, false, share_acknowledge, asked_in_session},
      {"DescribeShareGroupOffsets", 4, true, describe_offsets},
      {"ShareGroupDescribe", 2, true, describe_group},
      {"AlterShareGroupOffsets", 1, false, alter_offsets},
      {"DeleteShareGroupOffsets", 1, false, delete_offsets},
  };
}

}  // namespace ackord::conform::differential
