#include "tools/conform/kit/share_txn.h"

#include "tools/conform/kit/share_offsets.h"
#include "tools/conform/kit/share_topics.h"

namespace ackord::conform {

Object stage_request(const TxnProducer& producer, const ShareMember& member,
                     const std::vector<ShareAck>& acks, const StageOptions& options) {
  Object request{{"transactionalId", options.transactional_id.value_or(json::value(producer.id()))},
                 {"groupId", options.group.value_or(member.group())},
                 {"producerId", producer.producer_id()},
                 {"producerEpoch", producer.epoch()},
                 {"memberId", options.member.value_or(member.id())},
                 {"memberEpoch", options.member_epoch.value_or(member.member_epoch())},
                 {"topics", share_topics({}, acks)}};
  if (options.start) request["transactionStartTimeMs"] = *options.start;
  return request;
}

Value try_stage(Kit& kit, const TxnProducer& producer, const ShareMember& member,
                const std::vector<ShareAck>& acks, const StageOptions& options) {
  return ask_until_free(kit, [&] {
    return kit.ask("TxnShareAcknowledge", 0, stage_request(producer, member, acks, options));
  });
}

Value try_stage_one(Kit& kit, const TxnProducer& producer, const ShareMember& member,
                    const ShareAck& ack, const StageOptions& options) {
  const Value answer = try_stage(kit, producer, member, {ack}, options);
  answer["errorCode"].is_none();
  answer["responses"].has_size(1);
  answer["responses"][0]["partitions"].has_size(1);
  return answer["responses"][0]["partitions"][0]["errorCode"];
}

void stage(Kit& kit, const TxnProducer& producer, const ShareMember& member,
           const std::vector<ShareAck>& acks, const StageOptions& options) {
  const Value answer = try_stage(kit, producer, member, acks, options);
  answer["errorCode"].is_none();
  for (const Value& topic : answer["responses"].items())
    for (const Value& partition : topic["partitions"].items()) partition["errorCode"].is_none();
}

Value try_enlist(Kit& kit, const TxnProducer& producer, const std::string& group,
                 const std::vector<SharePart>& parts, std::optional<int64_t> start) {
  Object request{{"transactionalId", producer.id()},
                 {"producerId", producer.producer_id()},
                 {"producerEpoch", producer.epoch()},
                 {"groupId", group},
                 {"topics", list_of(parts, [](const SharePart& part) {
                    return Object{{"topicId", part.topic.id}, {"partitions", list(part.partition)}};
                  })}};
  if (start) request["transactionStartTimeMs"] = *start;
  return ask_until_free(kit, [&] { return kit.ask("AddShareAcksToTxn", 0, request); });
}

int64_t enlist(Kit& kit, const TxnProducer& producer, const std::string& group, const Topic& topic,
               std::optional<int64_t> start) {
  const Value answer = try_enlist(kit, producer, group, {{.topic = topic}}, start);
  answer["errorCode"].is_none();
  answer["topics"][0]["partitions"][0]["errorCode"].is_none();
  return answer["transactionStartTimeMs"].number();
}

int64_t state_partition_of(const TxnProducer& producer) {
  return producer.describe()["topics"]
      .with("topic", "__share_group_state")["partitions"][0]
      .number();
}

Value write_state_marker(Kit& kit, int64_t producer_id, int64_t state_partition,
                         const StateMarker& marker) {
  const Object topic{{"name", "__share_group_state"}, {"partitionIndexes", list(state_partition)}};
  Object one{{"producerId", producer_id},
             {"producerEpoch", marker.epoch},
             {"transactionResult", marker.committed},
             {"topics", list(topic)},
             {"coordinatorEpoch", marker.coordinator_epoch}};
  if (marker.version >= 2) one["transactionVersion"] = marker.transaction_version;
  return kit.ask("WriteTxnMarkers", marker.version,
                 {{"markers", list(one)}})["markers"][0]["topics"][0]["partitions"][0]["errorCode"];
}

Value in_flight(Kit& kit, const std::string& group, const Topic& topic, int32_t partition,
                int32_t max_ranges) {
  const Value answer =
      kit.ask("DescribeSharePartitions", 0,
              {{"groupId", group},
               {"maxRanges", max_ranges},
               {"topics", list(Object{{"topicId", topic.id}, {"partitions", list(partition)}})}});
  answer["errorCode"].is_none();
  return answer["topics"][0]["partitions"][0];
}

Flight flight_of(Kit& kit, const std::string& group, const Topic& topic, int32_t partition) {
  const Value part = in_flight(kit, group, topic, partition);
  part["errorCode"].is_none();
  Flight out;
  for (const Value& range : part["ranges"].items())
    out.emplace_back(range["firstOffset"].number(), range["lastOffset"].number(),
                     range["state"].number(), range["deliveryCount"].number());
  return out;
}

void expect_lag(Kit& kit, const std::string& group, const Topic& topic, int64_t lag) {
  describe_offset(kit, group, topic)["lag"].is(lag);
}

void expect_nothing_staged(Kit& kit, const std::string& group, const Topic& topic,
                           int32_t partition) {
  for (const auto& [first, last, state, count] : flight_of(kit, group, topic, partition))
    expect(state != kStagedState, fmt::format("{} to {} are not staged", first, last));
}

Staging staging(Kit& kit, TxnVersion version, const Configs& group_configs,
                const InitOptions& init) {
  auto [topic, member] = acquired_records(kit, 10, 10, group_configs);
  Staging out{topic, member, TxnProducer(kit, version)};
  out.producer.init(init);
  return out;
}

TxnVersion version_of(const Kit& kit) {
  return kit.version() >= 5 ? TxnVersion::kTwo : TxnVersion::kOne;
}

}  // namespace ackord::conform
