#include "tools/bench/txn_producer.h"

#include <utility>

#include "protocol/generated/end_txn_request.h"
#include "protocol/generated/end_txn_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/record_batch/batch_header.h"
#include "tools/bench/coordinator.h"
#include "tools/bench/produce_request.h"

namespace ackord::bench {
namespace {

constexpr int32_t kTimeoutMs = 60000;
constexpr int16_t kAcksAll = -1;

}  // namespace

TxnProducer::TxnProducer(Bench& bench, std::string transactional_id, std::shared_ptr<Wire> wire)
    : bench_(bench), transactional_id_(std::move(transactional_id)), wire_(std::move(wire)) {}

Task<> TxnProducer::init() {
  co_await await_coordinator(bench_, *wire_, Coordinator::kTransaction, transactional_id_);
  protocol::InitProducerIdRequest request;
  request.transactional_id = TransactionalId(transactional_id_);
  request.transaction_timeout_ms = kTimeoutMs;
  Attempts attempts(bench_, "InitProducerId");
  while (true) {
    const auto answer = co_await wire_->call<protocol::InitProducerIdResponse>(request);
    const ErrorCode code = answer.message.error_code;
    if (code == ErrorCode::NONE) {
      producer_id_ = answer.message.producer_id;
      epoch_ = answer.message.producer_epoch;
      co_return;
    }
    if (!is_starting(code)) expect_none(code, "InitProducerId");
    co_await attempts.again(code);
  }
}

Task<> TxnProducer::produce(const Topic& topic, int32_t partition, int records) {
  std::vector<std::byte> data = bench_.batch(records);
  auto header = protocol::parse_header(data);
  header->attributes |= protocol::batch_format::kTransactional;
  header->producer_id = producer_id_;
  header->producer_epoch = epoch_;
  header->base_sequence = sequence_;
  protocol::HeaderBytes bytes;
  protocol::write_header(*header, bytes);
  header->crc = protocol::batch_crc(bytes, std::span(data).subspan(bytes.size()));
  protocol::write_header(*header, std::span(data).first<protocol::batch_format::kHeaderSize>());
  protocol::ProduceRequest request = produce_request(topic, partition, data, kAcksAll);
  request.transactional_id = TransactionalId(transactional_id_);
  while (true) {
    const auto answer = co_await wire_->call<protocol::ProduceResponse>(request);
    const ErrorCode code = code_of(answer.message);
    // Kafka: the transaction before is still being completed.
    if (code != ErrorCode::CONCURRENT_TRANSACTIONS) {
      expect_none(code, "Produce");
      break;
    }
    asio::steady_timer timer(bench_.context(), std::chrono::milliseconds(1));
    co_await timer.async_wait(asio::use_awaitable);
  }
  sequence_ = protocol::add_sequence(sequence_, records);
}

Task<> TxnProducer::commit() {
  protocol::EndTxnRequest request;
  request.transactional_id = TransactionalId(transactional_id_);
  request.producer_id = producer_id_;
  request.producer_epoch = epoch_;
  request.committed = true;
  while (true) {
    const auto answer = co_await wire_->call<protocol::EndTxnResponse>(request);
    if (answer.message.error_code != ErrorCode::CONCURRENT_TRANSACTIONS) {
      expect_none(answer.message.error_code, "EndTxn");
      if (answer.message.producer_id.value < 0)
        throw BenchError("the broker has no transaction version 2");
      producer_id_ = answer.message.producer_id;
      epoch_ = answer.message.producer_epoch;
      sequence_ = 0;
      co_return;
    }
    asio::steady_timer timer(bench_.context(), std::chrono::milliseconds(1));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace ackord::bench
