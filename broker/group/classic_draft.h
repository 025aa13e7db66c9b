// ClassicDraft: a classic group while a decision is made about it: the life as it is, and over it
// what the decision has changed so far. Only members that are touched are copied.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "broker/group/classic_group.h"

namespace ackord::group {

class ClassicDraft {
 public:
  // `life` must outlive the draft.
  explicit ClassicDraft(const ClassicLife& life) : phase(life.phase()), life_(life) {}

  ClassicPhase phase;

  // Null for one that is unknown, or gone.
  const ClassicMember* member(std::string_view id) const;
  // The member of a static instance; null when there is none.
  const std::string* of_instance(std::string_view instance) const;
  bool is_pending(std::string_view id) const;
  bool has_pending() const { return pending_count() != 0; }
  int size() const { return static_cast<int>(life_.members().size()) + size_; }
  int joined() const { return life_.joined() + joined_; }
  int unsynced() const { return life_.unsynced() + unsynced_; }
  // Whether all members know it.
  bool common(std::string_view protocol) const;
  // UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID.
  ErrorCode check(std::string_view id, const std::optional<std::string>& instance) const;

  // Adds or replaces.
  void put(const std::string& id, ClassicMember member);
  void erase(const std::string& id);
  void set_pending(const std::string& id, bool given) { pending_[id] = given; }

  // visit(id, member) for every member; it may put() or erase() the one that it is shown, and no
  // other.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [id, before] : life_.members()) {
      if (const ClassicMember* now = member(id)) visit(id, *now);
    }
    for (const auto& [id, now] : changed_) {
      if (now && life_.member(id) == nullptr) visit(id, *now);
    }
  }

  // What has changed.
  ClassicChange change(std::string group) const;

 private:
  int pending_count() const;
  void count(const ClassicMember& member, int by);

  const ClassicLife& life_;
  std::map<std::string, std::optional<ClassicMember>, std::less<>> changed_;  // absent: gone
  std::map<std::string, bool, std::less<>> pending_;
  std::map<std::string, std::optional<std::string>, std::less<>> instances_;
  std::map<std::string, int, std::less<>> knowing_;
  int size_ = 0;
  int joined_ = 0;
  int unsynced_ = 0;
};

}  // namespace ackord::group
