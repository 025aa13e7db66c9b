// ClassicMember: one member of a classic group, request by request, with a connection of its own. A
// copy of one keeps its member id and generation, and so plays the zombie when the other goes on.
//
//   ClassicMember a(kit, new_group(kit)), b(kit, a.group());
//   form_group(kit, {&a, &b});
//   b.leave();
//   a.heartbeat().is(ErrorCode::REBALANCE_IN_PROGRESS);
//
// Errors: Failure. One thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/conform/kit/groups.h"

namespace ackord::conform {

// How a member joins, each time that it does.
struct ClassicJoin {
  int16_t version = 7;
  std::optional<std::string> instance;  // version 5 on
  int32_t session_ms = 30000;
  int32_t rebalance_ms = 20000;  // version 1 on
  std::string protocol_type = "consumer";
  // Each with its metadata.
  std::vector<std::pair<std::string, std::string>> protocols = {{"range", "metadata"}};
  std::optional<std::string> reason;  // version 8 on
};
Object join_request(const std::string& group, const std::string& member_id, const ClassicJoin& how);

// Member ids, each with its assignment.
using Assignments = std::vector<std::pair<std::string, std::string>>;

class ClassicMember {
 public:
  // It has no member id, and has joined nothing. The connection is made at once.
  ClassicMember(Kit& kit, std::string group, ClassicJoin how = {});

  const std::string& group() const { return group_; }
  // As the last good answer had them; a case may say something else.
  const std::string& id() const { return id_; }
  int32_t generation() const { return generation_; }
  void set_id(std::string id) { id_ = std::move(id); }
  void set_generation(int32_t generation) { generation_ = generation; }
  // The protocol that the group has chosen.
  const std::string& protocol() const { return protocol_; }
  void set_protocol(std::string protocol) { protocol_ = std::move(protocol); }
  ClassicJoin& how() { return how_; }
  Connection& connection() { return *connection_; }

  // JoinGroup, once; takes member id and generation from the answer.
  Value try_join();
  // The same in two steps: the broker may hold it until all members have joined.
  Sent send_join();
  Value receive_join(const Sent& sent, Millis limit = kAnswerLimit);
  // JoinGroup without a member id, which must be refused with one.
  void ask_for_id();
  // Joins as clients do: with an id asked for, where the version wants it. The answer is not taken.
  Sent start_joining();
  // The same, with the answer, which must be good.
  Value join();

  Value try_sync(const Assignments& assignments = {}, int16_t version = 5);
  Sent send_sync(const Assignments& assignments = {}, int16_t version = 5);
  Value receive_sync(const Sent& sent, Millis limit = kAnswerLimit);
  // SyncGroup, which must succeed: the member's assignment.
  std::string sync(const Assignments& assignments = {}, int16_t version = 5);

  // The error code of a Heartbeat.
  Value heartbeat(int16_t version = 4);
  // LeaveGroup by its id (and instance), which must succeed.
  void leave();
  // The whole answer.
  Value try_leave(int16_t version = 5);

 private:
  Kit* kit_;
  std::string group_;
  ClassicJoin how_;
  Connection* connection_;
  std::string id_;
  int32_t generation_ = -1;
  std::string protocol_;
};

// A bytes field as text.
std::string text_of(const Value& bytes_field);

// All join, one after the other, and are given "for <its place in the list>" by the first, which
// leads. The group is Stable after it.
void form_group(Kit& kit, const std::vector<ClassicMember*>& members);
// All members join again, and are given the same; PreparingRebalance when it is called.
void rejoin(Kit& kit, const std::vector<ClassicMember*>& members);

}  // namespace ackord::conform
