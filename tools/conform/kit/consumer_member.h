// ConsumerMember: one member of a consumer group (KIP-848), heartbeat by heartbeat, with a
// connection of its own. A copy of one keeps its epoch, and so plays the zombie.
//
//   ConsumerMember member(kit, new_group(kit));
//   member.join({topic});
//   member.until_assigned(partitions_of(topic));
//
// Errors: Failure. One thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/conform/kit/groups.h"

namespace ackord::conform {

// Topic ids, each with a partition.
using Partitions = std::set<std::pair<std::string, int64_t>>;
Partitions partitions_of(const Topic& topic);
Partitions united(const std::vector<Partitions>& parts);
// As the schemas have them: [{topicId, partitions}].
json::array topic_partitions(const Partitions& partitions);
Partitions read_partitions(const Value& topic_partitions);

// The fields of one heartbeat. What is nothing is sent as null: as before.
struct ConsumerBeat {
  std::optional<int32_t> epoch;  // nothing: the member's
  std::optional<std::vector<std::string>> names;
  std::optional<std::string> regex;  // version 1 on
  std::optional<std::string> assignor;
  std::optional<std::string> rack;
  std::optional<Partitions> owned;
  std::optional<int32_t> rebalance_ms;  // nothing: -1
  int16_t version = 1;
};

class ConsumerMember {
 public:
  // An empty id: one of its own. The connection is made at once.
  ConsumerMember(Kit& kit, std::string group, std::optional<std::string> instance = {},
                 std::string id = {});

  const std::string& group() const { return group_; }
  const std::string& id() const { return id_; }
  int32_t epoch() const { return epoch_; }
  // As the last answer that had an assignment.
  const Partitions& assigned() const { return assigned_; }
  Connection& connection() { return *connection_; }

  // One ConsumerGroupHeartbeat; takes id, epoch and assignment from a good answer.
  Value heartbeat(const ConsumerBeat& beat = {});
  // The same with epoch 0, no partitions and a rebalance timeout, unless the beat says otherwise.
  Value try_join(ConsumerBeat beat);
  // Must succeed.
  Value join(const ConsumerBeat& beat);
  Value join(const std::vector<Topic>& topics);

  // What a client sends while nothing changes: it owns what it was last assigned. Must succeed.
  Value beat();
  // Beats until it has exactly this.
  void until_assigned(const Partitions& expected, Millis limit = kUntilLimit);

  // Leaves; -2 when a static member means to come back.
  Value try_leave(int32_t epoch = -1) { return heartbeat({.epoch = epoch}); }
  void leave(int32_t epoch = -1);

 private:
  Kit* kit_;
  std::string group_;
  std::optional<std::string> instance_;
  std::string id_;
  Connection* connection_;
  int32_t epoch_ = 0;
  Partitions assigned_;
};

// All beat until they have exactly these partitions between them, no one twice, and the group is
// Stable.
void settle(Kit& kit, const std::vector<ConsumerMember*>& members, const Partitions& all,
            Millis limit = kUntilLimit);

// A group with one member that has all partitions of one topic.
struct ConsumerJoined {
  Topic topic;
  ConsumerMember member;
};
ConsumerJoined consumer_joined(Kit& kit, int32_t partitions = 1);

// How many partitions each has, smallest first.
std::vector<size_t> sizes_of(const std::vector<ConsumerMember*>& members);

}  // namespace ackord::conform
