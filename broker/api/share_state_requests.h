// What the RPCs of the share coordinator have in common (keys 83-87): topics with partitions, each
// of which is an operation of its own with a result of its own. May: CLUSTER_ACTION.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handler.h"
#include "broker/api/share_requests.h"
#include "broker/share/share_service.h"

namespace ackord::api {

// What everybody is answered who may no CLUSTER_ACTION, at each partition.
template <class Request, class TopicResult>
void refuse_share_partitions(const Request& request, std::vector<TopicResult>& results) {
  for (const auto& topic : request.topics) {
    TopicResult& topic_out = results.emplace_back();
    topic_out.topic_id = topic.topic_id;
    for (const auto& partition : topic.partitions) {
      auto& out = topic_out.partitions.emplace_back();
      out.partition = partition.partition;
      out.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
      out.error_message = String(kafka_text(out.error_code));
    }
  }
}

// `work(key, partition)` answers for one PartitionData of the request; it outlives the call. All
// run at the same time. A topic without partitions has no result, a partition that is named twice
// has the last one; without a group there are none (Kafka).
template <class TopicResult, class Request, class Work>
io::Task<std::vector<TopicResult>> each_share_partition(RequestContext& context, Request request,
                                                        const Work& work) {
  using PartitionResult = typename decltype(TopicResult::partitions)::value_type;
  std::vector<TopicResult> results;
  if (!Access(context).may_cluster(Operation::kClusterAction)) {
    refuse_share_partitions(request, results);
    co_return results;
  }
  if (request.group_id.empty()) co_return results;
  std::vector<std::pair<Uuid, int32_t>> names;
  std::vector<io::Task<PartitionResult>> tasks;
  for (const auto& topic : request.topics) {
    for (const auto& partition : topic.partitions) {
      names.emplace_back(topic.topic_id, partition.partition);
      tasks.push_back(
          work({GroupId(request.group_id.str()), topic.topic_id, partition.partition}, partition));
    }
  }
  auto all = io::when_all(std::move(tasks));
  std::vector<PartitionResult> done = co_await std::move(all);
  std::map<Uuid, std::map<int32_t, PartitionResult>> by_topic;
  for (size_t i = 0; i < names.size(); ++i) {
    done[i].partition = names[i].second;
    by_topic[names[i].first][names[i].second] = std::move(done[i]);
  }
  for (auto& [topic_id, partitions] : by_topic) {
    TopicResult& out = results.emplace_back();
    out.topic_id = topic_id;
    for (auto& [partition, result] : partitions) out.partitions.push_back(std::move(result));
  }
  co_return results;
}

template <class PartitionResult>
void set_error(PartitionResult& out, const share::PartitionError& error) {
  out.error_code = error.error_code;
  set_message(out.error_message, error.error_message);
}

}  // namespace ackord::api
