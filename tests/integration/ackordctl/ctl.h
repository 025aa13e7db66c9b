// Running the real ackordctl, and what it answers.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/support/broker_process.h"

namespace ackord::integration {

// It must end by itself. `output` has what it writes to standard output and standard error.
Ended run_ackordctl(const std::vector<std::string>& arguments);
// The same against a broker on this port.
Ended ctl(uint16_t port, std::vector<std::string> arguments);
// With --json: what it prints; it must succeed.
boost::json::value ctl_json(uint16_t port, std::vector<std::string> arguments);
// Expects that it is refused with status 1, and returns why.
std::string ctl_refused(uint16_t port, std::vector<std::string> arguments);

// `text` as boost::json::parse() has it, for comparing.
boost::json::value json(const std::string& text);

}  // namespace ackord::integration
