// The leader epoch that a client names beside a partition (KIP-320): whether it is the leader's.
#pragma once

#include <cstdint>

#include "protocol/types/error_code.h"

namespace ackord::api {

constexpr int32_t kNoLeaderEpoch = -1;  // it names none, and nothing is checked

inline ErrorCode check_leader_epoch(int32_t named, int32_t current) {
  if (named == kNoLeaderEpoch || named == current) return ErrorCode::NONE;
  return named < current ? ErrorCode::FENCED_LEADER_EPOCH : ErrorCode::UNKNOWN_LEADER_EPOCH;
}

}  // namespace ackord::api
