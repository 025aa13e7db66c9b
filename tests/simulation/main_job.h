// The main job in small: records of `lines` are taken through a share group by workers,
// transformed, and written to `processed` in the transaction that acknowledges them. One worker is
// replaced while it sleeps, and wakes as a zombie; a batch engine takes records of the same group
// into a sink of its own; a consumer without transactions takes part, and sometimes one of another
// group; lines are still produced meanwhile.
#pragma once

#include "tests/simulation/world.h"

namespace ackord::simulation {

// One seed, one run; the same seed gives the same run. The report's ledger has what went wrong.
Report run_main_job(uint64_t seed);

}  // namespace ackord::simulation
