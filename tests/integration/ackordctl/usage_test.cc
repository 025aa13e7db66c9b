// What is wrong usage (2), what is not reachable (1), and that help is help (0).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/integration/ackordctl/ctl.h"

namespace ackord::integration {
namespace {

using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

TEST(Usage, WrongUsageIsStatus2) {
  const std::vector<Arguments> wrong = {
      {},
      {"nonsense"},
      {"share"},
      {"share", "in-flight"},
      {"share", "in-flight", "g", ":3"},
      {"share", "in-flight", "g", "t", "--max-ranges", "0"},
      {"share", "release", "g"},
      {"share", "release", "g", "t", "--offsets", "1-2"},
      {"share", "release", "g", "t:0", "--offsets", "2-1"},
      {"txn"},
      {"txn", "describe"},
      {"txn", "list", "--duration", "-1"},
      {"txn", "list", "--producer-id", "x"},
      {"txn", "producers", "--topic", "t"},
      {"txn", "commit"},
      {"txn", "abort"},
      {"txn", "abort", "--topic", "t"},
      {"txn", "abort", "--topic", "t", "--partition", "0"},
      {"txn", "abort", "--topic", "t", "--partition", "-1", "--start-offset", "0"},
      {"txn", "abort", "id", "--topic", "t", "--partition", "0", "--start-offset", "0"},
      {"txn", "abort", "--topic", "t", "--partition", "0", "--producer-id", "1"},
      {"txn", "abort", "--topic", "t", "--partition", "0", "--producer-id", "1", "--producer-epoch",
       "40000", "--coordinator-epoch", "0"},
      {"txn", "abort", "--topic", "t", "--partition", "0", "--producer-id", "1", "--producer-epoch",
       "0", "--coordinator-epoch", "0", "--start-offset", "0"},
      {"batch"},
      {"batch", "describe", "g"},
      {"batch", "commit", "g"},
      {"batch", "abort"},
      {"batch", "list", "--state", "DONE"},
      {"txn", "list", "--timeout", "0"},
      {"txn", "list", "--bootstrap-server", "host:port"},
  };
  for (const Arguments& arguments : wrong) {
    const Ended ended = run_ackordctl(arguments);
    std::string line;
    for (const std::string& argument : arguments) line += argument + " ";
    EXPECT_EQ(ended.status, 2) << line << "\n" << ended.output;
    EXPECT_FALSE(ended.output.empty()) << line;
  }
}

TEST(Usage, HelpHasExamplesAndSaysWhatAnAbortDoes) {
  for (const Arguments& area : {Arguments{}, {"share"}, {"txn"}, {"batch"}}) {
    Arguments arguments = area;
    arguments.emplace_back("--help");
    const Ended ended = run_ackordctl(arguments);
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.output, HasSubstr("Examples:\n  ackordctl "));
  }
  const Ended abort = run_ackordctl({"txn", "abort", "--help"});
  EXPECT_EQ(abort.status, 0) << abort.output;
  EXPECT_THAT(abort.output, HasSubstr("FENCED"));
}

TEST(Usage, NobodyThereIsStatus1) {
  for (const Arguments& command : {Arguments{"share", "in-flight", "g"},
                                   {"txn", "list"},
                                   {"txn", "describe", "t"},
                                   {"txn", "abort", "t"},
                                   {"batch", "list"},
                                   {"batch", "commit", "g", "t"}}) {
    Arguments arguments = command;
    arguments.insert(arguments.end(), {"--timeout", "1"});
    EXPECT_THAT(ctl_refused(free_port(), arguments), HasSubstr("NETWORK_EXCEPTION"));
  }
}

}  // namespace
}  // namespace ackord::integration
