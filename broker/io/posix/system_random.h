// SystemRandom: Random from the kernel's generator, read in blocks. Any thread, without a lock.
#pragma once

#include "broker/io/random.h"

namespace ackord::io {

class SystemRandom final : public Random {
 public:
  uint64_t next() override;
};

}  // namespace ackord::io
