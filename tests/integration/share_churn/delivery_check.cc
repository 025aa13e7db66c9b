#include "tests/integration/share_churn/delivery_check.h"

#include <fmt/format.h>

#include <limits>

namespace ackord::integration {
namespace {

struct RecordStory {
  int64_t ended_us = std::numeric_limits<int64_t>::max();  // its first last verdict was answered
  bool delivered = false;
  bool accepted = false;
  bool rejected = false;
  int unanswered = 0;         // verdicts that were sent
  bool at_the_limit = false;  // it was delivered as often as it may be, or the broker says so
};

class Check {
 public:
  Check(const std::vector<Offset>& ends, int limit) : limit_(limit) {
    for (Offset end : ends) {
      records_.emplace_back(static_cast<size_t>(end));
      summary_.records += end;
    }
  }

  void verdict(const JournalEntry& entry) {
    if (entry.number != kAccept && entry.number != kReject) return;
    for (Offset offset = entry.first; offset <= entry.last; ++offset) {
      RecordStory& record = at(entry.partition, offset);
      if (entry.what == JournalEntry::What::kTried) {
        ++record.unanswered;
        continue;
      }
      --record.unanswered;
      if (entry.code != ErrorCode::NONE) {
        ++summary_.refused_verdicts;
        continue;
      }
      (entry.number == kAccept ? record.accepted : record.rejected) = true;
      record.ended_us = std::min(record.ended_us, entry.at_us);
    }
  }

  void delivery(const JournalEntry& entry) {
    if (entry.number < 1 || entry.number > limit_)
      finding(entry, entry.first, fmt::format("has delivery count {} of {}", entry.number, limit_));
    const int64_t count = entry.last - entry.first + 1;
    summary_.deliveries += count;
    summary_.counts[entry.number] += count;
    for (Offset offset = entry.first; offset <= entry.last; ++offset) {
      RecordStory& record = at(entry.partition, offset);
      record.delivered = true;
      if (entry.number == limit_) record.at_the_limit = true;
      if (entry.at_us > record.ended_us) {
        finding(entry, offset,
                fmt::format("it was asked for {} µs after its verdict had been answered",
                            entry.at_us - record.ended_us));
        return;
      }
    }
  }

  void archived(const ArchivedRange& range) {
    for (Offset offset = range.first; offset <= range.last; ++offset)
      at(range.partition, offset).at_the_limit = true;
  }

  DeliverySummary end() {
    for (size_t partition = 0; partition < records_.size(); ++partition) {
      for (size_t offset = 0; offset < records_[partition].size(); ++offset)
        judge(static_cast<int32_t>(partition), offset, records_[partition][offset]);
    }
    return std::move(summary_);
  }

 private:
  RecordStory& at(int32_t partition, Offset offset) {
    return records_.at(static_cast<size_t>(partition)).at(static_cast<size_t>(offset));
  }

  void finding(const JournalEntry& entry, Offset offset, std::string text) {
    summary_.findings.push_back({entry.partition, offset, std::move(text)});
  }

  void judge(int32_t partition, size_t offset, const RecordStory& record) {
    if (record.accepted) {
      ++summary_.accepted;
    } else if (record.rejected) {
      ++summary_.rejected;
    } else if (record.at_the_limit) {
      ++summary_.at_the_limit;
    } else if (record.unanswered > 0) {
      ++summary_.in_doubt;
    } else {
      summary_.findings.push_back(
          {partition, static_cast<Offset>(offset),
           fmt::format("it ended without a verdict or a reason{}",
                       record.delivered ? "" : ", and nobody ever got it")});
    }
  }

  int limit_;
  std::vector<std::vector<RecordStory>> records_;
  DeliverySummary summary_;
};

}  // namespace

DeliverySummary check_deliveries(const std::vector<Offset>& ends, int delivery_count_limit,
                                 const std::vector<std::vector<JournalEntry>>& journals,
                                 const std::vector<ArchivedRange>& archived) {
  Check check(ends, delivery_count_limit);
  for (const auto& journal : journals) {
    for (const JournalEntry& entry : journal) {
      if (entry.what != JournalEntry::What::kDelivered) check.verdict(entry);
    }
  }
  for (const auto& journal : journals) {
    for (const JournalEntry& entry : journal) {
      if (entry.what == JournalEntry::What::kDelivered) check.delivery(entry);
    }
  }
  for (const ArchivedRange& range : archived) check.archived(range);
  return check.end();
}

std::vector<std::string> story_of(int32_t partition, Offset offset,
                                  const std::vector<std::vector<JournalEntry>>& journals) {
  std::multimap<int64_t, std::string> lines;
  for (size_t member = 0; member < journals.size(); ++member) {
    for (const JournalEntry& entry : journals[member]) {
      if (entry.partition != partition || entry.first > offset || entry.last < offset) continue;
      lines.emplace(entry.at_us, fmt::format("{} member {} {} {}-{} {} {}", entry.at_us, member,
                                             static_cast<char>(entry.what), entry.first, entry.last,
                                             entry.number, name_of(entry.code)));
    }
  }
  std::vector<std::string> story;
  for (auto& [at_us, line] : lines) story.push_back(std::move(line));
  return story;
}

}  // namespace ackord::integration
