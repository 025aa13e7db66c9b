// `ackordctl txn`: what to ask, in which order. Results go to `out`. Errors: the broker's, and
// INVALID_TXN_STATE for what would break a transaction that is alive.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "client/cluster.h"
#include "tools/ackordctl/transactions.h"

namespace ackord::ctl {

struct TxnOptions {
  TransactionFilter filter;
  std::string id;
  std::string topic;
  int32_t partition = -1;
  // Of a transaction that hangs: by where it starts, or by its producer, which then must be whole.
  std::optional<Offset> start_offset;
  std::optional<int64_t> producer_id;
  int16_t producer_epoch = -1;
  int32_t coordinator_epoch = -1;
  bool json = false;
};

Result<void> list_txns(client::Cluster& cluster, const TxnOptions& options,
                       const client::Deadline& deadline, std::ostream& out);

// With the share acknowledgements that are staged in it.
Result<void> describe_txn(client::Cluster& cluster, const TxnOptions& options,
                          const client::Deadline& deadline, std::ostream& out);

Result<void> show_producers(client::Cluster& cluster, const TxnOptions& options,
                            const client::Deadline& deadline, std::ostream& out);

// The whole open transaction of an id. One that is not open is a success: nothing is left to do;
// one that is decided is waited for.
Result<void> abort_txn(client::Cluster& cluster, const TxnOptions& options,
                       const client::Deadline& deadline, std::ostream& out);

// On one partition, of a transaction that hangs there. Refused while a coordinator still has it
// open: the other partitions and the acknowledgements would go another way.
Result<void> abort_hanging(client::Cluster& cluster, const TxnOptions& options,
                           const client::Deadline& deadline, std::ostream& out);

// A two-phase one (KIP-939) that is open. Returns when its markers are written.
Result<void> commit_txn(client::Cluster& cluster, const TxnOptions& options,
                        const client::Deadline& deadline, std::ostream& out);

}  // namespace ackord::ctl
