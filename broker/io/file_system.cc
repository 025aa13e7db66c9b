#include "broker/io/file_system.h"

#include <algorithm>

namespace ackord::io {
namespace {

Task<Result<void>> write_and_sync(File* file, std::span<const std::byte> bytes, uint64_t position) {
  auto written = file->pwritev(std::span(&bytes, 1), position);
  if (written.has_error()) co_return written;
  auto syncing = file->datasync();
  auto synced = co_await std::move(syncing);
  co_return synced;
}

}  // namespace

Task<Result<void>> File::write_durably(std::span<const std::byte> bytes, uint64_t position) {
  return write_and_sync(this, bytes, position);
}

Result<std::shared_ptr<File>> FileSystem::make_block_file(const std::string& path, uint64_t size) {
  constexpr uint64_t kChunk = uint64_t{1} << 20;
  auto file = open(path, OpenMode::kCreate);
  if (file.has_error()) return file.error();
  auto done = (*file)->truncate(0);
  if (done.has_error()) return done.error();
  const std::vector<std::byte> zeros(std::min(kChunk, size));
  for (uint64_t at = 0; at < size; at += zeros.size()) {
    const auto piece = std::span(zeros).first(std::min<uint64_t>(zeros.size(), size - at));
    done = (*file)->pwritev(std::span(&piece, 1), at);
    if (done.has_error()) return done.error();
  }
  done = (*file)->datasync_now();
  if (done.has_error()) return done.error();
  return file;
}

}  // namespace ackord::io
