#include "broker/group/committed_offsets.h"

#include <algorithm>

namespace ackord::group {

void CommittedOffsets::apply(const OffsetCommit& record,
                             const coordinator::RecordContext& context) {
  const std::string group = record.key.group.str();
  const TopicPartition partition{TopicName(record.key.topic.sv()), record.key.partition};
  if (context.transaction) {
    Transaction& transaction = open_[context.transaction->id];
    transaction.epoch = context.transaction->epoch;
    const auto [at, is_new] =
        transaction.groups[group].insert_or_assign(partition, Staged{record.value, context.offset});
    if (is_new) ++groups_[group].staged[partition];
    return;
  }
  if (record.value) {
    groups_[group].committed[partition] = StoredOffset{*record.value, context.offset};
    return;
  }
  const auto at = groups_.find(group);
  if (at == groups_.end()) return;
  at->second.committed.erase(partition);
  if (at->second.staged.contains(partition)) drop_staged(group, partition);
  drop_if_empty(group);
}

void CommittedOffsets::apply_end_marker(const log::EndMarker& marker) {
  const auto ended = open_.find(marker.producer.id);
  if (ended == open_.end()) return;
  for (const auto& [group, partitions] : ended->second.groups) {
    for (const auto& [partition, staged] : partitions) {
      auto& committed = groups_[group].committed;
      const auto at = committed.find(partition);
      const bool overtaken = at != committed.end() && at->second.log_offset > staged.log_offset;
      if (marker.commit && !overtaken) {
        if (staged.value) {
          committed[partition] = StoredOffset{*staged.value, staged.log_offset};
        } else {
          committed.erase(partition);
        }
      }
      unstage(group, partition);
    }
    drop_if_empty(group);
  }
  open_.erase(ended);
}

const StoredOffset* CommittedOffsets::committed(std::string_view group,
                                                const TopicPartition& partition) const {
  const auto in = groups_.find(group);
  if (in == groups_.end()) return nullptr;
  const auto at = in->second.committed.find(partition);
  return at == in->second.committed.end() ? nullptr : &at->second;
}

bool CommittedOffsets::staged(std::string_view group, const TopicPartition& partition) const {
  const auto in = groups_.find(group);
  return in != groups_.end() && in->second.staged.contains(partition);
}

std::vector<TopicPartition> CommittedOffsets::held(std::string_view group) const {
  std::vector<TopicPartition> out;
  const auto in = groups_.find(group);
  if (in == groups_.end()) return out;
  for (const auto& [partition, unused] : in->second.committed) out.push_back(partition);
  for (const auto& [partition, unused] : in->second.staged) out.push_back(partition);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<TopicPartition> CommittedOffsets::expired(const std::string& group,
                                                      const ExpiryRule& rule, TimeMs now_ms,
                                                      int64_t retention_ms) const {
  std::vector<TopicPartition> over;
  const auto in = groups_.find(group);
  if (rule.none || in == groups_.end()) return over;
  for (const auto& [partition, offset] : in->second.committed) {
    if (rule.kept && rule.kept->contains(partition.topic.sv())) continue;
    const protocol::OffsetCommitValue& value = offset.value;
    const TimeMs since_ms = rule.since_ms.value_or(value.commit_timestamp);
    const bool is_over = value.expire_timestamp >= 0 ? now_ms >= value.expire_timestamp
                                                     : now_ms - since_ms >= retention_ms;
    if (is_over && !in->second.staged.contains(partition)) over.push_back(partition);
  }
  return over;
}

std::vector<TopicPartition> CommittedOffsets::partitions(std::string_view group) const {
  std::vector<TopicPartition> out;
  const auto in = groups_.find(group);
  if (in == groups_.end()) return out;
  for (const auto& [partition, unused] : in->second.committed) out.push_back(partition);
  return out;
}

std::optional<int16_t> CommittedOffsets::open_epoch(ProducerId producer) const {
  const auto at = open_.find(producer);
  if (at == open_.end()) return std::nullopt;
  return at->second.epoch;
}

void CommittedOffsets::for_each(
    const std::function<void(const std::string& group, const TopicPartition&, const StoredOffset&)>&
        visit) const {
  for (const auto& [name, group] : groups_) {
    for (const auto& [partition, offset] : group.committed) visit(name, partition, offset);
  }
}

void CommittedOffsets::unstage(const std::string& group, const TopicPartition& partition) {
  auto& staged = groups_[group].staged;
  const auto at = staged.find(partition);
  if (at != staged.end() && --at->second == 0) staged.erase(at);
}

void CommittedOffsets::drop_staged(const std::string& group, const TopicPartition& partition) {
  for (auto& [producer, transaction] : open_) {
    const auto in = transaction.groups.find(group);
    if (in == transaction.groups.end() || in->second.erase(partition) == 0) continue;
    unstage(group, partition);
    if (in->second.empty()) transaction.groups.erase(in);
  }
}

void CommittedOffsets::drop_if_empty(const std::string& group) {
  const auto at = groups_.find(group);
  if (at != groups_.end() && at->second.committed.empty() && at->second.staged.empty())
    groups_.erase(at);
}

}  // namespace ackord::group
