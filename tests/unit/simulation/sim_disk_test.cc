// What a crash of the simulated disk keeps and what it loses.
#include "tests/simulation/sim_disk.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace ackord::simulation {
namespace {

class SimDiskTest : public ::testing::Test {
 protected:
  std::shared_ptr<io::File> open(const std::string& path, io::OpenMode mode) {
    auto file = files_.open(path, mode);
    EXPECT_TRUE(file.has_value()) << path;
    return file ? *file : nullptr;
  }
  std::shared_ptr<io::File> create(const std::string& path) {
    return open(path, io::OpenMode::kCreateNew);
  }
  static void write(io::File& file, const std::string& text, uint64_t at = 0) {
    const std::span<const std::byte> piece(reinterpret_cast<const std::byte*>(text.data()),
                                           text.size());
    EXPECT_TRUE(file.pwritev(std::span(&piece, 1), at).has_value());
  }
  std::string read(const std::string& path) {
    const auto file = open(path, io::OpenMode::kRead);
    if (!file) return {};
    std::string text(*file->size(), '\0');
    EXPECT_TRUE(file->pread(std::as_writable_bytes(std::span(text)), 0).has_value());
    return text;
  }
  // A file of which name and content are on the disk.
  std::shared_ptr<io::File> synced(const std::string& path, const std::string& text) {
    auto file = create(path);
    write(*file, text);
    EXPECT_TRUE(file->datasync_now().has_value());
    EXPECT_TRUE(files_.sync_directory_now("/").has_value());
    return file;
  }
  // Runs a task to its end on a simulated core.
  Result<void> run(io::Task<Result<void>> task) {
    Result<void> result;
    SimExecutor core(scheduler_);
    io::spawn(core, store(std::move(task), result));
    while (scheduler_.step()) {
    }
    return result;
  }
  static io::Task<void> store(io::Task<Result<void>> task, Result<void>& result) {
    result = co_await std::move(task);
  }

  SimScheduler scheduler_{1};
  SimDisk disk_;
  SimFileSystem files_{scheduler_, disk_};
};

TEST_F(SimDiskTest, KeepsWhatWasSynced) {
  synced("/a", "kept");
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimRandom random(seed);
    disk_.crash(random);
    EXPECT_EQ(read("/a"), "kept");
  }
}

TEST_F(SimDiskTest, LosesWhatWasNotSyncedOrKeepsItAsChanceWants) {
  int kept = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk fresh;
    std::swap(fresh, disk_);
    auto file = synced("/a", "old");
    write(*file, "new");
    SimRandom random(seed);
    disk_.crash(random);
    const std::string after = read("/a");
    EXPECT_TRUE(after == "old" || after == "new") << after;
    if (after == "new") ++kept;
  }
  EXPECT_GT(kept, 20);
  EXPECT_LT(kept, 80);
}

TEST_F(SimDiskTest, TearsAWriteOfSeveralSectors) {
  bool torn = false;
  for (uint64_t seed = 0; seed < 100 && !torn; ++seed) {
    SimDisk fresh;
    std::swap(fresh, disk_);
    auto file = synced("/a", std::string(2 * SimDisk::kSector, 'o'));
    write(*file, std::string(2 * SimDisk::kSector, 'n'));
    SimRandom random(seed);
    disk_.crash(random);
    const std::string after = read("/a");
    torn = after.front() != after.back();
  }
  EXPECT_TRUE(torn);
}

TEST_F(SimDiskTest, ANameCountsWhenItsFolderIsSynced) {
  int lost = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SimDisk fresh;
    std::swap(fresh, disk_);
    synced("/a", "a");
    auto file = create("/b");
    write(*file, "b");
    EXPECT_TRUE(file->datasync_now().has_value());
    SimRandom random(seed);
    disk_.crash(random);
    EXPECT_TRUE(files_.exists("/a"));
    if (!files_.exists("/b")) ++lost;
  }
  EXPECT_GT(lost, 20);
  EXPECT_LT(lost, 80);
}

TEST_F(SimDiskTest, WhatIsWrittenWhileADatasyncRunsIsNotPromised) {
  auto file = synced("/a", "old");
  int kept = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    write(*file, "old");
    ASSERT_TRUE(file->datasync_now().has_value());
    SimExecutor core(scheduler_);
    Result<void> done = error(ErrorCode::UNKNOWN_SERVER_ERROR);
    io::spawn(core, store(file->datasync(), done));
    scheduler_.step();
    write(*file, "new");
    while (scheduler_.step()) {
    }
    ASSERT_TRUE(done.has_value());
    SimRandom random(seed);
    disk_.crash(random);
    file = open("/a", io::OpenMode::kReadWrite);
    if (read("/a") == "new") ++kept;
  }
  EXPECT_LT(kept, 45);
}

TEST_F(SimDiskTest, AFailingDatasyncSaysSoOnce) {
  auto file = synced("/a", "old");
  write(*file, "new");
  disk_.fail_next_datasync();
  EXPECT_FALSE(run(file->datasync()).has_value());
  EXPECT_TRUE(run(file->datasync()).has_value());
  SimRandom random(1);
  disk_.crash(random);
  EXPECT_EQ(read("/a"), "new");
}

}  // namespace
}  // namespace ackord::simulation
