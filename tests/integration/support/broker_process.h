// BrokerProcess: the real `ackord` on a directory and a port of its own. It can be killed as a
// power cut of the process would (SIGKILL), and started again on the same directory and port.
//
// Ownership: the process dies with the object, and with the test program, whatever happens. Its
// output goes to a file that is shown when the test has failed. Errors: std::runtime_error, which
// GoogleTest reports as a failure. One thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_directory.h"

namespace ackord::integration {

using Millis = std::chrono::milliseconds;
using Settings = std::vector<std::pair<std::string, std::string>>;

// Limits of the process (RLIMIT_…), set before it runs.
using Limits = std::vector<std::pair<int, uint64_t>>;

// A port on which nobody listens, below those that the kernel hands out to clients.
uint16_t free_port();

// The output and exit status of `ackord` with these arguments, which must end within the time.
struct Ended {
  int status = -1;  // exit status, or 128 + signal
  std::string output;
};
Ended run_ackord(const std::vector<std::string>& arguments, Millis limit = Millis(20000),
                 const Limits& limits = {});

// A listener besides the plain one, PROXIED0 and so on. Clients may reach it under another port:
// that of a Proxy.
struct ProxiedListener {
  uint16_t port = 0;
  uint16_t advertised_port = 0;
  std::string protocol = "PLAINTEXT";
};

// Variables of the environment, besides those of this program.
using Environment = std::vector<std::pair<std::string, std::string>>;

// What a broker runs in.
struct Surroundings {
  std::vector<ProxiedListener> proxied;
  Environment environment;
  std::vector<std::string> arguments;  // of the command line, besides the settings
};

// One child of this program. It alone calls kill(2), whose negative numbers name groups of
// processes, -1 all of them: signal() therefore takes no number, and refuses when there is no
// child. Reaps the child at the latest when destroyed.
class ChildProcess {
 public:
  ChildProcess() = default;
  // Its output is appended to `output`.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
               const std::string& output, const Limits& limits = {},
               const Environment& environment = {});
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  bool running() const { return pid_.has_value(); }
  // Only while running().
  void signal(int number);
  // What it has in memory. Only while running().
  uint64_t resident_bytes() const;
  // Whether a signal has stopped it (SIGSTOP).
  bool stopped() const;
  // Changes the soft limit of the running process.
  void limit(int resource, uint64_t value);
  // The exit status (128 + signal when one ended it) once it has ended; it is not running() then.
  std::optional<int> poll_end();
  std::optional<int> wait_for_end(Millis limit);

 private:
  std::optional<pid_t> pid_;
};

class BrokerProcess {
 public:
  // Starts it, and returns when it has answered ApiVersions. State topics get few partitions, so
  // that a start is quick; `settings` come after that and win.
  explicit BrokerProcess(Settings settings = {});
  BrokerProcess(Settings settings, Surroundings surroundings);
  ~BrokerProcess();
  BrokerProcess(const BrokerProcess&) = delete;

  uint16_t port() const { return port_; }
  std::string bootstrap() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string directory() const { return directory_ / "data"; }
  // As the command line has them, for another process on the same.
  std::vector<std::string> arguments() const;

  void kill9();
  // Waits for the SIGKILL that it gives itself (CrashPoint).
  void await_own_kill();
  // SIGTERM; returns the exit status. Fails when it does not end in time, or had ended before.
  int stop();
  bool running() const { return child_.running(); }
  uint64_t resident_bytes() const { return child_.resident_bytes(); }
  // Of the process that runs now.
  void limit(int resource, uint64_t value) { child_.limit(resource, value); }
  // Of those that are started from now on.
  void set_limits(Limits limits) { limits_ = std::move(limits); }
  // After kill9() or stop(): the same directory and port, ready.
  void start();
  // start() without waiting until it is ready: for what happens to one that is starting.
  void launch();
  // kill9() and start().
  void crash();
  std::string output() const;

 private:
  void wait_until_ready();

  test::TempDirectory directory_;
  Settings settings_;
  const Surroundings surroundings_;
  Limits limits_;
  uint16_t port_;
  ChildProcess child_;
};

}  // namespace ackord::integration
