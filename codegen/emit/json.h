// The JSON converters of a message, in Kafka's own JSON form. They have files of their own, so that
// only tools need the JSON library.
#pragma once

#include <string>

#include "codegen/schema/message.h"

namespace ackord::codegen {

std::string emit_json_header(const Message& message);
std::string emit_json_source(const Message& message);

}  // namespace ackord::codegen
