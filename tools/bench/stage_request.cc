#include "tools/bench/stage_request.h"

#include "protocol/generated/txn_share_acknowledge_request.h"
#include "protocol/generated/txn_share_acknowledge_response.h"

namespace ackord::bench {

Task<> stage_all(ShareMember& member, TxnProducer& producer, const Topic& topic,
                 const std::vector<Acquired>& held) {
  protocol::TxnShareAcknowledgeRequest request;
  request.transactional_id = TransactionalId(producer.transactional_id());
  request.group_id = GroupId(member.group());
  request.producer_id = producer.producer_id();
  request.producer_epoch = producer.producer_epoch();
  request.member_id = String(member.id());
  request.member_epoch = member.epoch();
  accept_all(request.topics, topic, held);
  const auto answer = co_await producer.wire().call<protocol::TxnShareAcknowledgeResponse>(request);
  expect_none(answer.message.error_code, "TxnShareAcknowledge");
  expect_all_none(answer.message.responses, "TxnShareAcknowledge");
}

}  // namespace ackord::bench
