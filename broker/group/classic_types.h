// What the door of classic groups takes and gives (group_service.h), and what their state machine
// passes around: member metadata and assignments are opaque bytes, shared and never copied.
// Source: KIP-62, KIP-345, KIP-394, KIP-559, KIP-814; semantics D.1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::group {

// Bytes that many may hold; none are empty bytes. Equal when the bytes are.
class SharedBytes {
 public:
  SharedBytes() = default;
  explicit SharedBytes(std::string_view bytes) {
    if (!bytes.empty()) bytes_ = std::make_shared<const std::string>(bytes);
  }
  std::string_view sv() const { return bytes_ ? std::string_view(*bytes_) : std::string_view(); }
  bool empty() const { return !bytes_; }
  friend bool operator==(const SharedBytes& a, const SharedBytes& b) { return a.sv() == b.sv(); }

 private:
  std::shared_ptr<const std::string> bytes_;
};

struct ClassicProtocol {
  std::string name;
  SharedBytes metadata;
  friend bool operator==(const ClassicProtocol&, const ClassicProtocol&) = default;
};

// ---- JoinGroup
struct ClassicJoin {
  GroupId group;
  std::string member;  // "": a new one
  std::optional<std::string> instance;
  int32_t session_timeout_ms = 0;
  int32_t rebalance_timeout_ms = 0;
  std::string protocol_type;
  std::vector<ClassicProtocol> protocols;  // the preferred ones first
  // From version 4 on a new member is given an id first (KIP-394), from version 9 on a leader that
  // comes back is told that it need not assign (KIP-814).
  bool wants_id_first = false;
  bool knows_skip_assignment = false;
  std::string client_id;
  std::string client_host;
};
struct ClassicJoinReply {
  struct Member {
    std::string id;
    std::optional<std::string> instance;
    SharedBytes metadata;
    friend bool operator==(const Member&, const Member&) = default;
  };
  ErrorCode error = ErrorCode::NONE;
  std::string member;
  int32_t generation = -1;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol = "";
  std::string leader;
  bool skip_assignment = false;
  std::vector<Member> members;  // for the leader
  friend bool operator==(const ClassicJoinReply&, const ClassicJoinReply&) = default;
};

// ---- SyncGroup
// A member as its requests name it.
struct ClassicMemberName {
  GroupId group;
  std::string member;
  std::optional<std::string> instance;
  int32_t generation = -1;
};
struct ClassicSync {
  ClassicMemberName who;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol;
  std::vector<std::pair<std::string, SharedBytes>> assignments;  // by member id, from the leader
};
struct ClassicSyncReply {
  ErrorCode error = ErrorCode::NONE;
  std::optional<std::string> protocol_type;
  std::optional<std::string> protocol;
  SharedBytes assignment;
  friend bool operator==(const ClassicSyncReply&, const ClassicSyncReply&) = default;
};

// ---- LeaveGroup
struct ClassicLeave {
  struct Member {
    std::string id;  // "": by instance
    std::optional<std::string> instance;
  };
  GroupId group;
  std::vector<Member> members;
};

// ---- requests that wait
// A JoinGroup or SyncGroup that has reached the coordinator; a number that is not used again.
using Ticket = uint64_t;
// What ends the wait of a request.
struct ClassicAnswer {
  Ticket ticket = 0;
  std::variant<ClassicJoinReply, ClassicSyncReply> reply;
  friend bool operator==(const ClassicAnswer&, const ClassicAnswer&) = default;
};
using ClassicAnswers = std::vector<ClassicAnswer>;

// group.max.size, group.initial.rebalance.delay.ms
struct ClassicGroupLimits {
  int32_t max_size = INT32_MAX;
  int32_t initial_rebalance_delay_ms = 3000;
};

}  // namespace ackord::group
