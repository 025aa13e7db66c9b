// What a JSON reader makes of a field that its version has and the document does not.
#pragma once

#include <cstdint>

namespace ackord::protocol {

enum class Missing : int8_t {
  kRefused,  // a failure
  kDefault,  // the field's default in the schema
};

}  // namespace ackord::protocol
