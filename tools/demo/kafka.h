// Stock librdkafka clients, as the demo uses them.
#pragma once

#include <librdkafka/rdkafka.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/deadline.h"
#include "protocol/types/result.h"

namespace ackord::demo {

struct DestroyHandle {
  void operator()(rd_kafka_t* handle) const { rd_kafka_destroy(handle); }
};
using Handle = std::unique_ptr<rd_kafka_t, DestroyHandle>;

Result<Handle> make_client(rd_kafka_type_t type,
                           const std::vector<std::pair<const char*, std::string>>& options);

struct Message {
  int32_t partition = 0;
  int64_t offset = 0;
  std::string key;
  std::string value;
};

// How many offsets a partition spans.
Result<int64_t> offset_span(const std::string& bootstrap, const std::string& topic,
                            int32_t partition, const client::Deadline& deadline);

// Reads all partitions of a topic from its beginning to the end that a read_committed consumer sees
// now.
Result<void> read_committed(const std::string& bootstrap, const std::string& topic,
                            int32_t partitions, const client::Deadline& deadline,
                            const std::function<void(Message)>& each);

}  // namespace ackord::demo
