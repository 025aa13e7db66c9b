#include "broker/base/logging.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <memory>

#include "broker/base/assert.h"

namespace ackord::base {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
  }
  return spdlog::level::err;
}

// By the numbers of spdlog's levels.
constexpr std::array<std::string_view, 7> kLevelNames = {"TRACE", "DEBUG", "INFO", "WARN",
                                                         "ERROR", "FATAL", "OFF"};
constexpr size_t kRoot = 0;
constexpr int kInherited = -1;

std::atomic<int>& level_of(size_t logger) {
  static auto levels = [] {
    auto all = std::make_unique<std::array<std::atomic<int>, kLoggers.size()>>();
    for (auto& one : *all) one = kInherited;
    (*all)[kRoot] = spdlog::level::info;
    return all;
  }();
  return (*levels)[logger];
}

int level_in_force(size_t logger) {
  const int own = level_of(logger).load(std::memory_order_relaxed);
  return own == kInherited ? level_of(kRoot).load(std::memory_order_relaxed) : own;
}

auto put(std::string_view text, fmt::format_context& context) {
  return std::copy(text.begin(), text.end(), context.out());
}

}  // namespace

bool configure_logging(std::string_view level) {
  const auto parsed = spdlog::level::from_str(std::string(level));
  if (parsed == spdlog::level::off && level != "off") return false;
  level_of(kRoot).store(parsed, std::memory_order_relaxed);
  // Which line is wanted is decided before it reaches the library.
  spdlog::set_level(spdlog::level::trace);
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
  spdlog::flush_on(spdlog::level::info);
  return true;
}

std::vector<Logger> loggers() {
  std::vector<Logger> all;
  for (size_t i = 0; i < kLoggers.size(); ++i)
    all.push_back({kLoggers[i], kLevelNames[static_cast<size_t>(level_in_force(i))]});
  std::sort(all.begin(), all.end(),
            [](const Logger& a, const Logger& b) { return a.name < b.name; });
  return all;
}

bool is_logger(std::string_view name) {
  return std::find(kLoggers.begin(), kLoggers.end(), name) != kLoggers.end();
}

bool is_log_level(std::string_view level) {
  return std::find(kLevelNames.begin(), kLevelNames.end() - 1, level) != kLevelNames.end() - 1;
}

void set_log_level(std::string_view name, std::optional<std::string_view> level) {
  const auto logger = std::find(kLoggers.begin(), kLoggers.end(), name);
  ACKORD_ASSERT(logger != kLoggers.end(), "the caller knows the logger");
  const auto index = static_cast<size_t>(logger - kLoggers.begin());
  ACKORD_ASSERT(level || index != kRoot, "root has a level of its own");
  int number = kInherited;
  if (level) {
    ACKORD_ASSERT(is_log_level(*level), "the caller knows the level");
    number = static_cast<int>(std::find(kLevelNames.begin(), kLevelNames.end(), *level) -
                              kLevelNames.begin());
  }
  level_of(index).store(number, std::memory_order_relaxed);
}

void log(LogLevel level, size_t logger, fmt::string_view text, fmt::format_args args) {
  const auto wanted = spdlog_level(level);
  if (wanted < level_in_force(logger)) return;
  fmt::memory_buffer line;
  fmt::vformat_to(std::back_inserter(line), text, args);
  spdlog::log(wanted, std::string_view(line.data(), line.size()));
}

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char& c : shown) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) c = '?';
  }
  return shown;
}

template <>
auto LogFormatter<String>::format(const String& value, fmt::format_context& context) const
    -> fmt::format_context::iterator {
  return put(printable(value.sv()), context);
}
template <>
auto LogFormatter<Uuid>::format(const Uuid& value, fmt::format_context& context) const
    -> fmt::format_context::iterator {
  return put(value.to_string(), context);
}
template <>
auto LogFormatter<ProducerId>::format(const ProducerId& value, fmt::format_context& context) const
    -> fmt::format_context::iterator {
  return fmt::format_to(context.out(), "{}", value.value);
}
template <>
auto LogFormatter<ErrorCode>::format(const ErrorCode& value, fmt::format_context& context) const
    -> fmt::format_context::iterator {
  return put(name_of(value), context);
}

}  // namespace ackord::base
