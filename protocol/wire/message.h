// Helpers of the generated decoders.
#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/types/result.h"

namespace ackord::protocol {

// UNSUPPORTED_VERSION with "<message> has no version <n>".
Error unsupported_version(std::string_view message, int16_t version);

}  // namespace ackord::protocol
