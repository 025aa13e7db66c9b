// The record of a batch transaction in `__share_group_state`: key type 32 (docs/PROTOCOL.md part
// 2). Kafka's share coordinator passes over key types that it does not know.
#pragma once

#include <optional>
#include <span>

#include "broker/log/types.h"
#include "broker/share/batch_txn_types.h"
#include "protocol/wire/reader.h"

namespace ackord::share {

log::EncodedRecord encode(const BatchTxnRecord& record);
// `key`: behind its type. Errors: CORRUPT_MESSAGE with the reason.
Result<BatchTxnRecord> decode_batch_txn(protocol::Reader& key,
                                        std::optional<std::span<const std::byte>> value);

}  // namespace ackord::share
