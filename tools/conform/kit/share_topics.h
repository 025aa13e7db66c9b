// The topics of a request that names share partitions and acknowledgements: ShareFetch,
// ShareAcknowledge, TxnShareAcknowledge, BatchTxnAcknowledge.
#pragma once

#include <vector>

#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

// Each topic once, each partition once, in the order in which they are first named.
json::array share_topics(const std::vector<SharePart>& parts, const std::vector<ShareAck>& acks);

}  // namespace ackord::conform
