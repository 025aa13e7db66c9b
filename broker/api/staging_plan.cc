#include "broker/api/staging_plan.h"

#include <utility>

namespace ackord::api {

void StagingPlan::add(const metadata::TopicImage* topic, bool denied, TopicIdPartition partition,
                      std::vector<share::AcknowledgementBatch> batches) {
  Entry& entry = entries.emplace_back();
  entry.partition = partition;
  if (topic == nullptr) {
    entry.error = {ErrorCode::UNKNOWN_TOPIC_ID, {}};
  } else if (denied) {
    entry.error = {ErrorCode::TOPIC_AUTHORIZATION_FAILED, {}};
  } else if (partition.partition < 0 || partition.partition >= topic->partitions) {
    entry.error = {ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, {}};
  } else {
    entry.error = share::check_staged_batches(batches);
  }
  if (!entry.error.ok()) {
    dooms = true;
    return;
  }
  places.push_back(entries.size() - 1);
  good.push_back({partition, std::move(batches)});
}

std::vector<TopicIdPartition> StagingPlan::names() const {
  std::vector<TopicIdPartition> names;
  names.reserve(good.size());
  for (const auto& one : good) names.push_back(one.partition);
  return names;
}

void StagingPlan::take(std::vector<share::Stage::PartitionReply> replies) {
  for (size_t i = 0; i < replies.size(); ++i) {
    entries[places[i]].error = std::move(replies[i].error);
    dooms = dooms || replies[i].dooms;
  }
}

}  // namespace ackord::api
