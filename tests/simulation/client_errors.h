// How the clients of the simulated job read errors.
#pragma once

#include "protocol/types/error_code.h"

namespace ackord::simulation {

inline bool is_fence(ErrorCode error) {
  return error == ErrorCode::PRODUCER_FENCED || error == ErrorCode::INVALID_PRODUCER_EPOCH ||
         error == ErrorCode::INVALID_PRODUCER_ID_MAPPING;
}

inline bool is_worth_a_retry(ErrorCode error) {
  return is_retriable(error) || error == ErrorCode::CONCURRENT_TRANSACTIONS;
}

// What dooms a transaction (protocol 1.3).
inline bool is_for_good(ErrorCode error) {
  return error == ErrorCode::INVALID_RECORD_STATE || error == ErrorCode::INVALID_REQUEST ||
         error == ErrorCode::UNKNOWN_MEMBER_ID || error == ErrorCode::STALE_MEMBER_EPOCH;
}

}  // namespace ackord::simulation
