#include "broker/io/posix/posix_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "broker/io/posix/asio_core.h"
#include "broker/io/posix/block_on.h"
#include "broker/io/posix/system_random.h"

namespace ackord::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

class PosixFileSystemTest : public testing::Test {
 protected:
  PosixFileSystemTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ackord-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    cores_.start();
  }
  ~PosixFileSystemTest() override {
    cores_.stop();
    std::filesystem::remove_all(directory_);
  }
  std::string at(std::string_view name) const { return directory_ + "/" + std::string(name); }

  AsioCores cores_{1};
  PosixFileSystem files_{2};
  std::string directory_;
};

TEST_F(PosixFileSystemTest, WritesPiecesAndReadsThemBack) {
  auto file = files_.open(at("a"), OpenMode::kCreate).value();
  std::vector<std::string> texts;
  std::vector<std::span<const std::byte>> pieces;
  std::string all;
  for (int i = 0; i < 1500; ++i)
    texts.push_back(std::string(static_cast<size_t>(i % 7), 'a' + i % 26));
  for (const auto& text : texts) {
    pieces.push_back(bytes_of(text));
    all += text;
  }
  ASSERT_TRUE(file->pwritev(pieces, 3).has_value());
  EXPECT_EQ(file->size().value(), all.size() + 3);
  std::string back(all.size() + 100, '?');
  const auto got = file->pread(std::as_writable_bytes(std::span(back)), 3);
  EXPECT_EQ(got.value(), all.size());
  back.resize(all.size());
  EXPECT_EQ(back, all);
  ASSERT_TRUE(file->truncate(5).has_value());
  EXPECT_EQ(file->size().value(), 5U);
  EXPECT_FALSE(file->read_at(4, std::as_writable_bytes(std::span(back))));
}

Task<Result<size_t>> read_all(std::shared_ptr<File> file, std::string* out, uint64_t position) {
  auto target = std::as_writable_bytes(std::span(*out));
  auto got = co_await file->read(target, position);
  co_return got;
}

TEST_F(PosixFileSystemTest, ReadLeavesAndReturnsToTheCore) {
  auto file = files_.open(at("a"), OpenMode::kCreate).value();
  const std::string text(200000, 'x');
  const std::array pieces{bytes_of(text)};
  ASSERT_TRUE(file->pwritev(pieces, 0).has_value());
  ASSERT_TRUE(block_on(cores_.at(0), file->datasync()).has_value());
  // Out of the page cache, where the file system lets us.
  ::posix_fadvise(file->native_handle(), 0, 0, POSIX_FADV_DONTNEED);
  std::string back(200100, '?');
  EXPECT_EQ(block_on(cores_.at(0), read_all(file, &back, 0)).value(), text.size());
  EXPECT_EQ(back.substr(0, text.size()), text);
  EXPECT_EQ(block_on(cores_.at(0), read_all(file, &back, 199990)).value(), 10U);
  EXPECT_EQ(block_on(cores_.at(0), read_all(file, &back, 300000)).value(), 0U);
}

