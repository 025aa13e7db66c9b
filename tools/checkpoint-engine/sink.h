// Sink: where the results go, which is not Kafka: a SQLite file. Results and the id of the
// checkpoint that they belong to become durable in one SQLite transaction: the engine's own commit.
// It takes the results of the latest attempt only. Errors: std::runtime_error. One thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace ackord::engine {

struct Result {
  std::string input;  // "topic-partition@offset"
  std::string value;
};

// A later attempt has begun: what this one would commit, the later one has aborted, or will.
struct Superseded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Sink {
 public:
  explicit Sink(const std::string& path);
  ~Sink();
  Sink(const Sink&) = delete;

  // A number that no start before has had. From now on no earlier attempt can commit.
  int64_t next_attempt();
  // Durable when it returns. Throws Superseded, and nothing has changed, when this is not the
  // latest attempt any more.
  void commit_checkpoint(const std::string& id, const std::vector<Result>& results);
  bool has_checkpoint(const std::string& id);
  void for_each_result(const std::function<void(const std::string& value)>& each);

 private:
  void execute(const char* statement);

  sqlite3* database_ = nullptr;
  int64_t attempt_ = 0;
};

}  // namespace ackord::engine
