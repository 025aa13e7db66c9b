#include "tools/conform/kit/share_member.h"

#include <algorithm>
#include <limits>
#include <map>

#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/share_topics.h"

namespace ackord::conform {
namespace {

constexpr int kAcquireTries = 6;

json::array forgotten_of(const std::vector<SharePart>& parts) {
  return list_of(parts, [](const SharePart& part) {
    return Object{{"topicId", part.topic.id}, {"partitions", list(part.partition)}};
  });
}

}  // namespace

json::array share_topics(const std::vector<SharePart>& parts, const std::vector<ShareAck>& acks) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::pair<int32_t, json::array>>> topics;
  const auto place = [&](const Topic& topic, int32_t partition) -> json::array& {
    if (!topics.contains(topic.id)) order.push_back(topic.id);
    auto& partitions = topics[topic.id];
    for (auto& [index, batches] : partitions)
      if (index == partition) return batches;
    return partitions.emplace_back(partition, json::array()).second;
  };
  for (const SharePart& part : parts) place(part.topic, part.partition);
  for (const ShareAck& ack : acks)
    place(ack.topic, ack.partition)
        .emplace_back(
            Object{{"firstOffset", ack.first},
                   {"lastOffset", ack.last},
                   {"acknowledgeTypes", list_of(ack.types, [](int8_t type) { return type; })}});
  return list_of(order, [&](const std::string& id) {
    return Object{{"topicId", id}, {"partitions", list_of(topics[id], [](const auto& partition) {
                                      return Object{{"partitionIndex", partition.first},
                                                    {"acknowledgementBatches", partition.second}};
                                    })}};
  });
}

std::vector<int64_t> offsets_of(const Ranges& ranges) {
  std::vector<int64_t> out;
  for (const auto& [first, last, count] : ranges)
    for (int64_t offset = first; offset <= last; ++offset) out.push_back(offset);
  return out;
}

ShareFetched fetched_of(const Value& answer, const Topic& topic, int32_t partition) {
  const Value topics = answer["responses"];
  if (!topics.has_item("topicId", topic.id.c_str())) return {};
  const Value partitions = topics.with("topicId", topic.id.c_str())["partitions"];
  if (!partitions.has_item("partitionIndex", partition)) return {};
  const Value part = partitions.with("partitionIndex", partition);
  ShareFetched out{.present = true,
                   .error = part["errorCode"].error(),
                   .acknowledge_error = part["acknowledgeErrorCode"].error(),
                   .acquired = {},
                   .batches = batches_of(part)};
  for (const Value& range : part["acquiredRecords"].items())
    out.acquired.emplace_back(range["firstOffset"].number(), range["lastOffset"].number(),
                              range["deliveryCount"].number());
  return out;
}

std::vector<std::vector<ShareAck>> malformed_acks(const Topic& topic) {
  return {{{.topic = topic, .first = 5, .last = 4}},
          {{.topic = topic, .first = 0, .last = 4}, {.topic = topic, .first = 3, .last = 6}},
          {{.topic = topic, .first = 5, .last = 6}, {.topic = topic, .first = 0, .last = 1}},
          {{.topic = topic, .first = 0, .last = 4, .types = {}}},
          {{.topic = topic, .first = 0, .last = 4, .types = {kAccept, kAccept, kAccept}}},
          {{.topic = topic, .first = 0, .last = 0, .types = {kAccept, kAccept}}}};
}

ShareMember::ShareMember(Kit& kit, std::string group, std::string id)
    : kit_(kit), group_(std::move(group)), id_(std::move(id)), connection_(&kit.connect()) {
  if (id_.empty()) id_ = kit.name("m");
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group_);
}

Value ShareMember::heartbeat(const ShareHeartbeatOptions& options) {
  Object request{{"groupId", group_},
                 {"memberId", id_},
                 {"memberEpoch", options.epoch.value_or(member_epoch_)}};
  if (options.rack) request["rackId"] = *options.rack;
  if (options.names)
    request["subscribedTopicNames"] =
        list_of(*options.names, [](const auto& name) { return name; });
  Value answer = connection_->ask("ShareGroupHeartbeat", 1, request);
  if (answer["errorCode"].error() == ErrorCode::NONE) {
    // -1 after leaving: the next heartbeat joins.
    member_epoch_ = std::max(0, static_cast<int32_t>(answer["memberEpoch"].number()));
    if (!answer["assignment"].null()) {
      assigned_.clear();
      for (const Value& topic : answer["assignment"]["topicPartitions"].items())
        for (const int64_t partition : topic["partitions"].numbers())
          assigned_.emplace(topic["topicId"].text(), partition);
    }
  }
  return answer;
}

const std::set<std::pair<std::string, int64_t>>& ShareMember::heartbeat_once() {
  heartbeat()["errorCode"].is_none();
  return assigned_;
}

Value ShareMember::start_joining(const std::vector<Topic>& topics) {
  std::vector<std::string> names;
  names.reserve(topics.size());
  for (const Topic& topic : topics) names.push_back(topic.name);
  Value answer = ask_until_free(kit_, [&] { return heartbeat({.names = names, .epoch = 0}); });
  answer["errorCode"].is_none();
  return answer;
}

void ShareMember::join(const std::vector<Topic>& topics) {
  std::set<std::pair<std::string, int64_t>> all;
  for (const Topic& topic : topics)
    for (int32_t partition = 0; partition < topic.partitions; ++partition)
      all.emplace(topic.id, partition);
  start_joining(topics);
  until_assigned("all partitions are assigned",
                 [&](const auto& assigned) { return assigned == all; });
}

