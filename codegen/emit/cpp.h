// What the emitters share: the C++ type, default and conditions of a field.
#pragma once

#include <string>

#include "codegen/schema/message.h"

namespace ackord::codegen {

// The type of the field itself, of one element if it is an array, without optional: "TopicName",
// "int32_t".
std::string element_type(const Field& field);
// The type of the member: "std::optional<std::vector<BrokerId>>".
std::string member_type(const Message& message, const Field& field);
// Whether the member is a std::optional: null is possible in a version that the message has.
bool is_optional(const Message& message, const Field& field);
// What initializes the member, behind its name: " = -1", "{std::in_place}", or empty for the type's
// own default.
std::string initializer(const Message& message, const Field& field);
// A condition on `value` (an expression of the member's type): it is not the field's default.
std::string differs_from_default(const Message& message, const Field& field,
                                 const std::string& value);

// A condition on `version` that says whether it is in the range, given that it is within `known`:
// "true", "false", "version >= 3", "version <= 12" or both.
std::string version_condition(Versions range, Versions known);
// The versions in which the field is on the wire, untagged and tagged.
Versions plain_versions(const Message& message, const Field& field);
Versions tagged_versions(const Message& message, const Field& field);

// Names that hold a secret: printers mask them.
bool is_secret(const Field& field);
// "ErrorCode" and names that end so, of type int16.
bool is_error_code(const Field& field);

// Opening lines of every generated file.
std::string banner(const std::string& source);

}  // namespace ackord::codegen
