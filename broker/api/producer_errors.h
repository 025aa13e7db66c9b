// Error codes of producers that older versions of an API do not know.
#pragma once

#include <cstdint>

#include "protocol/types/error_code.h"

namespace ackord::api {

// PRODUCER_FENCED (KIP-588) is INVALID_PRODUCER_EPOCH below the first version that knows it.
inline ErrorCode producer_error(ErrorCode code, int16_t version,
                                int16_t first_with_producer_fenced) {
  const bool known = version >= first_with_producer_fenced;
  return code == ErrorCode::PRODUCER_FENCED && !known ? ErrorCode::INVALID_PRODUCER_EPOCH : code;
}

}  // namespace ackord::api
