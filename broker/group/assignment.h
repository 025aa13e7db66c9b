// What a member of a group is given: partitions of topics by id.
#pragma once

#include <set>

#include "protocol/types/ids.h"

namespace ackord::group {

using Assignment = std::set<TopicIdPartition>;

}  // namespace ackord::group