TEST_F(PosixFileSystemTest, OpenModes) {
  EXPECT_EQ(files_.open(at("a"), OpenMode::kRead).error().code, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_THAT(files_.open(at("a"), OpenMode::kReadWrite).error().message,
              testing::AllOf(HasSubstr(at("a")), HasSubstr("No such file")));
  EXPECT_TRUE(files_.open(at("a"), OpenMode::kCreateNew).has_value());
  EXPECT_TRUE(files_.open(at("a"), OpenMode::kCreateNew).has_error());
  auto read_only = files_.open(at("a"), OpenMode::kRead).value();
  const std::array pieces{bytes_of("x")};
  EXPECT_EQ(read_only->pwritev(pieces, 0).error().code, ErrorCode::KAFKA_STORAGE_ERROR);
}

TEST_F(PosixFileSystemTest, AFullDiskIsAStorageError) {
  auto full = files_.open("/dev/full", OpenMode::kReadWrite).value();
  const std::array pieces{bytes_of("x")};
  EXPECT_THAT(full->pwritev(pieces, 0).error().message,
              testing::AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
}

TEST_F(PosixFileSystemTest, Directories) {
  ASSERT_TRUE(files_.create_directories(at("x/y")).has_value());
  EXPECT_TRUE(files_.is_directory(at("x/y")));
  ASSERT_TRUE(files_.open(at("x/b"), OpenMode::kCreate).has_value());
  ASSERT_TRUE(files_.open(at("x/a"), OpenMode::kCreate).has_value());
  EXPECT_THAT(files_.list(at("x")).value(), ElementsAre("a", "b", "y"));
  ASSERT_TRUE(files_.rename(at("x/a"), at("x/c")).has_value());
  EXPECT_FALSE(files_.exists(at("x/a")));
  EXPECT_TRUE(files_.sync_directory_now(at("x")).has_value());
  EXPECT_TRUE(block_on(cores_.at(0), files_.sync_directory(at("x"))).has_value());
  EXPECT_TRUE(block_on(cores_.at(0), files_.sync_directory(at("none"))).has_error());
  ASSERT_TRUE(files_.remove(at("x/b")).has_value());
  EXPECT_TRUE(files_.remove(at("x/b")).has_error());
  ASSERT_TRUE(files_.remove_all(at("x")).has_value());
  EXPECT_FALSE(files_.exists(at("x")));
  EXPECT_TRUE(files_.list(at("x")).has_error());
}

TEST_F(PosixFileSystemTest, ALockedDirectoryCannotBeLockedAgain) {
  auto held = files_.lock(at(".lock"));
  ASSERT_TRUE(held.has_value());
  EXPECT_THAT(files_.lock(at(".lock")).error().message, HasSubstr("another broker"));
  held.value().reset();
  EXPECT_TRUE(files_.lock(at(".lock")).has_value());
}

Task<std::thread::id> thread_of_work(FileSystem* files) {
  std::thread::id where;
  std::function<void()> work = [&where] { where = std::this_thread::get_id(); };
  co_await files->blocking(std::move(work));
  co_return where;
}

Task<std::thread::id> this_thread() { co_return std::this_thread::get_id(); }

TEST_F(PosixFileSystemTest, BlockingWorkRunsOffTheCore) {
  const auto core_thread = block_on(cores_.at(0), this_thread());
  EXPECT_NE(block_on(cores_.at(0), thread_of_work(&files_)), core_thread);
}

// Work that holds a pool thread until it is told to go on, and refers to its task's frame.
Task<void> holds_the_pool(FileSystem* files, std::promise<void>* began,
                          std::shared_future<void> go_on, std::atomic<int>* ends) {
  int in_frame = 1;
  std::function<void()> work = [&in_frame, began, go_on, ends] {
    began->set_value();
    go_on.wait();
    *ends += in_frame;
  };
  co_await files->blocking(std::move(work));
  *ends += 100;
}

TEST_F(PosixFileSystemTest, ATaskMayBeDestroyedWhileItsWorkRunsOrWaits) {
  std::promise<void> began[3];
  std::promise<void> go_on;
  std::atomic<int> ends = 0;
  const auto gate = go_on.get_future().share();
  for (auto& one : began) spawn(cores_.at(0), holds_the_pool(&files_, &one, gate, &ends));
  // Two threads: two pieces of work run, the third waits in the queue.
  for (int i = 0; i < 2; ++i) began[i].get_future().wait();
  std::thread release([&] { go_on.set_value(); });
  cores_.stop();
  release.join();
  EXPECT_GE(ends, 2);  // what had begun came to its end before its frame went
}

TEST_F(PosixFileSystemTest, ThePoolMayEndBeforeItsTasks) {
  auto own = std::make_unique<PosixFileSystem>(1);
  std::promise<void> began[2];
  std::promise<void> go_on;
  std::atomic<int> ends = 0;
  const auto gate = go_on.get_future().share();
  for (auto& one : began) spawn(cores_.at(0), holds_the_pool(own.get(), &one, gate, &ends));
  began[0].get_future().wait();
  go_on.set_value();
  own.reset();
  cores_.stop();
  EXPECT_GE(ends, 1);
}

Task<int> many_syncs(std::shared_ptr<File> file, int count) {
  int good = 0;
  for (int i = 0; i < count; ++i) {
    const auto synced = co_await file->datasync();
    if (synced.has_value()) ++good;
  }
  co_return good;
}

TEST_F(PosixFileSystemTest, ManySyncsAtOnce) {
  std::vector<std::promise<int>> results(8);
  auto file = files_.open(at("a"), OpenMode::kCreate).value();
  std::vector<std::thread> waiters;
  std::atomic<int> total = 0;
  for (int i = 0; i < 8; ++i) {
    waiters.emplace_back([&] { total += block_on(cores_.at(0), many_syncs(file, 20)); });
  }
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(total, 160);
}

TEST(SystemRandom, GivesDifferentNumbersOnAllThreads) {
  SystemRandom random;
  std::set<uint64_t> seen[2];
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) seen[1].insert(random.next());
  });
  for (int i = 0; i < 1000; ++i) seen[0].insert(random.next());
  other.join();
  for (const uint64_t number : seen[0]) EXPECT_FALSE(seen[1].contains(number));
  EXPECT_EQ(seen[0].size() + seen[1].size(), 2000U);
  EXPECT_NE(random.uuid(), random.uuid());
}

}  // namespace
}  // namespace ackord::io
