#include "tools/conform/kit/batch_txn.h"

#include <map>

#include "tools/conform/kit/coordinators.h"

namespace ackord::conform {

BatchTxn::BatchTxn(Kit& kit, std::string group, std::string id)
    : kit_(kit), group_(std::move(group)), id_(id.empty() ? kit.name("b") : std::move(id)) {}

Value BatchTxn::begin(int32_t timeout_ms) {
  return ask_until_free(kit_, [&] {
    return kit_.ask("BeginBatchTxn", 0,
                    {{"transactionId", id_}, {"groupId", group_}, {"timeoutMs", timeout_ms}});
  });
}

Value BatchTxn::acknowledge(const ShareMember& member, const std::vector<ShareAck>& acks) {
  std::map<std::string, std::map<int32_t, json::array>> topics;
  for (const ShareAck& ack : acks)
    topics[ack.topic.id][ack.partition].emplace_back(
        Object{{"firstOffset", ack.first},
               {"lastOffset", ack.last},
               {"acknowledgeTypes", list_of(ack.types, [](int8_t type) { return type; })}});
  const Object request{{"transactionId", id_},
                       {"groupId", group_},
                       {"memberId", member.id()},
                       {"memberEpoch", member.member_epoch()},
                       {"topics", list_of(topics, [](const auto& topic) {
                          return Object{
                              {"topicId", topic.first},
                              {"partitions", list_of(topic.second, [](const auto& partition) {
                                 return Object{{"partitionIndex", partition.first},
                                               {"acknowledgementBatches", partition.second}};
                               })}};
                        })}};
  return ask_until_free(kit_, [&] { return kit_.ask("BatchTxnAcknowledge", 0, request); });
}

Value BatchTxn::acknowledge_one(const ShareMember& member, const ShareAck& ack) {
  const Value answer = acknowledge(member, {ack});
  answer["errorCode"].is_none();
  return answer["responses"][0]["partitions"][0]["errorCode"];
}

std::optional<Value> BatchTxn::listed(const std::vector<std::string>& states) {
  const Value answer =
      kit_.ask("ListBatchTxns", 0,
               {{"groupId", group_},
                {"stateFilters", list_of(states, [](const auto& one) { return json::value(one); })},
                {"transactionIdPrefix", id_}});
  answer["errorCode"].is_none();
  if (!answer["transactions"].has_item("transactionId", id_.c_str())) return {};
  return answer["transactions"].with("transactionId", id_.c_str());
}

Value BatchTxn::decide(const char* api) {
  return ask_until_free(
      kit_, [&] { return kit_.ask(api, 0, {{"transactionId", id_}, {"groupId", group_}}); });
}

void expect_batch(const Value& answer, const char* state, int64_t staged) {
  answer["errorCode"].is_none();
  answer["state"].is(state);
  answer["stagedRecords"].is(staged);
}

}  // namespace ackord::conform
