#include "tests/hot_paths/hot_paths.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "broker/base/assert.h"
#include "broker/log/batch_validator.h"
#include "broker/share/share_partition.h"
#include "protocol/generated/produce_request.h"
#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/crc32c.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::hot_paths {
namespace {

constexpr TimeMs kNow = 1'700'000'000'000;
constexpr int kRecords = 100;
constexpr int kRecordSize = 100;
constexpr int16_t kProduceVersion = 12;
constexpr size_t kCrcBytes = 16384;

std::vector<std::byte> make_batch() {
  protocol::BatchBuilder builder({});
  const std::string value(kRecordSize, 'v');
  for (int i = 0; i < kRecords; ++i)
    builder.add(kNow + i, std::nullopt, std::as_bytes(std::span(value)));
  return builder.build();
}

std::function<void()> decode_produce() {
  const std::vector<std::byte> batch = make_batch();
  protocol::ProduceRequest request;
  request.acks = -1;
  auto& topic = request.topic_data.emplace_back();
  topic.name = TopicName("orders");
  auto& partition = topic.partition_data.emplace_back();
  partition.records = Records::view(batch);
  protocol::Writer out;
  request.encode(out, kProduceVersion);
  return [frame = out.finish().copy()] {
    protocol::Reader in(frame);
    const auto decoded = protocol::ProduceRequest::decode(in, kProduceVersion);
    ACKORD_ASSERT(decoded.has_value(), "the request decodes");
  };
}

std::function<void()> validate_batch() {
  return [batch = make_batch()] {
    log::ClientAppend append;
    append.records = batch;
    append.produce_version = kProduceVersion;
    log::ValidBatch valid;
    log::AppendResult refusal;
    const bool good = log::validate(append, log::LogConfig(), kNow, valid, refusal);
    ACKORD_ASSERT(good, "the batch is valid");
  };
}

std::function<void()> crc() {
  return [bytes = std::vector<std::byte>(kCrcBytes, std::byte{'c'})] {
    ACKORD_ASSERT(protocol::crc32c(bytes) != 0, "the checksum of these bytes");
  };
}

// Four produced batches a round, as a member that fetches 500 records sees them.
struct Queue {
  static constexpr int kBatches = 4;
  static constexpr int kBatchRecords = 125;

  share::SharePartition partition;
  Offset next = 0;

  Queue() { partition.activate(0); }

  void round() {
    const share::SharePartitionKey key{GroupId("workers"), Uuid{{1}}, 0};
    const share::Holder holder{"member", 1};
    const share::DeliveryLimit limit;
    share::AcquireRequest request;
    request.fetch_offset = next;
    for (int i = 0; i < kBatches; ++i) {
      request.batches.push_back({next, next + kBatchRecords - 1});
      next += kBatchRecords;
    }
    share::PartitionChange archived;
    const auto decision = partition.acquire(request, archived);
    ACKORD_ASSERT(!decision.acquired.empty() && archived.empty(), "there is something to acquire");
    partition.apply_acquire(holder, decision, limit, kNow + 30000);
    std::vector<share::AcknowledgementBatch> accepted;
    for (const auto& range : decision.acquired) {
      accepted.push_back({range.first_offset,
                          range.last_offset,
                          {static_cast<int8_t>(share::AcknowledgeType::ACCEPT)}});
    }
    share::PartitionChange change;
    std::vector<share::OffsetRange> renewed;
    const auto outcome = partition.acknowledge(holder.member_id, accepted,
                                               share::AcknowledgeRules(), change, renewed);
    ACKORD_ASSERT(outcome.ok(), "what is held can be accepted");
    partition.apply_update(partition.update_of(key, change), coordinator::RecordContext());
    ACKORD_ASSERT(partition.start_offset() == next, "all of it is done with");
  }
};

std::function<void()> acquire_and_accept() {
  return [queue = std::make_shared<Queue>()] { queue->round(); };
}

}  // namespace

std::vector<HotPath> all() {
  return {
      {"decode-produce", decode_produce, kRecords, kRecords * kRecordSize},
      {"validate-batch", validate_batch, kRecords, kRecords * kRecordSize},
      {"crc-16k", crc, 0, kCrcBytes},
      {"share-acquire-accept", acquire_and_accept, Queue::kBatches * Queue::kBatchRecords, 0},
  };
}

}  // namespace ackord::hot_paths
