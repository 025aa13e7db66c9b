// ClassicDecision: what one request, or one deadline, does to a classic group: members that come
// and go, the gathering of a rebalance, the assignment. Pure; it collects what is to be logged,
// which soft state changes, and the answers to requests that waited.
//
// One is made for each decision, told what has happened, and taken apart by the shard.
// Source: KIP-62, KIP-134, KIP-345, KIP-394, KIP-814; semantics D.1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "broker/group/classic_draft.h"
#include "broker/group/group_effects.h"
#include "broker/io/clock.h"

namespace ackord::group {

// How long a new member's JoinGroup may wait: nobody knows its id yet, so nothing else tells
// whether it is still there.
inline constexpr int32_t kNewMemberJoinTimeoutMs = 5 * 60 * 1000;

class ClassicDecision {
 public:
  // `life` must outlive the decision.
  ClassicDecision(std::string_view group, const ClassicLife& life, ClassicGroupLimits limits,
                  io::Now now)
      : group_(group), limits_(limits), now_(now), draft_(life) {}

  // The answer is among answers() now, or will be among those of a later decision. `new_id_suffix`
  // is random, for a member that has no id.
  void join(const ClassicJoin& request, Ticket ticket, const std::string& new_id_suffix);
  void sync(const ClassicSync& request, Ticket ticket);
  // NONE: gone; UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID. In the order of the members.
  std::vector<ErrorCode> leave(const std::vector<ClassicLeave::Member>& members);
  // The member's session, or the time of one that was given an id, is over.
  void session_ended(const std::string& id);
  // phase().deadline_ms has come.
  void deadline_reached();
  // After a start: sessions begin anew, and a group that has become too large gathers again.
  void loaded();
  // It was a consumer group until now: sessions begin anew, and its members gather if others have
  // left it.
  void converted(bool somebody_left);
  // A group that has just been made is logged although nothing is to be said of it.
  void made();

  // ---- what has been decided
  std::vector<GroupRecord> take_records() { return std::move(records_); }
  ClassicAnswers take_answers() { return std::move(answers_); }
  // The change of the group, then sessions.
  std::vector<GroupEffect> take_effects();

 private:
  // ---- joining
  bool accepts(std::string_view id) const;
  bool supports(const ClassicJoin& request) const;
  void join_new(const ClassicJoin& request, Ticket ticket, const std::string& id);
  void join_known(const ClassicJoin& request, Ticket ticket);
  void add_member(const ClassicJoin& request, Ticket ticket, const std::string& id);
  void update_member(const ClassicJoin& request, Ticket ticket);
  void replace_static(const ClassicJoin& request, Ticket ticket, const std::string& old_id,
                      const std::string& new_id);
  void keep_static(const ClassicJoin& request, Ticket ticket, const std::string& id,
                   const std::string& leader_before);

  // ---- gathering
  void rebalance_or_complete();
  void prepare();
  void complete_if_gathered();
  bool all_joined() const;
  void complete();
  void begin_generation();
  bool elect_leader();
  std::string select_protocol() const;
  int32_t rebalance_timeout_ms() const;

  // ---- syncing
  ErrorCode check_sync(const ClassicSync& request) const;
  void clear_must_sync(const std::string& id);
  void assign(const ClassicSync& request);
  void syncing_is_over();

  // ---- going
  void remove(const std::string& id);
  void forget_pending(const std::string& id);

  void refuse_join(Ticket ticket, std::string_view member, ErrorCode error);
  void answer_join(const std::string& id, ClassicJoinReply reply);
  ClassicJoinReply standing(const std::string& id, bool with_members) const;
  void renew_session(const std::string& id, int32_t timeout_ms);
  void log_group();

  std::string group_;
  ClassicGroupLimits limits_;
  io::Now now_;
  ClassicDraft draft_;
  std::vector<GroupRecord> records_;
  std::vector<GroupEffect> sessions_;
  ClassicAnswers answers_;
};

}  // namespace ackord::group
