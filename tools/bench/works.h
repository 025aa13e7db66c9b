// The benchmarks. Each does its work once, and says what it measured. Errors: BenchError.
#pragma once

#include "tools/bench/bench.h"

namespace ackord::bench {

// Produce requests, closed loop or at a rate.
Report produce(Bench& bench);
// Everything in a topic, by as many readers as connections; each reads its share of the partitions.
Report fetch(Bench& bench);
// Share fetches that carry the acceptance of what the fetch before has brought.
Report share(Bench& bench);
// Poll, produce as many records, stage the acceptance in the producer's transaction, commit.
Report share_txn(Bench& bench);
// The same without a producer: begin, poll, acknowledge, prepare, commit.
Report batch_txn(Bench& bench);
// Transactions that only produce: txn_records in one request, EndTxn.
Report txn(Bench& bench);
// One record at a time, from the producer's send to the reader's receipt.
Report e2e(Bench& bench);
// Connections that ask for ApiVersions and stay.
Report connections(Bench& bench);
// A topic, and what each of its partitions costs.
Report partitions(Bench& bench);
// Share groups of one member each, which beats on one of the connections while it stays.
Report groups(Bench& bench);
// Records that a share group's members have taken and do not acknowledge.
Report in_flight(Bench& bench);
// A member stages every other record of what it has taken, each a range of its own, commits, and
// accepts the rest with the next poll. `records` counts the staged ones.
Report stage(Bench& bench);

// From exec to the first answer to ApiVersions, of a broker with `partitions` partitions; 0 is an
// empty directory. `command`'s {port} and {directory} are filled in. Needs no running broker.
Report startup(const Options& options);

}  // namespace ackord::bench
