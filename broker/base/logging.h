// Logging: spdlog's default logger, one line per event, key=value pairs after the text. Any thread.
//   log_info("partition opened topic={} partition={}", topic, partition);
#pragma once

#include <spdlog/spdlog.h>

#include <string_view>

#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::base {

// Level: trace, debug, info, warn, error. Called once at start-up; false for an unknown level.
bool configure_logging(std::string_view level);

template <class... Args>
void log_debug(spdlog::format_string_t<Args...> text, Args&&... args) {
  spdlog::debug(text, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(spdlog::format_string_t<Args...> text, Args&&... args) {
  spdlog::info(text, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(spdlog::format_string_t<Args...> text, Args&&... args) {
  spdlog::warn(text, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(spdlog::format_string_t<Args...> text, Args&&... args) {
  spdlog::error(text, std::forward<Args>(args)...);
}

}  // namespace ackord::base

// The ids as log arguments.
template <>
struct fmt::formatter<ackord::String> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const ackord::String& text, Context& ctx) const {
    return fmt::formatter<std::string_view>::format(text.sv(), ctx);
  }
};
template <>
struct fmt::formatter<ackord::TopicName> : fmt::formatter<ackord::String> {};
template <>
struct fmt::formatter<ackord::GroupId> : fmt::formatter<ackord::String> {};
template <>
struct fmt::formatter<ackord::TransactionalId> : fmt::formatter<ackord::String> {};
template <>
struct fmt::formatter<ackord::Uuid> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const ackord::Uuid& id, Context& ctx) const {
    return fmt::formatter<std::string_view>::format(id.to_string(), ctx);
  }
};
template <>
struct fmt::formatter<ackord::ProducerId> : fmt::formatter<int64_t> {
  template <class Context>
  auto format(ackord::ProducerId id, Context& ctx) const {
    return fmt::formatter<int64_t>::format(id.value, ctx);
  }
};
template <>
struct fmt::formatter<ackord::ErrorCode> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(ackord::ErrorCode code, Context& ctx) const {
    return fmt::formatter<std::string_view>::format(ackord::name_of(code), ctx);
  }
};
