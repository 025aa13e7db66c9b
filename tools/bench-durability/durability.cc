#include "tools/bench-durability/durability.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace ackord::bench {
namespace {

constexpr uint64_t kZeroedAhead = 1 << 20;
constexpr uint64_t kJournalBytes = 64 << 20;
// In a journal a record says where it belongs: log, position, length, checksum.
constexpr size_t kJournalHeader = 24;

void check(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

class LogFile {
 public:
  explicit LogFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    check(fd_ >= 0, "open");
  }
  LogFile(LogFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), end_(other.end_) {}
  ~LogFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  uint64_t end() const { return end_; }
  void rewind() { end_ = 0; }
  void append(std::span<const std::byte> bytes) {
    put(bytes, end_);
    end_ += bytes.size();
  }
  void put(std::span<const std::byte> bytes, uint64_t position) const {
    const ssize_t wrote = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(position));
    check(wrote == static_cast<ssize_t>(bytes.size()), "pwrite");
  }
  void sync() const { check(::fdatasync(fd_) == 0, "fdatasync"); }
  void sync_file_system() const { check(::syncfs(fd_) == 0, "syncfs"); }

 private:
  int fd_;
  uint64_t end_ = 0;
};

std::vector<LogFile> make_logs(const Layout& layout) {
  std::vector<LogFile> logs;
  for (size_t i = 0; i < layout.logs; ++i) {
    logs.emplace_back(layout.directory + "/log-" + std::to_string(i));
    logs.back().sync();
  }
  return logs;
}

// One sync in flight per group; the next one of the group serves all that came meanwhile.
class GroupCommit {
 public:
  GroupCommit(size_t groups, size_t threads, std::function<void(size_t)> sync)
      : groups_(groups), sync_(std::move(sync)) {
    for (size_t i = 0; i < threads; ++i) pool_.emplace_back([this] { serve(); });
  }
  ~GroupCommit() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    work_.notify_all();
    for (std::thread& thread : pool_) thread.join();
  }

  void add(size_t group, ClientId client) {
    groups_[group].waiting.push_back(client);
    if (groups_[group].in_flight.empty()) begin(group);
  }
  void await(std::vector<ClientId>& done) {
    std::vector<size_t> synced;
    {
      std::unique_lock lock(mutex_);
      ended_.wait(lock, [this] { return !synced_.empty(); });
      synced.swap(synced_);
    }
    for (const size_t index : synced) {
      Group& group = groups_[index];
      done.insert(done.end(), group.in_flight.begin(), group.in_flight.end());
      group.in_flight.clear();
      if (!group.waiting.empty()) begin(index);
    }
  }
  uint64_t syncs() const { return syncs_; }

 private:
  struct Group {
    std::vector<ClientId> waiting;
    std::vector<ClientId> in_flight;
  };

  void begin(size_t group) {
    groups_[group].in_flight.swap(groups_[group].waiting);
    ++syncs_;
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(group);
    }
    work_.notify_one();
  }
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (ending_) return;
      const size_t group = queue_.front();
      queue_.pop_front();
      lock.unlock();
      sync_(group);
      lock.lock();
      synced_.push_back(group);
      ended_.notify_one();
    }
  }

  std::vector<Group> groups_;  // loop thread
  uint64_t syncs_ = 0;         // loop thread
  std::function<void(size_t)> sync_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable ended_;
  std::deque<size_t> queue_;
  std::vector<size_t> synced_;
  bool ending_ = false;
  std::vector<std::thread> pool_;
};

class PerFile final : public Durability {
 public:
  PerFile(const Layout& layout, bool zeroed)
      : logs_(make_logs(layout)),
        zeroed_to_(zeroed ? layout.logs : 0),
        zeros_(kZeroedAhead),
        commit_(layout.logs, layout.pool_threads, [this](size_t log) { logs_[log].sync(); }) {
    for (size_t log = 0; log < zeroed_to_.size(); ++log) extend(log);
    for (size_t log = 0; log < zeroed_to_.size(); ++log) logs_[log].sync();
  }

