#include "broker/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ackord::base {
namespace {

std::string_view level_of(std::string_view name) {
  for (const Logger& logger : loggers()) {
    if (logger.name == name) return logger.level;
  }
  return "";
}

TEST(Loggers, BelongToTheRoomOfTheFile) {
  static_assert(kLoggers[logger_of("/a/broker/share/x.cc")] == "broker.share");
  static_assert(kLoggers[logger_of("../../broker/io/posix/x.cc")] == "broker.io");
  static_assert(kLoggers[logger_of("/broker/share/tools/x.cc")] == "broker.share");
  static_assert(kLoggers[logger_of("tools/sim/main.cc")] == "root");
}

TEST(Loggers, HaveTheLevelOfRootUntilTheyGetTheirOwn) {
  ASSERT_TRUE(configure_logging("warning"));
  EXPECT_EQ(level_of("root"), "WARN");
  EXPECT_EQ(level_of("broker.share"), "WARN");
  set_log_level("broker.share", "TRACE");
  set_log_level("root", "ERROR");
  EXPECT_EQ(level_of("broker.share"), "TRACE");
  EXPECT_EQ(level_of("broker.txn"), "ERROR");
  set_log_level("broker.share", std::nullopt);
  EXPECT_EQ(level_of("broker.share"), "ERROR");
  EXPECT_FALSE(is_log_level("OFF"));
  EXPECT_FALSE(is_log_level("warn"));
  EXPECT_TRUE(is_log_level("FATAL"));
  EXPECT_TRUE(is_logger("broker.net"));
  EXPECT_FALSE(is_logger("broker"));
}

}  // namespace
}  // namespace ackord::base
