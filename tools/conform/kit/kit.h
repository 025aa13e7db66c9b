// Kit: what one case has while it runs: connections, names of its own, and the time that is left.
// Topics that it made are deleted when it ends. The other headers of this folder are short forms
// of the usual requests on top of it. Errors: Failure. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tools/conform/kit/connection.h"
#include "tools/conform/kit/expect.h"
#include "tools/conform/kit/json.h"

namespace ackord::conform {

constexpr Millis kUntilLimit{10000};

class Kit {
 public:
  // `version`: of the API that the case runs over; -1 for a case that names its versions itself.
  Kit(const Broker& broker, int16_t version, client::Deadline end);
  ~Kit();
  Kit(const Kit&) = delete;

  const Broker& broker() const { return broker_; }
  int16_t version() const { return version_; }
  // The newest version that both sides have. Failure when the broker does not advertise the API.
  int16_t newest(std::string_view api) const;
  // Skip unless the broker advertises the API in this version.
  void needs(std::string_view api, int16_t version = 0) const;

  // The first connection, made at its first use; and more of them. They live as long as the case.
  Connection& first();
  Connection& connect();
  Value ask(std::string_view api, int16_t version, const Object& body,
            Millis limit = kAnswerLimit) {
    return first().ask(api, version, body, limit);
  }

  // A name that no other case and no other run uses.
  std::string name(std::string_view what);
  // A topic of this name is deleted when the case ends.
  void forget_later(const std::string& topic) { topics_.push_back(topic); }

  // Calls `step` until it answers true, with short pauses: it polls what the broker reaches in its
  // own time. Failure after the limit.
  template <class Step>
  void until(std::string_view what, Step step, Millis limit = kUntilLimit) {
    if (!within(limit, step)) throw Failure("not in time: " + std::string(what));
  }
  // The same; false after the limit.
  template <class Step>
  bool within(Millis limit, Step step) {
    const client::Deadline deadline = end_.within(limit);
    while (!step()) {
      if (deadline.passed()) return false;
      std::this_thread::sleep_for(kPause);
    }
    return true;
  }
  // Lets time pass, where passing time is what the case is about (a lock that runs out, an answer
  // that must not come).
  void pass(Millis time) { std::this_thread::sleep_for(std::min(time, end_.left())); }

  client::Deadline end() const { return end_; }
  const Exchange& last_exchange() const { return exchange_; }

 private:
  static constexpr Millis kPause{20};

  const Broker& broker_;
  int16_t version_;
  client::Deadline end_;
  Exchange exchange_;
  std::list<Connection> connections_;
  Connection* first_ = nullptr;
  std::vector<std::string> topics_;
};

// Milliseconds since the Unix epoch.
int64_t now_ms();

// How long something took.
class Stopwatch {
 public:
  Millis elapsed() const {
    return std::chrono::duration_cast<Millis>(std::chrono::steady_clock::now() - start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace ackord::conform
