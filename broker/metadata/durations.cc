#include "broker/metadata/durations.h"

#include <charconv>

namespace ackord::metadata {
namespace {

constexpr std::string_view kByDuration = "by_duration:";
constexpr int64_t kSecondMs = 1000;
constexpr int64_t kMinuteMs = 60 * kSecondMs;
constexpr int64_t kHourMs = 60 * kMinuteMs;
constexpr int64_t kDayMs = 24 * kHourMs;

struct Unit {
  char letter;
  int64_t ms;
  bool time;
};
constexpr Unit kUnits[] = {
    {'D', kDayMs, false}, {'H', kHourMs, true}, {'M', kMinuteMs, true}, {'S', kSecondMs, true}};

}  // namespace

std::optional<int64_t> parse_duration_ms(std::string_view text) {
  if (text.empty() || (text.front() != 'P' && text.front() != 'p')) return std::nullopt;
  text.remove_prefix(1);
  int64_t total = 0;
  size_t next_unit = 0;  // units come in order, each once
  bool time = false;
  bool any = false;
  while (!text.empty()) {
    if (!time && (text.front() == 'T' || text.front() == 't')) {
      time = true;
      any = false;  // "PT" alone, or a trailing T, says nothing
      text.remove_prefix(1);
      continue;
    }
    int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || number < 0 || number > INT64_MAX / kDayMs / 2)
      return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    int64_t fraction_ms = 0;
    bool has_fraction = false;
    if (!text.empty() && text.front() == '.') {
      has_fraction = true;
      text.remove_prefix(1);
      int64_t scale = 100;
      while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        fraction_ms += (text.front() - '0') * scale;
        scale /= 10;
        text.remove_prefix(1);
      }
    }
    if (text.empty()) return std::nullopt;
    const char letter = static_cast<char>(text.front() & ~0x20);
    text.remove_prefix(1);
    while (next_unit < std::size(kUnits) && kUnits[next_unit].letter != letter) ++next_unit;
    if (next_unit == std::size(kUnits) || kUnits[next_unit].time != time) return std::nullopt;
    if (has_fraction && letter != 'S') return std::nullopt;
    total += number * kUnits[next_unit].ms + fraction_ms;
    ++next_unit;
    any = true;
  }
  if (!any) return std::nullopt;
  return total;
}

std::optional<int64_t> by_duration_ms(std::string_view policy) {
  if (!policy.starts_with(kByDuration)) return std::nullopt;
  return parse_duration_ms(policy.substr(kByDuration.size()));
}

}  // namespace ackord::metadata