  void write(ClientId client, size_t log, std::span<const std::byte> bytes) override {
    if (!zeroed_to_.empty() && logs_[log].end() + bytes.size() > zeroed_to_[log]) extend(log);
    logs_[log].append(bytes);
    commit_.add(log, client);
  }
  void await(std::vector<ClientId>& done) override { commit_.await(done); }
  uint64_t syncs() const override { return commit_.syncs(); }

 private:
  void extend(size_t log) {
    logs_[log].put(zeros_, zeroed_to_[log]);
    zeroed_to_[log] += kZeroedAhead;
  }

  std::vector<LogFile> logs_;
  std::vector<uint64_t> zeroed_to_;  // empty: files grow as they are written
  std::vector<std::byte> zeros_;
  GroupCommit commit_;
};

class WholeFileSystem final : public Durability {
 public:
  explicit WholeFileSystem(const Layout& layout)
      : logs_(make_logs(layout)), commit_(1, 1, [this](size_t) { logs_[0].sync_file_system(); }) {}

  void write(ClientId client, size_t log, std::span<const std::byte> bytes) override {
    logs_[log].append(bytes);
    commit_.add(0, client);
  }
  void await(std::vector<ClientId>& done) override { commit_.await(done); }
  uint64_t syncs() const override { return commit_.syncs(); }

 private:
  std::vector<LogFile> logs_;
  GroupCommit commit_;
};

// The journal is used as two halves: one is written over only when all files were synced since it
// was filled.
class Journal final : public Durability {
 public:
  Journal(const Layout& layout, bool zeroed)
      : logs_(make_logs(layout)),
        journal_(layout.directory + "/journal"),
        commit_(1, 1, [this](size_t) { journal_.sync(); }),
        checkpointer_([this] { checkpoint(); }) {
    const std::vector<std::byte> zeros(kZeroedAhead);
    for (uint64_t at = 0; zeroed && at < kJournalBytes; at += zeros.size()) journal_.put(zeros, at);
    journal_.sync();
  }
  ~Journal() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    checkpointer_.join();
  }

  void write(ClientId client, size_t log, std::span<const std::byte> bytes) override {
    entry_.assign(kJournalHeader, std::byte{});
    entry_.insert(entry_.end(), bytes.begin(), bytes.end());
    const uint64_t before = journal_.end();
    if (before + entry_.size() > kJournalBytes) {
      journal_.rewind();
      half_filled();
    } else if (before < kJournalBytes / 2 && before + entry_.size() >= kJournalBytes / 2) {
      half_filled();
    }
    journal_.append(entry_);
    logs_[log].append(bytes);
    commit_.add(0, client);
  }
  void await(std::vector<ClientId>& done) override { commit_.await(done); }
  uint64_t syncs() const override { return commit_.syncs() + checkpoint_syncs_; }

 private:
  // The half that comes next was filled before the last checkpoint began, which must have ended.
  void half_filled() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !wanted_; });
    wanted_ = true;
    changed_.notify_all();
  }
  void checkpoint() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return ending_ || wanted_; });
      if (ending_) return;
      lock.unlock();
      for (const LogFile& log : logs_) log.sync();
      checkpoint_syncs_ += logs_.size();
      lock.lock();
      wanted_ = false;
      changed_.notify_all();
    }
  }

  std::vector<LogFile> logs_;
  LogFile journal_;
  std::vector<std::byte> entry_;
  GroupCommit commit_;
  std::atomic<uint64_t> checkpoint_syncs_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool wanted_ = false;
  bool ending_ = false;
  std::thread checkpointer_;
};

}  // namespace

std::vector<std::string_view> ways() {
  return {"files", "files-zeroed", "syncfs", "journal", "journal-zeroed"};
}

std::unique_ptr<Durability> make_durability(std::string_view way, const Layout& layout) {
  if (way == "files") return std::make_unique<PerFile>(layout, false);
  if (way == "files-zeroed") return std::make_unique<PerFile>(layout, true);
  if (way == "syncfs") return std::make_unique<WholeFileSystem>(layout);
  if (way == "journal") return std::make_unique<Journal>(layout, false);
  if (way == "journal-zeroed") return std::make_unique<Journal>(layout, true);
  throw std::invalid_argument("no such way: " + std::string(way));
}

}  // namespace ackord::bench
