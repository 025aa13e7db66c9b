// Ledger: what a run has seen, and whether it agrees with the promises (docs/PROTOCOL.md part 4).
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ackord::simulation {

// A record of the source topic.
struct SourceRecord {
  int32_t partition = 0;
  int64_t offset = 0;
  friend auto operator<=>(const SourceRecord&, const SourceRecord&) = default;
  std::string text() const { return std::to_string(partition) + ":" + std::to_string(offset); }
};

// Group config of the run: share.delivery.count.limit. A record that comes near it may be given up
// by the broker (some answers are lost, so the last deliveries may not be known here), and then
// nobody is to be blamed for its missing output.
inline constexpr int16_t kDeliveryCountLimit = 20;
inline constexpr int16_t kNearTheLimit = kDeliveryCountLimit - 4;

// Decided by the record alone, so that every delivery of it and the checker agree.
bool is_rejected(const SourceRecord& record);

class Ledger {
 public:
  using Records = std::vector<SourceRecord>;

  // What the source topic holds at the end.
  void produced(SourceRecord record, std::string text) { produced_[record] = std::move(text); }
  struct Delivery {
    SourceRecord record;
    std::string text;
    int16_t count = 0;
    std::string member;
    int64_t asked_at_us = 0;  // when the fetch was sent
  };
  // A consumer of the group was handed a record. I3: never one whose acknowledgement is final. An
  // answer that was overtaken on its way by a later delivery and its end is none: it was asked for
  // before, and its count is lower, or that of another member's delivery: what ends with a session
  // does not count.
  void delivered(const std::string& group, const Delivery& delivery);
  // A commit, or a plain acknowledgement, was answered, or the sink of a prepared batch transaction
  // is durable: these are final from now on.
  void settled(const std::string& group, const Records& records, int64_t at_us);
  // Whoever was to decide has not learned what became of these: they may be final or not.
  void undecided(const std::string& group, const Records& records);
  // What a read_committed consumer of the output finds, or a reader of the sink.
  void output(SourceRecord record) { ++outputs_[record]; }
  void finding(std::string text) { findings_.push_back(std::move(text)); }
  // One line of the run's story; kept for the report of a run that fails.
  void note(int64_t at_us, const std::string& who, const std::string& what);

  // At the end, when no group has a lag. I2: what is done with, somebody has decided. I5: of the
  // job's group (`group`), each accepted record is exactly once in the outputs, each rejected one
  // never. And whatever was handed out is what the source topic holds.
  void check(const std::string& group);
  const std::vector<std::string>& findings() const { return findings_; }
  const std::vector<std::string>& story() const { return story_; }
  size_t produced_count() const { return produced_.size(); }
  size_t produced_in(int32_t partition) const;

  // For the summary of a run.
  int commits = 0;
  int aborts = 0;
  int batch_commits = 0;
  int batch_aborts = 0;
  int fenced = 0;
  int redeliveries = 0;

 private:
  struct Group {
    std::map<SourceRecord, int64_t> final_since_us;
    struct Highest {
      int16_t count = 0;
      std::string member;
    };
    std::map<SourceRecord, Highest> highest;
    std::set<SourceRecord> undecided;
    std::set<SourceRecord> given_up;  // perhaps
  };

  std::map<SourceRecord, std::string> produced_;
  std::map<std::string, Group> groups_;
  std::map<SourceRecord, std::string> delivered_;
  std::map<SourceRecord, int> outputs_;
  std::vector<std::string> findings_;
  std::vector<std::string> story_;
};

}  // namespace ackord::simulation
