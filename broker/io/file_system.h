// Files and directories. The real one is in posix/, a seeded one that loses unsynced writes is in
// tests/simulation.
//
// Durability: a write, a new length or a new name counts only after datasync() of the file,
// sync_directory() of the folder that holds the name. Errors: KAFKA_STORAGE_ERROR with path and
// errno text. Threads: synchronous calls run where they are called (they hit the page cache, or run
// at start-up or on a pool thread); the Task ones leave the core and resume on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "broker/io/task.h"
#include "protocol/types/records.h"
#include "protocol/types/result.h"

namespace ackord::io {

class File : public ByteSource {
 public:
  virtual const std::string& path() const = 0;
  virtual Result<uint64_t> size() const = 0;
  // Fills `out` from `position`, or as much as the file has; returns how much.
  virtual Result<size_t> pread(std::span<std::byte> out, uint64_t position) const = 0;
  // As pread, without blocking the core: at once when the page cache has it, else on the pool.
  // `out` and the File must live until it ends.
  virtual Task<Result<size_t>> read(std::span<std::byte> out, uint64_t position) const = 0;
  // Writes all pieces, one after the other, from `position`. On an error the file's content is
  // unknown there.
  virtual Result<void> pwritev(std::span<const std::span<const std::byte>> pieces,
                               uint64_t position) = 0;
  virtual Result<void> truncate(uint64_t size) = 0;
  // fdatasync: everything written before this call is on the disk when it ends.
  virtual Task<Result<void>> datasync() = 0;
  // The same, blocking: start-up and pool threads only.
  virtual Result<void> datasync_now() = 0;
  // Writes within the file's size, and returns when the bytes are on the disk. Of a file from
  // make_block_file() only: position, size and the address of `bytes` are multiples of kBlock.
  // `bytes` and the File must live until it ends.
  virtual Task<Result<void>> write_durably(std::span<const std::byte> bytes, uint64_t position);
};

// What any disk takes as a unit, and the alignment that unbuffered writes need.
constexpr size_t kBlock = 4096;

enum class OpenMode {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreate,     // read and write, made when missing
  kCreateNew,  // read and write, must not exist
};

// Of the volume that holds a path, in bytes.
struct VolumeSpace {
  uint64_t total = 0;
  uint64_t usable = 0;  // by this process
};

// Held as long as the object lives; another process's attempt fails meanwhile.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  // Blocking: a file of `size` zeros for write_durably(), where the system can do it without the
  // page cache. Replaces what is there; durable but for its name.
  virtual Result<std::shared_ptr<File>> make_block_file(const std::string& path, uint64_t size);
  virtual bool exists(const std::string& path) const = 0;
  // Names (not paths) in the folder, sorted.
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;
  virtual bool is_directory(const std::string& path) const = 0;
  // May block where the volume is remote.
  virtual Result<VolumeSpace> space(const std::string& path) const = 0;
  // Makes missing parents too.
  virtual Result<void> create_directories(const std::string& path) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& path) = 0;
  // A folder with all that is in it.
  virtual Result<void> remove_all(const std::string& path) = 0;
  virtual Result<void> sync_directory_now(const std::string& path) = 0;
  virtual Task<Result<void>> sync_directory(const std::string& path) = 0;
  // The advisory lock file Kafka uses too (`.lock` in a log directory).
  virtual Result<std::unique_ptr<DirectoryLock>> lock(const std::string& path) = 0;
  // Runs blocking work on a pool thread and resumes here with its end. The simulator runs it in
  // place.
  virtual Task<void> blocking(std::function<void()> work) = 0;
};

}  // namespace ackord::io
