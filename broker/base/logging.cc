#include "broker/base/logging.h"

#include <string>

namespace ackord::base {

bool configure_logging(std::string_view level) {
  const auto parsed = spdlog::level::from_str(std::string(level));
  if (parsed == spdlog::level::off && level != "off") return false;
  spdlog::set_level(parsed);
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %L %v");
  spdlog::flush_on(spdlog::level::info);
  return true;
}

}  // namespace ackord::base
