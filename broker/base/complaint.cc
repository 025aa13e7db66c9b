#include "broker/base/complaint.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace ackord::base {
namespace {

constexpr int64_t kPauseMs = 1000;
// What a peer has sent may be in it.
constexpr size_t kMaxText = 1024;

}  // namespace

std::optional<uint64_t> Complaint::take_turn(int64_t now_ms) {
  int64_t said_at_ms = said_at_ms_.load(std::memory_order_relaxed);
  if (now_ms - said_at_ms < kPauseMs ||
      !said_at_ms_.compare_exchange_strong(said_at_ms, now_ms, std::memory_order_relaxed)) {
    held_back_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  return held_back_.exchange(0, std::memory_order_relaxed);
}

void Complaint::say(uint64_t held_back, size_t logger, fmt::string_view text,
                    fmt::format_args args) {
  const std::string whole = fmt::vformat(text, args);
  std::string shown = printable(std::string_view(whole).substr(0, kMaxText));
  if (held_back != 0) shown += fmt::format(" (and {} more like it)", held_back);
  log(LogLevel::kWarn, logger, "{}", fmt::make_format_args(shown));
}

}  // namespace ackord::base
