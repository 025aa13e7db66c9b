#include "broker/group/classic_group.h"

#include <algorithm>

#include "broker/base/assert.h"
#include "protocol/generated/consumer_protocol_subscription.h"
#include "protocol/wire/reader.h"

namespace ackord::group {
namespace {

std::optional<std::string> text(const std::optional<String>& field) {
  if (!field) return std::nullopt;
  return field->str();
}

std::optional<String> field(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return String(*text);
}

// A record without a rebalance timeout (version 0) has the session's.
ClassicMember member_of(const protocol::GroupMetadataValue& value,
                        const protocol::GroupMetadataValue::MemberMetadata& recorded) {
  ClassicMember member;
  member.instance = text(recorded.group_instance_id);
  member.client_id = recorded.client_id.str();
  member.client_host = recorded.client_host.str();
  member.session_timeout_ms = recorded.session_timeout;
  member.rebalance_timeout_ms =
      recorded.rebalance_timeout < 0 ? recorded.session_timeout : recorded.rebalance_timeout;
  const std::string name = value.protocol ? value.protocol->str() : "";
  member.protocols = std::make_shared<const std::vector<ClassicProtocol>>(
      1, ClassicProtocol{name, SharedBytes(recorded.subscription.sv())});
  member.assignment = SharedBytes(recorded.assignment.sv());
  return member;
}

// Version 0 of the subscription is a prefix of all others. Absent when the bytes are none.
std::optional<std::vector<std::string>> topics_of(std::string_view metadata) {
  protocol::Reader in(std::as_bytes(std::span(metadata.data(), metadata.size())));
  const int16_t version = in.int16();
  if (!in.ok() || version < 0) return std::nullopt;
  const auto subscription = protocol::ConsumerProtocolSubscription::decode(in, 0);
  if (!subscription) return std::nullopt;
  std::vector<std::string> topics;
  for (const auto& topic : subscription->topics) topics.push_back(topic.str());
  return topics;
}

}  // namespace

SharedBytes ClassicMember::metadata(std::string_view protocol) const {
  for (const ClassicProtocol& one : *protocols) {
    if (one.name == protocol) return one.metadata;
  }
  return {};
}

bool ClassicMember::knows(std::string_view protocol) const {
  return std::any_of(protocols->begin(), protocols->end(),
                     [protocol](const ClassicProtocol& one) { return one.name == protocol; });
}

void ClassicPhase::move_to(ClassicGroupState next, TimeMs now_ms) {
  ACKORD_ASSERT(transition_allowed(state, next), "a classic group does not move so");
  state = next;
  since_ms = now_ms;
}

ClassicLife::ClassicLife(const ClassicGroup& recorded) {
  const protocol::GroupMetadataValue& value = recorded.value;
  phase_.state = value.members.empty() ? ClassicGroupState::kEmpty : ClassicGroupState::kStable;
  phase_.since_ms = value.current_state_timestamp;
  phase_.generation = value.generation;
  if (!value.protocol_type.empty()) phase_.protocol_type = value.protocol_type.str();
  phase_.protocol = text(value.protocol);
  if (value.leader) phase_.leader = value.leader->str();
  for (const auto& member : value.members) put(member.member_id.str(), member_of(value, member));
}

const ClassicMember* ClassicLife::member(std::string_view id) const {
  const auto at = members_.find(id);
  return at == members_.end() ? nullptr : &at->second;
}

const std::string* ClassicLife::of_instance(std::string_view instance) const {
  const auto at = instances_.find(instance);
  return at == instances_.end() ? nullptr : &at->second;
}

int ClassicLife::knowing(std::string_view protocol) const {
  const auto at = knowing_.find(protocol);
  return at == knowing_.end() ? 0 : at->second;
}

ErrorCode ClassicLife::check(std::string_view id,
                             const std::optional<std::string>& instance) const {
  if (instance) {
    const std::string* holder = of_instance(*instance);
    if (holder == nullptr) return ErrorCode::UNKNOWN_MEMBER_ID;
    if (*holder != id) return ErrorCode::FENCED_INSTANCE_ID;
  }
  return members_.contains(id) ? ErrorCode::NONE : ErrorCode::UNKNOWN_MEMBER_ID;
}

std::optional<std::set<std::string, std::less<>>> ClassicLife::subscribed_topics() const {
  if (phase_.protocol_type != kConsumerProtocolType || !phase_.protocol) return std::nullopt;
  std::set<std::string, std::less<>> all;
  for (const auto& [id, member] : members_) {
    const SharedBytes metadata = member.metadata(*phase_.protocol);
    const auto topics = topics_of(metadata.sv());
    if (!topics) return std::nullopt;
    all.insert(topics->begin(), topics->end());
  }
  return all;
}

void ClassicLife::apply(const ClassicChange& change) {
  phase_ = change.phase;
  for (const auto& [id, member] : change.members) {
    erase(id);
    if (member) put(id, *member);
  }
  for (const auto& [id, given] : change.pending) {
    if (given) {
      pending_.insert(id);
    } else {
      pending_.erase(id);
    }
  }
}

void ClassicLife::put(const std::string& id, ClassicMember member) {
  count(member, 1);
  if (member.instance) instances_[*member.instance] = id;
  members_.insert_or_assign(id, std::move(member));
}

void ClassicLife::erase(std::string_view id) {
  const auto at = members_.find(id);
  if (at == members_.end()) return;
  count(at->second, -1);
  if (at->second.instance) {
    const auto holder = instances_.find(*at->second.instance);
    if (holder != instances_.end() && holder->second == id) instances_.erase(holder);
  }
  members_.erase(at);
}

void ClassicLife::count(const ClassicMember& member, int by) {
  if (member.join) joined_ += by;
  if (member.must_sync) unsynced_ += by;
  for (const ClassicProtocol& protocol : *member.protocols) {
    int& knowing = knowing_[protocol.name];
    knowing += by;
    if (knowing == 0) knowing_.erase(protocol.name);
  }
}

ClassicGroupMetadata classic_group_record(
    std::string_view group, const ClassicPhase& phase,
    const std::vector<std::pair<std::string, const ClassicMember*>>& members) {
  ClassicGroupMetadata record;
  record.key.group = String(group);
  protocol::GroupMetadataValue& value = record.value.emplace();
  value.protocol_type = String(phase.protocol_type.value_or(""));
  value.generation = phase.generation;
  value.protocol = field(phase.protocol);
  value.leader.reset();
  if (!phase.leader.empty()) value.leader = String(phase.leader);
  value.current_state_timestamp = phase.since_ms;
  for (const auto& [id, member] : members) {
    auto& out = value.members.emplace_back();
    out.member_id = String(id);
    out.group_instance_id = field(member->instance);
    out.client_id = String(member->client_id);
    out.client_host = String(member->client_host);
    out.rebalance_timeout = member->rebalance_timeout_ms;
    out.session_timeout = member->session_timeout_ms;
    out.subscription = Bytes(member->metadata(phase.protocol.value_or("")).sv());
    out.assignment = Bytes(member->assignment.sv());
  }
  return record;
}

ClassicGroupMetadata classic_group_tombstone(std::string_view group) {
  ClassicGroupMetadata record;
  record.key.group = String(group);
  return record;
}

}  // namespace ackord::group
