#include "broker/group/consumer_reconciliation.h"

#include <algorithm>

#include "broker/base/assert.h"

namespace ackord::group {
namespace {

class Step {
 public:
  Step(const ConsumerMember& member, const Reconciliation& with) : from_(member), with_(with) {}

  ConsumerMember run() const {
    switch (from_.state) {
      case MemberState::kStable:
        if (from_.epoch != with_.target_epoch) return towards_target(from_.epoch);
        return with_.subscription_changed ? within_subscription() : from_;
      case MemberState::kUnrevokedPartitions:
        if (!still_owns(from_.pending_revocation)) return towards_target(from_.epoch);
        return with_.subscription_changed ? within_subscription() : from_;
      case MemberState::kUnreleasedPartitions: return towards_target(from_.epoch);
      case MemberState::kUnknown: return towards_target(with_.target_epoch);
    }
    return from_;
  }

 private:
  bool still_owns(const OwnedPartitions& partitions) const {
    if (!with_.owned) return true;
    return std::any_of(
        with_.owned->begin(), with_.owned->end(), [&partitions](const TopicPartitions& topic) {
          return std::any_of(topic.partitions.begin(), topic.partitions.end(),
                             [&](int32_t p) { return partitions.contains({topic.topic_id, p}); });
        });
  }

  bool is_free(const TopicIdPartition& partition) const {
    return with_.group.partition_epoch(partition) == ConsumerGroup::kFree ||
           from_.pending_revocation.contains(partition);
  }

  // The member with another state and epoch; what it had before is its previous epoch.
  ConsumerMember moved(MemberState state, int32_t epoch) const {
    ACKORD_ASSERT(transition_allowed(from_.state, state),
                  "a member of a consumer group follows the transition table");
    ConsumerMember to = from_;
    to.state = state;
    to.previous_epoch = from_.epoch;
    to.epoch = epoch;
    to.pending_revocation.clear();
    return to;
  }

  // It keeps what is in both, gives up the rest, and only then gets what is new and free.
  ConsumerMember towards_target(int32_t epoch_until_then) const {
    OwnedPartitions kept;
    OwnedPartitions revoked;
    for (const auto& [partition, since] : from_.assigned) {
      const bool stays =
          with_.target.contains(partition) && with_.subscribed.contains(partition.topic_id);
      (stays ? kept : revoked).emplace(partition, since);
    }
    if (!revoked.empty() && still_owns(revoked)) {
      ConsumerMember to = moved(MemberState::kUnrevokedPartitions, epoch_until_then);
      to.assigned = std::move(kept);
      to.pending_revocation = std::move(revoked);
      return to;
    }
    bool waits = false;
    for (const TopicIdPartition& partition : with_.target) {
      if (kept.contains(partition) || !with_.subscribed.contains(partition.topic_id)) continue;
      if (is_free(partition)) {
        kept.emplace(partition, with_.target_epoch);
      } else {
        waits = true;
      }
    }
    ConsumerMember to = moved(waits ? MemberState::kUnreleasedPartitions : MemberState::kStable,
                              with_.target_epoch);
    to.assigned = std::move(kept);
    return to;
  }

  // The target is not made yet that follows from another subscription; what is not subscribed to
  // any more goes at once.
  ConsumerMember within_subscription() const {
    OwnedPartitions kept;
    OwnedPartitions revoked = from_.pending_revocation;
    for (const auto& [partition, since] : from_.assigned) {
      if (with_.subscribed.contains(partition.topic_id)) {
        kept.emplace(partition, since);
      } else {
        revoked[partition] = since;
      }
    }
    if (kept.size() == from_.assigned.size()) return from_;
    const bool owns = still_owns(revoked);
    ConsumerMember to = moved(owns ? MemberState::kUnrevokedPartitions : from_.state, from_.epoch);
    to.assigned = std::move(kept);
    to.pending_revocation = owns ? std::move(revoked) : from_.pending_revocation;
    return to;
  }

  const ConsumerMember& from_;
  const Reconciliation& with_;
};

}  // namespace

ConsumerMember reconciled(const ConsumerMember& member, const Reconciliation& with) {
  return Step(member, with).run();
}

}  // namespace ackord::group
