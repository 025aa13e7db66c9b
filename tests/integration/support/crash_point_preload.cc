// Preloaded into the broker of a CrashPoint: counts its steps, and kills it at the one that it is
// armed for. Whatever does not count goes straight on to the system.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/integration/support/crash_point_state.h"

namespace {

using ackord::integration::CrashPointState;

CrashPointState* open_state() {
  const char* path = std::getenv(ackord::integration::kCrashPointVariable);
  if (path == nullptr) return nullptr;
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* memory =
      ::mmap(nullptr, sizeof(CrashPointState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return memory == MAP_FAILED ? nullptr : static_cast<CrashPointState*>(memory);
}

CrashPointState* state() {
  static CrashPointState* const opened = open_state();
  return opened;
}

bool armed() { return state() != nullptr && state()->steps_left.load() > 0; }

bool counts(const char* path) {
  const char* directory = state()->directory;
  return directory[0] != 0 && std::strncmp(path, directory, std::strlen(directory)) == 0;
}

bool counts(int descriptor) {
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
  char path[PATH_MAX];
  const ssize_t size = ::readlink(name, path, sizeof path - 1);
  if (size <= 0) return false;
  path[size] = 0;
  return counts(path);
}

void step() {
  int64_t left = state()->steps_left.load();
  while (left > 0 && !state()->steps_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left != 1) return;
  ::kill(::getpid(), SIGKILL);
  while (true) ::pause();
}

// Calls it, between two steps when it counts.
template <class Target, class Call>
auto between_steps(Target target, Call call) {
  if (!armed() || !counts(target)) return call();
  step();
  const auto result = call();
  const int failure = errno;
  step();
  errno = failure;
  return result;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t position) {
  static auto* const real = next<decltype(pwritev)>("pwritev");
  return between_steps(descriptor, [&] { return real(descriptor, pieces, count, position); });
}

ssize_t pwritev64(int descriptor, const iovec* pieces, int count, off64_t position) {
  static auto* const real = next<decltype(pwritev64)>("pwritev64");
  return between_steps(descriptor, [&] { return real(descriptor, pieces, count, position); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t position) {
  static auto* const real = next<decltype(pwrite)>("pwrite");
  return between_steps(descriptor, [&] { return real(descriptor, bytes, size, position); });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t position) {
  static auto* const real = next<decltype(pwrite64)>("pwrite64");
  return between_steps(descriptor, [&] { return real(descriptor, bytes, size, position); });
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static auto* const real = next<decltype(write)>("write");
  return between_steps(descriptor, [&] { return real(descriptor, bytes, size); });
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return between_steps(to, [&] { return real(from, to); });
}

}  // extern "C"
