// Child: a broker that the benchmark starts. It is told to end (SIGTERM), and waited for, at the
// latest when the object goes. Errors: BenchError.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ackord::bench {

class Child {
 public:
  // Its output goes to `output`.
  Child(const std::vector<std::string>& command, const std::string& output);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  // Whether it has ended by itself.
  bool ended();
  void stop();

 private:
  pid_t pid_ = -1;
};

// A port of the loopback on which nobody listens now.
int free_port();

}  // namespace ackord::bench
