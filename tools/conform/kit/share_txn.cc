#include "tools/conform/kit/share_txn.h"

#include <map>

#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

Object stage_request(const TxnProducer& producer, const ShareMember& member,
                     const std::vector<ShareAck>& acks, const StageOptions& options) {
  std::vector<std::string> order;
  std::map<std::string, std::map<int32_t, json::array>> topics;
  for (const ShareAck& ack : acks) {
    if (!topics.contains(ack.topic.id)) order.push_back(ack.topic.id);
    topics[ack.topic.id][ack.partition].emplace_back(
        Object{{"firstOffset", ack.first},
               {"lastOffset", ack.last},
               {"acknowledgeTypes", list_of(ack.types, [](int8_t type) { return type; })}});
  }
  Object request{{"transactionalId", options.transactional_id.value_or(json::value(producer.id()))},
                 {"groupId", options.group.value_or(member.group())},
                 {"producerId", producer.producer_id()},
                 {"producerEpoch", producer.epoch()},
                 {"memberId", options.member.value_or(member.id())},
                 {"memberEpoch", options.member_epoch.value_or(member.member_epoch())},
                 {"topics", list_of(order, [&](const std::string& id) {
                    return Object{{"topicId", id},
                                  {"partitions", list_of(topics[id], [](const auto& partition) {
                                     return Object{{"partitionIndex", partition.first},
                                                   {"acknowledgementBatches", partition.second}};
                                   })}};
                  })}};
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
