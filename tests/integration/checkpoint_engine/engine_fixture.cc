#include "tests/integration/checkpoint_engine/engine_fixture.h"

#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/integration/support/topics.h"

namespace ackord::integration {
namespace {

Settings settings() {
  return {{"group.share.min.heartbeat.interval.ms", "100"},
          {"group.share.heartbeat.interval.ms", "200"},
          {"group.share.min.record.lock.duration.ms", "1000"},
          {"group.share.max.delivery.count.limit", "25"}};
}

}  // namespace

EngineTest::EngineTest(std::vector<ProxiedListener> proxied)
    : broker_(settings(), Surroundings{std::move(proxied), {}}), bootstrap_(broker_.bootstrap()) {
  RawClient client(broker_.port());
  topic_ = create_topic(client, "inputs", kPartitions);
  set_group_configs(client, group_,
                    {{"share.auto.offset.reset", "earliest"},
                     {"share.delivery.count.limit", "25"},
                     {"share.record.lock.duration.ms", "5000"}});
}

void EngineTest::feed(int count) {
  RawClient client(broker_.port());
  for (int i = 0; i < count; ++i, ++fed_)
    produce(client, topic_, fed_ % kPartitions, {"in-" + std::to_string(fed_)});
}

ChildProcess EngineTest::start(const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "--bootstrap",     bootstrap_,  "--group",          group_,
      "--topic",         topic_.name, "--database",       directory_ / "results.db",
      "--checkpoint-ms", "300",       "--end-after-idle", std::to_string(idle_checkpoints_)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return ChildProcess(ACKORD_ENGINE, arguments, directory_ / "engine");
}

int EngineTest::run(const std::vector<std::string>& more) {
  ChildProcess engine = start(more);
  const std::optional<int> status = engine.wait_for_end(kRunLimit);
  require(status.has_value(), "the engine does not end\n" + engine_output());
  return *status;
}

void EngineTest::run_until_done() {
  const auto done = [&] { return run() == 0 && results().size() >= static_cast<size_t>(fed_); };
  try {
    poll_until("all results", done, kRunLimit);
  } catch (const std::exception& late) {
    RawClient client(broker_.port());
    std::string text = std::string(late.what()) + ": " + std::to_string(results().size()) + " of " +
                       std::to_string(fed_);
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      text += "\n" + share_state(client, group_, topic_, partition);
    throw std::runtime_error(text + "\n" + engine_output());
  }
}

std::map<std::string, int> EngineTest::results() const {
  std::map<std::string, int> counts;
  sqlite3* database = nullptr;
  const std::string path = directory_ / "results.db";
  // The first run makes it, and its tables.
  if (!std::filesystem::exists(path)) return counts;
  require(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK,
          "the results cannot be opened");
  sqlite3_busy_timeout(database, 10000);
  char* problem = nullptr;
  sqlite3_exec(
      database, "SELECT value FROM results",
      [](void* out, int, char** columns, char**) {
        ++(*static_cast<std::map<std::string, int>*>(out))[columns[0]];
        return 0;
      },
      &counts, &problem);
  const std::string text = problem == nullptr ? "" : problem;
  sqlite3_free(problem);
  sqlite3_close(database);
  require(text.empty() || text == "no such table: results", text);
  return counts;
}

void EngineTest::expect_each_input_once() {
  std::map<std::string, int> wanted;
  for (int i = 0; i < fed_; ++i) wanted["IN-" + std::to_string(i)] = 1;
  EXPECT_EQ(results(), wanted) << engine_output();
  RawClient client(broker_.port());
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    const auto end =
        std::to_string(end_offset(client, topic_, partition, Isolation::kReadUncommitted));
    EXPECT_EQ(share_state(client, group_, topic_, partition), end + ".." + end + ":")
        << engine_output();
  }
}

std::string EngineTest::engine_output() const {
  std::ifstream in(directory_ / "engine");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool EngineTest::said(const std::string& text) const {
  return engine_output().find(text) != std::string::npos;
}

void EngineTest::await_results(size_t count) {
  poll_until("results", [&] { return results().size() >= count; }, kRunLimit);
}

void EngineTest::await_executors(size_t count) {
  poll_until("executors", [&] { return executors().size() >= count; }, kRunLimit);
}

std::vector<int> EngineTest::executors() const {
  std::vector<int> pids;
  std::istringstream lines(engine_output());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("executor ")) pids.push_back(std::stoi(line.substr(9)));
  }
  return pids;
}

}  // namespace ackord::integration
