// TxnShareAcknowledge: a member's records are accepted when a producer's transaction commits.
#pragma once

#include <vector>

#include "tools/bench/share_member.h"
#include "tools/bench/txn_producer.h"

namespace ackord::bench {

// All in one request, on the producer's connection. BenchError for any that is refused.
Task<> stage_all(ShareMember& member, TxnProducer& producer, const Topic& topic,
                 const std::vector<Acquired>& held);

}  // namespace ackord::bench
