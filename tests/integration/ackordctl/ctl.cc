#include "tests/integration/ackordctl/ctl.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/integration/support/raw_client.h"

namespace ackord::integration {

Ended run_ackordctl(const std::vector<std::string>& arguments) {
  const test::TempDirectory directory;
  const std::string output = directory / "output";
  ChildProcess child(ACKORDCTL, arguments, output);
  const std::optional<int> status = child.wait_for_end(Millis(60000));
  require(status.has_value(), "ackordctl does not end");
  std::ostringstream text;
  text << std::ifstream(output).rdbuf();
  return {*status, text.str()};
}

Ended ctl(uint16_t port, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--bootstrap-server", "127.0.0.1:" + std::to_string(port)});
  return run_ackordctl(arguments);
}

boost::json::value ctl_json(uint16_t port, std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Ended ended = ctl(port, std::move(arguments));
  require(ended.status == 0, "status " + std::to_string(ended.status) + ": " + ended.output);
  return boost::json::parse(ended.output);
}

std::string ctl_refused(uint16_t port, std::vector<std::string> arguments) {
  const Ended ended = ctl(port, std::move(arguments));
  EXPECT_EQ(ended.status, 1) << ended.output;
  EXPECT_TRUE(ended.output.starts_with("ackordctl: ")) << ended.output;
  return ended.output;
}

boost::json::value json(const std::string& text) { return boost::json::parse(text); }

}  // namespace ackord::integration