Sent ShareMember::send_share_fetch(const std::vector<SharePart>& parts,
                                   const ShareFetchOptions& options) {
  sent_epoch_ = options.epoch.value_or(session_epoch_);
  Object request{{"groupId", group_},
                 {"memberId", id_},
                 {"shareSessionEpoch", sent_epoch_},
                 {"maxWaitMs", options.max_wait_ms},
                 {"minBytes", options.min_bytes},
                 {"maxBytes", options.max_bytes},
                 {"maxRecords", options.max_records},
                 {"batchSize", options.batch_size},
                 {"topics", share_topics(parts, options.acks)},
                 {"forgottenTopicsData", forgotten_of(options.forgotten)}};
  if (options.version >= 2) {
    request["shareAcquireMode"] = options.acquire_mode;
    request["isRenewAck"] = options.renew;
  }
  Connection& connection = options.connection == nullptr ? *connection_ : *options.connection;
  return connection.send("ShareFetch", options.version, request);
}

void ShareMember::note_session(const Value& answer, int32_t used_epoch) {
  if (answer["errorCode"].error() != ErrorCode::NONE) return;
  if (used_epoch == -1)
    session_epoch_ = 0;
  else
    session_epoch_ = used_epoch == std::numeric_limits<int32_t>::max() ? 1 : used_epoch + 1;
}

Value ShareMember::receive_share_fetch(const Sent& sent, Millis limit) {
  Value answer = connection_->receive(sent, limit);
  note_session(answer, sent_epoch_);
  return answer;
}

Value ShareMember::share_fetch(const std::vector<SharePart>& parts,
                               const ShareFetchOptions& options) {
  const Sent sent = send_share_fetch(parts, options);
  Connection& connection = options.connection == nullptr ? *connection_ : *options.connection;
  Value answer = connection.receive(sent, kAnswerLimit + Millis(options.max_wait_ms));
  note_session(answer, sent_epoch_);
  return answer;
}

ShareFetched ShareMember::fetch(const Topic& topic, const ShareFetchOptions& options,
                                int32_t partition) {
  const Value answer = share_fetch({{.topic = topic, .partition = partition}}, options);
  answer["errorCode"].is_none();
  return fetched_of(answer, topic, partition);
}

Ranges ShareMember::acquire(const Topic& topic, const ShareFetchOptions& options,
                            int32_t partition) {
  for (int i = 0; i < kAcquireTries; ++i) {
    const ShareFetched fetched = fetch(topic, options, partition);
    expect_equal(fetched.error, ErrorCode::NONE, "the partition's error");
    if (!fetched.acquired.empty()) return fetched.acquired;
  }
  return {};
}

Ranges ShareMember::acquire_count(const Topic& topic, size_t count,
                                  const ShareFetchOptions& options, int32_t partition) {
  Ranges all;
  kit_.until(fmt::format("{} records are acquired", count), [&] {
    const ShareFetched fetched = fetch(topic, options, partition);
    expect_equal(fetched.error, ErrorCode::NONE, "the partition's error");
    all.insert(all.end(), fetched.acquired.begin(), fetched.acquired.end());
    return offsets_of(all).size() >= count;
  });
  expect_equal(offsets_of(all).size(), count, "records acquired");
  std::sort(all.begin(), all.end());
  return all;
}

Value ShareMember::share_acknowledge(const std::vector<ShareAck>& acks,
                                     const ShareAckOptions& options) {
  const int32_t used = options.epoch.value_or(session_epoch_);
  Object request{{"groupId", group_},
                 {"memberId", id_},
                 {"shareSessionEpoch", used},
                 {"topics", share_topics({}, acks)}};
  if (options.version >= 2) request["isRenewAck"] = options.renew;
  Connection& connection = options.connection == nullptr ? *connection_ : *options.connection;
  Value answer = connection.ask("ShareAcknowledge", options.version, request);
  note_session(answer, used);
  return answer;
}

Value ShareMember::acknowledge(const Topic& topic, int64_t first, int64_t last,
                               const std::vector<int8_t>& types, const ShareAckOptions& options) {
  const Value answer = share_acknowledge(
      {{.topic = topic, .partition = 0, .first = first, .last = last, .types = types}}, options);
  answer["errorCode"].is_none();
  return answer["responses"].with("topicId", topic.id.c_str())["partitions"][0]["errorCode"];
}

void ShareMember::close_session() { share_fetch({}, {.epoch = -1})["errorCode"].is_none(); }

void ShareMember::leave() { heartbeat({.epoch = -1})["errorCode"].is_none(); }

void ShareMember::reconnect() {
  connection_->close();
  connection_ = &kit_.connect();
}

std::string earliest_group(Kit& kit, const Configs& configs) {
  std::string group = kit.name("g");
  Configs all{{"share.auto.offset.reset", "earliest"}};
  all.insert(all.end(), configs.begin(), configs.end());
  set_configs(kit, ConfigResource::kGroup, group, all);
  return group;
}

Acquired acquired_records(Kit& kit, int count, int per_batch, const Configs& configs) {
  Acquired out{create_topic(kit), ShareMember(kit, earliest_group(kit, configs))};
  for (int i = 0; i < count; i += per_batch)
    produce(kit, out.topic, numbered(std::min(per_batch, count - i)));
  out.member.join({out.topic});
  out.member.acquire_count(out.topic, static_cast<size_t>(count));
  return out;
}

}  // namespace ackord::conform
