// Logging: one line per event, key=value pairs after the text. Any thread.
//   log_info("partition opened topic={} partition={}", topic, partition);
// The logging library stays in logging.cc: what every file includes must compile fast.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::base {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };

// Level: trace, debug, info, warn, error. Called once at start-up; false for an unknown level.
bool configure_logging(std::string_view level);

void log(LogLevel level, fmt::string_view text, fmt::format_args args);

// The text with '?' for each control character: what a peer has sent may not make lines of its own.
std::string printable(std::string_view text);

template <class... Args>
void log_debug(fmt::format_string<Args...> text, Args&&... args) {
  log(LogLevel::kDebug, text, fmt::make_format_args(args...));
}
template <class... Args>
void log_info(fmt::format_string<Args...> text, Args&&... args) {
  log(LogLevel::kInfo, text, fmt::make_format_args(args...));
}
template <class... Args>
void log_warn(fmt::format_string<Args...> text, Args&&... args) {
  log(LogLevel::kWarn, text, fmt::make_format_args(args...));
}
template <class... Args>
void log_error(fmt::format_string<Args...> text, Args&&... args) {
  log(LogLevel::kError, text, fmt::make_format_args(args...));
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
