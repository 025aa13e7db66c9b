// Random: the only source of randomness (ids, tokens). Any thread; seeded in the simulator.
#pragma once

#include <cstdint>

#include "protocol/types/ids.h"

namespace ackord::io {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;

  // A random (version 4) UUID, never one of Kafka's reserved ones, which are below 101.
  Uuid uuid() {
    Uuid id;
    for (size_t half = 0; half < 2; ++half) {
      const uint64_t bits = next();
      for (size_t i = 0; i < 8; ++i) id.bytes[half * 8 + i] = static_cast<uint8_t>(bits >> (8 * i));
    }
    id.bytes[6] = static_cast<uint8_t>((id.bytes[6] & 0x0f) | 0x40);
    id.bytes[8] = static_cast<uint8_t>((id.bytes[8] & 0x3f) | 0x80);
    return id;
  }
};

}  // namespace ackord::io
