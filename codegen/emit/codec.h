// The source of a message: decoder, encoder and printer.
#pragma once

#include <string>

#include "codegen/emit/code_writer.h"
#include "codegen/schema/message.h"

namespace ackord::codegen {

std::string emit_source(const Message& message);

// Bytes that one element of an array takes at least, over all versions; never 0.
size_t min_element_size(const Message& message, const Field& field);

}  // namespace ackord::codegen
