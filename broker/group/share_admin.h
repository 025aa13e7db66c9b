// What administrators ask of share groups (semantics A.13): how a group stands, and other offsets
// to begin at, or none. Plain data; the operations behind it.
//
// The delivery state lives elsewhere (ShareStateKeeper), so a change has a beginning and an end in
// the group's log. Between the two the group takes no heartbeat and no second change. A crash
// leaves what was begun to be initialised again by a heartbeat, which keeps the state that is
// there.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/group/share_types.h"
#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::group {

struct DescribedShareMember {
  std::string id;
  std::optional<std::string> rack;
  int32_t epoch = 0;
  std::string client_id;
  std::string client_host;
  std::vector<TopicName> topics;  // subscribed
  std::vector<TopicPartitions> assigned;
  friend bool operator==(const DescribedShareMember&, const DescribedShareMember&) = default;
};
struct DescribedShareGroup {
  ErrorCode error = ErrorCode::NONE;  // GROUP_ID_NOT_FOUND: none of that name, or of another kind
  std::string message;
  std::string state;
  int32_t epoch = 0;
  int32_t assignment_epoch = 0;
  std::vector<DescribedShareMember> members;
};

struct ShareOffset {
  TopicName topic;
  TopicIdPartition partition;
  Offset start_offset = 0;  // -1: by the group's reset policy
};
// In place of one answer per partition or topic, when the group refuses: GROUP_ID_NOT_FOUND (of
// another kind), NON_EMPTY_GROUP, COORDINATOR_LOAD_IN_PROGRESS during another change.
struct AlteredShareOffsets {
  ErrorCode error = ErrorCode::NONE;
  std::string message;
  std::vector<ErrorCode>
      partitions;  // in the order asked; NON_EMPTY_GROUP while records are staged
};
struct DeletedShareOffsets {
  ErrorCode error = ErrorCode::NONE;
  std::string message;
  // In the order asked. UNKNOWN_TOPIC_OR_PARTITION: the group holds nothing of it; NON_EMPTY_GROUP
  // while records are staged: then those partitions keep their state.
  std::vector<ErrorCode> topics;
};

// ---- operations of GroupShard

struct DescribeShareMembers {
  using Reply = DescribedShareGroup;
  GroupId group;
};

// Makes the group when there is something to alter. Partitions without state are being initialised
// from here on.
struct BeginAlterShareOffsets {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    std::string message;
    int32_t state_epoch = 0;
  };
  GroupId group;
  std::vector<ShareOffset> offsets;
};
struct EndAlterShareOffsets {
  struct Reply {};
  GroupId group;
  std::vector<std::pair<TopicIdPartition, bool>> results;  // true: it has the new state
};

struct BeginDeleteShareOffsets {
  struct Reply {
    ErrorCode error = ErrorCode::NONE;
    std::string message;
    std::vector<ShareGroupTopic> states;  // of the topics asked for, those that are held
  };
  GroupId group;
  std::vector<Uuid> topics;
};
struct EndDeleteShareOffsets {
  struct Reply {};
  GroupId group;
  std::vector<ShareGroupTopic> kept;  // whose state could not be removed
};

}  // namespace ackord::group
