#include "broker/log/segment.h"

#include "broker/log/checkpoint_files.h"
#include "broker/log/log_names.h"

namespace ackord::log {

Result<SegmentPtr> Segment::create(io::FileSystem& files, const std::string& directory,
                                   Offset base_offset, TimeMs now_ms) {
  const std::string path = names::join(directory, names::file_name(base_offset, names::kLog));
  auto file = files.open(path, io::OpenMode::kCreate);
  if (file.has_error()) return file.error();
  auto size = (*file)->size();
  if (size.has_error()) return size.error();
  if (*size != 0) {
    return error(ErrorCode::KAFKA_STORAGE_ERROR, path + " exists already and is not empty");
  }
  auto segment = std::make_shared<Segment>(directory, base_offset, *file);
  segment->created_ms_ = now_ms;
  return segment;
}

std::string Segment::path(std::string_view suffix) const {
  return names::join(directory_, names::file_name(base_offset_, suffix));
}

void Segment::add(const protocol::BatchHeader& batch, int32_t index_interval_bytes) {
  if (size_ == 0) first_timestamp_ = batch.max_timestamp;
  if (batch.max_timestamp > max_timestamp_) {
    max_timestamp_ = batch.max_timestamp;
    offset_of_max_timestamp_ = batch.last_offset();
  }
  if (bytes_since_entry_ > static_cast<uint64_t>(index_interval_bytes)) {
    indexes_->add_offset(batch.last_offset(), size_);
    indexes_->add_time(max_timestamp_, offset_of_max_timestamp_);
    bytes_since_entry_ = 0;
  }
  bytes_since_entry_ += batch.size();
  size_ += batch.size();
}

void Segment::finish_time_index() {
  if (indexes_) indexes_->add_time(max_timestamp_, offset_of_max_timestamp_);
}

void Segment::reset() {
  indexes_ = std::make_shared<SegmentIndexes>(base_offset_);
  aborted_.clear();
  size_ = 0;
  bytes_since_entry_ = 0;
  max_timestamp_ = -1;
  offset_of_max_timestamp_ = -1;
  first_timestamp_ = -1;
}

int64_t Segment::age_for_roll(TimeMs batch_timestamp, TimeMs now_ms) const {
  if (first_timestamp_ >= 0 && batch_timestamp >= 0) return batch_timestamp - first_timestamp_;
  return created_ms_ < 0 ? 0 : now_ms - created_ms_;
}

void Segment::restore(uint64_t size, TimeMs max_timestamp, Offset offset_of_max_timestamp) {
  size_ = size;
  max_timestamp_ = max_timestamp;
  offset_of_max_timestamp_ = offset_of_max_timestamp;
}

SealedSegment seal(const SegmentPtr& segment, std::string directory, Offset next_base_offset,
                   std::vector<std::byte> snapshot) {
  segment->finish_time_index();
  SealedSegment sealed;
  sealed.segment = segment;
  sealed.directory = std::move(directory);
  sealed.offset_index = segment->indexes()->encode_offsets();
  sealed.time_index = segment->indexes()->encode_times();
  sealed.txn_index = encode_aborted(segment->aborted());
  sealed.next_base_offset = next_base_offset;
  sealed.snapshot = std::move(snapshot);
  return sealed;
}

Result<void> write_sealed(io::FileSystem& files, const SealedSegment& sealed) {
  const Segment& segment = *sealed.segment;
  auto done = segment.file()->datasync_now();
  if (done.has_error()) return done;
  done = write_file(files, segment.path(names::kIndex), sealed.offset_index);
  if (done.has_error()) return done;
  done = write_file(files, segment.path(names::kTimeIndex), sealed.time_index);
  if (done.has_error()) return done;
  if (!sealed.txn_index.empty()) {
    done = write_file(files, segment.path(names::kTxnIndex), sealed.txn_index);
    if (done.has_error()) return done;
  }
  const std::string snapshot =
      names::join(sealed.directory, names::file_name(sealed.next_base_offset, names::kSnapshot));
  done = write_file(files, snapshot, sealed.snapshot);
  if (done.has_error()) return done;
  return files.sync_directory_now(sealed.directory);
}

}  // namespace ackord::log
