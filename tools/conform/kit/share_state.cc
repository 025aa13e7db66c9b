#include "tools/conform/kit/share_state.h"

namespace ackord::conform {

StateBatches state_batches_of(const Value& read_result) {
  StateBatches out;
  for (const Value& batch : read_result["stateBatches"].items())
    out.emplace_back(batch["firstOffset"].number(), batch["lastOffset"].number(),
                     batch["deliveryState"].number(), batch["deliveryCount"].number());
  return out;
}

SharePartitionState::SharePartitionState(Kit& kit, Topic topic, std::string group,
                                         int32_t partition)
    : kit_(kit), topic_(std::move(topic)), group_(std::move(group)), partition_(partition) {
  if (group_.empty()) group_ = kit.name("g");
  wait_for_coordinator(kit, CoordinatorKind::kShare,
                       fmt::format("{}:{}:{}", group_, topic_.id, std::max(0, partition_)));
}

Value SharePartitionState::ask(std::string_view api, int16_t version, Object fields) {
  fields["partition"] = partition_;
  const Value answer =
      kit_.ask(api, version,
               {{"groupId", group_},
                {"topics", list(Object{{"topicId", topic_.id}, {"partitions", list(fields)}})}});
  const Value results = answer["results"].with("topicId", topic_.id.c_str())["partitions"];
  return results.with("partition", partition_);
}

Value SharePartitionState::initialize(int32_t state_epoch, int64_t start_offset) {
  return ask("InitializeShareGroupState", 0,
             {{"stateEpoch", state_epoch}, {"startOffset", start_offset}});
}

Value SharePartitionState::write(const StateWrite& write) {
  Object fields{{"stateEpoch", write.state_epoch},
                {"leaderEpoch", write.leader_epoch},
                {"startOffset", write.start_offset},
                {"stateBatches", list_of(write.batches, [](const auto& batch) {
                   const auto& [first, last, state, count] = batch;
                   return Object{{"firstOffset", first},
                                 {"lastOffset", last},
                                 {"deliveryState", state},
                                 {"deliveryCount", count}};
                 })}};
  if (write.version >= 1) fields["deliveryCompleteCount"] = write.delivery_complete_count;
  return ask("WriteShareGroupState", write.version, std::move(fields));
}

Value SharePartitionState::read(int32_t leader_epoch) {
  return ask("ReadShareGroupState", 0, {{"leaderEpoch", leader_epoch}});
}

Value SharePartitionState::summary(int16_t version, int32_t leader_epoch) {
  return ask("ReadShareGroupStateSummary", version, {{"leaderEpoch", leader_epoch}});
}

Value SharePartitionState::remove() { return ask("DeleteShareGroupState", 0, {}); }

StateBatches SharePartitionState::batches(int32_t leader_epoch) {
  const Value result = read(leader_epoch);
  result["errorCode"].is_none();
  return state_batches_of(result);
}

Topic known_topic(Kit& kit, int32_t partitions) {
  Topic topic = create_topic(kit, partitions);
  const std::string group = kit.name("g");
  for (int32_t i = 0; i < partitions; ++i) {
    SharePartitionState state(kit, topic, group, i);
    kit.until("the share coordinator knows the topic",
              [&] { return state.summary()["errorCode"].error() == ErrorCode::NONE; });
  }
  return topic;
}

SharePartitionState initialized_state(Kit& kit, int64_t start_offset) {
  SharePartitionState state(kit, known_topic(kit));
  state.initialize(1, start_offset)["errorCode"].is_none();
  return state;
}

}  // namespace ackord::conform
