// PosixFile: File on a descriptor. Made by PosixFileSystem only.
#pragma once

#include <memory>
#include <string>

#include "broker/io/file_system.h"
#include "broker/io/posix/descriptor.h"
#include "broker/io/posix/work_pool.h"

namespace ackord::io {

// KAFKA_STORAGE_ERROR with "<what> <path>: <text of errno>".
Error storage_error(const char* what, const std::string& path, int error_number);

class PosixFile final : public File, public std::enable_shared_from_this<PosixFile> {
 public:
  // `writes_through`: the descriptor was opened so that a write returns when it is on the disk.
  PosixFile(std::string path, Descriptor descriptor, std::shared_ptr<WorkPool> pool,
            bool writes_through = false);

  int native_handle() const override { return descriptor_.get(); }
  bool read_at(uint64_t position, std::span<std::byte> out) const override;

  const std::string& path() const override { return path_; }
  Result<uint64_t> size() const override;
  Result<size_t> pread(std::span<std::byte> out, uint64_t position) const override;
  Task<Result<size_t>> read(std::span<std::byte> out, uint64_t position) const override;
  Result<void> pwritev(std::span<const std::span<const std::byte>> pieces,
                       uint64_t position) override;
  Result<void> truncate(uint64_t size) override;
  Task<Result<void>> datasync() override;
  Result<void> datasync_now() override;
  Task<Result<void>> write_durably(std::span<const std::byte> bytes, uint64_t position) override;

 private:
  std::string path_;
  Descriptor descriptor_;
  std::shared_ptr<WorkPool> pool_;
  bool writes_through_;
};

}  // namespace ackord::io
