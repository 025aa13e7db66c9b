// A FileSystem for unit tests: real files, everything in place on the calling thread, with counters
// and faults. A held datasync stays in flight until release_datasyncs(), so that a test can append
// meanwhile.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <coroutine>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/executor.h"
#include "broker/io/file_system.h"

namespace ackord::test {

struct Faults {
  // Asked with the path; true makes the call fail with EIO.
  std::function<bool(const std::string&)> fail_datasync;
  std::function<bool(const std::string&)> fail_write;
  // True keeps a datasync in flight until release.
  std::function<bool(const std::string&)> hold_datasync;
  std::map<std::string, int> datasyncs;  // per path, blocking ones too
  int reads = 0;
  // After as many writes and changes of names everything of that kind fails with EIO: what a crash
  // at this point leaves.
  int changes_left = INT_MAX;
  bool stopped() { return changes_left <= 0 || --changes_left < 0; }
  std::vector<std::pair<io::Executor*, std::coroutine_handle<>>> held;
};

class LocalFile : public io::File {
 public:
  LocalFile(std::string path, int fd, std::shared_ptr<Faults> faults)
      : path_(std::move(path)), fd_(fd), faults_(std::move(faults)) {}
  ~LocalFile() override { ::close(fd_); }

  const std::string& path() const override { return path_; }
  int native_handle() const override { return fd_; }
  bool read_at(uint64_t position, std::span<std::byte> out) const override {
    auto got = pread(out, position);
    return got.has_value() && *got == out.size();
  }
  Result<uint64_t> size() const override {
    struct stat status{};
    if (::fstat(fd_, &status) != 0) return failed("fstat");
    return static_cast<uint64_t>(status.st_size);
  }
  Result<size_t> pread(std::span<std::byte> out, uint64_t position) const override {
    ++faults_->reads;
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t n =
          ::pread(fd_, out.data() + done, out.size() - done, static_cast<off_t>(position + done));
      if (n < 0) return failed("pread");
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }
  io::Task<Result<size_t>> read(std::span<std::byte> out, uint64_t position) const override {
    co_return pread(out, position);
  }
  Result<void> pwritev(std::span<const std::span<const std::byte>> pieces,
                       uint64_t position) override {
    if (faults_->fail_write && faults_->fail_write(path_)) return failed("pwritev", EIO);
    if (faults_->stopped()) return failed("pwritev", EIO);
    for (const auto& piece : pieces) {
      size_t done = 0;
      while (done < piece.size()) {
        const ssize_t n =
            ::pwrite(fd_, piece.data() + done, piece.size() - done, static_cast<off_t>(position));
        if (n < 0) return failed("pwrite");
        done += static_cast<size_t>(n);
        position += static_cast<uint64_t>(n);
      }
    }
    return {};
  }
  Result<void> truncate(uint64_t size) override {
    if (::ftruncate(fd_, static_cast<off_t>(size)) != 0) return failed("ftruncate");
    return {};
  }
  io::Task<Result<void>> datasync() override {
    if (faults_->hold_datasync && faults_->hold_datasync(path_)) {
      Hold hold{*faults_};
      co_await hold;
    }
    co_return datasync_now();
  }
  Result<void> datasync_now() override {
    ++faults_->datasyncs[path_];
    if (faults_->fail_datasync && faults_->fail_datasync(path_)) return failed("fdatasync", EIO);
    return {};
  }

 private:
  struct Hold {
    Faults& faults;
    bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) {
      faults.held.emplace_back(io::Executor::current(), caller);
    }
    void await_resume() noexcept {}
  };
  Error failed(const char* what, int code = errno) const {
    return error(ErrorCode::KAFKA_STORAGE_ERROR,
                 std::string(what) + " " + path_ + ": " + std::strerror(code));
  }

  std::string path_;
  int fd_;
  std::shared_ptr<Faults> faults_;
};

class LocalFileSystem : public io::FileSystem {
 public:
  Faults& faults() { return *faults_; }
  // Lets every held datasync go on.
  void release_datasyncs() {
    for (auto& [executor, waiting] : std::exchange(faults_->held, {})) executor->resume(waiting);
  }

  Result<std::shared_ptr<io::File>> open(const std::string& path, io::OpenMode mode) override {
    int flags = O_CLOEXEC | (mode == io::OpenMode::kRead ? O_RDONLY : O_RDWR);
    if (mode == io::OpenMode::kCreate) flags |= O_CREAT;
    if (mode == io::OpenMode::kCreateNew) flags |= O_CREAT | O_EXCL;
    const int fd = ::open(path.c_str(), flags, 0644);
    if (fd < 0) return failed("open", path);
    return std::shared_ptr<io::File>(std::make_shared<LocalFile>(path, fd, faults_));
  }
  Result<io::VolumeSpace> space(const std::string&) const override { return io::VolumeSpace{}; }
  bool exists(const std::string& path) const override { return std::filesystem::exists(path); }
  Result<std::vector<std::string>> list(const std::string& directory) const override {
    std::error_code code;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory, code)) {
      names.push_back(entry.path().filename().string());
    }
    if (code) return failed("list", directory, code.value());
    std::sort(names.begin(), names.end());
    return names;
  }
  bool is_directory(const std::string& path) const override {
    return std::filesystem::is_directory(path);
  }
  Result<void> create_directories(const std::string& path) override {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    return done("mkdir", path, code);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    if (faults_->stopped()) return failed("rename", from, EIO);
    std::error_code code;
    std::filesystem::rename(from, to, code);
    return done("rename", from, code);
  }
  Result<void> remove(const std::string& path) override {
    if (faults_->stopped()) return failed("unlink", path, EIO);
    if (::unlink(path.c_str()) != 0) return failed("unlink", path);
    return {};
  }
  Result<void> remove_all(const std::string& path) override {
    std::error_code code;
    std::filesystem::remove_all(path, code);
    return done("remove", path, code);
  }
  Result<void> sync_directory_now(const std::string& path) override {
    ++faults_->datasyncs[path];
    if (!is_directory(path)) return failed("fsync", path, ENOTDIR);
    return {};
  }
  io::Task<Result<void>> sync_directory(const std::string& path) override {
    return sync_later(this, path);
  }
  Result<std::unique_ptr<io::DirectoryLock>> lock(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_CLOEXEC | O_RDWR | O_CREAT, 0644);
    if (fd < 0) return failed("open", path);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int code = errno;
      ::close(fd);
      return failed("lock", path, code);
    }
    return std::unique_ptr<io::DirectoryLock>(std::make_unique<Lock>(fd));
  }
  io::Task<void> blocking(std::function<void()> work) override {
    return run_in_place(std::move(work));
  }

 private:
  struct Lock : io::DirectoryLock {
    explicit Lock(int f) : fd(f) {}
    ~Lock() override { ::close(fd); }
    int fd;
  };
  static io::Task<Result<void>> sync_later(LocalFileSystem* self, std::string path) {
    co_return self->sync_directory_now(path);
  }
  static io::Task<void> run_in_place(std::function<void()> work) {
    work();
    co_return;
  }
  static Error failed(const char* what, const std::string& path, int code = errno) {
    return error(ErrorCode::KAFKA_STORAGE_ERROR,
                 std::string(what) + " " + path + ": " + std::strerror(code));
  }
  static Result<void> done(const char* what, const std::string& path, const std::error_code& code) {
    if (code) return failed(what, path, code.value());
    return {};
  }

  std::shared_ptr<Faults> faults_ = std::make_shared<Faults>();
};

}  // namespace ackord::test
