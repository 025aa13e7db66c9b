// Soft changes of GroupShard: what decisions do to state that is not logged and is gone after a
// restart. Times are steady milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "broker/group/classic_group.h"
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
struct SessionEnded {
  MemberKey member;
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

// A share group is as it should be for this version of the topics: until a record of it, nothing
// comes of a heartbeat without news.
struct ShareGroupSettled {
  std::string group;
  uint64_t topics_version = 0;
};

// The member must have given partitions up by then.
struct RevocationBegun {
  MemberKey member;
  int64_t deadline_ms = 0;
};
// The time of a member of a consumer group is over; it goes with the next FenceConsumers.
struct FencingBegun {
  enum class Why : int8_t { kSession, kRevocation, kClassic };
  MemberKey member;
  Why why = Why::kSession;
};
// A consumer group's metadata hash is right for this version of the topics.
struct TopicsChecked {
  std::string group;
  uint64_t version = 0;
};
// A classic member of a consumer group must send JoinGroup, or SyncGroup, by then; absent: it has.
struct JoinExpected {
  MemberKey member;
  std::optional<int64_t> deadline_ms;
};
struct SyncExpected {
  MemberKey member;
  std::optional<int64_t> deadline_ms;
};
struct ResolutionBegun {
  std::string group;
};
struct ResolutionEnded {
  std::string group;
};
using ConsumerEffect = std::variant<RevocationBegun, FencingBegun, TopicsChecked, JoinExpected,
                                    SyncExpected, ResolutionBegun, ResolutionEnded>;

using GroupEffect = std::variant<SessionRenewed, SessionEnded, ClassicChange, InitializationBegun,
                                 GuardGiven, GuardDropped, StateChangeBegun, StateChangeEnded,
                                 ExpiryChecked, ShareGroupSettled, ConsumerEffect>;

}  // namespace ackord::group
