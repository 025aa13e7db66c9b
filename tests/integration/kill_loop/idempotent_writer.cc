#include "tests/integration/kill_loop/idempotent_writer.h"

#include <algorithm>
#include <thread>

#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/record_batch/batch_builder.h"

namespace ackord::integration {
namespace {

// Kafka's clients have no more under way, and brokers remember as many.
constexpr size_t kUnderWay = 5;
constexpr int16_t kProduceVersion = 11;

}  // namespace

IdempotentWriter::IdempotentWriter(Run& run, Topic topic, int32_t partition, Millis pause)
    : run_(run), topic_(std::move(topic)), partition_(partition), pause_(pause) {}

void IdempotentWriter::run() {
  while (!finished() && !refused_) {
    try {
      connect();
      while (!finished() && !refused_) {
        while (unanswered_.size() < kUnderWay && !run_.writers_stop) begin_batch();
        if (!unanswered_.empty()) receive();
        std::this_thread::sleep_for(pause_);
      }
    } catch (const std::exception& lost) {
      run_.story.hindrance(std::string("idempotent writer: ") + lost.what());
      pause_before_reconnect();
    }
  }
}

void IdempotentWriter::connect() {
  client_.emplace(run_.port);
  if (producer_epoch_ < 0) {
    protocol::InitProducerIdRequest request;
    request.transactional_id = std::nullopt;
    request.transaction_timeout_ms = 60000;
    auto answer = client_->call<protocol::InitProducerIdResponse>(request, 5);
    require_none(answer.message.error_code, "InitProducerId");
    producer_id_ = answer.message.producer_id;
    producer_epoch_ = answer.message.producer_epoch;
  }
  for (Batch& batch : unanswered_) {
    if (batch.sent) ++run_.story.repeated;
    send(batch);
  }
}

void IdempotentWriter::begin_batch() {
  Batch& batch = unanswered_.emplace_back();
  batch.sequence = next_sequence_;
  const int count = 1 + next_sequence_ % 3;
  for (int i = 0; i < count; ++i) {
    batch.values.push_back(topic_.name + "/" + std::to_string(partition_) + "#" +
                           std::to_string(next_sequence_++) + std::string(100, '.'));
  }
  send(batch);
}

void IdempotentWriter::send(Batch& batch) {
  protocol::BatchOptions options;
  options.producer_id = producer_id_;
  options.producer_epoch = producer_epoch_;
  options.base_sequence = batch.sequence;
  const std::vector<std::byte> bytes = batch_of(batch.values, options);
  batch.sent = client_->send(produce_request(topic_, partition_, bytes), kProduceVersion);
}

void IdempotentWriter::receive() {
  Batch& batch = unanswered_.front();
  auto answer = client_->receive<protocol::ProduceResponse>(*batch.sent);
  const auto& result = answer.message.responses.at(0).partition_responses.at(0);
  if (result.error_code != ErrorCode::NONE) {
    // Everything else would have to be explained: the sequences follow each other, and the log and
    // its producers are loaded before the first request is served.
    run_.story.finding("an idempotent batch of " + topic_.name + " with sequence " +
                       std::to_string(batch.sequence) +
                       " is refused: " + std::string(name_of(result.error_code)));
    refused_ = true;
    return;
  }
  Offset offset = result.base_offset;
  for (const std::string& value : batch.values) {
    const auto [at, fresh] = acknowledged_.emplace(offset++, value);
    if (!fresh) run_.story.finding("one offset acknowledged twice: " + value);
  }
  ++run_.story.batches;
  unanswered_.pop_front();
}

}  // namespace ackord::integration
