#include "broker/metadata/log_configuration.h"

#include <utility>

namespace ackord::metadata {

io::Task<void> configure_logs(log::LogService& logs,
                              std::vector<std::shared_ptr<const TopicImage>> topics,
                              BrokerValues broker) {
  for (const auto& topic : topics) {
    const log::LogConfig config = effective_log_config(topic->configs, broker);
    for (int32_t partition = 0; partition < topic->partitions; ++partition) {
      TopicPartition one{topic->name, partition};
      auto configuring = logs.configure(std::move(one), config);
      co_await std::move(configuring);
    }
  }
}

}  // namespace ackord::metadata
