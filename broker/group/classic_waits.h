// Requests of members of classic groups that wait for an answer which a later decision gives: that
// of another member's request, or of a deadline.
//
// A wait belongs to the core of its caller, and is known by its ticket to the core of the group's
// shard, where a ClassicWaits keeps those that are open. A decision names tickets; what it answers
// is delivered when it is durable.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "broker/group/classic_types.h"
#include "broker/io/core.h"
#include "broker/io/signal.h"

namespace ackord::group {

// Made on the caller's core. `answer` and `error` belong to it.
struct ClassicWait {
  explicit ClassicWait(const io::Core& core)
      : home(core.executor), wakeup(io::Wakeup::make(core.executor, core.clock)) {}

  io::Executor& home;
  std::shared_ptr<io::Wakeup> wakeup;
  std::optional<ClassicAnswer> answer;
  ErrorCode error = ErrorCode::NONE;  // there will be no answer
};

// One core's. Its members run there.
class ClassicWaits {
 public:
  Ticket open(std::shared_ptr<ClassicWait> wait) {
    open_.emplace(++last_, std::move(wait));
    return last_;
  }
  // The caller has gone.
  void close(Ticket ticket) { open_.erase(ticket); }
  size_t size() const { return open_.size(); }

  // Those that nobody waits for any more are dropped.
  void deliver(ClassicAnswers answers) {
    for (ClassicAnswer& answer : answers) {
      const auto at = open_.find(answer.ticket);
      if (at == open_.end()) continue;
      const std::shared_ptr<ClassicWait> wait = std::move(at->second);
      open_.erase(at);
      wait->home.post([wait, answer = std::move(answer)]() mutable {
        wait->answer = std::move(answer);
        wait->wakeup->wake();
      });
    }
  }
  // No decision will be durable any more.
  void fail(ErrorCode error) {
    for (auto& [ticket, wait] : std::exchange(open_, {})) {
      wait->home.post([wait = wait, error] {
        wait->error = error;
        wait->wakeup->wake();
      });
    }
  }

 private:
  std::unordered_map<Ticket, std::shared_ptr<ClassicWait>> open_;
  Ticket last_ = 0;
};

}  // namespace ackord::group
