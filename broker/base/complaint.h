// Complaint: a warning that a peer can cause, as often as it likes: at most one line a second, with
// the number of those held back. One object per kind of warning. Any thread.
//   complaint.warn(now_ms, "frame size out of range size={} client={}", size, host);
#pragma once

#include <fmt/core.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "broker/base/logging.h"

namespace ackord::base {

class Complaint {
 public:
  // `now_ms` is steady time. Nothing is formatted for a line that is held back.
  template <class... Args>
  void warn(int64_t now_ms, LogTextOf<Args...> text, Args&&... args) {
    const auto held_back = take_turn(now_ms);
    if (held_back) say(*held_back, text.logger, text.text, fmt::make_format_args(args...));
  }
  // What warn() asks first: how many were held back, or nullopt when this one is.
  std::optional<uint64_t> take_turn(int64_t now_ms);

 private:
  static void say(uint64_t held_back, size_t logger, fmt::string_view text, fmt::format_args args);

  std::atomic<int64_t> said_at_ms_{INT64_MIN / 2};
  std::atomic<uint64_t> held_back_{0};
};

}  // namespace ackord::base
