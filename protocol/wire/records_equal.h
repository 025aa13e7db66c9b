// Records are equal when their bytes are, however they are cut into pieces. Reads file ranges: for
// tests and tools.
#pragma once

#include "protocol/types/records.h"

namespace ackord {

bool operator==(const Records& a, const Records& b);

}  // namespace ackord
