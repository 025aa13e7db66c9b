// Which of the batches that were read belong to aborted transactions, for groups with
// share.isolation.level=read_committed.
#pragma once

#include <vector>

#include "broker/log/types.h"
#include "broker/share/share_types.h"

namespace ackord::share {

// `batches` in order; `aborted`: the transactions whose data can be among them, by first offset. A
// transaction's data are its producer's transactional batches from its first offset up to its end
// marker. Adjacent ranges are one.
std::vector<OffsetRange> aborted_ranges(const std::vector<log::BatchInfo>& batches,
                                        const std::vector<log::AbortedTransaction>& aborted);

}  // namespace ackord::share
