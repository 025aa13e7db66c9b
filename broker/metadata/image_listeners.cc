#include "broker/metadata/image_listeners.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "broker/metadata/metadata_service.h"
#include "broker/metadata/metadata_shard.h"

namespace ackord::metadata {

void apply_and_tell(MetadataImage& image, const std::vector<MetadataRecord>& records, BrokerId node,
                    int64_t features_epoch, const ImageListeners& listeners) {
  std::vector<std::shared_ptr<const TopicImage>> removed;
  std::set<std::string> groups;
  for (const MetadataRecord& record : records) {
    if (const auto* gone = std::get_if<protocol::RemoveTopicRecord>(&record)) {
      if (auto topic = image.remove_topic(gone->topic_id)) removed.push_back(std::move(topic));
      continue;
    }
    apply_to_image(image, record, node, features_epoch);
    const auto* config = std::get_if<protocol::ConfigRecord>(&record);
    if (config != nullptr && config->resource_type == static_cast<int8_t>(ResourceType::kGroup))
      groups.insert(config->resource_name.str());
  }
  for (const auto& topic : removed) {
    for (const auto& listener : listeners.topic_removed) listener(*topic);
  }
  for (const std::string& group : groups) {
    for (const auto& listener : listeners.group_config_changed) listener(group);
  }
}

}  // namespace ackord::metadata
