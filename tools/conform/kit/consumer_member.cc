#include "tools/conform/kit/consumer_member.h"

#include <algorithm>
#include <map>

namespace ackord::conform {
namespace {

template <class T>
json::value nullable(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

}  // namespace

Partitions partitions_of(const Topic& topic) {
  Partitions out;
  for (int32_t i = 0; i < topic.partitions; ++i) out.emplace(topic.id, i);
  return out;
}

Partitions united(const std::vector<Partitions>& parts) {
  Partitions out;
  for (const Partitions& part : parts) out.insert(part.begin(), part.end());
  return out;
}

json::array topic_partitions(const Partitions& partitions) {
  std::map<std::string, json::array> topics;
  for (const auto& [id, partition] : partitions) topics[id].emplace_back(partition);
  return list_of(topics, [](const auto& topic) {
    return Object{{"topicId", topic.first}, {"partitions", topic.second}};
  });
}

Partitions read_partitions(const Value& topic_partitions) {
  Partitions out;
  for (const Value& topic : topic_partitions.items()) {
    for (const int64_t partition : topic["partitions"].numbers()) {
      if (!out.emplace(topic["topicId"].text(), partition).second)
        topic.fail("every partition once");
    }
  }
  return out;
}

ConsumerMember::ConsumerMember(Kit& kit, std::string group, std::optional<std::string> instance,
                               std::string id)
    : kit_(&kit),
      group_(std::move(group)),
      instance_(std::move(instance)),
      id_(id.empty() ? kit.name("member") : std::move(id)),
      connection_(&kit.connect()) {}

Value ConsumerMember::heartbeat(const ConsumerBeat& beat) {
  Object request{{"groupId", group_},
                 {"memberId", id_},
                 {"memberEpoch", beat.epoch.value_or(epoch_)},
                 {"instanceId", nullable(instance_)},
                 {"rackId", nullable(beat.rack)},
                 {"rebalanceTimeoutMs", beat.rebalance_ms.value_or(-1)},
                 {"serverAssignor", nullable(beat.assignor)},
                 {"subscribedTopicNames", nullptr},
                 {"topicPartitions", nullptr}};
  if (beat.names)
    request["subscribedTopicNames"] =
        list_of(*beat.names, [](const std::string& name) { return json::value(name); });
  if (beat.version >= 1) request["subscribedTopicRegex"] = nullable(beat.regex);
  if (beat.owned) request["topicPartitions"] = topic_partitions(*beat.owned);
  Value answer = connection_->ask("ConsumerGroupHeartbeat", beat.version, request);
  if (answer["errorCode"].error() != ErrorCode::NONE) return answer;
  if (!answer["memberId"].null()) id_ = answer["memberId"].text();
  epoch_ = static_cast<int32_t>(answer["memberEpoch"].number());
  const Value assignment = answer["assignment"];
  if (!assignment.null()) assigned_ = read_partitions(assignment["topicPartitions"]);
  return answer;
}

Value ConsumerMember::try_join(ConsumerBeat beat) {
  if (!beat.epoch) beat.epoch = 0;
  if (!beat.owned) beat.owned = Partitions{};
  if (!beat.rebalance_ms) beat.rebalance_ms = 30000;
  return heartbeat(beat);
}

Value ConsumerMember::join(const ConsumerBeat& beat) {
  Value answer = try_join(beat);
  answer["errorCode"].is_none();
  return answer;
}

Value ConsumerMember::join(const std::vector<Topic>& topics) {
  std::vector<std::string> names;
  for (const Topic& topic : topics) names.push_back(topic.name);
  return join({.names = names});
}

Value ConsumerMember::beat() {
  Value answer = heartbeat({.owned = assigned_});
  answer["errorCode"].is_none();
  return answer;
}

void ConsumerMember::until_assigned(const Partitions& expected, Millis limit) {
  const auto step = [&] {
    beat();
    return assigned_ == expected;
  };
  kit_->until("the member is assigned " + show(expected), step, limit);
}

void ConsumerMember::leave(int32_t epoch) {
  const Value answer = try_leave(epoch);
  answer["errorCode"].is_none();
  answer["memberEpoch"].is(epoch);
}

void settle(Kit& kit, const std::vector<ConsumerMember*>& members, const Partitions& all,
            Millis limit) {
  const auto step = [&] {
    Partitions seen;
    size_t count = 0;
    for (ConsumerMember* member : members) {
      member->beat();
      count += member->assigned().size();
      seen.insert(member->assigned().begin(), member->assigned().end());
    }
    return seen == all && count == all.size() &&
           consumer_state(kit, members.front()->group()) == "Stable";
  };
  kit.until("the members share " + show(all), step, limit);
}

ConsumerJoined consumer_joined(Kit& kit, int32_t partitions) {
  ConsumerJoined out{create_topic(kit, partitions), ConsumerMember(kit, new_group(kit))};
  out.member.join({out.topic});
  out.member.until_assigned(partitions_of(out.topic));
  return out;
}

std::vector<size_t> sizes_of(const std::vector<ConsumerMember*>& members) {
  std::vector<size_t> sizes;
  for (const ConsumerMember* member : members) sizes.push_back(member->assigned().size());
  std::ranges::sort(sizes);
  return sizes;
}

}  // namespace ackord::conform
