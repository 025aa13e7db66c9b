// ArchiveReport: tells the operator which records share groups gave up, and what became of their
// dead letters: a line of the log for each range, and counters.
//
// A core writes at most 50 such lines a second; what is left out is said with the next one, and
// counted all the same. Ranges where there was no record to lose (gaps, compaction, aborted
// transactions) are lines at debug level. Threads: every member on the core that calls it; each
// core has counters of its own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "broker/io/core.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/dead_letter_writer.h"

namespace ackord::share {

// Of one group and topic, since the start of the process.
struct ArchiveCounters {
  static constexpr size_t kReasons = 7;

  std::array<int64_t, kReasons> archived{};  // records by ArchiveReason
  int64_t letters = 0;                       // dead letters that are durable
  int64_t letters_given_up = 0;              // records whose letters could not be written

  ArchiveCounters& operator+=(const ArchiveCounters& other);
};

class ArchiveReport {
 public:
  using ByTopic = std::map<std::pair<GroupId, Uuid>, ArchiveCounters>;

  ArchiveReport(io::Environment& environment, const metadata::MetadataService& metadata)
      : environment_(environment), metadata_(metadata), cores_(environment.cores.size()) {}

  void archived(const Archived& archived);
  void letters(const SharePartitionKey& key, const std::vector<ArchivedRange>& ranges,
               const DeadLetterWriter::Written& written);

  // This core's counters. Those of topics that are gone are forgotten.
  io::Task<ByTopic> counters();

 private:
  struct OfCore {
    ByTopic counters;
    int64_t second = 0;
    int64_t lines = 0;
    int64_t held_back = 0;
  };

  OfCore& here() { return cores_[static_cast<size_t>(environment_.here().index)]; }
  bool take_line();
  std::string name_of_topic(const Uuid& id) const;

  io::Environment& environment_;
  const metadata::MetadataService& metadata_;
  std::vector<OfCore> cores_;
};

}  // namespace ackord::share
