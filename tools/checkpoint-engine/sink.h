// Sink: where the results go, which is not Kafka: a SQLite file. Results and the id of the
// checkpoint that they belong to become durable in one SQLite transaction: the engine's own commit.
// Errors: std::runtime_error. One thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ackord::engine {

struct Result {
  std::string input;  // "topic-partition@offset"
  std::string value;
};

class Sink {
 public:
  explicit Sink(const std::string& path);
  ~Sink();
  Sink(const Sink&) = delete;

  // A number that no start before has had.
  int64_t next_attempt();
  // Durable when it returns.
  void commit_checkpoint(const std::string& id, const std::vector<Result>& results);
  bool has_checkpoint(const std::string& id);
  void for_each_result(const std::function<void(const std::string& value)>& each);

 private:
  void execute(const char* statement);

  sqlite3* database_ = nullptr;
};

}  // namespace ackord::engine
