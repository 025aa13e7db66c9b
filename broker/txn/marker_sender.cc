#include "broker/txn/marker_sender.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "broker/base/logging.h"

namespace ackord::txn {
namespace {

constexpr int64_t kFirstBackoffMs = 20;
constexpr int64_t kLastBackoffMs = 1000;

enum class Verdict { kDone, kRetry, kRefused };

Verdict judge(ErrorCode code) {
  switch (code) {
    case ErrorCode::NONE:
    // Old formats have no transactions that a marker could end.
    case ErrorCode::UNSUPPORTED_FOR_MESSAGE_FORMAT:
    case ErrorCode::UNSUPPORTED_VERSION: return Verdict::kDone;
    case ErrorCode::UNKNOWN_TOPIC_OR_PARTITION:
    case ErrorCode::NOT_LEADER_OR_FOLLOWER:
    case ErrorCode::NOT_ENOUGH_REPLICAS:
    case ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case ErrorCode::REQUEST_TIMED_OUT:
    case ErrorCode::KAFKA_STORAGE_ERROR:
    case ErrorCode::COORDINATOR_LOAD_IN_PROGRESS:
    case ErrorCode::COORDINATOR_NOT_AVAILABLE:
    case ErrorCode::NOT_COORDINATOR: return Verdict::kRetry;
    default: return Verdict::kRefused;
  }
}

}  // namespace

io::Task<bool> MarkerSender::send(io::Core core, PreparedTransaction transaction) {
  std::vector<io::Task<bool>> sends;
  sends.reserve(transaction.partitions.size());
  for (const TopicPartition& partition : transaction.partitions) {
    sends.push_back(send_to(core, transaction.id, partition, transaction.marker));
  }
  if (sends.empty()) co_return true;
  auto all = io::when_all(std::move(sends));
  const std::vector<bool> written = co_await std::move(all);
  co_return std::find(written.begin(), written.end(), false) == written.end();
}

io::Task<bool> MarkerSender::send_to(io::Core core, TransactionalId id, TopicPartition partition,
                                     log::EndMarker marker) {
  int64_t backoff_ms = kFirstBackoffMs;
  for (;;) {
    auto write = sink_.write_marker(partition, marker);
    const ErrorCode code = co_await std::move(write);
    const Verdict verdict = judge(code);
    if (verdict == Verdict::kDone) co_return true;
    if (verdict == Verdict::kRefused) {
      base::log_error(
          "marker refused transactional_id={} producer_id={} producer_epoch={} topic={} "
          "partition={} error={}",
          id, marker.producer.id, marker.producer.epoch, partition.topic, partition.partition,
          code);
      co_return false;
    }
    if (code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION && is_deleted(partition)) co_return true;
    if (backoff_ms >= kLastBackoffMs) {
      base::log_warn("marker not written yet transactional_id={} topic={} partition={} error={}",
                     id, partition.topic, partition.partition, code);
    }
    io::SleepUntil sleep(core.clock, core.clock.now().steady_ms + backoff_ms);
    co_await sleep;
    backoff_ms = std::min(backoff_ms * 2, kLastBackoffMs);
  }
}

bool MarkerSender::is_deleted(const TopicPartition& partition) const {
  const auto topic = metadata_.image().topic(partition.topic.sv());
  return topic == nullptr || partition.partition >= topic->partitions;
}

}  // namespace ackord::txn
