// SimDisk: what survives a crash, and SimFileSystem: how the broker sees it while it runs.
//
// A write is seen at once by every reader, and is on the disk only when a datasync that began after
// it has ended. A crash keeps what was synced, and of everything else a random part, sector by
// sector: any un-synced sector may have reached the disk or not, a longer length may be there
// without its bytes (zeros). Names work the same way: a created, renamed or removed name is certain
// only after sync_directory of its folder.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "broker/io/file_system.h"
#include "tests/simulation/scheduler.h"

namespace ackord::simulation {

class SimDisk {
 public:
  static constexpr size_t kSector = 512;

  struct Inode {
    std::vector<std::byte> now;  // as the page cache has it
    std::vector<std::byte> durable;
    std::set<size_t> dirty;  // sectors that differ, or may
    // Datasyncs may end in another order than they began, and none takes back what a later one has
    // put on the disk: which one did, by sector, and for the size.
    uint64_t datasyncs = 0;
    std::map<size_t, uint64_t> put_by;
    uint64_t size_put_by = 0;
  };
  using Entry = std::shared_ptr<Inode>;  // null: a folder

  // The power fails and comes back: only what is on the disk is left.
  void crash(SimRandom& random);
  // The next datasync that ends says that it failed, and has put nothing on the disk.
  void fail_next_datasync() { fail_next_datasync_ = true; }

 private:
  friend class SimFileSystem;
  friend class SimFile;
  void crash_inode(Inode& inode, SimRandom& random);

  std::map<std::string, Entry> names_;
  std::map<std::string, Entry> durable_names_;
  bool fail_next_datasync_ = false;
};

class SimFileSystem : public io::FileSystem {
 public:
  // Delays end on `executor`s of whoever asks; one SimFileSystem per life of the broker.
  SimFileSystem(SimScheduler& scheduler, SimDisk& disk) : scheduler_(scheduler), disk_(disk) {}

  Result<std::shared_ptr<io::File>> open(const std::string& path, io::OpenMode mode) override;
  bool exists(const std::string& path) const override;
  Result<io::VolumeSpace> space(const std::string&) const override { return io::VolumeSpace{}; }
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  bool is_directory(const std::string& path) const override;
  Result<void> create_directories(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> remove_all(const std::string& path) override;
  Result<void> sync_directory_now(const std::string& path) override;
  io::Task<Result<void>> sync_directory(const std::string& path) override;
  Result<std::unique_ptr<io::DirectoryLock>> lock(const std::string& path) override;
  io::Task<void> blocking(std::function<void()> work) override;

 private:
  SimScheduler& scheduler_;
  SimDisk& disk_;
};

}  // namespace ackord::simulation
