#include "protocol/wire/message.h"

#include <string>

namespace ackord::protocol {

Error unsupported_version(std::string_view message, int16_t version) {
  return error(ErrorCode::UNSUPPORTED_VERSION,
               std::string(message) + " has no version " + std::to_string(version));
}

}  // namespace ackord::protocol
