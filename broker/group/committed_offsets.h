// Committed offsets, and those staged in open transactions (semantics D.3). Hard state of the group
// shard.
//
// A staged offset becomes the committed one when its producer's commit marker is applied, unless a
// plain commit *record* lies behind the staged record in the log: the later record wins, not the
// later marker. An abort drops it, and so does a tombstone outside any transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/group/group_records.h"

namespace ackord::group {

struct StoredOffset {
  protocol::OffsetCommitValue value;
  Offset log_offset = -1;  // of the record
};

// How the offsets of a group age.
struct ExpiryRule {
  bool none = false;               // they do not
  std::optional<TimeMs> since_ms;  // all from here; absent: each from its commit
  std::optional<std::set<std::string, std::less<>>> kept;  // topics whose offsets do not
};

class CommittedOffsets {
 public:
  void apply(const OffsetCommit& record, const coordinator::RecordContext& context);
  void apply_end_marker(const log::EndMarker& marker);

  // Whether the group has an offset, committed or staged: then it exists, as a group without
  // members.
  bool holds(std::string_view group) const { return groups_.contains(group); }
  // Null when nothing is committed.
  const StoredOffset* committed(std::string_view group, const TopicPartition& partition) const;
  bool staged(std::string_view group, const TopicPartition& partition) const;
  bool empty() const { return groups_.empty(); }
  // Those of the group that have an offset, committed or staged, ascending.
  std::vector<TopicPartition> held(std::string_view group) const;
  // Those of the group that have a committed offset, ascending.
  std::vector<TopicPartition> partitions(std::string_view group) const;
  // The epoch of the producer's transaction that is open here.
  std::optional<int16_t> open_epoch(ProducerId producer) const;

  // Those of the group whose time is over. An offset that brought its own expiry has that one, any
  // other lasts `retention_ms`; where a transaction has one staged it stays.
  std::vector<TopicPartition> expired(const std::string& group, const ExpiryRule& rule,
                                      TimeMs now_ms, int64_t retention_ms) const;

  // Every committed offset, by group and partition.
  void for_each(const std::function<void(const std::string& group, const TopicPartition&,
                                         const StoredOffset&)>& visit) const;

 private:
  struct Group {
    std::map<TopicPartition, StoredOffset> committed;
    std::map<TopicPartition, int> staged;  // by how many transactions
  };
  struct Staged {
    std::optional<protocol::OffsetCommitValue> value;
    Offset log_offset = -1;
  };
  struct Transaction {
    int16_t epoch = -1;
    std::map<std::string, std::map<TopicPartition, Staged>, std::less<>> groups;
  };

  void unstage(const std::string& group, const TopicPartition& partition);
  void drop_staged(const std::string& group, const TopicPartition& partition);
  void drop_if_empty(const std::string& group);

  std::map<std::string, Group, std::less<>> groups_;
  std::map<ProducerId, Transaction> open_;
};

}  // namespace ackord::group
