#include <algorithm>
#include <utility>
#include <vector>

#include "broker/group/consumer_assignors.h"

namespace ackord::group {
namespace {

bool exists(const TopicIdPartition& partition, const PartitionCounts& counts) {
  const auto at = counts.find(partition.topic_id);
  return at != counts.end() && partition.partition < at->second;
}

bool all_alike(const Subscribers& subscribers) {
  const std::set<Uuid>& first = subscribers.begin()->second.topics;
  return std::all_of(subscribers.begin(), subscribers.end(),
                     [&first](const auto& entry) { return entry.second.topics == first; });
}

// ---- all subscribe to the same topics

Assignments assign_alike(const Subscribers& subscribers, const PartitionCounts& counts) {
  const std::set<Uuid>& topics = subscribers.begin()->second.topics;
  size_t total = 0;
  for (const Uuid& topic : topics) total += static_cast<size_t>(counts.at(topic));
  const size_t least = total / subscribers.size();
  size_t odd = total % subscribers.size();  // so many members get one more than the others
  size_t left = subscribers.size();

  Assignments out;
  Assignment taken;
  std::vector<std::pair<Assignment*, size_t>> room;
  for (const auto& [id, subscriber] : subscribers) {
    Assignment& kept = out[id];
    const size_t most = least + (odd > 0 ? 1 : 0);
    for (const TopicIdPartition& partition : subscriber.previous) {
      if (kept.size() == most) break;
      if (!topics.contains(partition.topic_id) || !exists(partition, counts)) continue;
      if (taken.insert(partition).second) kept.insert(kept.end(), partition);
    }
    // One more is for who has it already; others get it when it would be left over otherwise.
    const bool one_more = odd > 0 && (kept.size() == most || left <= odd);
    const size_t quota = one_more ? most : least;
    if (kept.size() < quota) room.emplace_back(&kept, quota - kept.size());
    if (one_more) --odd;
    --left;
  }

  auto filling = room.begin();
  for (const Uuid& topic : topics) {
    for (int32_t partition = 0; partition < counts.at(topic); ++partition) {
      const TopicIdPartition free{topic, partition};
      if (taken.contains(free)) continue;
      filling->first->insert(free);
      if (--filling->second == 0) ++filling;
    }
  }
  return out;
}

// ---- subscriptions differ

class Spread {
 public:
  Spread(const Subscribers& subscribers, const PartitionCounts& counts) {
    std::map<Uuid, std::vector<size_t>> by_topic;
    for (const auto& [id, subscriber] : subscribers) {
      for (const Uuid& topic : subscriber.topics) by_topic[topic].push_back(members_.size());
      members_.push_back(&id);
    }
    load_.assign(members_.size(), 0);
    for (auto& [id, interested] : by_topic) {
      Topic& topic = topics_.emplace_back();
      topic.id = id;
      topic.subscribers = std::move(interested);
      topic.owners.assign(static_cast<size_t>(counts.at(id)), kNobody);
    }
    keep(subscribers);
    // What has many partitions for few members first: there the choice is smallest.
    std::stable_sort(topics_.begin(), topics_.end(), [](const Topic& a, const Topic& b) {
      const size_t left = a.owners.size() * b.subscribers.size();
      const size_t right = b.owners.size() * a.subscribers.size();
      return left != right ? left > right : a.subscribers.size() < b.subscribers.size();
    });
  }

  Assignments run() {
    for (Topic& topic : topics_) give_free(topic);
    for (int round = 0; round < kMaxRounds; ++round) {
      bool moved = false;
      for (Topic& topic : topics_) moved = balance(topic) || moved;
      if (!moved) break;
    }
    Assignments out;
    for (const std::string* id : members_) out[*id];
    for (const Topic& topic : topics_) {
      for (size_t i = 0; i < topic.owners.size(); ++i) {
        if (topic.owners[i] != kNobody)
          out[*members_[topic.owners[i]]].insert({topic.id, static_cast<int32_t>(i)});
      }
    }
    return out;
  }

 private:
  static constexpr size_t kNobody = static_cast<size_t>(-1);
  // Topics that share members pull at each other; what is not even by then stays.
  static constexpr int kMaxRounds = 16;

  struct Topic {
    Uuid id;
    std::vector<size_t> subscribers;
    std::vector<size_t> owners;  // by partition
  };
  using ByLoad = std::set<std::pair<size_t, size_t>>;  // load and member

  void keep(const Subscribers& subscribers) {
    std::map<Uuid, Topic*> by_id;
    for (Topic& topic : topics_) by_id[topic.id] = &topic;
    size_t member = 0;
    for (const auto& [id, subscriber] : subscribers) {
      for (const TopicIdPartition& partition : subscriber.previous) {
        if (!subscriber.topics.contains(partition.topic_id)) continue;
        std::vector<size_t>& owners = by_id.at(partition.topic_id)->owners;
        const auto index = static_cast<size_t>(partition.partition);
        if (index >= owners.size() || owners[index] != kNobody) continue;
        owners[index] = member;
        ++load_[member];
      }
      ++member;
    }
  }

  ByLoad by_load(const std::vector<size_t>& members) const {
    ByLoad out;
    for (const size_t member : members) out.emplace(load_[member], member);
    return out;
  }

  void give_free(Topic& topic) {
    ByLoad order = by_load(topic.subscribers);
    for (size_t& owner : topic.owners) {
      if (owner != kNobody) continue;
      owner = order.begin()->second;
      order.erase(order.begin());
      order.emplace(++load_[owner], owner);
    }
  }

  // Moves partitions of the topic from who has most to who has least. True: one has moved.
  bool balance(Topic& topic) {
    if (topic.subscribers.size() < 2) return false;
    std::map<size_t, std::vector<size_t>> owned;  // what each had when this began
    for (size_t i = 0; i < topic.owners.size(); ++i) owned[topic.owners[i]].push_back(i);
    ByLoad order = by_load(topic.subscribers);
    ByLoad givers;
    for (const auto& [member, partitions] : owned) givers.emplace(load_[member], member);
    bool moved = false;
    while (!givers.empty()) {
      const size_t from = givers.rbegin()->second;
      const size_t to = order.begin()->second;
      if (load_[from] <= load_[to] + 1) break;
      std::vector<size_t>& partitions = owned[from];
      topic.owners[partitions.back()] = to;
      partitions.pop_back();
      change_load(order, givers, from, load_[from] - 1);
      change_load(order, givers, to, load_[to] + 1);
      if (partitions.empty()) givers.erase({load_[from], from});
      moved = true;
    }
    return moved;
  }

  void change_load(ByLoad& order, ByLoad& givers, size_t member, size_t load) {
    order.erase({load_[member], member});
    const bool gives = givers.erase({load_[member], member}) != 0;
    load_[member] = load;
    order.emplace(load, member);
    if (gives) givers.emplace(load, member);
  }

  std::vector<const std::string*> members_;
  std::vector<size_t> load_;  // by member
  std::vector<Topic> topics_;
};

}  // namespace

Assignments assign_uniform(const Subscribers& subscribers, const PartitionCounts& counts) {
  if (subscribers.empty()) return {};
  return all_alike(subscribers) ? assign_alike(subscribers, counts)
                                : Spread(subscribers, counts).run();
}

Assignor assignor_of(std::string_view name) {
  if (name == kUniformAssignor) return assign_uniform;
  if (name == kRangeAssignor) return assign_range;
  return nullptr;
}

}  // namespace ackord::group
