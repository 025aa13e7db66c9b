// RememberedAcknowledgements: what members of a share partition have acknowledged, so that the same
// acknowledgement is answered with success again (group config
// share.acknowledgement.retry.tolerance; Ackord's own).
//
// The same is: same member, same type, offsets inside of what was acknowledged. It is forgotten
// when somebody acquires the record again, when the member closes its session in words (a
// connection that breaks is just what a repeat comes from), when the state is made anew, after
// kMaxRanges later ranges, and with the process. Pure. Costs: O(log n + ranges touched).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "broker/share/share_types.h"

namespace ackord::share {

class RememberedAcknowledgements {
 public:
  static constexpr size_t kMaxRanges = 1000;

  void add(const std::string& member, AcknowledgeType type, Offset first, Offset last);
  // The end of what this member has acknowledged so, from `offset` on without a gap.
  std::optional<Offset> same_until(const std::string& member, AcknowledgeType type,
                                   Offset offset) const;
  void forget(Offset first, Offset last);
  void forget_member(const std::string& member);
  void clear();
  bool empty() const { return ranges_.empty(); }
  size_t size() const { return ranges_.size(); }

 private:
  struct Range {
    Offset last_offset = 0;
    AcknowledgeType type = AcknowledgeType::GAP;
    std::string member;
    uint64_t number = 0;
  };
  using Ranges = std::map<Offset, Range>;
  void split_at(Offset offset);
  Ranges::iterator erase(Ranges::iterator at);

  Ranges ranges_;
  std::map<uint64_t, Offset> by_age_;
  uint64_t next_number_ = 0;
};

}  // namespace ackord::share
