// SignalsBlocked: threads that start while it lives never receive a signal. So only the main thread
// handles SIGTERM, and a peer that closes while sendfile writes to it cannot kill the process with
// SIGPIPE.
#pragma once

#include <csignal>

namespace ackord::io {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace ackord::io
