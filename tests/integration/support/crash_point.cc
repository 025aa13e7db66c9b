#include "tests/integration/support/crash_point.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "tests/integration/support/crash_point_state.h"

namespace ackord::integration {
namespace {

constexpr char kFile[] = "crash-point";
constexpr int64_t kDisarmed = -1;

}  // namespace

CrashPoint::CrashPoint() {
  const int file = ::open((directory_ / kFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0 || ::ftruncate(file, sizeof(CrashPointState)) != 0)
    throw std::runtime_error("no crash point");
  void* memory =
      ::mmap(nullptr, sizeof(CrashPointState), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) throw std::runtime_error("no crash point");
  state_ = static_cast<CrashPointState*>(memory);
  state_->steps_left = kDisarmed;
}

CrashPoint::~CrashPoint() { ::munmap(state_, sizeof(CrashPointState)); }

Environment CrashPoint::environment() const {
  // The sanitizer wants to be the first library; this one may stand before it, having no use for
  // it.
  return {{"LD_PRELOAD", ACKORD_CRASH_POINT_LIBRARY},
          {"ASAN_OPTIONS", "verify_asan_link_order=0"},
          {kCrashPointVariable, directory_ / kFile}};
}

void CrashPoint::watch(const std::string& directory) {
  const std::string prefix = directory + "/";
  if (prefix.size() >= sizeof state_->directory) throw std::runtime_error("the path is too long");
  std::strcpy(state_->directory, prefix.c_str());
}

void CrashPoint::arm(int64_t step) { state_->steps_left = step; }
bool CrashPoint::struck() const { return state_->steps_left == 0; }
bool CrashPoint::disarm() { return state_->steps_left.exchange(kDisarmed) == 0; }

}  // namespace ackord::integration
