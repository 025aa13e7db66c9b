#include "tools/checkpoint-engine/sink.h"

#include <stdexcept>

namespace ackord::engine {
namespace {

class Statement {
 public:
  Statement(sqlite3* database, const char* text) : database_(database) {
    if (sqlite3_prepare_v2(database, text, -1, &statement_, nullptr) != SQLITE_OK) fail();
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;

  void bind(int place, const std::string& text) {
    const int size = static_cast<int>(text.size());
    if (sqlite3_bind_text(statement_, place, text.data(), size, SQLITE_TRANSIENT) != SQLITE_OK)
      fail();
  }
  // Whether there is a row.
  bool step() {
    const int result = sqlite3_step(statement_);
    if (result != SQLITE_ROW && result != SQLITE_DONE) fail();
    return result == SQLITE_ROW;
  }
  void reset() { sqlite3_reset(statement_); }
  int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_, column));
    return size == 0 ? std::string() : std::string(bytes, size);
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error(sqlite3_errmsg(database_)); }

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace

Sink::Sink(const std::string& path) {
  if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK)
    throw std::runtime_error("cannot open " + path);
  sqlite3_busy_timeout(database_, 10000);
  execute("PRAGMA journal_mode = WAL");
  execute("PRAGMA synchronous = FULL");
  execute("CREATE TABLE IF NOT EXISTS results (input TEXT, value TEXT, checkpoint_id TEXT)");
  execute("CREATE TABLE IF NOT EXISTS checkpoints (id TEXT PRIMARY KEY)");
  execute("CREATE TABLE IF NOT EXISTS attempts (number INTEGER PRIMARY KEY AUTOINCREMENT)");
}

Sink::~Sink() { sqlite3_close(database_); }

void Sink::execute(const char* statement) {
  if (sqlite3_exec(database_, statement, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw std::runtime_error(std::string(statement) + ": " + sqlite3_errmsg(database_));
}

int64_t Sink::next_attempt() {
  execute("INSERT INTO attempts DEFAULT VALUES");
  attempt_ = sqlite3_last_insert_rowid(database_);
  return attempt_;
}

void Sink::commit_checkpoint(const std::string& id, const std::vector<Result>& results) {
  execute("BEGIN IMMEDIATE");
  Statement latest(database_, "SELECT MAX(number) FROM attempts");
  latest.step();
  const int64_t number = latest.number(0);
  latest.reset();
  if (number != attempt_) {
    execute("ROLLBACK");
    throw Superseded("attempt " + std::to_string(number) + " has begun");
  }
  Statement insert(database_, "INSERT INTO results VALUES (?, ?, ?)");
  for (const Result& result : results) {
    insert.bind(1, result.input);
    insert.bind(2, result.value);
    insert.bind(3, id);
    insert.step();
    insert.reset();
  }
  Statement finished(database_, "INSERT INTO checkpoints VALUES (?)");
  finished.bind(1, id);
  finished.step();
  execute("COMMIT");
}

bool Sink::has_checkpoint(const std::string& id) {
  Statement select(database_, "SELECT 1 FROM checkpoints WHERE id = ?");
  select.bind(1, id);
  return select.step();
}

void Sink::for_each_result(const std::function<void(const std::string& value)>& each) {
  Statement select(database_, "SELECT value FROM results ORDER BY rowid");
  while (select.step()) each(select.text(0));
}

}  // namespace ackord::engine
