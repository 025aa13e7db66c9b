#include "broker/io/posix/posix_file_system.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "broker/io/posix/descriptor.h"
#include "broker/io/posix/posix_file.h"

namespace ackord::io {
namespace {

namespace fs = std::filesystem;

int open_flags(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead: return O_RDONLY;
    case OpenMode::kReadWrite: return O_RDWR;
    case OpenMode::kCreate: return O_RDWR | O_CREAT;
    case OpenMode::kCreateNew: return O_RDWR | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

Result<Descriptor> open_descriptor(const std::string& path, int flags) {
  int fd;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return storage_error("open", path, errno);
  return Descriptor(fd);
}

class HeldLock final : public DirectoryLock {
 public:
  explicit HeldLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

 private:
  Descriptor descriptor_;  // closing it releases the lock
};

}  // namespace

PosixFileSystem::PosixFileSystem(size_t pool_threads)
    : pool_(std::make_shared<WorkPool>(pool_threads)) {}

Result<std::shared_ptr<File>> PosixFileSystem::open(const std::string& path, OpenMode mode) {
  auto descriptor = open_descriptor(path, open_flags(mode));
  if (descriptor.has_error()) return descriptor.error();
  return std::shared_ptr<File>(
      std::make_shared<PosixFile>(path, std::move(descriptor.value()), pool_));
}

Result<std::shared_ptr<File>> PosixFileSystem::make_block_file(const std::string& path,
                                                               uint64_t size) {
  auto made = FileSystem::make_block_file(path, size);
  if (made.has_error()) return made.error();
  // Some file systems (tmpfs of older kernels) have no unbuffered writes.
  auto descriptor = open_descriptor(path, O_RDWR | O_DSYNC | O_DIRECT);
  if (descriptor.has_error()) descriptor = open_descriptor(path, O_RDWR | O_DSYNC);
  if (descriptor.has_error()) return descriptor.error();
  return std::shared_ptr<File>(
      std::make_shared<PosixFile>(path, std::move(descriptor.value()), pool_, true));
}

bool PosixFileSystem::exists(const std::string& path) const {
  std::error_code failure;
  return fs::exists(path, failure);
}

Result<std::vector<std::string>> PosixFileSystem::list(const std::string& directory) const {
  std::error_code failure;
  std::vector<std::string> names;
  fs::directory_iterator entry(directory, failure);
  for (; !failure && entry != fs::directory_iterator(); entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  if (failure) return storage_error("list", directory, failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

bool PosixFileSystem::is_directory(const std::string& path) const {
  std::error_code failure;
  return fs::is_directory(path, failure);
}

Result<VolumeSpace> PosixFileSystem::space(const std::string& path) const {
  std::error_code failure;
  const fs::space_info space = fs::space(path, failure);
  if (failure) return storage_error("statvfs", path, failure.value());
  return VolumeSpace{space.capacity, space.available};
}

Result<void> PosixFileSystem::create_directories(const std::string& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) return storage_error("create directory", path, failure.value());
  return {};
}

Result<void> PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return storage_error("rename", fmt::format("{} to {}", from, to), errno);
  }
  return {};
}

Result<void> PosixFileSystem::remove(const std::string& path) {
  if (::remove(path.c_str()) != 0) return storage_error("remove", path, errno);
  return {};
}

Result<void> PosixFileSystem::remove_all(const std::string& path) {
  std::error_code failure;
  fs::remove_all(path, failure);
  if (failure) return storage_error("remove", path, failure.value());
  return {};
}

Result<void> PosixFileSystem::sync_directory_now(const std::string& path) {
  auto descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY);
  if (descriptor.has_error()) return descriptor.error();
  int outcome;
  do {
    outcome = ::fsync(descriptor.value().get());
  } while (outcome != 0 && errno == EINTR);
  if (outcome != 0) return storage_error("sync directory", path, errno);
  return {};
}

Task<Result<void>> PosixFileSystem::sync_directory(const std::string& path) {
  // Copied before the first suspension: the caller's text need not outlive the call.
  return sync_copied(path);
}

Task<Result<void>> PosixFileSystem::sync_copied(std::string path) {
  Result<void> result;
  std::function<void()> work = [this, &path, &result] { result = sync_directory_now(path); };
  co_await pool_->run(std::move(work));
  co_return result;
}

Result<std::unique_ptr<DirectoryLock>> PosixFileSystem::lock(const std::string& path) {
  auto descriptor = open_descriptor(path, O_RDWR | O_CREAT);
  if (descriptor.has_error()) return descriptor.error();
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor.value().get(), F_OFD_SETLK, &whole) != 0) {
    if (errno == EAGAIN || errno == EACCES) {
      return error(ErrorCode::KAFKA_STORAGE_ERROR,
                   fmt::format("{} is locked: another broker uses this directory", path));
    }
    return storage_error("lock", path, errno);
  }
  return std::unique_ptr<DirectoryLock>(std::make_unique<HeldLock>(std::move(descriptor.value())));
}

Task<void> PosixFileSystem::blocking(std::function<void()> work) {
  return pool_->run(std::move(work));
}

}  // namespace ackord::io
