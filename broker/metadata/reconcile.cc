#include "broker/metadata/reconcile.h"

#include <set>
#include <utility>

#include "broker/base/logging.h"
#include "broker/metadata/metadata_log.h"

namespace ackord::metadata {

io::Task<Result<void>> reconcile(log::LogService& logs, const MetadataImage& image,
                                 BrokerValues values, std::vector<log::FoundPartition> found) {
  std::set<TopicPartition> present;
  for (log::FoundPartition& one : found) {
    if (one.name.topic == kMetadataTopic) continue;
    const auto topic = image.topic(one.name.topic);
    if (topic != nullptr && topic->id == one.topic_id && one.name.partition < topic->partitions) {
      present.insert(one.name);
      continue;
    }
    base::log_warn("partition without a topic removed topic={} partition={} id={}", one.name.topic,
                   one.name.partition, one.topic_id);
    auto removing = logs.remove(one.name);
    Result<void> removed = co_await std::move(removing);
    if (!removed) co_return removed;
  }
  for (const auto& [name, topic] : image.topics()) {
    std::vector<TopicPartition> missing;
    for (int32_t partition = 0; partition < topic->partitions; ++partition) {
      TopicPartition one{topic->name, partition};
      if (!present.contains(one)) missing.push_back(std::move(one));
    }
    const log::LogConfig config = effective_log_config(topic->configs, values);
    for (int32_t partition = 0; partition < topic->partitions; ++partition) {
      TopicPartition one{topic->name, partition};
      if (!present.contains(one)) continue;
      auto configuring = logs.configure(std::move(one), config);
      co_await std::move(configuring);
    }
    if (missing.empty()) continue;
    base::log_warn("missing partitions made topic={} count={}", name, missing.size());
    auto creating = logs.create_all(std::move(missing), topic->id, config);
    Result<void> created = co_await std::move(creating);
    if (!created) co_return created;
  }
  co_return Result<void>();
}

}  // namespace ackord::metadata
