// DescribeShareGroupOffsets (key 90), versions 0-1: where share groups start in their partitions.
// v1: Lag (KIP-1226). Topics null: all that the group holds state for. A group, topic or partition
// without state has start offset -1 and no error, as in Kafka; a partition that its topic does not
// have is UNKNOWN_TOPIC_OR_PARTITION; what is named twice is answered once. May: DESCRIBE on the
// group and on each topic; of all topics the others are left out.
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/group/group_service.h"
#include "broker/log/log_service.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeShareGroupOffsetsRequest;
using protocol::DescribeShareGroupOffsetsResponse;
using GroupOut = DescribeShareGroupOffsetsResponse::DescribeShareGroupOffsetsResponseGroup;
using PartitionOut = DescribeShareGroupOffsetsResponse::DescribeShareGroupOffsetsResponsePartition;

// What is asked of one topic.
struct TopicQuestion {
  TopicName name;
  Uuid id;  // zero: there is no such topic
  int32_t partition_count = 0;
  std::vector<int32_t> partitions;
  bool denied = false;
};

io::Task<Offset> end_offset(log::LogService& logs, TopicPartition name) {
  const std::shared_ptr<log::Partition> partition = logs.find(name);
  co_return partition ? partition->high_watermark() : Offset{-1};
}

io::Task<PartitionOut> describe(RequestContext& context, GroupId group, TopicName topic,
                                Uuid topic_id, int32_t partition) {
  PartitionOut out;
  out.partition_index = partition;
  auto asking = context.services.share.summarize_state({{std::move(group), topic_id, partition}});
  const share::Summary::Reply info = co_await std::move(asking);
  out.error_code = info.error.error_code;
  out.start_offset = info.start_offset;
  out.leader_epoch = info.leader_epoch;
  if (!info.error.ok() || info.start_offset < 0 || info.delivery_complete_count < 0) co_return out;
  log::LogService& logs = context.services.log;
  const TopicPartition name{std::move(topic), partition};
  auto looking = io::on(logs.core_of(name).executor, end_offset(logs, name));
  const Offset end = co_await std::move(looking);
  if (end >= 0) out.lag = end - info.start_offset - info.delivery_complete_count;
  co_return out;
}

std::vector<TopicQuestion> asked_topics(
    const RequestContext& context,
    const DescribeShareGroupOffsetsRequest::DescribeShareGroupOffsetsRequestGroup& group) {
  const Access access(context);
  std::vector<TopicQuestion> questions;
  std::map<std::string_view, size_t> places;
  std::set<std::pair<std::string_view, int32_t>> seen;
  for (const auto& topic : *group.topics) {
    const std::string_view name = topic.topic_name.sv();
    const auto [place, first] = places.emplace(name, questions.size());
    if (first) {
      TopicQuestion& question = questions.emplace_back();
      question.name = topic.topic_name;
      question.denied = !access.may_topic(Operation::kDescribe, name);
      const auto known =
          question.denied ? nullptr : context.services.metadata.image().topic(topic.topic_name);
      if (known) {
        question.id = known->id;
        question.partition_count = known->partitions;
      }
    }
    for (const int32_t partition : topic.partitions) {
      if (seen.emplace(name, partition).second)
        questions[place->second].partitions.push_back(partition);
    }
  }
  return questions;
}

io::Task<Result<std::vector<TopicQuestion>>> held_topics(RequestContext& context, GroupId group) {
  std::vector<TopicQuestion> questions;
  auto asking = context.services.group.share_group_partitions(std::move(group));
  group::ShareGroupPartitions held = co_await std::move(asking);
  // A group that is not there holds nothing.
  if (held.error == ErrorCode::GROUP_ID_NOT_FOUND || held.error == ErrorCode::INVALID_GROUP_ID)
    co_return questions;
  if (held.error != ErrorCode::NONE) co_return error(held.error, held.message);
  const Access access(context);
  for (group::ShareGroupTopic& topic : held.initialized) {
    if (!access.may_see(Operation::kDescribe, ResourceType::kTopic, topic.name.sv())) continue;
    const auto known = context.services.metadata.image().topic(topic.topic_id);
    questions.push_back(
        {topic.name, topic.topic_id, known ? known->partitions : 0, std::move(topic.partitions)});
  }
  co_return questions;
}

io::Task<GroupOut> describe_group(RequestContext& context, GroupId group,
                                  std::vector<TopicQuestion> questions) {
  GroupOut out;
  out.group_id = group;
  for (TopicQuestion& question : questions) {
    auto& topic_out = out.topics.emplace_back();
    topic_out.topic_name = question.name;
    topic_out.topic_id = question.id;
    for (const int32_t partition : question.partitions) {
      PartitionOut answer;
      answer.partition_index = partition;
      answer.start_offset = -1;
      if (question.denied) {
        answer.error_code = ErrorCode::TOPIC_AUTHORIZATION_FAILED;
        answer.error_message = String(kafka_text(answer.error_code));
        topic_out.partitions.push_back(std::move(answer));
        continue;
      }
      const bool exists = partition >= 0 && partition < question.partition_count;
      if (!question.id.is_zero() && !exists)
        answer.error_code = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
      if (exists && !group.empty()) {
        auto describing = describe(context, group, question.name, question.id, partition);
        answer = co_await std::move(describing);
      }
      topic_out.partitions.push_back(std::move(answer));
    }
  }
  co_return out;
}

}  // namespace

io::Task<DescribeShareGroupOffsetsResponse> handle(RequestContext& context,
                                                   DescribeShareGroupOffsetsRequest request) {
  DescribeShareGroupOffsetsResponse response;
  const Access access(context);
  const bool enabled = share_version(context.services.metadata) >= kShareVersionGroups;
  for (const auto& group : request.groups) {
    Result<std::vector<TopicQuestion>> questions = error(ErrorCode::UNSUPPORTED_VERSION);
    if (enabled && !access.may_group(Operation::kDescribe, group.group_id)) {
      questions = error(ErrorCode::GROUP_AUTHORIZATION_FAILED);
    } else if (enabled && group.topics) {
      questions = asked_topics(context, group);
    } else if (enabled) {
      auto asking = held_topics(context, group.group_id);
      questions = co_await std::move(asking);
    }
    if (!questions) {
      auto& out = response.groups.emplace_back();
      out.group_id = group.group_id;
      out.error_code = questions.error().code;
      set_message(out.error_message, questions.error().message);
      continue;
    }
    auto describing = describe_group(context, group.group_id, std::move(*questions));
    GroupOut out = co_await std::move(describing);
    response.groups.push_back(std::move(out));
  }
  co_return response;
}

}  // namespace ackord::api
