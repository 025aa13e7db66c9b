// Brings the configs in force to the logs of topics. A Task of the core of the metadata log.
#pragma once

#include <memory>
#include <vector>

#include "broker/io/task.h"
#include "broker/log/log_service.h"
#include "broker/metadata/config_tables.h"
#include "broker/metadata/image.h"

namespace ackord::metadata {

// `broker` must not change meanwhile.
io::Task<void> configure_logs(log::LogService& logs,
                              std::vector<std::shared_ptr<const TopicImage>> topics,
                              BrokerValues broker);

}  // namespace ackord::metadata
