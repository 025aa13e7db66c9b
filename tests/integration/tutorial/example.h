// The programs of docs/TUTORIAL.md, run as a reader runs them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/raw_client.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// One of them, with what it has printed so far.
class Example {
 public:
  Example(const char* program, const std::vector<std::string>& arguments)
      : process_(program, arguments, directory_ / "output") {}

  std::string output() const { return text_of(directory_ / "output"); }
  bool said(const std::string& text) const { return output().find(text) != std::string::npos; }
  void await(const std::string& text) {
    try {
      poll_until("it says " + text, [&] { return said(text); }, Millis(60000));
    } catch (const std::exception& late) {
      throw std::runtime_error(std::string(late.what()) + "\n" + output());
    }
  }
  int wait_for_end() {
    const std::optional<int> status = process_.wait_for_end(Millis(60000));
    require(status.has_value(), "the example does not end\n" + output());
    return *status;
  }
  int end(int signal) {
    process_.signal(signal);
    return wait_for_end();
  }

 private:
  test::TempDirectory directory_;
  ChildProcess process_;
};

constexpr int kKilled = 128 + SIGKILL;

// A broker whose members learn quickly what they are assigned, and a topic of a group that begins
// with its first record.
class TutorialTest : public ::testing::Test {
 protected:
  TutorialTest() {
    set_group_configs(client_, "tutorial", {{"share.auto.offset.reset", "earliest"}});
  }
  std::vector<std::string> arguments(std::vector<std::string> first,
                                     const std::vector<std::string>& more = {}) const {
    first.push_back("bootstrap.servers=" + broker_.bootstrap());
    first.emplace_back("group.id=tutorial");
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
  void await_all_done() {
    const std::string end =
        std::to_string(end_offset(client_, topic_, 0, Isolation::kReadUncommitted));
    const auto done = [&] {
      return share_state(client_, "tutorial", topic_) == end + ".." + end + ":";
    };
    poll_until("all records are done", done, Millis(60000));
  }

  BrokerProcess broker_{{{"group.share.min.heartbeat.interval.ms", "100"},
                         {"group.share.heartbeat.interval.ms", "200"}}};
  RawClient client_{broker_.port()};
  Topic topic_ = create_topic(client_, "orders");
  Topic output_ = create_topic(client_, "shipped");
};

}  // namespace ackord::integration
