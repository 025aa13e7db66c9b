#include "tests/simulation/sim_disk.h"

#include <algorithm>
#include <coroutine>
#include <cstring>
#include <utility>

namespace ackord::simulation {
namespace {

// How long a datasync takes: mostly quick, now and then slow enough that much is appended
// meanwhile.
int64_t disk_delay_us(SimRandom& random) {
  return static_cast<int64_t>(random.chance(0.1) ? 2000 + random.below(30000)
                                                 : 50 + random.below(1000));
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {};
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_within(const std::string& path, const std::string& directory) {
  return path.size() > directory.size() && path.compare(0, directory.size(), directory) == 0 &&
         path[directory.size()] == '/';
}

Error missing(const std::string& path) {
  return error(ErrorCode::KAFKA_STORAGE_ERROR, path + ": no such file");
}

struct Delay {
  SimScheduler& scheduler;
  int64_t delay_us;
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    auto& executor = static_cast<SimExecutor&>(*io::Executor::current());
    scheduler.after(delay_us, executor, [caller] { caller.resume(); });
  }
  void await_resume() noexcept {}
};

}  // namespace

class SimFile : public io::File {
 public:
  SimFile(SimScheduler& scheduler, SimDisk& disk, std::string path,
          std::shared_ptr<SimDisk::Inode> inode)
      : scheduler_(scheduler), disk_(disk), path_(std::move(path)), inode_(std::move(inode)) {}

  const std::string& path() const override { return path_; }
  int native_handle() const override { return -1; }
  bool read_at(uint64_t position, std::span<std::byte> out) const override {
    const auto read = pread(out, position);
    return read && *read == out.size();
  }
  Result<uint64_t> size() const override { return inode_->now.size(); }
  Result<size_t> pread(std::span<std::byte> out, uint64_t position) const override {
    if (position >= inode_->now.size()) return size_t{0};
    const size_t n = std::min(out.size(), inode_->now.size() - position);
    if (n != 0) std::memcpy(out.data(), inode_->now.data() + position, n);
    return n;
  }
  io::Task<Result<size_t>> read(std::span<std::byte> out, uint64_t position) const override {
    if (scheduler_.random.chance(0.05)) {
      Delay delay{scheduler_, disk_delay_us(scheduler_.random)};
      co_await delay;
    }
    co_return pread(out, position);
  }
  Result<void> pwritev(std::span<const std::span<const std::byte>> pieces,
                       uint64_t position) override {
    for (const auto piece : pieces) {
      if (piece.empty()) continue;
      if (inode_->now.size() < position + piece.size()) grow(position + piece.size());
      std::memcpy(inode_->now.data() + position, piece.data(), piece.size());
      touch(position, piece.size());
      position += piece.size();
    }
    return {};
  }
  Result<void> truncate(uint64_t size) override {
    const uint64_t before = inode_->now.size();
    if (size > before) {
      grow(size);
    } else {
      inode_->now.resize(size);
      touch(size, before - size);
    }
    return {};
  }
  io::Task<Result<void>> datasync() override {
    // What is written after this moment may or may not be on the disk when it ends: it is not
    // promised.
    auto inode = inode_;
    const uint64_t number = ++inode->datasyncs;
    std::map<size_t, std::vector<std::byte>> sectors = snapshot();
    const size_t size = inode->now.size();
    Delay delay{scheduler_, disk_delay_us(scheduler_.random)};
    co_await delay;
    if (std::exchange(disk_.fail_next_datasync_, false))
      co_return error(ErrorCode::KAFKA_STORAGE_ERROR, path_ + ": the disk has failed");
    put(*inode, number, sectors, size);
    co_return Result<void>();
  }
  Result<void> datasync_now() override {
    put(*inode_, ++inode_->datasyncs, snapshot(), inode_->now.size());
    return {};
  }

