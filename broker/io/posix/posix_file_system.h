// PosixFileSystem: FileSystem on system calls. What can wait for the disk runs on a WorkPool.
// Threads: any. Files may outlive the file system; then only their synchronous calls may be used.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "broker/io/file_system.h"
#include "broker/io/posix/work_pool.h"

namespace ackord::io {

class PosixFileSystem final : public FileSystem {
 public:
  // `pool_threads` bounds how many fdatasyncs and cold reads are in progress at a time.
  explicit PosixFileSystem(size_t pool_threads = 8);

  Result<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override;
  Result<std::shared_ptr<File>> make_block_file(const std::string& path, uint64_t size) override;
  bool exists(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  bool is_directory(const std::string& path) const override;
  Result<VolumeSpace> space(const std::string& path) const override;
  Result<void> create_directories(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> remove_all(const std::string& path) override;
  Result<void> sync_directory_now(const std::string& path) override;
  Task<Result<void>> sync_directory(const std::string& path) override;
  // An open-file-description lock: it excludes a Kafka on the same directory (Java's FileLock) and
  // a second lock of this process.
  Result<std::unique_ptr<DirectoryLock>> lock(const std::string& path) override;
  Task<void> blocking(std::function<void()> work) override;

 private:
  Task<Result<void>> sync_copied(std::string path);

  std::shared_ptr<WorkPool> pool_;
};

}  // namespace ackord::io
