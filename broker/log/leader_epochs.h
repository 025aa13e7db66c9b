// The leader epochs of a log: which began at what offset (KIP-101), as leader-epoch-checkpoint has
// them. Pure. Sorted by epoch and by offset; at least one, the last is the current one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "broker/log/checkpoint_files.h"
#include "protocol/types/ids.h"

namespace ackord::log {

// The largest epoch up to `epoch` and where it ends, the current one at `log_end`; (-1, -1) for
// one that is not known yet. An epoch older than all that are known ended where the first starts.
std::pair<int32_t, Offset> end_of_epoch(const std::vector<EpochStart>& epochs, int32_t epoch,
                                        Offset log_end);

// Adds an epoch that begins at the log's end; one without a record makes room for it. False when it
// is none that is newer.
bool begin_epoch(std::vector<EpochStart>& epochs, EpochStart next);
// Forgets epochs of which no offset is left at or above `log_start`; the first that has any begins
// there. True when something changed.
bool trim_start(std::vector<EpochStart>& epochs, Offset log_start);
// Forgets epochs that begin above `log_end`. True when something changed.
bool trim_end(std::vector<EpochStart>& epochs, Offset log_end);

}  // namespace ackord::log
