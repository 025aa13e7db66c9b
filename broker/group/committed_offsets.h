// Committed offsets, and those staged in open transactions (semantics D.3). Hard state of the group
// shard.
//
// A staged offset becomes the committed one when its producer's commit marker is applied, unless a
// plain commit *record* lies behind the staged record in the log: the later record wins, not the
// later marker. An abort drops it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/group/group_records.h"

namespace ackord::group {

struct StoredOffset {
  protocol::OffsetCommitValue value;
  Offset log_offset = -1;  // of the record
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
  // Those of the group that have a committed offset, ascending.
  std::vector<TopicPartition> partitions(std::string_view group) const;
  // The epoch of the producer's transaction that is open here.
  std::optional<int16_t> open_epoch(ProducerId producer) const;

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
  void drop_if_empty(const std::string& group);

  std::map<std::string, Group, std::less<>> groups_;
  std::map<ProducerId, Transaction> open_;
};

}  // namespace ackord::group
