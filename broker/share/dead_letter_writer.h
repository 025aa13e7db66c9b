// DeadLetterWriter: writes the dead letters of records to the topic that their group names
// (KIP-1191, semantics A.12): which topics may hold them, making one, and appending.
//
// Threads: write() on any core. Durable when it ends. Errors that may pass are tried five times, 1
// to 30 s apart. The rest ends it: INVALID_CONFIG, UNKNOWN_TOPIC_OR_PARTITION, what CreateTopics or
// Produce would answer; with the reason for the operator's log.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "broker/io/core.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/archived.h"

namespace ackord::share {

// Dead letters are on for the group: share.version >= 2 and a topic is named.
bool dead_letters_on(const metadata::MetadataService& metadata,
                     const metadata::GroupConfig& config);

class DeadLetterWriter {
 public:
  struct Written {
    TopicPartition queue;  // empty when there is none
    int64_t letters = 0;   // that are durable
    PartitionError error;  // why there are not more
  };

  DeadLetterWriter(io::Environment& environment, log::LogService& log,
                   metadata::MetadataService& metadata)
      : environment_(environment), log_(log), metadata_(metadata) {}

  // One letter per offset, in order.
  io::Task<Written> write(SharePartitionKey key, std::vector<ArchivedRange> ranges);

 private:
  using Queue = Result<std::shared_ptr<const metadata::TopicImage>>;

  io::Task<Queue> find_queue(std::string name);
  io::Task<Result<void>> make_topic(std::string name);
  io::Task<PartitionError> append(TopicPartition queue, std::vector<std::byte> batch);
  io::Task<PartitionError> append_here(TopicPartition queue,
                                       std::shared_ptr<const std::vector<std::byte>> batch);
  io::Task<void> wait_before_attempt(int attempt);

  io::Environment& environment_;
  log::LogService& log_;
  metadata::MetadataService& metadata_;
};

}  // namespace ackord::share
