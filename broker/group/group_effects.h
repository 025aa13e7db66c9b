// Soft changes of GroupShard: what decisions do to state that is not logged and is gone after a
// restart. Times are steady milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "broker/log/types.h"
#include "protocol/types/ids.h"

namespace ackord::group {

struct MemberKey {
  std::string group;
  std::string member;
  friend bool operator==(const MemberKey&, const MemberKey&) = default;
  friend auto operator<=>(const MemberKey&, const MemberKey&) = default;
};
struct SessionRenewed {
  MemberKey member;
  int64_t deadline_ms = 0;
};
struct InitializationBegun {
  std::string group;
  TopicIdPartition partition;
  int64_t deadline_ms = 0;  // no answer by then: begun again by the next heartbeat
};
struct GuardGiven {
  log::ProducerStamp producer;
  uint64_t token = 0;
  int64_t deadline_ms = 0;
};
struct GuardDropped {
  ProducerId producer;
};
struct StateChangeBegun {
  std::string group;
};
struct StateChangeEnded {
  std::string group;
};
struct ExpiryChecked {
  int64_t next_ms = 0;
  std::string after;  // the groups up to this one have been seen
};

using GroupEffect = std::variant<SessionRenewed, InitializationBegun, GuardGiven, GuardDropped,
                                 StateChangeBegun, StateChangeEnded, ExpiryChecked>;

}  // namespace ackord::group
