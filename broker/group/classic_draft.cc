#include "broker/group/classic_draft.h"

namespace ackord::group {

const ClassicMember* ClassicDraft::member(std::string_view id) const {
  const auto at = changed_.find(id);
  if (at == changed_.end()) return life_.member(id);
  return at->second ? &*at->second : nullptr;
}

const std::string* ClassicDraft::of_instance(std::string_view instance) const {
  const auto at = instances_.find(instance);
  if (at == instances_.end()) return life_.of_instance(instance);
  return at->second ? &*at->second : nullptr;
}

bool ClassicDraft::is_pending(std::string_view id) const {
  const auto at = pending_.find(id);
  return at == pending_.end() ? life_.pending().contains(id) : at->second;
}

int ClassicDraft::pending_count() const {
  int count = static_cast<int>(life_.pending().size());
  for (const auto& [id, given] : pending_)
    count += static_cast<int>(given) - static_cast<int>(life_.pending().contains(id));
  return count;
}

bool ClassicDraft::common(std::string_view protocol) const {
  const auto at = knowing_.find(protocol);
  return life_.knowing(protocol) + (at == knowing_.end() ? 0 : at->second) == size();
}

ErrorCode ClassicDraft::check(std::string_view id,
                              const std::optional<std::string>& instance) const {
  if (instance) {
    const std::string* holder = of_instance(*instance);
    if (holder == nullptr) return ErrorCode::UNKNOWN_MEMBER_ID;
    if (*holder != id) return ErrorCode::FENCED_INSTANCE_ID;
  }
  return member(id) != nullptr ? ErrorCode::NONE : ErrorCode::UNKNOWN_MEMBER_ID;
}

void ClassicDraft::put(const std::string& id, ClassicMember next) {
  if (const ClassicMember* before = member(id)) count(*before, -1);
  count(next, 1);
  if (next.instance) instances_[*next.instance] = id;
  changed_[id] = std::move(next);
}

void ClassicDraft::erase(const std::string& id) {
  const ClassicMember* before = member(id);
  if (before == nullptr) return;
  count(*before, -1);
  if (before->instance) instances_[*before->instance] = std::nullopt;
  changed_[id] = std::nullopt;
}

void ClassicDraft::count(const ClassicMember& member, int by) {
  size_ += by;
  if (member.join) joined_ += by;
  if (member.must_sync) unsynced_ += by;
  for (const ClassicProtocol& protocol : *member.protocols) knowing_[protocol.name] += by;
}

ClassicChange ClassicDraft::change(std::string group) const {
  ClassicChange change;
  change.group = std::move(group);
  change.phase = phase;
  // Those that are gone first: one may have left its instance to another.
  for (const auto& [id, member] : changed_) {
    if (!member) change.members.emplace_back(id, std::nullopt);
  }
  for (const auto& [id, member] : changed_) {
    if (member) change.members.emplace_back(id, member);
  }
  change.pending.assign(pending_.begin(), pending_.end());
  return change;
}

}  // namespace ackord::group