 private:
  void grow(uint64_t size) {
    const uint64_t before = inode_->now.size();
    inode_->now.resize(size);
    touch(before, size - before);
  }
  void touch(uint64_t position, uint64_t size) {
    if (size == 0) return;
    for (size_t at = position / SimDisk::kSector; at <= (position + size - 1) / SimDisk::kSector;
         ++at) {
      inode_->dirty.insert(at);
    }
  }
  std::map<size_t, std::vector<std::byte>> snapshot() const {
    std::map<size_t, std::vector<std::byte>> sectors;
    for (const size_t at : inode_->dirty) {
      const size_t from = at * SimDisk::kSector;
      if (from >= inode_->now.size()) continue;
      const size_t to = std::min(from + SimDisk::kSector, inode_->now.size());
      sectors.emplace(at, std::vector<std::byte>(inode_->now.begin() + static_cast<ptrdiff_t>(from),
                                                 inode_->now.begin() + static_cast<ptrdiff_t>(to)));
    }
    return sectors;
  }
  static void put(SimDisk::Inode& inode, uint64_t number,
                  const std::map<size_t, std::vector<std::byte>>& sectors, size_t size) {
    if (inode.size_put_by < number) {
      inode.durable.resize(size);
      inode.size_put_by = number;
    }
    for (const auto& [at, bytes] : sectors) {
      const size_t from = at * SimDisk::kSector;
      const size_t length = inode.durable.size();
      if (from >= length || inode.put_by[at] > number) continue;
      inode.put_by[at] = number;
      std::memcpy(inode.durable.data() + from, bytes.data(), std::min(bytes.size(), length - from));
    }
    std::erase_if(inode.dirty, [&inode](size_t at) { return same(inode, at); });
  }
  static bool same(const SimDisk::Inode& inode, size_t at) {
    const size_t from = at * SimDisk::kSector;
    const size_t to = from + SimDisk::kSector;
    const auto part = [from, to](const std::vector<std::byte>& bytes) {
      const size_t begin = std::min(from, bytes.size());
      return std::span(bytes).subspan(begin, std::min(to, bytes.size()) - begin);
    };
    const auto now = part(inode.now);
    const auto durable = part(inode.durable);
    return std::equal(now.begin(), now.end(), durable.begin(), durable.end());
  }

