#include "tools/conform/kit/classic_member.h"

namespace ackord::conform {
namespace {

json::value nullable(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value(nullptr);
}

// The answers to their JoinGroups; then all are given "for <place>" by the one that leads.
void receive_and_sync(const std::vector<ClassicMember*>& members, const std::vector<Sent>& joins) {
  for (size_t i = 0; i < members.size(); ++i)
    members[i]->receive_join(joins[i])["errorCode"].is_none();
  Assignments assignments;
  for (size_t i = 0; i < members.size(); ++i)
    assignments.emplace_back(members[i]->id(), fmt::format("for {}", i));
  std::vector<Sent> syncs;
  for (ClassicMember* member : members) syncs.push_back(member->send_sync(assignments));
  for (size_t i = 0; i < members.size(); ++i)
    members[i]->receive_sync(syncs[i])["errorCode"].is_none();
}

}  // namespace

std::string text_of(const Value& bytes_field) {
  const auto raw = bytes_field.bytes();
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

Object join_request(const std::string& group, const std::string& member_id,
                    const ClassicJoin& how) {
  Object request{{"groupId", group},
                 {"sessionTimeoutMs", how.session_ms},
                 {"memberId", member_id},
                 {"protocolType", how.protocol_type},
                 {"protocols", list_of(how.protocols, [](const auto& protocol) {
                    return Object{{"name", protocol.first}, {"metadata", bytes(protocol.second)}};
                  })}};
  if (how.version >= 1) request["rebalanceTimeoutMs"] = how.rebalance_ms;
  if (how.version >= 5) request["groupInstanceId"] = nullable(how.instance);
  if (how.version >= 8) request["reason"] = nullable(how.reason);
  return request;
}

ClassicMember::ClassicMember(Kit& kit, std::string group, ClassicJoin how)
    : kit_(&kit), group_(std::move(group)), how_(std::move(how)), connection_(&kit.connect()) {}

Sent ClassicMember::send_join() {
  return connection_->send("JoinGroup", how_.version, join_request(group_, id_, how_));
}

Value ClassicMember::receive_join(const Sent& sent, Millis limit) {
  Value answer = connection_->receive(sent, limit);
  const ErrorCode error = answer["errorCode"].error();
  if (error == ErrorCode::NONE || error == ErrorCode::MEMBER_ID_REQUIRED)
    id_ = answer["memberId"].text();
  if (error == ErrorCode::NONE) {
    generation_ = static_cast<int32_t>(answer["generationId"].number());
    protocol_ = answer["protocolName"].text();
  }
  return answer;
}

Value ClassicMember::try_join() { return receive_join(send_join()); }

void ClassicMember::ask_for_id() {
  id_.clear();
  try_join()["errorCode"].is(ErrorCode::MEMBER_ID_REQUIRED);
}

Sent ClassicMember::start_joining() {
  if (id_.empty() && how_.version >= 4 && !how_.instance) ask_for_id();
  return send_join();
}

Value ClassicMember::join() {
  Value answer = receive_join(start_joining());
  answer["errorCode"].is_none();
  return answer;
}

Sent ClassicMember::send_sync(const Assignments& assignments, int16_t version) {
  Object request{{"groupId", group_},
                 {"generationId", generation_},
                 {"memberId", id_},
                 {"assignments", list_of(assignments, [](const auto& one) {
                    return Object{{"memberId", one.first}, {"assignment", bytes(one.second)}};
                  })}};
  if (version >= 3) request["groupInstanceId"] = nullable(how_.instance);
  if (version >= 5) {
    request["protocolType"] = how_.protocol_type;
    request["protocolName"] = protocol_;
  }
  return connection_->send("SyncGroup", version, request);
}

Value ClassicMember::receive_sync(const Sent& sent, Millis limit) {
  return connection_->receive(sent, limit);
}

Value ClassicMember::try_sync(const Assignments& assignments, int16_t version) {
  return receive_sync(send_sync(assignments, version));
}

std::string ClassicMember::sync(const Assignments& assignments, int16_t version) {
  const Value answer = try_sync(assignments, version);
  answer["errorCode"].is_none();
  return text_of(answer["assignment"]);
}

Value ClassicMember::heartbeat(int16_t version) {
  Object request{{"groupId", group_}, {"generationId", generation_}, {"memberId", id_}};
  if (version >= 3) request["groupInstanceId"] = nullable(how_.instance);
  return connection_->ask("Heartbeat", version, request)["errorCode"];
}

Value ClassicMember::try_leave(int16_t version) {
  Object request{{"groupId", group_}};
  if (version < 3)
    request["memberId"] = id_;
  else
    request["members"] =
        list(Object{{"memberId", id_}, {"groupInstanceId", nullable(how_.instance)}});
  return connection_->ask("LeaveGroup", version, request);
}

void ClassicMember::leave() {
  const Value answer = try_leave();
  answer["errorCode"].is_none();
  answer["members"][0]["errorCode"].is_none();
}

void rejoin(Kit& kit, const std::vector<ClassicMember*>& members) {
  wait_for_classic_state(kit, members.front()->group(), "PreparingRebalance");
  std::vector<Sent> sent;
  for (ClassicMember* member : members) sent.push_back(member->start_joining());
  receive_and_sync(members, sent);
}

void form_group(Kit& kit, const std::vector<ClassicMember*>& members) {
  std::vector<ClassicMember*> joined;
  for (ClassicMember* member : members) {
    const Sent own = member->start_joining();
    if (!joined.empty()) wait_for_classic_state(kit, member->group(), "PreparingRebalance");
    std::vector<Sent> sent;
    for (ClassicMember* one : joined) sent.push_back(one->send_join());
    joined.push_back(member);
    sent.push_back(own);
    receive_and_sync(joined, sent);
  }
}

}  // namespace ackord::conform
