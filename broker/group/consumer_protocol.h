// The bytes by which consumers of the classic protocol say what they subscribe to (JoinGroup) and
// are told what they have (SyncGroup): an int16 version, then ConsumerProtocolSubscription or
// ConsumerProtocolAssignment. Elsewhere they are opaque; where such members are in a consumer
// group, or come from one, the coordinator reads and writes them itself (KIP-848).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ackord::group {

using NamedPartitions = std::vector<std::pair<std::string, std::vector<int32_t>>>;  // by topic

struct ConsumerSubscription {
  int16_t version = 0;
  std::vector<std::string> topics;
  NamedPartitions owned;
  std::optional<std::string> rack;
};
struct ConsumerAssignment {
  NamedPartitions partitions;
  bool has_user_data = false;
};

// Nothing when the bytes are none. A version that is not known is read as the newest.
std::optional<ConsumerSubscription> read_subscription(std::string_view bytes);
std::optional<ConsumerAssignment> read_assignment(std::string_view bytes);
std::string write_assignment(int16_t version, const NamedPartitions& partitions);

}  // namespace ackord::group
