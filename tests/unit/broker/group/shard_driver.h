// Drives a GroupShard as the runtime does: decide, append, apply; keeps what was appended, and can
// replay it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "broker/group/group_shard.h"

namespace ackord::test {

class ShardDriver {
 public:
  explicit ShardDriver(group::GroupShard shard = group::GroupShard()) : shard_(std::move(shard)) {}

  template <class Op>
  auto run(const Op& op) {
    auto outcome = std::as_const(shard_).decide(op, now);
    last.clear();
    for (auto& batch : outcome.batches) append(std::move(batch));
    for (const auto& effect : outcome.effects) shard_.apply_soft(effect);
    return std::move(outcome.reply);
  }

  const group::GroupShard& shard() const { return shard_; }
  // A shard that has read the same log, through the records' bytes.
  group::GroupShard replayed() const {
    group::GroupShard copy;
    Offset offset = 0;
    for (const auto& batch : log_) {
      if (batch.marker) {
        copy.apply_end_marker(*batch.marker, {offset++, 0, std::nullopt});
        continue;
      }
      for (const auto& record : batch.records) {
        const log::EncodedRecord bytes = group::GroupShard::encode(record);
        std::optional<std::span<const std::byte>> value;
        if (bytes.value) value = *bytes.value;
        auto decoded = group::GroupShard::decode(bytes.key, value);
        copy.apply(**decoded, {offset++, 0, batch.transaction});
      }
    }
    return copy;
  }
  void restart() { shard_ = replayed(); }

  void advance(int64_t ms) {
    now.steady_ms += ms;
    now.wall_ms += ms;
  }

  io::Now now{1'000'000, 5'000};
  std::vector<group::GroupRecord> last;  // of the last run
  std::vector<coordinator::Batch<group::GroupRecord>> batches() const { return log_; }

 private:
  void append(coordinator::Batch<group::GroupRecord> batch) {
    if (batch.marker) {
      shard_.apply_end_marker(*batch.marker, {offset_++, now.wall_ms, std::nullopt});
    }
    for (const auto& record : batch.records) {
      shard_.apply(record, {offset_++, now.wall_ms, batch.transaction});
      last.push_back(record);
    }
    log_.push_back(std::move(batch));
  }

  group::GroupShard shard_;
  std::vector<coordinator::Batch<group::GroupRecord>> log_;
  Offset offset_ = 0;
};

// Topic number n: its name and id.
inline Uuid topic_id(uint8_t n) {
  Uuid id;
  id.bytes[15] = n;
  return id;
}
inline group::SubscribedTopic topic(uint8_t n, int32_t partitions) {
  return {TopicName("t" + std::to_string(n)), topic_id(n), partitions};
}
inline group::Assignment parts(uint8_t n, std::initializer_list<int32_t> partitions) {
  group::Assignment assignment;
  for (const int32_t partition : partitions) assignment.insert({topic_id(n), partition});
  return assignment;
}

}  // namespace ackord::test
