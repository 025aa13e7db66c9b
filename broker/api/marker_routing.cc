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
    auto watching = share_.watch_producer(partition.partition, marker.producer.id);
    const Result<share::WatchProducer::Reply> watched = co_await std::move(watching);
    if (!watched) co_return watched.error().code;
    const int32_t index = partition.partition;
    auto asking = txn.lists_open(marker.producer.id, std::move(partition));
    const bool listed = co_await std::move(asking);
    auto writing = share_.write_foreign_marker(index, marker, {*watched, listed});
    co_return co_await std::move(writing);
  }
  auto writing = write_marker(std::move(partition), marker);
  co_return co_await std::move(writing);
}

}  // namespace ackord::api
