// Plays the members of classic groups on a shard: requests in, answers by ticket out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/broker/group/shard_driver.h"

namespace ackord::test {

struct JoinAs {
  std::string member;
  std::optional<std::string> instance;
  int16_t version = 9;
  int32_t session_ms = 10000;
  int32_t rebalance_ms = 20000;
  std::vector<std::pair<std::string, std::string>> protocols = {{"range", "metadata"}};
  std::string type = "consumer";
};

class ClassicDriver : public ShardDriver {
 public:
  explicit ClassicDriver(group::ClassicGroupLimits limits = {INT32_MAX, 3000})
      : ShardDriver(group::GroupShard({}, limits)) {}

  group::Ticket join(const JoinAs& as) {
    group::ClassicJoin join;
    join.group = GroupId("g");
    join.member = as.member;
    join.instance = as.instance;
    join.session_timeout_ms = as.session_ms;
    join.rebalance_timeout_ms = as.rebalance_ms;
    join.protocol_type = as.type;
    for (const auto& [name, metadata] : as.protocols)
      join.protocols.push_back({name, group::SharedBytes(metadata)});
    join.wants_id_first = as.version >= 4;
    join.knows_skip_assignment = as.version >= 9;
    join.client_id = "client";
    join.client_host = "/127.0.0.1";
    take(run(group::JoinClassicGroup{join, ++last_ticket_, std::to_string(last_ticket_)}));
    return last_ticket_;
  }
  group::Ticket sync(const std::string& member, int32_t generation,
                     const std::vector<std::pair<std::string, std::string>>& assignments = {}) {
    group::ClassicSync sync;
    sync.who = {GroupId("g"), member, std::nullopt, generation};
    for (const auto& [id, assignment] : assignments)
      sync.assignments.emplace_back(id, group::SharedBytes(assignment));
    take(run(group::SyncClassicGroup{sync, ++last_ticket_}));
    return last_ticket_;
  }
  ErrorCode beat(const std::string& member, int32_t generation) {
    return run(group::BeatClassicMember{{GroupId("g"), member, std::nullopt, generation}}).error;
  }
  std::vector<ErrorCode> leave(const std::vector<group::ClassicLeave::Member>& members) {
    auto reply = run(group::LeaveClassicGroup{{GroupId("g"), members}});
    take(std::move(reply.answers));
    return reply.errors;
  }
  // Time passes, deadline by deadline.
  void pass(int64_t ms) {
    const int64_t end = now.steady_ms + ms;
    while (true) {
      const auto deadline = shard().next_deadline();
      if (!deadline || *deadline > end) break;
      advance(std::max<int64_t>(0, *deadline - now.steady_ms));
      take(run(coordinator::Tick{}).answers);
    }
    advance(end - now.steady_ms);
  }
  group::DescribedClassicGroup describe() { return run(group::DescribeClassicGroup{GroupId("g")}); }

  // Absent while the request waits.
  std::optional<group::ClassicJoinReply> joined(group::Ticket ticket) const {
    const auto at = answers_.find(ticket);
    if (at == answers_.end()) return std::nullopt;
    return std::get<group::ClassicJoinReply>(at->second);
  }
  std::optional<group::ClassicSyncReply> synced(group::Ticket ticket) const {
    const auto at = answers_.find(ticket);
    if (at == answers_.end()) return std::nullopt;
    return std::get<group::ClassicSyncReply>(at->second);
  }
  // Tickets that were answered more than once, or that were never given.
  int wrong_answers() const { return wrong_answers_; }
  bool answered(group::Ticket ticket) const { return answers_.contains(ticket); }

 private:
  void take(group::ClassicAnswers answers) {
    for (group::ClassicAnswer& answer : answers) {
      if (answer.ticket == 0 || answer.ticket > last_ticket_ || answers_.contains(answer.ticket))
        ++wrong_answers_;
      answers_[answer.ticket] = std::move(answer.reply);
    }
  }

  std::map<group::Ticket, std::variant<group::ClassicJoinReply, group::ClassicSyncReply>> answers_;
  group::Ticket last_ticket_ = 0;
  int wrong_answers_ = 0;
};

}  // namespace ackord::test
