// SharePartitionState: what the share coordinator stores of one share partition, asked with the
// RPCs by which brokers ask it (KIP-932): Initialize-, Read-, Write-, DeleteShareGroupState and
// ReadShareGroupStateSummary. Each function sends one request of one partition and hands back the
// partition's result, changing nothing here. Errors: Failure.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/topics.h"

namespace ackord::conform {

// Delivery states, as stored.
constexpr int8_t kAvailable = 0;
constexpr int8_t kAcknowledged = 2;
constexpr int8_t kArchiving = 3;
constexpr int8_t kArchived = 4;

// First offset, last offset, delivery state, delivery count.
using StateBatches = std::vector<std::tuple<int64_t, int64_t, int64_t, int64_t>>;
StateBatches state_batches_of(const Value& read_result);

struct StateWrite {
  int32_t state_epoch = 1;
  int32_t leader_epoch = 0;
  int64_t start_offset = 0;
  int32_t delivery_complete_count = -1;  // version 1 on
  StateBatches batches;
  int16_t version = 1;
};

class SharePartitionState {
 public:
  // An empty group: one of its own. Waits until the share coordinator of it is there.
  SharePartitionState(Kit& kit, Topic topic, std::string group = {}, int32_t partition = 0);

  const Topic& topic() const { return topic_; }
  const std::string& group() const { return group_; }

  Value initialize(int32_t state_epoch, int64_t start_offset);
  Value write(const StateWrite& write);
  Value read(int32_t leader_epoch = 0);
  Value summary(int16_t version = 1, int32_t leader_epoch = 0);
  Value remove();

  // What a read without an error shows.
  StateBatches batches(int32_t leader_epoch = 0);
  int64_t start_offset() { return read()["startOffset"].number(); }

 private:
  Value ask(std::string_view api, int16_t version, Object fields);

  Kit& kit_;
  Topic topic_;
  std::string group_;
  int32_t partition_;
};

// A new topic that the share coordinator knows, too: it may see it later than Metadata does.
Topic known_topic(Kit& kit, int32_t partitions = 1);
// Initialised, in a topic and a group of its own: state epoch 1.
SharePartitionState initialized_state(Kit& kit, int64_t start_offset = 0);

}  // namespace ackord::conform
