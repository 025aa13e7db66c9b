// Files about all messages together.
#pragma once

#include <string>
#include <vector>

#include "codegen/schema/message.h"

namespace ackord::codegen {

// messages.h, messages.cc: name, key, type and versions of every message.
std::string emit_messages_header();
std::string emit_messages_source(const std::vector<Message>& messages);
// header_versions.h, header_versions.cc: which header precedes a request or response.
std::string emit_header_versions_header();
std::string emit_header_versions_source(const std::vector<Message>& messages);
// json_messages.cc: the JSON converters by name.
std::string emit_json_messages_source(const std::vector<Message>& messages);

}  // namespace ackord::codegen
