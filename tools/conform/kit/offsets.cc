#include "tools/conform/kit/offsets.h"

namespace ackord::conform {
namespace {

constexpr int16_t kFirstWithTopicIds = 10;

json::value nullable(const std::optional<std::string>& text) {
  return text ? json::value(*text) : json::value(nullptr);
}

Object topic_of(const Topic& topic, int16_t version) {
  if (version >= kFirstWithTopicIds) return {{"topicId", topic.id}};
  return {{"name", topic.name}};
}

}  // namespace

Object commit_request(const std::string& group, const std::vector<OffsetPart>& parts,
                      const CommitOptions& options) {
  Object request{{"groupId", group},
                 {"generationIdOrMemberEpoch", options.epoch},
                 {"memberId", options.member}};
  if (options.version >= 7) request["groupInstanceId"] = nullable(options.instance);
  request["topics"] = list_of(parts, [&](const OffsetPart& part) {
    Object partition{{"partitionIndex", part.partition},
                     {"committedOffset", part.offset},
                     {"committedMetadata", nullable(part.metadata)}};
    if (options.version >= 6) partition["committedLeaderEpoch"] = part.leader_epoch;
    Object topic = topic_of(part.topic, options.version);
    topic["partitions"] = list(partition);
    return topic;
  });
  return request;
}

Value try_commit(Kit& kit, const std::string& group, const OffsetPart& part,
                 const CommitOptions& options) {
  const Value answer =
      kit.ask("OffsetCommit", options.version, commit_request(group, {part}, options));
  return answer["topics"][0]["partitions"][0]["errorCode"];
}

void commit(Kit& kit, const std::string& group, const Topic& topic, int64_t offset,
            int32_t partition) {
  try_commit(kit, group, {.topic = topic, .partition = partition, .offset = offset}).is_none();
}

Value fetch_offsets(Kit& kit, const std::string& group,
                    const std::optional<std::vector<OffsetPart>>& parts,
                    const OffsetFetchOptions& options) {
  Object asked{{"groupId", group}, {"topics", nullptr}};
  if (parts) {
    asked["topics"] = list_of(*parts, [&](const OffsetPart& part) {
      Object topic = topic_of(part.topic, options.version);
      topic["partitionIndexes"] = list(part.partition);
      return topic;
    });
  }
  if (options.version >= 9) {
    asked["memberId"] = nullable(options.member);
    asked["memberEpoch"] = options.epoch;
  }
  Object request = options.version >= 8 ? Object{{"groups", list(asked)}} : asked;
  if (options.version >= 7) request["requireStable"] = options.require_stable;
  const Value answer = kit.ask("OffsetFetch", options.version, request);
  return options.version >= 8 ? answer["groups"][0] : answer;
}

Value committed(Kit& kit, const std::string& group, const Topic& topic, int32_t partition,
                const OffsetFetchOptions& options) {
  const std::vector<OffsetPart> parts{{.topic = topic, .partition = partition}};
  const Value answer = fetch_offsets(kit, group, parts, options);
  if (options.version >= 2) answer["errorCode"].is_none();
  return answer["topics"][0]["partitions"][0];
}

int64_t committed_offset(Kit& kit, const std::string& group, const Topic& topic,
                         int32_t partition) {
  const Value part = committed(kit, group, topic, partition);
  part["errorCode"].is_none();
  return part["committedOffset"].number();
}

Value delete_offsets(Kit& kit, const std::string& group, const std::vector<OffsetPart>& parts) {
  return kit.ask(
      "OffsetDelete", 0,
      {{"groupId", group}, {"topics", list_of(parts, [](const OffsetPart& part) {
                              return Object{
                                  {"name", part.topic.name},
                                  {"partitions", list(Object{{"partitionIndex", part.partition}})}};
                            })}});
}

}  // namespace ackord::conform
