// Who is told of changes of the images, and the change itself. Filled before
// MetadataService::load(); from then on every core reads it.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "broker/metadata/image.h"
#include "broker/metadata/metadata_records.h"

namespace ackord::metadata {

struct ImageListeners {
  std::vector<std::function<void(const TopicImage&)>> topic_removed;
  std::vector<std::function<void(std::string_view)>> group_config_changed;
};

// Brings the records into one core's image, and then tells the listeners. On that core.
void apply_and_tell(MetadataImage& image, const std::vector<MetadataRecord>& records, BrokerId node,
                    int64_t features_epoch, const ImageListeners& listeners);

}  // namespace ackord::metadata
