// Share acknowledgements as they travel: per source partition, ranges of offsets with one verdict
// each or one for all. Plain data, any thread. Source: KIP-932 (ShareAcknowledge), KIP-1289
// (transactions).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/types/ids.h"

namespace ackord::client {

enum class AcknowledgeType : int8_t {
  kGap = 0,
  kAccept = 1,
  kRelease = 2,
  kReject = 3,
  kRenew = 4
};

struct AcknowledgementBatch {
  Offset first = 0;
  Offset last = 0;
  std::vector<int8_t> types;  // one for the whole range, or one per offset
  friend bool operator==(const AcknowledgementBatch&, const AcknowledgementBatch&) = default;
};

using PartitionAcknowledgements = std::map<TopicIdPartition, std::vector<AcknowledgementBatch>>;

// Fuses neighbouring offsets into ranges, as the wire wants them: ascending, without overlap.
std::vector<AcknowledgementBatch> make_batches(const std::map<Offset, AcknowledgeType>& verdicts);
int64_t count_offsets(const PartitionAcknowledgements& acknowledgements);
// The same offsets, given back.
PartitionAcknowledgements releases_of(PartitionAcknowledgements acknowledgements);

// Into the batches of any request that has AcknowledgementBatches.
template <class WireBatch>
std::vector<WireBatch> to_wire(const std::vector<AcknowledgementBatch>& batches) {
  std::vector<WireBatch> wire;
  wire.reserve(batches.size());
  for (const AcknowledgementBatch& batch : batches) {
    WireBatch& out = wire.emplace_back();
    out.first_offset = batch.first;
    out.last_offset = batch.last;
    out.acknowledge_types = batch.types;
  }
  return wire;
}

// Who acknowledges (Kafka's ShareGroupMetadata): a member of a share group at an epoch. One per
// call and per member.
struct ShareGroupMetadata {
  GroupId group;
  std::string member_id;
  int32_t member_epoch = 0;
};

class InFlight;

// What ShareConsumer::acknowledgements_for_transaction() hands over. It belongs into exactly one
// transaction.
struct ShareAcknowledgements {
  PartitionAcknowledgements partitions;
  std::map<Uuid, TopicName> topics;  // the names of all topics in `partitions`
  // The consumer's book of what it holds, which learns how the transaction ends; null for hand-made
  // ones.
  std::shared_ptr<InFlight> origin;

  bool empty() const { return partitions.empty(); }
  int64_t size() const { return count_offsets(partitions); }
};

}  // namespace ackord::client
