#include "tools/conform/differential/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <thread>

#include "tools/conform/kit/kit.h"

namespace ackord::conform::differential {
namespace {

constexpr size_t kTopics = 4;
constexpr size_t kProducers = 4;
constexpr size_t kShareGroups = 1;
constexpr size_t kOffsetGroups = 2;
constexpr size_t kMostDeleted = 3;
constexpr int32_t kTimeoutMs = 10000;
constexpr Millis kLimit{60000};
constexpr Millis kPause{25};
constexpr int kEndTries = 8;

int64_t error_of(const json::value& part) { return part.at("errorCode").to_number<int64_t>(); }

json::value describe(Side& side, const std::string& topic) {
  return side
      .ask("Metadata", 12,
           {{"topics", list(Object{{"name", topic}})}, {"allowAutoTopicCreation", false}})
      .at("topics")
      .at(0);
}

bool led(const json::value& topic) {
  if (error_of(topic) != 0) return false;
  const auto& partitions = topic.at("partitions").as_array();
  return std::ranges::all_of(partitions, [](const json::value& partition) {
    return error_of(partition) == 0 && partition.at("leaderId").to_number<int64_t>() >= 0;
  });
}

// Every partition has a log.
bool has_logs(Side& side, const std::string& name, size_t partitions) {
  json::array parts;
  for (size_t i = 0; i < partitions; ++i)
    parts.emplace_back(Object{{"partitionIndex", i}, {"timestamp", -1}});
  const json::value answer = side.ask(
      "ListOffsets", 7,
      {{"replicaId", -1}, {"topics", list(Object{{"name", name}, {"partitions", parts}})}});
  const json::array& answered = answer.at("topics").at(0).at("partitions").as_array();
  return std::ranges::all_of(answered, [](const json::value& one) { return error_of(one) == 0; });
}

}  // namespace

void Setting::both(const Ask& ask) {
  ask(first_);
  ask(second_);
}

void Setting::until(const std::string& what, const Ask& holds) {
  for (Side* side : {&first_, &second_}) {
    const client::Deadline end = client::Deadline::in(kLimit);
    while (!holds(*side)) {
      if (end.passed())
        throw std::runtime_error(
            fmt::format("{}: not in time: {}", side->broker().address(), what));
      std::this_thread::sleep_for(kPause);
    }
  }
}

void Setting::replenish(const Template& next) {
  for (TopicState& topic : world_.topics)
    if (topic.id.empty()) await_topic(topic);
  while (world_.topics.size() < kTopics) create_topic();
  if (world_.deleted.size() > kMostDeleted) world_.deleted.erase(world_.deleted.begin());
  while (std::ranges::count_if(world_.producers, [](const auto& one) {
           return !one.transactional_id.empty();
         }) < static_cast<std::ptrdiff_t>(kProducers))
    init_producer();
  while (world_.offset_groups.size() < kOffsetGroups)
    world_.offset_groups.push_back({world_.new_name("group")});
  const bool shares = std::string_view(next.api).find("Share") != std::string_view::npos;
  while (shares && world_.share_groups.size() < kShareGroups) create_share_group();
}

void Setting::create_topic() {
  const auto partitions = static_cast<int32_t>(1 + world_.topics.size() % 3);
  TopicState topic{world_.new_name("t"), {}, partitions};
  both([&](Side& side) {
    const json::value answer = side.ask("CreateTopics", 5,
                                        {{"topics", list(Object{{"name", topic.name},
                                                                {"numPartitions", partitions},
                                                                {"replicationFactor", 1}})},
                                         {"timeoutMs", kTimeoutMs}});
    if (error_of(answer.at("topics").at(0)) != 0)
      throw std::runtime_error(side.broker().address() + ": cannot create a topic");
    return true;
  });
  await_topic(topic);
  world_.topics.push_back(topic);
}

void Setting::await_topic(TopicState& topic) {
  topic.id = world_.placeholders().uuid();
  until("topic " + topic.name + " is led", [&](Side& side) {
    const json::value now = describe(side, topic.name);
    if (!led(now)) return false;
    topic.partitions = static_cast<int32_t>(now.at("partitions").as_array().size());
    side.symbols.learn(topic.id, std::string(now.at("topicId").as_string()));
    return has_logs(side, topic.name, now.at("partitions").as_array().size());
  });
}

void Setting::init_producer() {
  ProducerState producer{world_.new_name("txn"), world_.placeholders().number(kProducerIds), 0};
  until("producer " + producer.transactional_id, [&](Side& side) {
    // The first question for a coordinator makes the topic that it needs.
    side.ask("FindCoordinator", 3, {{"key", producer.transactional_id}, {"keyType", 1}});
    const json::value answer =
        side.ask("InitProducerId", 4,
                 {{"transactionalId", producer.transactional_id}, {"transactionTimeoutMs", 60000}});
    if (error_of(answer) != 0) return false;
    side.symbols.learn(producer.id, answer.at("producerId").to_number<int64_t>());
    return true;
  });
  world_.producers.push_back(producer);
}

void Setting::create_share_group() {
  ShareGroupState group{world_.new_name("share"), world_.new_name("member"),
                        world_.placeholders().number(kMemberEpochs), 0};
  for (size_t i = 0; i < world_.topics.size() && i < 2; ++i)
    group.topics.push_back(world_.topics[world_.topics.size() - 1 - i]);
  const auto config = [](const char* name, const char* value) {
    return Object{{"name", name}, {"configOperation", 0}, {"value", value}};
  };
  both([&](Side& side) {
    side.ask("FindCoordinator", 3, {{"key", group.group}, {"keyType", 0}});
    side.ask("IncrementalAlterConfigs", 1,
             {{"resources",
               list(Object{{"resourceType", 32},
                           {"resourceName", group.group},
                           {"configs", list(config("share.auto.offset.reset", "earliest"),
                                            config("share.record.lock.duration.ms", "60000"))}})}});
    return true;
  });
  await_assignment(group);
  world_.share_groups.push_back(group);
}

// Joins, and waits until all its partitions are assigned, which they are once they have a state.
void Setting::await_assignment(const ShareGroupState& group) {
  size_t wanted = 0;
  json::array names;
  for (const TopicState& topic : group.topics) {
    wanted += static_cast<size_t>(topic.partitions);
    names.emplace_back(topic.name);
  }
  for (Side* side : {&first_, &second_}) side->symbols.learn(group.member_epoch, 0);
  until("share group " + group.group + " has its assignment", [&](Side& side) {
    const json::value answer = side.ask("ShareGroupHeartbeat", 1,
                                        side.symbols
                                            .real(Object{{"groupId", group.group},
                                                         {"memberId", group.member},
                                                         {"memberEpoch", group.member_epoch},
                                                         {"subscribedTopicNames", names}})
                                            .as_object());
    if (error_of(answer) != 0) return false;
    side.symbols.learn(group.member_epoch, answer.at("memberEpoch").to_number<int64_t>());
    if (answer.at("assignment").is_null()) return false;
    size_t assigned = 0;
    for (const json::value& topic : answer.at("assignment").at("topicPartitions").as_array())
      assigned += topic.at("partitions").as_array().size();
    return assigned == wanted;
  });
}

void Setting::settle(const Step& step) {
  const std::string_view api = step.of.api;
  if (api == "DeleteTopics") {
    for (const TopicState& topic : world_.deleted)
      until("topic " + topic.name + " is gone",
            [&](Side& side) { return error_of(describe(side, topic.name)) != 0; });
  }
  if (api != "EndTxn" && api != "InitProducerId") return;
  const json::value* id = step.request.if_contains("transactionalId");
  if (id == nullptr || !id->is_string()) return;
  until("the transaction's end", [&](Side& side) {
    const json::value answer =
        side.ask("DescribeTransactions", 0, {{"transactionalIds", list(*id)}});
    const json::value& state = answer.at("transactionStates").at(0);
    return !state.at("transactionState").as_string().starts_with("Prepare");
  });
}

std::optional<std::string> Setting::compare_ends(const Step& step) {
  const std::string request = json::serialize(step.request);
  for (const TopicState& topic : world_.topics) {
    if (request.find(topic.name) == std::string::npos &&
        request.find(topic.id) == std::string::npos)
      continue;
    for (int32_t i = 0; i < topic.partitions; ++i) {
      const auto end = [&](Side& side) {
        const json::value answer = side.ask(
            "ListOffsets", 7,
            {{"replicaId", -1},
             {"topics", list(Object{{"name", topic.name},
                                    {"partitions",
                                     list(Object{{"partitionIndex", i}, {"timestamp", -1}})}})}});
        return answer.at("topics").at(0).at("partitions").at(0).at("offset").to_number<int64_t>();
      };
      // What has no answer may still be on its way.
      for (int tries = 0; end(first_) != end(second_); ++tries) {
        if (tries >= kEndTries)
          return fmt::format("end of {}-{}: {} ≠ {}", topic.name, i, end(first_), end(second_));
        std::this_thread::sleep_for(kPause);
      }
    }
  }
  return std::nullopt;
}

void Setting::clean_up() {
  json::array names;
  for (const TopicState& topic : world_.topics) names.emplace_back(topic.name);
  both([&](Side& side) {
    side.ask("DeleteTopics", 5, {{"topicNames", names}, {"timeoutMs", kTimeoutMs}});
    return true;
  });
}

}  // namespace ackord::conform::differential
