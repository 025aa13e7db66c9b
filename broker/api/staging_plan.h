// StagingPlan: steps 3 and 4 of a request that stages acknowledgements (docs/PROTOCOL.md 1.1):
// which of its partitions exist, may be read and are well-formed, and the answer per partition. The
// same for producer transactions and batch transactions.
#pragma once

#include <string>
#include <vector>

#include "broker/api/share_requests.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {

struct StagingPlan {
  struct Entry {
    TopicIdPartition partition;
    share::PartitionError error;
  };
  std::vector<Entry> entries;                     // in the order of the request
  std::vector<share::AcknowledgePartition> good;  // the others have their error
  std::vector<size_t> places;                     // of `good` in `entries`
  bool dooms = false;  // a partition was refused for good: the transaction may not commit

  // Takes the acknowledgements out of the request.
  template <class Request>
  static StagingPlan of(const metadata::MetadataImage& image, const Access& access,
                        Request& request) {
    StagingPlan plan;
    for (auto& topic : request.topics) {
      const auto known = image.topic(topic.topic_id);
      const bool denied = known && !access.may_topic(Operation::kRead, known->name.sv());
      for (auto& partition : topic.partitions) {
        plan.add(known.get(), denied, {topic.topic_id, partition.partition_index},
                 acknowledgement_batches(partition.acknowledgement_batches));
      }
    }
    return plan;
  }

  std::vector<TopicIdPartition> names() const;
  // The replies to the stage of `good`.
  void take(std::vector<share::Stage::PartitionReply> replies);

  template <class Response, class Request>
  void answer(const Request& request, Response& response) const {
    size_t at = 0;
    for (const auto& topic : request.topics) {
      auto& topic_out = response.responses.emplace_back();
      topic_out.topic_id = topic.topic_id;
      for (size_t i = 0; i < topic.partitions.size(); ++i) {
        auto& out = topic_out.partitions.emplace_back();
        const Entry& entry = entries[at++];
        out.partition_index = entry.partition.partition;
        out.error_code = entry.error.error_code;
        set_message(out.error_message, entry.error.error_message);
      }
    }
  }

 private:
  void add(const metadata::TopicImage* topic, bool denied, TopicIdPartition partition,
           std::vector<share::AcknowledgementBatch> batches);
};

// Whether a member check's refusal cannot be cured by a retry.
inline bool is_for_good(ErrorCode member_error) {
  return member_error == ErrorCode::UNKNOWN_MEMBER_ID ||
         member_error == ErrorCode::STALE_MEMBER_EPOCH;
}

}  // namespace ackord::api