  SimScheduler& scheduler_;
  SimDisk& disk_;
  std::string path_;
  std::shared_ptr<SimDisk::Inode> inode_;
};

void SimDisk::crash_inode(Inode& inode, SimRandom& random) {
  std::vector<std::byte> after = inode.durable;
  if (inode.now.size() != inode.durable.size() && random.chance(0.5))
    after.resize(inode.now.size());
  for (const size_t at : inode.dirty) {
    const size_t from = at * kSector;
    const size_t to = std::min({from + kSector, inode.now.size(), after.size()});
    if (from >= to || random.chance(0.5)) continue;
    std::memcpy(after.data() + from, inode.now.data() + from, to - from);
  }
  inode.now = after;
  inode.durable = std::move(after);
  inode.dirty.clear();
}

void SimDisk::crash(SimRandom& random) {
  // A rename is one step of the folder: its two names go together because both are drawn from the
  // same sync point here only when they lie in one folder, so the folder as a whole is either as it
  // was synced or as it is now.
  std::set<std::string> folders;
  for (const auto* names : {&names_, &durable_names_}) {
    for (const auto& [path, entry] : *names) folders.insert(parent_of(path));
  }
  std::map<std::string, Entry> after;
  for (const std::string& folder : folders) {
    const auto& source = random.chance(0.5) ? names_ : durable_names_;
    for (const auto& [path, entry] : source) {
      if (parent_of(path) == folder) after.emplace(path, entry);
    }
  }
  // What lies in a folder that does not exist any more is gone.
  std::erase_if(after, [&after](const auto& entry) {
    const std::string parent = parent_of(entry.first);
    return parent != "/" && !after.contains(parent);
  });
  std::set<Inode*> done;
  for (const auto& [path, entry] : after) {
    if (entry && done.insert(entry.get()).second) crash_inode(*entry, random);
  }
  names_ = after;
  durable_names_ = std::move(after);
  fail_next_datasync_ = false;
}

Result<std::shared_ptr<io::File>> SimFileSystem::open(const std::string& path, io::OpenMode mode) {
  auto at = disk_.names_.find(path);
  if (at != disk_.names_.end() && !at->second)
    return error(ErrorCode::KAFKA_STORAGE_ERROR, path + ": is a directory");
  if (at == disk_.names_.end()) {
    if (mode == io::OpenMode::kRead || mode == io::OpenMode::kReadWrite) return missing(path);
    if (!is_directory(parent_of(path))) return missing(parent_of(path));
    at = disk_.names_.emplace(path, std::make_shared<SimDisk::Inode>()).first;
  } else if (mode == io::OpenMode::kCreateNew) {
    return error(ErrorCode::KAFKA_STORAGE_ERROR, path + ": exists");
  }
  return std::shared_ptr<io::File>(std::make_shared<SimFile>(scheduler_, disk_, path, at->second));
}

bool SimFileSystem::exists(const std::string& path) const {
  return path == "/" || disk_.names_.contains(path);
}

bool SimFileSystem::is_directory(const std::string& path) const {
  if (path == "/") return true;
  const auto at = disk_.names_.find(path);
  return at != disk_.names_.end() && !at->second;
}

Result<std::vector<std::string>> SimFileSystem::list(const std::string& directory) const {
  if (!is_directory(directory)) return missing(directory);
  std::vector<std::string> names;
  for (const auto& [path, entry] : disk_.names_) {
    if (parent_of(path) == directory) names.push_back(path.substr(path.rfind('/') + 1));
  }
  return names;
}

Result<void> SimFileSystem::create_directories(const std::string& path) {
  if (is_directory(path)) return {};
  Result<void> above = create_directories(parent_of(path));
  if (!above) return above;
  disk_.names_.emplace(path, nullptr);
  return {};
}

Result<void> SimFileSystem::rename(const std::string& from, const std::string& to) {
  if (!disk_.names_.contains(from)) return missing(from);
  std::map<std::string, SimDisk::Entry> moved;
  for (const auto& [path, entry] : disk_.names_) {
    if (path == from || is_within(path, from)) moved.emplace(to + path.substr(from.size()), entry);
  }
  std::erase_if(disk_.names_, [&](const auto& entry) {
    return entry.first == from || is_within(entry.first, from) || entry.first == to;
  });
  const bool folder = moved.at(to) == nullptr;
  for (auto& [path, entry] : moved) disk_.names_.emplace(path, entry);
  // The files below a folder come with it, whichever name it has after a crash.
  if (folder) {
    std::map<std::string, SimDisk::Entry> below;
    for (const auto& [path, entry] : disk_.durable_names_) {
      if (is_within(path, from)) below.emplace(to + path.substr(from.size()), entry);
    }
    disk_.durable_names_.insert(below.begin(), below.end());
  }
  return {};
}

Result<void> SimFileSystem::remove(const std::string& path) {
  if (disk_.names_.erase(path) == 0) return missing(path);
  return {};
}

Result<void> SimFileSystem::remove_all(const std::string& path) {
  std::erase_if(disk_.names_, [&](const auto& entry) {
    return entry.first == path || is_within(entry.first, path);
  });
  return {};
}

Result<void> SimFileSystem::sync_directory_now(const std::string& path) {
  if (!is_directory(path)) return missing(path);
  std::erase_if(disk_.durable_names_, [&](const auto& entry) {
    return parent_of(entry.first) == path && !disk_.names_.contains(entry.first);
  });
  for (const auto& [name, entry] : disk_.names_) {
    if (parent_of(name) == path) disk_.durable_names_[name] = entry;
  }
  return {};
}

io::Task<Result<void>> SimFileSystem::sync_directory(const std::string& path) {
  const std::string directory = path;
  Delay delay{scheduler_, disk_delay_us(scheduler_.random)};
  co_await delay;
  co_return sync_directory_now(directory);
}

Result<std::unique_ptr<io::DirectoryLock>> SimFileSystem::lock(const std::string&) {
  return std::make_unique<io::DirectoryLock>();
}

io::Task<void> SimFileSystem::blocking(std::function<void()> work) {
  Delay delay{scheduler_, disk_delay_us(scheduler_.random)};
  co_await delay;
  work();
}

}  // namespace ackord::simulation
