#include "broker/share/source_records.h"

#include <utility>

#include "broker/log/batch_validator.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::share {
namespace {

constexpr int64_t kReadBytes = 1 << 20;

io::Task<std::vector<std::byte>> read_here(log::LogService& log, TopicPartition source,
                                           Offset offset) {
  const std::shared_ptr<log::Partition> partition = log.find(source);
  if (!partition) co_return std::vector<std::byte>();
  auto reading = partition->read({offset, kReadBytes, true, log::Isolation::kReadUncommitted});
  const log::ReadResult read = co_await std::move(reading);
  if (read.error != ErrorCode::NONE) co_return std::vector<std::byte>();
  co_return read.records.copy();
}

}  // namespace

io::Task<const protocol::Record*> SourceRecords::find(Offset offset) {
  while (true) {
    if (current_ && record_.offset >= offset)
      co_return record_.offset == offset ? &record_ : nullptr;
    current_ = reader_ && offset <= end_of_batch_ && reader_->next(record_);
    if (current_) continue;
    if (offset <= end_of_batch_) co_return nullptr;  // a hole at the end of the batch
    if (next_batch()) continue;
    auto reading = io::on(log_.core_of(source_).executor, read_here(log_, source_, offset));
    bytes_ = co_await std::move(reading);
    left_ = bytes_;
    if (!next_batch()) co_return nullptr;
    if (end_of_batch_ < offset) co_return nullptr;
  }
}

bool SourceRecords::next_batch() {
  reader_.reset();
  current_ = false;
  const auto header = protocol::parse_header(left_);
  if (!header || header->size() > left_.size()) {
    left_ = {};
    return false;
  }
  const auto batch = left_.first(header->size());
  left_ = left_.subspan(header->size());
  end_of_batch_ = header->last_offset();
  const auto records =
      protocol::uncompressed_records(*header, batch, log::kMaxUncompressedBatch, uncompressed_);
  if (records && !header->control()) reader_.emplace(*header, *records);
  return true;
}

}  // namespace ackord::share
