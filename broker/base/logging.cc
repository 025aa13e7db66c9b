#include "broker/base/logging.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>

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

auto put(std::string_view text, fmt::format_context& context) {
  return std::copy(text.begin(), text.end(), context.out());
}

}  // namespace

bool configure_logging(std::string_view level) {
  const auto parsed = spdlog::level::from_str(std::string(level));
  if (parsed == spdlog::level::off && level != "off") return false;
  spdlog::set_level(parsed);
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
  spdlog::flush_on(spdlog::level::info);
  return true;
}

void log(LogLevel level, fmt::string_view text, fmt::format_args args) {
  const auto wanted = spdlog_level(level);
  if (!spdlog::should_log(wanted)) return;
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
