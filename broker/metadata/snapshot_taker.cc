#include "broker/metadata/snapshot_taker.h"

#include <algorithm>
#include <utility>

#include "broker/base/logging.h"
#include "broker/metadata/metadata_snapshot.h"

namespace ackord::metadata {
namespace {

constexpr int64_t kReadBytes = 4 << 20;
constexpr int64_t kLookAgainMs = 1000;

}  // namespace

void SnapshotTaker::consider(const MetadataShard& shard, const ShardIdentity& identity) {
  const auto size = static_cast<int64_t>(partition_->size_bytes());
  // Less than then: old segments have gone.
  size_then_ = std::min(size_then_, size);
  if (taking_ || shard.hard().in_transaction || size - size_then_ < every_bytes_) return;
  io::spawn(home_.executor, take_aside(this, begin(shard, identity)));
}

io::Task<Result<void>> SnapshotTaker::take_now(const MetadataShard& shard, ShardIdentity identity) {
  while (taking_) {
    auto wakeup = io::Wakeup::make(home_.executor, home_.clock);
    taken_.subscribe(wakeup);
    auto waiting = wakeup->wait_until(home_.clock.now().steady_ms + kLookAgainMs);
    co_await std::move(waiting);
  }
  auto taking = take(this, begin(shard, identity));
  Result<void> taken = co_await std::move(taking);
  co_return taken;
}

SnapshotSource SnapshotTaker::begin(const MetadataShard& shard, const ShardIdentity& identity) {
  taking_ = true;
  size_then_ = static_cast<int64_t>(partition_->size_bytes());
  SnapshotSource source;
  source.image = shard.image();
  source.next_producer_id = shard.hard().next_producer_id;
  source.broker_epoch = shard.hard().broker_epoch;
  source.identity = identity;
  source.end = partition_->log_end_offset();
  source.end_epoch = partition_->leader_epoch();
  source.now_ms = home_.clock.now().wall_ms;
  return source;
}

io::Task<void> SnapshotTaker::take_aside(SnapshotTaker* self, SnapshotSource source) {
  auto taking = take(self, std::move(source));
  (void)co_await std::move(taking);
}

io::Task<Result<void>> SnapshotTaker::take(SnapshotTaker* self, SnapshotSource source) {
  const Offset end = source.end;
  auto writer = std::make_shared<SnapshotWriter>(std::move(source));
  auto gathering = gather(self, writer, end);
  Result<void> done = co_await std::move(gathering);
  if (done) {
    auto finishing = finish(self, writer, end);
    done = co_await std::move(finishing);
  }
  if (done) {
    base::log_info("metadata snapshot written end={}", end);
  } else {
    base::log_warn("metadata snapshot not written why=\"{}\"", done.error().message);
  }
  self->taking_ = false;
  self->taken_.notify();
  co_return done;
}

// What the records that the image does not stand for were, from the log and the snapshot before.
io::Task<Result<void>> SnapshotTaker::gather(SnapshotTaker* self,
                                             std::shared_ptr<SnapshotWriter> writer, Offset end) {
  auto waiting = self->partition_->durable(end);
  Result<void> durable = co_await std::move(waiting);
  if (!durable) co_return durable;
  auto done = std::make_shared<Result<void>>();
  auto before = std::make_shared<Offset>(0);
  std::function<void()> reading_snapshot = [self, writer, done, before] {
    auto newest = read_newest_snapshot(self->files_, self->directory_);
    if (!newest) {
      *done = newest.error();
    } else if (*newest) {
      *before = (*newest)->end;
      *done = writer->add_snapshot((*newest)->bytes);
    }
  };
  auto first = self->files_.blocking(std::move(reading_snapshot));
  co_await std::move(first);
  if (!*done) co_return *done;
  Offset next = std::max(*before, self->partition_->log_start_offset());
  while (next < end) {
    auto reading = self->partition_->read_all(next, kReadBytes);
    auto read = std::make_shared<log::ReadResult>(co_await std::move(reading));
    if (read->error != ErrorCode::NONE) co_return error(read->error);
    if (read->batches.empty()) co_return error(ErrorCode::CORRUPT_MESSAGE, "nothing can be read");
    const Offset from = next;
    std::function<void()> adding = [writer, read, done, from] {
      *done = writer->add_log(read->records.copy(), from);
    };
    auto added = self->files_.blocking(std::move(adding));
    co_await std::move(added);
    if (!*done) co_return *done;
    next = read->batches.back().last_offset + 1;
  }
  co_return Result<void>();
}

// The snapshot first, durable, then the log's new start, then what both make superfluous. The log
// keeps its last record: a stock Kafka takes the epoch of an empty log for lost, and stops.
io::Task<Result<void>> SnapshotTaker::finish(SnapshotTaker* self,
                                             std::shared_ptr<SnapshotWriter> writer, Offset end) {
  auto done = std::make_shared<Result<void>>();
  std::function<void()> writing = [self, writer, done] {
    auto written = writer->write(self->files_, self->directory_);
    if (!written) *done = written.error();
  };
  auto write = self->files_.blocking(std::move(writing));
  co_await std::move(write);
  if (!*done) co_return *done;
  const Offset last = self->partition_->log_end_offset() - 1;
  auto deleting = self->partition_->delete_records(std::min(end, last));
  Result<Offset> deleted = co_await std::move(deleting);
  if (!deleted) co_return deleted.error();
  std::function<void()> removing = [self, done, end] {
    *done = remove_old_snapshots(self->files_, self->directory_, end);
  };
  auto remove = self->files_.blocking(std::move(removing));
  co_await std::move(remove);
  co_return *done;
}

}  // namespace ackord::metadata
