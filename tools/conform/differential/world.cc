#include "tools/conform/differential/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "protocol/record_batch/batch_header.h"
#include "tools/conform/kit/json.h"

namespace ackord::conform::differential {
namespace {

constexpr size_t kRarely = 12;

template <class List, class Test>
auto* find_in(List& list, Test test) {
  const auto found = std::ranges::find_if(list, test);
  return found == list.end() ? nullptr : &*found;
}

int64_t producer_id_in(const std::string& base64) {
  std::vector<std::byte> bytes;
  if (!protocol::parse_base64(base64, bytes)) return -1;
  const auto header = protocol::parse_header(bytes);
  return header ? header->producer_id.value : -1;
}

// Whether a leaf of the JSON fulfils it.
template <class Test>
bool any_leaf(const json::value& value, const Test& test) {
  if (const json::object* fields = value.if_object())
    return std::ranges::any_of(*fields, [&](const auto& f) { return any_leaf(f.value(), test); });
  if (const json::array* items = value.if_array())
    return std::ranges::any_of(*items, [&](const json::value& i) { return any_leaf(i, test); });
  return test(value);
}

}  // namespace

std::string World::new_name(const std::string& what) {
  return fmt::format("{}-{}-{}", run_, what, ++named_);
}

TopicState World::topic(Random& random) {
  if (random.one_in(kRarely) || topics.empty()) return {new_name("never"), placeholders_.uuid(), 1};
  if (random.one_in(kRarely) && !deleted.empty()) return random.of(deleted);
  return random.of(topics);
}

ProducerState World::producer(Random& random, bool transactional) {
  std::vector<ProducerState> some;
  for (const ProducerState& one : producers)
    if (one.transactional_id.empty() != transactional) some.push_back(one);
  if (some.empty() || random.one_in(2 * kRarely))
    return {transactional ? new_name("txn-never") : std::string(), 4'000'000'000'000, 0};
  return random.of(some);
}

std::string World::group(Random& random) {
  switch (random.below(8)) {
    case 0: return new_name("group-never");
    case 1:
    case 2:
      if (!share_groups.empty()) return random.of(share_groups).group;
      [[fallthrough]];
    default: return offset_groups.empty() ? new_name("group") : random.of(offset_groups).group;
  }
}

ShareGroupState World::share_group(Random& random) {
  if (share_groups.empty() || random.one_in(2 * kRarely))
    return {new_name("share-never"), "AAAA-never", 1, 0};
  return random.of(share_groups);
}

std::string World::other_name(Random& random) {
  switch (random.below(4)) {
    case 0: return topic(random).name;
    case 1: return producer(random, true).transactional_id;
    case 2: return group(random);
    default: return new_name("other");
  }
}

TopicState* World::find_topic(const std::string& name) {
  return find_in(topics, [&](const auto& one) { return one.name == name || one.id == name; });
}
ProducerState* World::find_producer(const std::string& id) {
  return find_in(producers, [&](const auto& one) { return one.transactional_id == id; });
}
ProducerState* World::find_producer(int64_t id) {
  return find_in(producers, [&](const auto& one) { return one.id == id; });
}
FetchSessionState* World::find_session(int64_t id) {
  return find_in(sessions, [&](const auto& one) { return one.id == id; });
}

ShareGroupState* World::find_share_group(const json::object& request) {
  const json::value* group = request.if_contains("groupId");
  const json::value* member = request.if_contains("memberId");
  if (group == nullptr || member == nullptr) return nullptr;
  if (!group->is_string() || !member->is_string()) return nullptr;
  return find_in(share_groups, [&](const auto& one) {
    return one.group == group->get_string() && one.member == member->get_string();
  });
}

bool World::names(const json::value& request, const std::string& text) const {
  return any_leaf(request, [&](const json::value& leaf) {
    return leaf.is_string() && leaf.get_string().find(text) != json::string::npos;
  });
}

bool World::has_number(const json::value& request, int64_t number) const {
  return any_leaf(request, [&](const json::value& leaf) {
    if (leaf.is_string()) return producer_id_in(std::string(leaf.get_string())) == number;
    json::error_code none;
    return leaf.is_number() && leaf.to_number<int64_t>(none) == number && !none;
  });
}

void World::retire(const json::value& request) {
  const auto topic_hit = [&](const TopicState& one) {
    return names(request, one.name) || names(request, one.id);
  };
  std::erase_if(topics, topic_hit);
  std::erase_if(deleted, topic_hit);
  std::erase_if(producers, [&](const auto& one) {
    return (!one.transactional_id.empty() && names(request, one.transactional_id)) ||
           (one.id >= 0 && has_number(request, one.id));
  });
  std::erase_if(sessions, [&](const auto& one) { return has_number(request, one.id); });
  std::erase_if(share_groups, [&](const auto& one) {
    return names(request, one.group) || std::ranges::any_of(one.topics, topic_hit);
  });
  std::erase_if(offset_groups, [&](const auto& one) { return names(request, one.group); });
}

void World::delete_topic(const std::string& name_or_id) {
  TopicState* found = find_topic(name_or_id);
  if (found == nullptr) return;
  const TopicState gone = *found;
  deleted.push_back(gone);
  std::erase_if(topics, [&](const auto& one) { return one.name == gone.name; });
  std::erase_if(share_groups, [&](const auto& one) {
    return std::ranges::any_of(one.topics, [&](const auto& t) { return t.name == gone.name; });
  });
}

}  // namespace ackord::conform::differential
