// The records of `__transaction_state`: TransactionLogKey and TransactionLogValue.
//
// Value version 1 from transaction.version 1 on; also below it where the value holds what version 0
// would lose (abort-only, a next producer id, a client of transaction version 2).
#pragma once

#include <optional>
#include <span>

#include "broker/log/types.h"
#include "broker/txn/transaction.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::txn {

struct TransactionRecord {
  TransactionalId id;
  std::optional<Transaction> transaction;  // absent: a tombstone
  int16_t version = 1;                     // of the value
  friend bool operator==(const TransactionRecord&, const TransactionRecord&) = default;
};

// `transaction_version`: the finalized feature level.
TransactionRecord make_record(const TransactionalId& id, const Transaction& transaction,
                              int16_t transaction_version);

log::EncodedRecord encode(const TransactionRecord& record);
// nullopt: a key version that this broker does not know. CORRUPT_MESSAGE: bytes that do not decode,
// an unknown value version or state.
Result<std::optional<TransactionRecord>> decode(std::span<const std::byte> key,
                                                std::optional<std::span<const std::byte>> value);

}  // namespace ackord::txn
