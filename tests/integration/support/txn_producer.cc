#include "tests/integration/support/txn_producer.h"

#include <ostream>

#include "protocol/generated/add_partitions_to_txn_request.h"
#include "protocol/generated/add_partitions_to_txn_response.h"
#include "protocol/generated/add_share_acks_to_txn_request.h"
#include "protocol/generated/add_share_acks_to_txn_response.h"
#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/generated/txn_share_acknowledge_response.h"
#include "protocol/record_batch/batch_builder.h"

namespace ackord::integration {
namespace {

// The newest request versions that a client of each transaction version sends.
int16_t produce_version(TxnVersion version) { return version == TxnVersion::k2 ? 12 : 11; }
int16_t end_txn_version(TxnVersion version) { return version == TxnVersion::k2 ? 5 : 4; }

using StageRequest = protocol::TxnShareAcknowledgeRequest;

// The entry of a topic or a partition, which may stand in a request only once.
StageRequest::TxnShareAcknowledgeTopic& topic_of(StageRequest& request, const Uuid& id) {
  for (auto& topic : request.topics) {
    if (topic.topic_id == id) return topic;
  }
  auto& topic = request.topics.emplace_back();
  topic.topic_id = id;
  return topic;
}
StageRequest::TxnShareAcknowledgePartition& partition_of(
    StageRequest::TxnShareAcknowledgeTopic& topic, int32_t index) {
  for (auto& partition : topic.partitions) {
    if (partition.partition_index == index) return partition;
  }
  auto& partition = topic.partitions.emplace_back();
  partition.partition_index = index;
  return partition;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Staged& staged) {
  out << name_of(staged.error) << " [";
  for (ErrorCode code : staged.partitions) out << " " << name_of(code);
  return out << " ]";
}

Staged staged_ok(size_t partitions) {
  return {ErrorCode::NONE, std::vector<ErrorCode>(partitions, ErrorCode::NONE)};
}
Staged refused(ErrorCode partition_error) { return {ErrorCode::NONE, {partition_error}}; }
Staged refused_whole(ErrorCode error) { return {error, {}}; }

TxnProducer::TxnProducer(uint16_t port, std::string transactional_id, TxnVersion version)
    : port_(port), id_(std::move(transactional_id)), version_(version), client_(port) {}

void TxnProducer::init(int32_t timeout_ms) {
  protocol::InitProducerIdRequest request;
  request.transactional_id = TransactionalId(id_);
  request.transaction_timeout_ms = timeout_ms;
  init(request, 5);
}

int16_t TxnProducer::init_two_phase(bool keep_prepared) {
  protocol::InitProducerIdRequest request;
  request.transactional_id = TransactionalId(id_);
  request.enable2_pc = true;
  request.keep_prepared_txn = keep_prepared;
  return init(request, 6);
}

int16_t TxnProducer::init(const protocol::InitProducerIdRequest& request, int16_t version) {
  int16_t ongoing = -1;
  poll_until("InitProducerId", [&] {
    auto answer = client_.call<protocol::InitProducerIdResponse>(request, version);
    if (is_starting(answer.message.error_code)) return false;
    if (answer.message.error_code == ErrorCode::CONCURRENT_TRANSACTIONS) return false;
    require_none(answer.message.error_code, "InitProducerId");
    producer_id_ = answer.message.producer_id;
    producer_epoch_ = answer.message.producer_epoch;
    ongoing = answer.message.ongoing_txn_producer_epoch;
    return true;
  });
  next_sequence_.clear();
  return ongoing;
}

ErrorCode TxnProducer::add_partition(const Topic& topic, int32_t partition) {
  protocol::AddPartitionsToTxnRequest request;
  request.v3_and_below_transactional_id = TransactionalId(id_);
  request.v3_and_below_producer_id = producer_id_;
  request.v3_and_below_producer_epoch = producer_epoch_;
  auto& asked = request.v3_and_below_topics.emplace_back();
  asked.name = TopicName(topic.name);
  asked.partitions.push_back(partition);
  ErrorCode code = ErrorCode::NONE;
  poll_until("AddPartitionsToTxn", [&] {
    auto answer = client_.call<protocol::AddPartitionsToTxnResponse>(request, 3);
    code = answer.message.results_by_topic_v3_and_below.at(0)
               .results_by_partition.at(0)
               .partition_error_code;
    return code != ErrorCode::CONCURRENT_TRANSACTIONS && !is_starting(code);
  });
  return code;
}

ErrorCode TxnProducer::produce(const Topic& topic, int32_t partition,
                               const std::vector<std::string>& values) {
  if (version_ == TxnVersion::k1) {
    if (const ErrorCode code = add_partition(topic, partition); code != ErrorCode::NONE)
      return code;
  }
  int32_t& sequence = next_sequence_[{TopicName(topic.name), partition}];
  protocol::BatchOptions options;
  options.transactional = true;
  options.producer_id = producer_id_;
  options.producer_epoch = producer_epoch_;
  options.base_sequence = sequence;
  const std::vector<std::byte> batch = batch_of(values, options);
  protocol::ProduceRequest request = produce_request(topic, partition, batch);
  request.transactional_id = TransactionalId(id_);
  auto answer = client_.call<protocol::ProduceResponse>(request, produce_version(version_));
  const ErrorCode code = answer.message.responses.at(0).partition_responses.at(0).error_code;
  if (code == ErrorCode::NONE) sequence += static_cast<int32_t>(values.size());
  return code;
}

Enlisted TxnProducer::enlist(const std::string& group, const std::vector<Staging>& what,
                             int64_t start_time_ms) {
  protocol::AddShareAcksToTxnRequest request;
  request.transactional_id = TransactionalId(id_);
  request.producer_id = producer_id_;
  request.producer_epoch = producer_epoch_;
  request.group_id = GroupId(group);
  request.transaction_start_time_ms = start_time_ms;
  for (const Staging& item : what) {
    auto& topic = request.topics.emplace_back();
    topic.topic_id = item.topic.id;
    topic.partitions.push_back(item.partition);
  }
  auto answer = client_.call<protocol::AddShareAcksToTxnResponse>(request, 0);
  return {answer.message.error_code, answer.message.transaction_start_time_ms};
}

protocol::TxnShareAcknowledgeRequest TxnProducer::stage_request(const ShareMember& member,
                                                                const std::vector<Staging>& what,
                                                                int64_t start_time_ms) const {
  protocol::TxnShareAcknowledgeRequest request;
  request.transactional_id = TransactionalId(id_);
  request.group_id = GroupId(member.group());
  request.producer_id = producer_id_;
  request.producer_epoch = producer_epoch_;
  request.member_id = member.id();
  request.member_epoch = member.epoch();
  request.transaction_start_time_ms = start_time_ms;
  for (const Staging& item : what) {
    auto& topic = topic_of(request, item.topic.id);
    auto& batch = partition_of(topic, item.partition).acknowledgement_batches.emplace_back();
    batch.first_offset = item.first;
    batch.last_offset = item.last;
    batch.acknowledge_types = {item.type};
  }
  return request;
}

Staged TxnProducer::stage(const ShareMember& member, const std::vector<Staging>& what,
                          int64_t start_time_ms) {
  return stage(stage_request(member, what, start_time_ms));
}

Staged TxnProducer::stage(const protocol::TxnShareAcknowledgeRequest& request) {
  Staged staged;
  poll_until("TxnShareAcknowledge", [&] {
    auto answer = client_.call<protocol::TxnShareAcknowledgeResponse>(request, 0);
    staged = Staged{answer.message.error_code, {}};
    bool starting = is_starting(staged.error);
    for (const auto& topic : answer.message.responses) {
      for (const auto& partition : topic.partitions) {
        staged.partitions.push_back(partition.error_code);
        starting = starting || is_starting(partition.error_code);
      }
    }
    return !starting;
  });
  // An answer for the whole request may repeat its error in the partitions.
  if (staged.error != ErrorCode::NONE) staged.partitions.clear();
  return staged;
}

Pending TxnProducer::send_end(bool commit) {
  protocol::EndTxnRequest request;
  request.transactional_id = TransactionalId(id_);
  request.producer_id = producer_id_;
  request.producer_epoch = producer_epoch_;
  request.committed = commit;
  return client_.send(request, end_txn_version(version_));
}

ErrorCode TxnProducer::receive_end(const Pending& pending) {
  auto answer = client_.receive<protocol::EndTxnResponse>(pending);
  if (answer.message.error_code == ErrorCode::NONE && version_ == TxnVersion::k2) {
    if (producer_id_ != answer.message.producer_id ||
        producer_epoch_ != answer.message.producer_epoch) {
      next_sequence_.clear();
    }
    producer_id_ = answer.message.producer_id;
    producer_epoch_ = answer.message.producer_epoch;
  }
  return answer.message.error_code;
}

ErrorCode TxnProducer::end(bool commit) { return receive_end(send_end(commit)); }

void TxnProducer::end_for_sure(bool commit) {
  poll_until("EndTxn", [&] {
    const ErrorCode code = end(commit);
    if (code == ErrorCode::CONCURRENT_TRANSACTIONS || is_starting(code)) return false;
    require_none(code, "EndTxn");
    return true;
  });
}

void TxnProducer::reconnect() { client_ = RawClient(port_); }

}  // namespace ackord::integration
