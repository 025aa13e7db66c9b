// Message: one schema, whole and checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/schema/field.h"

namespace ackord::codegen {

enum class MessageType {
  kRequest,
  kResponse,
  kHeader,
  kData,
  kCoordinatorKey,
  kCoordinatorValue,
  kMetadata
};

struct Message {
  std::string file;  // name of the schema, from its folder on ("records/AbortedTxn.json")
  std::string name;
  MessageType type = MessageType::kData;
  int16_t api_key = -1;  // -1: none
  Versions valid;        // empty for an API that is no more
  Versions flexible;
  bool latest_version_unstable = false;
  // Every struct that the message uses, a struct before those that hold it; the message itself is
  // the last one.
  std::vector<Struct> structs;

  const Struct& root() const { return structs.back(); }
  const Struct& find(const std::string& struct_name) const;
  bool is_flexible(int16_t version) const { return flexible.contains(version); }
};

// `file` is used in errors and in the generated code. Throws SchemaError.
Message parse_message(std::string_view text, const std::string& file);

}  // namespace ackord::codegen
