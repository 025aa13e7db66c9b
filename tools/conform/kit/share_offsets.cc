#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

Value describe_offsets(Kit& kit, const std::string& group,
                       const std::optional<std::vector<ShareOffsetPart>>& parts, int16_t version) {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  json::value topics = nullptr;
  if (parts)
    topics = list_of(*parts, [](const ShareOffsetPart& part) {
      return Object{{"topicName", part.topic},
                    {"partitions", list_of(part.partitions, [](int32_t one) { return one; })}};
    });
  const Value groups =
      kit.ask("DescribeShareGroupOffsets", version,
              {{"groups", list(Object{{"groupId", group}, {"topics", topics}})}})["groups"];
  groups.has_size(1);
  groups[0]["groupId"].is(group.c_str());
  return groups[0];
}

Value describe_offset(Kit& kit, const std::string& group, const Topic& topic, int32_t partition,
                      int16_t version) {
  const Value part =
      describe_offsets(kit, group, {{{.topic = topic.name, .partitions = {partition}}}}, version);
  part["errorCode"].is_none();
  return part["topics"].with("topicName", topic.name.c_str())["partitions"].with("partitionIndex",
                                                                                 partition);
}

void expect_offset(Kit& kit, const std::string& group, const Topic& topic, int64_t start,
                   int64_t lag, int32_t partition) {
  const Value part = describe_offset(kit, group, topic, partition);
  part["errorCode"].is_none();
  part["startOffset"].is(start);
  part["lag"].is(lag);
}

Value try_alter_offsets(Kit& kit, const std::string& group,
                        const std::vector<NewShareOffset>& offsets) {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  json::array topics;
  for (const NewShareOffset& one : offsets) {
    const Object partition{{"partitionIndex", one.partition}, {"startOffset", one.offset}};
    if (!topics.empty() && topics.back().at("topicName") == one.topic.c_str())
      topics.back().at("partitions").as_array().emplace_back(partition);
    else
      topics.emplace_back(Object{{"topicName", one.topic}, {"partitions", list(partition)}});
  }
  return kit.ask("AlterShareGroupOffsets", 0, {{"groupId", group}, {"topics", topics}});
}

void alter_offset(Kit& kit, const std::string& group, const Topic& topic, int64_t offset,
                  int32_t partition) {
  std::optional<Value> result;
  kit.until("the group coordinator knows the topic", [&] {
    const Value answer = try_alter_offsets(
        kit, group, {{.topic = topic.name, .offset = offset, .partition = partition}});
    answer["errorCode"].is_none();
    result = answer["responses"][0]["partitions"][0]["errorCode"];
    return result->error() != ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  });
  result->is_none();
}

Value try_delete_offsets(Kit& kit, const std::string& group,
                         const std::vector<std::string>& topics) {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  return kit.ask("DeleteShareGroupOffsets", 0,
                 {{"groupId", group}, {"topics", list_of(topics, [](const auto& topic) {
                                         return Object{{"topicName", topic}};
                                       })}});
}

Value describe_share_group(Kit& kit, const std::string& group, bool operations) {
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  const Value groups =
      kit.ask("ShareGroupDescribe", 1,
              {{"groupIds", list(group)}, {"includeAuthorizedOperations", operations}})["groups"];
  groups.has_size(1);
  return groups[0];
}

}  // namespace ackord::conform
