// The header of a message: its structs.
#pragma once

#include <string>

#include "codegen/schema/message.h"

namespace ackord::codegen {

std::string emit_header(const Message& message);

}  // namespace ackord::codegen
