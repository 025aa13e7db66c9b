// Logging: one line per event, key=value pairs after the text. Any thread.
//   log_info("partition opened topic={} partition={}", topic, partition);
// The logging library stays in logging.cc: what every file includes must compile fast.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::base {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };

// Level: trace, debug, info, warn, error. Called once at start-up; false for an unknown level.
bool configure_logging(std::string_view level);

// ---- loggers: one per room, and root, whose level those have that got none of their own. Levels
// may change while others log.
inline constexpr std::array<std::string_view, 15> kLoggers = {
    "root",        "broker.api",   "broker.base",     "broker.coordinator", "broker.group",
    "broker.http", "broker.io",    "broker.log",      "broker.main",        "broker.metadata",
    "broker.net",  "broker.quota", "broker.security", "broker.share",       "broker.txn"};

struct Logger {
  std::string_view name;
  std::string_view
      level;  // in force, in log4j's words: TRACE, DEBUG, INFO, WARN, ERROR, FATAL, OFF
};
// By name.
std::vector<Logger> loggers();
bool is_logger(std::string_view name);
// One of those words, in capitals; OFF cannot be set.
bool is_log_level(std::string_view level);
// Of a known logger. No level: that of root from now on, which root itself must have.
void set_log_level(std::string_view name, std::optional<std::string_view> level);

// The index in kLoggers of the room that a source file is in; 0 for one that is in none.
consteval size_t logger_of(std::string_view path) {
  constexpr std::string_view kFolder = "broker/";
  const size_t at = path.rfind(kFolder);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = path.substr(at + kFolder.size());
  const std::string_view room = rest.substr(0, rest.find('/'));
  for (size_t i = 1; i < kLoggers.size(); ++i) {
    if (kLoggers[i].substr(kFolder.size()) == room) return i;
  }
  return 0;
}

// A text with the place where it stands.
template <class... Args>
struct LogText {
  template <class Text>
  consteval LogText(  // NOLINT: implicit by design
      const Text& format, std::source_location where = std::source_location::current())
      : text(format), logger(logger_of(where.file_name())) {}

  fmt::format_string<Args...> text;
  size_t logger;
};
// Args are told by the arguments, not by the text.
template <class... Args>
using LogTextOf = LogText<std::type_identity_t<Args>...>;

void log(LogLevel level, size_t logger, fmt::string_view text, fmt::format_args args);

// The text with '?' for each control character: what a peer has sent may not make lines of its own.
std::string printable(std::string_view text);

template <class... Args>
void log_debug(LogTextOf<Args...> text, Args&&... args) {
  log(LogLevel::kDebug, text.logger, text.text, fmt::make_format_args(args...));
}
template <class... Args>
void log_info(LogTextOf<Args...> text, Args&&... args) {
  log(LogLevel::kInfo, text.logger, text.text, fmt::make_format_args(args...));
}
template <class... Args>
void log_warn(LogTextOf<Args...> text, Args&&... args) {
  log(LogLevel::kWarn, text.logger, text.text, fmt::make_format_args(args...));
}
template <class... Args>
void log_error(LogTextOf<Args...> text, Args&&... args) {
  log(LogLevel::kError, text.logger, text.text, fmt::make_format_args(args...));
}

// Formats what has no formatter of fmt's own; without a format specification.
template <class Value>
struct LogFormatter {
  constexpr auto parse(fmt::format_parse_context& context) { return context.begin(); }
  auto format(const Value& value, fmt::format_context& context) const
      -> fmt::format_context::iterator;
};
template <>
auto LogFormatter<String>::format(const String&, fmt::format_context&) const
    -> fmt::format_context::iterator;
template <>
auto LogFormatter<Uuid>::format(const Uuid&, fmt::format_context&) const
    -> fmt::format_context::iterator;
template <>
auto LogFormatter<ProducerId>::format(const ProducerId&, fmt::format_context&) const
    -> fmt::format_context::iterator;
template <>
auto LogFormatter<ErrorCode>::format(const ErrorCode&, fmt::format_context&) const
    -> fmt::format_context::iterator;

}  // namespace ackord::base

// The ids as log arguments.
template <>
struct fmt::formatter<ackord::String> : ackord::base::LogFormatter<ackord::String> {};
template <>
struct fmt::formatter<ackord::TopicName> : ackord::base::LogFormatter<ackord::String> {};
template <>
struct fmt::formatter<ackord::GroupId> : ackord::base::LogFormatter<ackord::String> {};
template <>
struct fmt::formatter<ackord::TransactionalId> : ackord::base::LogFormatter<ackord::String> {};
template <>
struct fmt::formatter<ackord::Uuid> : ackord::base::LogFormatter<ackord::Uuid> {};
template <>
struct fmt::formatter<ackord::ProducerId> : ackord::base::LogFormatter<ackord::ProducerId> {};
template <>
struct fmt::formatter<ackord::ErrorCode> : ackord::base::LogFormatter<ackord::ErrorCode> {};
