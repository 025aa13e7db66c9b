#include "broker/io/posix/posix_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace ackord::io {
namespace {

// Pieces per pwritev; the system's limit is 1024.
constexpr size_t kPiecesAtOnce = 256;

}  // namespace

Error storage_error(const char* what, const std::string& path, int error_number) {
  const auto text = std::generic_category().message(error_number);  // strerror is not thread-safe
  return error(ErrorCode::KAFKA_STORAGE_ERROR, fmt::format("cannot {} {}: {}", what, path, text));
}

PosixFile::PosixFile(std::string path, Descriptor descriptor, std::shared_ptr<WorkPool> pool,
                     bool writes_through)
    : path_(std::move(path)),
      descriptor_(std::move(descriptor)),
      pool_(std::move(pool)),
      writes_through_(writes_through) {}

bool PosixFile::read_at(uint64_t position, std::span<std::byte> out) const {
  const auto got = pread(out, position);
  return got.has_value() && got.value() == out.size();
}

Result<uint64_t> PosixFile::size() const {
  struct stat status;
  if (::fstat(descriptor_.get(), &status) != 0) return storage_error("stat", path_, errno);
  return static_cast<uint64_t>(status.st_size);
}

Result<size_t> PosixFile::pread(std::span<std::byte> out, uint64_t position) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor_.get(), out.data() + done, out.size() - done,
                                static_cast<off_t>(position + done));
    if (got == 0) break;
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return storage_error("read", path_, errno);
    }
  }
  return done;
}

Task<Result<size_t>> PosixFile::read(std::span<std::byte> out, uint64_t position) const {
  size_t done = 0;
  while (done < out.size()) {
    iovec piece{out.data() + done, out.size() - done};
    const ssize_t got =
        ::preadv2(descriptor_.get(), &piece, 1, static_cast<off_t>(position + done), RWF_NOWAIT);
    if (got == 0) co_return done;
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      break;  // Not in the page cache, or a file system without RWF_NOWAIT; a real error shows up
              // below too.
    }
  }
  if (done == out.size()) co_return done;
  Result<size_t> rest = size_t{0};
  // Not captured by a coroutine: the pool runs it, and takes it back before this frame goes.
  std::function<void()> work = [this, out, position, done, &rest] {
    rest = pread(out.subspan(done), position + done);
  };
  co_await pool_->run(std::move(work));
  if (rest.has_error()) co_return rest.error();
  co_return done + rest.value();
}

Result<void> PosixFile::pwritev(std::span<const std::span<const std::byte>> pieces,
                                uint64_t position) {
  std::array<iovec, kPiecesAtOnce> vectors;
  size_t next = 0;    // the first piece that is not fully written
  size_t within = 0;  // how much of it is
  while (true) {
    size_t count = 0;
    for (size_t i = next; i < pieces.size() && count < vectors.size(); ++i) {
      const auto rest = pieces[i].subspan(i == next ? within : 0);
      if (rest.empty()) continue;
      vectors[count++] = iovec{const_cast<std::byte*>(rest.data()), rest.size()};
    }
    if (count == 0) return {};
    const ssize_t wrote = ::pwritev(descriptor_.get(), vectors.data(), static_cast<int>(count),
                                    static_cast<off_t>(position));
    if (wrote < 0) {
      if (errno == EINTR) continue;
      return storage_error("write", path_, errno);
    }
    if (wrote == 0) return storage_error("write", path_, EIO);
    position += static_cast<uint64_t>(wrote);
    within += static_cast<size_t>(wrote);
    while (next < pieces.size() && within >= pieces[next].size()) within -= pieces[next++].size();
  }
}

Result<void> PosixFile::truncate(uint64_t size) {
  int outcome;
  do {
    outcome = ::ftruncate(descriptor_.get(), static_cast<off_t>(size));
  } while (outcome != 0 && errno == EINTR);
  if (outcome != 0) return storage_error("truncate", path_, errno);
  return {};
}

Task<Result<void>> PosixFile::datasync() {
  const auto self = shared_from_this();
  Result<void> result;
  std::function<void()> work = [file = this, &result] { result = file->datasync_now(); };
  co_await pool_->run(std::move(work));
  co_return result;
}

Task<Result<void>> PosixFile::write_durably(std::span<const std::byte> bytes, uint64_t position) {
  const auto self = shared_from_this();
  Result<void> result;
  std::function<void()> work = [file = this, bytes, position, &result] {
    result = file->pwritev(std::span(&bytes, 1), position);
    if (result.has_value() && !file->writes_through_) result = file->datasync_now();
  };
  co_await pool_->run(std::move(work));
  co_return result;
}

Result<void> PosixFile::datasync_now() {
  int outcome;
  do {
    outcome = ::fdatasync(descriptor_.get());
  } while (outcome != 0 && errno == EINTR);
  if (outcome != 0) return storage_error("sync", path_, errno);
  return {};
}

}  // namespace ackord::io
