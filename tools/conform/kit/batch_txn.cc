#include "tools/conform/kit/batch_txn.h"

#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/share_topics.h"

namespace ackord::conform {

BatchTxn::BatchTxn(Kit& kit, std::string group, std::string id)
    : kit_(kit), group_(std::move(group)), id_(id.empty() ? kit.name("b") : std::move(id)) {}

Value BatchTxn::begin(int32_t timeout_ms) {
  return ask_until_free(kit_, [&] {
    return kit_.ask("BeginBatchTxn", 0,
                    {{"transactionId", id_}, {"groupId", group_}, {"timeoutMs", timeout_ms}});
  });
}

Object BatchTxn::acknowledge_request(const ShareMember& member, const std::vector<ShareAck>& acks,
                                     const BatchAckOptions& options) const {
  return {{"transactionId", id_},
          {"groupId", group_},
          {"memberId", options.member.value_or(member.id())},
          {"memberEpoch", options.member_epoch.value_or(member.member_epoch())},
          {"topics", share_topics({}, acks)}};
}

Value BatchTxn::acknowledge(const ShareMember& member, const std::vector<ShareAck>& acks,
                            const BatchAckOptions& options) {
  const Object request = acknowledge_request(member, acks, options);
  return ask_until_free(kit_, [&] { return kit_.ask("BatchTxnAcknowledge", 0, request); });
}

void BatchTxn::stage(const ShareMember& member, const std::vector<ShareAck>& acks) {
  const Value answer = acknowledge(member, acks);
  answer["errorCode"].is_none();
  for (const Value& topic : answer["responses"].items())
    for (const Value& partition : topic["partitions"].items()) partition["errorCode"].is_none();
}

Value BatchTxn::acknowledge_one(const ShareMember& member, const ShareAck& ack) {
  const Value answer = acknowledge(member, {ack});
  answer["errorCode"].is_none();
  return answer["responses"][0]["partitions"][0]["errorCode"];
}

std::optional<Value> BatchTxn::listed(const std::vector<std::string>& states) {
  const Value answer = list_batches(kit_, group_, states, id_);
  answer["errorCode"].is_none();
  if (!answer["transactions"].has_item("transactionId", id_)) return {};
  return answer["transactions"].with("transactionId", id_);
}

Value BatchTxn::decide(const char* api) {
  return ask_until_free(kit_, [&] { return kit_.ask(api, 0, name()); });
}

void expect_batch(const Value& answer, const char* state, int64_t staged) {
  answer["errorCode"].is_none();
  answer["state"].is(state);
  answer["stagedRecords"].is(staged);
}

void expect_wrong_state(const Value& answer, const char* state) {
  answer["errorCode"].is(ErrorCode::INVALID_TXN_STATE);
  answer["errorMessage"].is_not_empty();
  answer["state"].is(state);
}

Value list_batches(Kit& kit, const std::string& group, const std::vector<std::string>& states,
                   const std::optional<std::string>& prefix) {
  Object request{{"groupId", group},
                 {"stateFilters", list_of(states, [](const auto& one) { return one; })}};
  if (prefix) request["transactionIdPrefix"] = *prefix;
  return kit.ask("ListBatchTxns", 0, request);
}

Begun begun(Kit& kit, int32_t timeout_ms, const Configs& group_configs) {
  auto [topic, member] = acquired_records(kit, 10, 10, group_configs);
  Begun out{topic, member, BatchTxn(kit, member.group())};
  expect_batch(out.batch.begin(timeout_ms), "ONGOING", 0);
  return out;
}

}  // namespace ackord::conform
