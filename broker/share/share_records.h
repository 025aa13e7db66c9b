// The records of `__share_group_state` (semantics A.6, protocol 1.4): Kafka's ShareSnapshot and
// ShareUpdate, with the owners of staged ranges in tagged fields that Kafka's own decoders skip;
// and batch transactions.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "broker/log/types.h"
#include "broker/share/batch_txn_types.h"
#include "broker/share/share_types.h"

namespace ackord::share {

// Key type 0 and its value: all of one share partition. No value: the share partition is deleted.
struct ShareSnapshot {
  struct Value {
    int32_t snapshot_epoch = 0;
    int32_t state_epoch = 0;
    int32_t leader_epoch = 0;
    Offset start_offset = -1;
    int32_t delivery_complete_count = -1;
    TimeMs create_timestamp = 0;
    TimeMs write_timestamp = 0;
    std::vector<StateBatch> state_batches;
    std::vector<Owner> owners;
    friend bool operator==(const Value&, const Value&) = default;
  };
  SharePartitionKey key;
  std::optional<Value> value;
  friend bool operator==(const ShareSnapshot&, const ShareSnapshot&) = default;
};

// Key type 1 and its value: what has changed since.
struct ShareUpdate {
  SharePartitionKey key;
  int32_t snapshot_epoch = 0;
  int32_t leader_epoch = -1;  // -1: unchanged
  Offset start_offset = -1;   // -1: unchanged
  int32_t delivery_complete_count = -1;
  std::vector<StateBatch> state_batches;
  std::vector<Owner> owners;
  friend bool operator==(const ShareUpdate&, const ShareUpdate&) = default;
};

using ShareRecord = std::variant<ShareSnapshot, ShareUpdate, BatchTxnRecord>;

log::EncodedRecord encode(const ShareRecord& record);
// nullopt: a key type that is not known. Errors: CORRUPT_MESSAGE with the reason.
Result<std::optional<ShareRecord>> decode(std::span<const std::byte> key,
                                          std::optional<std::span<const std::byte>> value);

}  // namespace ackord::share
