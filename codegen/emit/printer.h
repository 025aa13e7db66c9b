// The printing functions of a message's structs.
#pragma once

#include <string>

#include "codegen/emit/code_writer.h"
#include "codegen/schema/message.h"

namespace ackord::codegen {

// `type` is the struct's name as seen from the namespace.
void emit_print_struct(const Message& message, const Struct& s, const std::string& type,
                       CodeWriter& out);

}  // namespace ackord::codegen
