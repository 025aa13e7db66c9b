// Staging: brings acknowledgements that belong into a transaction to the leaders of their
// partitions, until every partition is answered (docs/PROTOCOL.md 1.1 and part 2). Used by
// transactions of producers and by batch transactions; each sends its own request.
//
// Errors: the first one for good, or the last passing one when the deadline comes. One thread at a
// time.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "client/acknowledgements.h"
#include "client/cluster.h"

namespace ackord::client {

// Sends the acknowledgements of these partitions, which one broker leads. What is staged leaves
// `left`.
using StageAtLeader =
    std::function<Result<void>(Connection& leader, const std::vector<TopicIdPartition>& partitions,
                               PartitionAcknowledgements& left, const Deadline& deadline)>;

// Whether a stage may be sent again. UNKNOWN_TOPIC_ID is retriable elsewhere, but here it has
// doomed the transaction.
bool may_stage_again(ErrorCode code);

// `left`: what is not staged (yet); empty after success. What is staged is noted in the book that
// the acknowledgements come from.
Result<void> stage_everywhere(Cluster& cluster, const ShareAcknowledgements& acknowledgements,
                              PartitionAcknowledgements& left, const StageAtLeader& stage_at,
                              const Deadline& deadline);

// The Topics of a request that stages.
template <class Request>
void fill_topics(const std::vector<TopicIdPartition>& partitions,
                 const PartitionAcknowledgements& left, Request& request) {
  for (const TopicIdPartition& partition : partitions) {
    if (request.topics.empty() || request.topics.back().topic_id != partition.topic_id)
      request.topics.emplace_back().topic_id = partition.topic_id;
    auto& entry = request.topics.back().partitions.emplace_back();
    entry.partition_index = partition.partition;
    using Batch = typename decltype(entry.acknowledgement_batches)::value_type;
    entry.acknowledgement_batches = to_wire<Batch>(left.at(partition));
  }
}

// The Responses of its answer, which has no error at the top.
template <class Response>
Result<void> take_answers(const Response& response, const std::vector<TopicIdPartition>& partitions,
                          PartitionAcknowledgements& left) {
  Result<void> outcome;
  for (const auto& topic : response.responses) {
    for (const auto& partition : topic.partitions) {
      if (partition.error_code == ErrorCode::NONE) {
        left.erase({topic.topic_id, partition.partition_index});
      } else if (outcome || may_stage_again(outcome.error().code)) {
        outcome = error(
            partition.error_code,
            std::string(Response::kName) + " of partition " +
                std::to_string(partition.partition_index) + ": " +
                partition.error_message.value_or(String(name_of(partition.error_code))).str());
      }
    }
  }
  if (!outcome) return outcome;
  const bool unanswered =
      std::any_of(partitions.begin(), partitions.end(),
                  [&](const TopicIdPartition& source) { return left.contains(source); });
  if (unanswered) {
    return error(ErrorCode::UNKNOWN_SERVER_ERROR,
                 std::string(Response::kName) + " left partitions out");
  }
  return {};
}

}  // namespace ackord::client
