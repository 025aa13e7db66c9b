#include "broker/log/journal_replay.h"

#include <algorithm>

#include "broker/log/checkpoint_files.h"
#include "broker/log/journal_format.h"
#include "broker/log/log_names.h"

namespace ackord::log {
namespace {

Result<std::vector<std::string>> journal_paths(io::FileSystem& files,
                                               const std::string& directory) {
  auto listed = files.list(directory);
  if (listed.has_error()) return listed.error();
  std::vector<std::string> paths;
  for (const std::string& name : *listed) {
    if (name.ends_with(names::kJournal)) paths.push_back(names::join(directory, name));
  }
  return paths;
}

// The rounds of one file, while they follow each other.
std::vector<JournalRound> rounds_of(std::span<const std::byte> bytes) {
  std::vector<JournalRound> rounds;
  while (auto round = parse_round(bytes)) {
    const bool next = round->round == rounds.size() &&
                      (rounds.empty() || round->generation == rounds.front().generation);
    if (!next) break;
    const size_t size = std::min(round->padded_size, bytes.size());
    rounds.push_back(std::move(*round));
    bytes = bytes.subspan(size);
  }
  return rounds;
}

}  // namespace

Result<Journals> read_journals(io::FileSystem& files, const std::string& directory) {
  auto paths = journal_paths(files, directory);
  if (paths.has_error()) return paths.error();
  // A log's entries are in the two files of one core, the older generation first.
  std::vector<std::vector<std::byte>> contents;
  std::multimap<uint64_t, std::vector<JournalRound>> by_generation;
  for (const std::string& path : *paths) {
    auto bytes = read_file(files, path);
    if (bytes.has_error()) return bytes.error();
    contents.push_back(std::move(*bytes));
    auto rounds = rounds_of(contents.back());
    if (!rounds.empty()) by_generation.emplace(rounds.front().generation, std::move(rounds));
  }
  Journals journals;
  for (const auto& [generation, rounds] : by_generation) {
    for (const JournalRound& round : rounds) {
      for (const JournalEntry& entry : round.entries) {
        journals[{entry.topic_id, entry.partition}].emplace_back(entry.batches.begin(),
                                                                 entry.batches.end());
      }
    }
  }
  return journals;
}

Result<void> remove_journals(io::FileSystem& files, const std::string& directory) {
  auto paths = journal_paths(files, directory);
  if (paths.has_error()) return paths.error();
  for (const std::string& path : *paths) {
    auto removed = files.remove(path);
    if (removed.has_error()) return removed;
  }
  return {};
}

}  // namespace ackord::log
