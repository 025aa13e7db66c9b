// share-churn: members of a share group that join, leave and die (SIGKILL) at a broker that dies
// too, over records that are accepted, released, rejected, renewed and forgotten at random. In the
// end every record must have reached its end, none may have been delivered after a verdict on it
// was answered, and no delivery count may be beyond the limit. Exit status: 0 when all holds.

#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>

#include "tests/integration/share_churn/churn.h"
#include "tests/integration/share_churn/churn_member.h"

namespace ackord::integration {
namespace {

std::atomic<bool> stop_member{false};

struct MemberOptions {
  uint16_t port = 0;
  std::string group;
  std::string topic;
  int32_t partitions = 0;
  uint64_t seed = 0;
  std::string journal;
};

void add_member_options(CLI::App& app, MemberOptions& options) {
  app.add_option("--port", options.port)->required();
  app.add_option("--group", options.group)->required();
  app.add_option("--topic", options.topic)->required();
  app.add_option("--partitions", options.partitions)->required();
  app.add_option("--seed", options.seed)->required();
  app.add_option("--journal", options.journal)->required();
}

// The broker may be down at any moment.
Topic await_topic(const MemberOptions& options) {
  Topic topic{options.topic, Uuid{}, options.partitions};
  poll_until(
      "the topic",
      [&] {
        try {
          RawClient client(options.port);
          topic.id = find_topic(client, options.topic).id;
          return topic.id != Uuid{};
        } catch (const std::exception&) {
          return stop_member.load();
        }
      },
      Millis(60000));
  return topic;
}

int run_member(const MemberOptions& options) {
  ::signal(SIGTERM, [](int) { stop_member = true; });
  Journal journal(options.journal);
  ChurnMember(options.port, options.group, await_topic(options), options.seed, journal)
      .run(stop_member);
  return 0;
}

int start(int count, char** arguments) {
  ChurnOptions options;
  options.program = arguments[0];
  MemberOptions member;
  CLI::App app("Members of a share group and their broker, killed at random moments");
  app.add_option("--records", options.records, "How many are written")
      ->check(CLI::Range(1, 100000000));
  app.add_option("--seconds", options.seconds, "Over how long they are written");
  app.add_option("--members", options.members, "How many at most at a time")
      ->check(CLI::Range(1, 200));
  app.add_option("--broker-kill-seconds", options.broker_kill_seconds,
                 "How long the broker lives each time");
  app.add_option("--seed", options.seed, "Of the moments and of what the members do");
  CLI::App* as_member = app.add_subcommand("member", "One member; started by the run");
  add_member_options(*as_member, member);
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem);
  }
  if (as_member->parsed()) return run_member(member);
  return Churn(options).run() ? 0 : 1;
}

}  // namespace
}  // namespace ackord::integration

int main(int count, char** arguments) {
  try {
    return ackord::integration::start(count, arguments);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "share-churn: {}\n", failure.what());
    return 2;
  }
}
