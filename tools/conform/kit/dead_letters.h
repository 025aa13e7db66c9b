// Dead-letter queues of share groups (KIP-1191): a group with one, and what has been written to it.
// Errors: Failure; Skip on a broker without the feature.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

// A name that the broker's errors.deadletterqueue.topic.name.prefix allows.
std::string dead_letter_name(Kit& kit);
// A topic that may hold dead letters.
Topic dead_letter_topic(Kit& kit, int32_t partitions = 1, const Configs& configs = {});
// A group that reads its topics from their start and writes dead letters to this topic.
std::string dead_letter_group(Kit& kit, const std::string& queue, const Configs& configs = {});

// As acquired_records(), of a group with a dead-letter queue.
struct AcquiredWithQueue {
  Topic topic;
  Topic queue;
  ShareMember member;
};
AcquiredWithQueue acquired_with_queue(Kit& kit, const Configs& group_configs = {});

// What a letter says of its record, by header.
std::map<std::string, std::string> headers_of(const RecordRead& letter);
// Waits until there are exactly this many in a partition; in their order.
std::vector<RecordRead> wait_for_letters(Kit& kit, const Topic& queue, size_t count,
                                         int32_t partition = 0);
// Waits until the start of the share partition has come here: whatever lay before is finished.
void wait_for_start(Kit& kit, const std::string& group, const Topic& topic, int64_t start);
// A config of the broker; empty when there is none.
std::string broker_config(Kit& kit, const std::string& name);

}  // namespace ackord::conform
