// SimConsumer: one member of a share group with its share session, raw protocol; what it is handed
// goes into the ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "protocol/generated/share_acknowledge_request.h"
#include "protocol/generated/share_acknowledge_response.h"
#include "tests/simulation/world.h"

namespace ackord::simulation {

inline constexpr const char* kGroup = "job";
inline constexpr const char* kLines = "lines";
inline constexpr const char* kProcessed = "processed";
inline constexpr int32_t kPartitions = 2;
inline constexpr int32_t kStatePartitions = 2;

using Records = std::vector<SourceRecord>;

// " 0:3 1:7"
std::string list_of(const Records& records);

// The acknowledgements of these records, as every request that carries them has them: one topic,
// its partitions, and an entry of one type for each record.
template <class Request>
void fill_acknowledgements(const Records& records, const Uuid& topic_id,
                           const std::function<int8_t(const SourceRecord&)>& type,
                           Request& request) {
  auto& topic = request.topics.emplace_back();
  topic.topic_id = topic_id;
  std::map<int32_t, std::map<int64_t, int8_t>> by_partition;
  for (const SourceRecord& record : records)
    by_partition[record.partition][record.offset] = type(record);
  for (const auto& [index, types] : by_partition) {
    auto& partition = topic.partitions.emplace_back();
    partition.partition_index = index;
    for (const auto& [offset, one] : types) {
      auto& batch = partition.acknowledgement_batches.emplace_back();
      batch.first_offset = batch.last_offset = offset;
      batch.acknowledge_types.push_back(one);
    }
  }
}

// What the job does with a record: ACCEPT, or REJECT.
inline int8_t verdict_on(const SourceRecord& record) { return is_rejected(record) ? 3 : 1; }

class SimConsumer {
 public:
  // `lines` is the source topic's id. The world outlives it.
  SimConsumer(World& world, std::string name, std::string group, Uuid lines);

  // False: it is no member now; to be tried again.
  io::Task<bool> heartbeat();
  // What was handed out; nothing after an error, which ends the session.
  io::Task<Records> fetch();
  // ShareAcknowledge. `unknown`: without an answer, or with a passing error, it may have taken
  // effect all the same; in neither list are those that were refused.
  struct Acknowledged {
    Records taken;
    Records unknown;
  };
  io::Task<Acknowledged> acknowledge(Records records,
                                     std::function<int8_t(const SourceRecord&)> type);
  // Ends session and connection.
  void drop();

  const std::string& member() const { return member_; }
  int32_t member_epoch() const { return member_epoch_; }
  const Uuid& lines() const { return lines_; }
  const std::string& group() const { return group_; }
  SimConnection& connection() { return connection_; }
  io::Task<void> think(int64_t up_to_ms);
  void note(const std::string& what) { world_.ledger.note(world_.scheduler.now_us(), name_, what); }

 private:
  World& world_;
  SimRandom& random_;
  std::string name_;
  std::string group_;
  Uuid lines_;
  SimConnection connection_;
  std::string member_;
  int32_t member_epoch_ = 0;
  int32_t session_epoch_ = 0;
};

}  // namespace ackord::simulation
