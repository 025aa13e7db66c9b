#include "broker/group/share_assignor.h"

#include <algorithm>
#include <vector>

namespace ackord::group {
namespace {

using Assignments = std::map<std::string, Assignment>;

// Spreads one set of partitions over members that all subscribe to all of it.
class Spread {
 public:
  // `total` is each member's whole assignment so far: who has less elsewhere gets the odd place
  // here.
  Spread(const std::map<std::string, Assignment>& previous, const Assignment& partitions,
         const Assignments& total) {
    for (const TopicIdPartition& partition : partitions) holders_[partition] = 0;
    for (const auto& [id, held] : previous) {
      Seat seat{id, {}, 0, total.at(id).size()};
      for (const TopicIdPartition& partition : held) {
        if (holders_.contains(partition)) seat.held.insert(partition);
      }
      seats_.push_back(std::move(seat));
    }
    const size_t p = partitions.size();
    const size_t m = seats_.size();
    sharing_ = (m + p - 1) / p;
    std::stable_sort(seats_.begin(), seats_.end(), [](const Seat& a, const Seat& b) {
      return a.held.size() != b.held.size() ? a.held.size() > b.held.size()
                                            : a.elsewhere < b.elsewhere;
    });
    for (size_t i = 0; i < m; ++i)
      seats_[i].wanted = p * sharing_ / m + (i < p * sharing_ % m ? 1 : 0);
    for (const Seat& seat : seats_) {
      for (const TopicIdPartition& partition : seat.held) ++holders_[partition];
    }
  }

  void run() {
    revoke_from_overfilled();
    revoke_overshared();
    give_memberless();
    fill();
  }
  void add_to(Assignments& total) const {
    for (const Seat& seat : seats_) total[seat.id].insert(seat.held.begin(), seat.held.end());
  }

 private:
  struct Seat {
    std::string id;
    Assignment held;
    size_t wanted = 0;
    size_t elsewhere = 0;
    bool unfilled() const { return held.size() < wanted; }
  };

  // By value: the partition is often one of the seat's own.
  void take(Seat& seat, TopicIdPartition partition) {
    seat.held.erase(partition);
    --holders_[partition];
  }
  void give(Seat& seat, TopicIdPartition partition) {
    seat.held.insert(partition);
    ++holders_[partition];
  }

  // The most shared ones go first: a partition that loses its only holder would only have to be
  // given again.
  void revoke_from_overfilled() {
    for (Seat& seat : seats_) {
      while (seat.held.size() > seat.wanted) {
        take(seat, *std::max_element(
                       seat.held.begin(), seat.held.end(),
                       [this](const auto& a, const auto& b) { return holders_[a] < holders_[b]; }));
      }
    }
  }

  void revoke_overshared() {
    for (auto& [partition, holders] : holders_) {
      for (auto seat = seats_.rbegin(); seat != seats_.rend() && holders > sharing_; ++seat) {
        if (seat->held.contains(partition)) take(*seat, partition);
      }
    }
  }

  // The places that are free are at least as many as these partitions, since no partition has more
  // than its share.
  void give_memberless() {
    for (auto& [partition, holders] : holders_) {
      if (holders != 0) continue;
      auto seat = std::max_element(seats_.begin(), seats_.end(), [](const Seat& a, const Seat& b) {
        return a.wanted - a.held.size() < b.wanted - b.held.size();
      });
      give(*seat, partition);
    }
  }

  void fill() {
    for (Seat& seat : seats_) {
      while (seat.unfilled() && (give_least_shared(seat) || swap_in(seat))) {
      }
    }
  }

  bool give_least_shared(Seat& seat) {
    const TopicIdPartition* best = nullptr;
    for (const auto& [partition, holders] : holders_) {
      if (holders >= sharing_ || seat.held.contains(partition)) continue;
      if (best == nullptr || holders < holders_[*best]) best = &partition;
    }
    if (best == nullptr) return false;
    give(seat, *best);
    return true;
  }

  // All that has room is already held by this member: another one takes that, and leaves one of its
  // own.
  bool swap_in(Seat& seat) {
    for (const auto& [spare, holders] : holders_) {
      if (holders >= sharing_) continue;
      for (Seat& other : seats_) {
        if (&other == &seat || other.held.contains(spare)) continue;
        for (const TopicIdPartition& theirs : other.held) {
          if (seat.held.contains(theirs)) continue;
          const TopicIdPartition moved = theirs;
          take(other, moved);
          give(seat, moved);
          give(other, spare);
          return true;
        }
      }
    }
    return false;
  }

  std::vector<Seat> seats_;
  std::map<TopicIdPartition, size_t> holders_;
  size_t sharing_ = 0;
};

}  // namespace

std::map<std::string, Assignment> assign_share_partitions(
    const std::map<std::string, AssignorMember>& members, const Assignment& assignable) {
  Assignments total;
  std::set<std::set<Uuid>> subscriptions;
  for (const auto& [id, member] : members) {
    total[id];
    subscriptions.insert(member.topics);
  }
  // With one subscription all partitions are one set; else each topic is its own.
  std::map<Uuid, Assignment> sets;
  for (const TopicIdPartition& partition : assignable) {
    sets[subscriptions.size() == 1 ? Uuid{} : partition.topic_id].insert(partition);
  }
  for (auto& [topic, partitions] : sets) {
    if (subscriptions.size() == 1) {
      const std::set<Uuid>& topics = *subscriptions.begin();
      std::erase_if(partitions, [&topics](const auto& p) { return !topics.contains(p.topic_id); });
    }
    std::map<std::string, Assignment> previous;
    for (const auto& [id, member] : members) {
      if (subscriptions.size() == 1 || member.topics.contains(topic))
        previous[id] = member.previous;
    }
    if (previous.empty() || partitions.empty()) continue;
    Spread spread(previous, partitions, total);
    spread.run();
    spread.add_to(total);
  }
  return total;
}

}  // namespace ackord::group
