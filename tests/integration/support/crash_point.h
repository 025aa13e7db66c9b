// CrashPoint: a SIGKILL that a broker gives itself right before or right after one of its own
// writes, so that a test can stop it at each step of what it does, one after another, and not by
// luck.
//
// The moments before and after each pwrite, pwritev or write to a file below the directory, and
// each rename into it, are steps. An fdatasync is none: what was written stays written, this is a
// crash of the process, not of the machine. The broker is the one that is shipped: a library that
// is preloaded into it (crash_point_preload.cc) stands between it and the system.
//
//   CrashPoint crash;
//   BrokerProcess broker({}, Surroundings{{}, crash.environment()});
//   crash.watch(broker.directory());
//   crash.arm(7);                       // at the seventh step from now on
//   …a request…                         // its answer, or the end of the connection
//   if (crash.disarm()) broker.await_own_kill();
//
// Errors: std::runtime_error. One thread at a time.
#pragma once

#include <cstdint>
#include <string>

#include "tests/integration/support/broker_process.h"

namespace ackord::integration {

// In memory that the test and the broker share.
struct CrashPointState;

class CrashPoint {
 public:
  CrashPoint();
  ~CrashPoint();
  CrashPoint(const CrashPoint&) = delete;

  // For the broker.
  Environment environment() const;
  // Files below it count.
  void watch(const std::string& directory);
  // `step` counts from 1. Strikes once.
  void arm(int64_t step);
  // Whether it has killed the broker since it was armed.
  bool struck() const;
  // Nothing strikes any more. The same.
  bool disarm();

 private:
  test::TempDirectory directory_;
  CrashPointState* state_ = nullptr;
};

}  // namespace ackord::integration
