#include "tests/integration/share_churn/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <stdexcept>

namespace ackord::integration {

int64_t steady_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Journal::Journal(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0) throw std::runtime_error("cannot write " + path);
}

Journal::~Journal() { ::close(file_); }

void Journal::write(const JournalEntry& entry) {
  const std::string line =
      fmt::format("{} {} {} {} {} {} {}\n", static_cast<char>(entry.what), entry.partition,
                  entry.first, entry.last, entry.number, static_cast<int>(entry.code), entry.at_us);
  if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("cannot write a journal");
}

std::vector<JournalEntry> read_journal(const std::string& path) {
  std::ifstream in(path);
  std::vector<JournalEntry> entries;
  if (!in.is_open()) return entries;  // killed before it had begun
  char what = 0;
  int code = 0;
  JournalEntry entry;
  while (in >> what >> entry.partition >> entry.first >> entry.last >> entry.number >> code >>
         entry.at_us) {
    entry.what = static_cast<JournalEntry::What>(what);
    entry.code = static_cast<ErrorCode>(code);
    entries.push_back(entry);
  }
  if (!in.eof()) throw std::runtime_error("a line that no member writes in " + path);
  return entries;
}

}  // namespace ackord::integration
