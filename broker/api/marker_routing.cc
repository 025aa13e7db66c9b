#include "broker/api/marker_routing.h"

#include <utility>

#include "broker/metadata/image.h"

namespace ackord::api {

io::Task<ErrorCode> MarkerRouting::write_marker(TopicPartition partition, log::EndMarker marker) {
  if (partition.topic == metadata::kOffsetsTopic) {
    auto writing = group_.write_marker(partition.partition, marker);
    co_return co_await std::move(writing);
  }
  if (partition.topic == metadata::kShareStateTopic) {
    auto writing = share_.write_marker(partition.partition, marker);
    co_return co_await std::move(writing);
  }
  const io::Core& core = log_.core_of(partition);
  auto appending = io::on(core.executor, append(std::move(partition), marker));
  co_return co_await std::move(appending);
}

// On the partition's core.
io::Task<ErrorCode> MarkerRouting::append(TopicPartition name, log::EndMarker marker) {
  const std::shared_ptr<log::Partition> partition = log_.find(name);
  if (partition == nullptr) co_return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  const log::AppendResult appended =
      partition->append_marker(marker, log_.core_of(name).clock.now().wall_ms);
  if (appended.error != ErrorCode::NONE) co_return appended.error;
  auto durable = partition->durable(appended.next_offset);
  const Result<void> done = co_await std::move(durable);
  if (!done) co_return done.error().code;
  co_return ErrorCode::NONE;
}

io::Task<ErrorCode> MarkerRouting::write_foreign_marker(txn::TxnService& txn,
                                                        TopicPartition partition,
                                                        log::EndMarker marker) {
  if (partition.topic == metadata::kShareStateTopic) {
    auto asking = txn.lists_open(marker.producer.id, partition);
    const bool open = co_await std::move(asking);
    if (open) {
      const io::Core& core = log_.core_of(partition);
      auto checking = io::on(core.executor, check_epochs(partition, marker));
      const ErrorCode refusal = co_await std::move(checking);
      co_return refusal == ErrorCode::NONE ? ErrorCode::INVALID_TXN_STATE : refusal;
    }
  }
  auto writing = write_marker(std::move(partition), marker);
  co_return co_await std::move(writing);
}

// On the partition's core. What append_marker() would refuse (KIP-1228: from transaction version 2
// on the marker's epoch is above that of the transaction).
io::Task<ErrorCode> MarkerRouting::check_epochs(TopicPartition name, log::EndMarker marker) {
  const std::shared_ptr<log::Partition> partition = log_.find(name);
  if (partition == nullptr) co_return ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  const std::optional<log::ProducerView> known = partition->producer(marker.producer.id);
  if (!known) co_return ErrorCode::NONE;
  const bool bumps = marker.transaction_version >= 2;
  const int16_t epoch = known->producer.epoch;
  if (bumps ? marker.producer.epoch <= epoch : marker.producer.epoch < epoch) {
    co_return ErrorCode::INVALID_PRODUCER_EPOCH;
  }
  if (marker.coordinator_epoch < known->coordinator_epoch)
    co_return ErrorCode::TRANSACTION_COORDINATOR_FENCED;
  co_return ErrorCode::NONE;
}

}  // namespace ackord::api
