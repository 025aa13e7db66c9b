#include "codegen/emit/cpp.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ackord::codegen {
namespace {

std::string scalar_type(Kind kind) {
  switch (kind) {
    case Kind::kBool: return "bool";
    case Kind::kInt8: return "int8_t";
    case Kind::kInt16: return "int16_t";
    case Kind::kInt32: return "int32_t";
    case Kind::kInt64: return "int64_t";
    case Kind::kUint16: return "uint16_t";
    case Kind::kUint32: return "uint32_t";
    case Kind::kFloat64: return "double";
    case Kind::kUuid: return "Uuid";
    case Kind::kString: return "String";
    case Kind::kBytes: return "Bytes";
    case Kind::kRecords: return "Records";
    case Kind::kStruct: break;
  }
  return "";
}

// The C++ literal of an integer default; the least numbers have no literal of their own.
std::string integer_literal(const Field& field) {
  const int64_t value = parse_integer(field.type.kind, field.default_text).value_or(0);
  if (value == INT64_MIN) return "INT64_MIN";
  if (value == INT32_MIN) return "INT32_MIN";
  return std::to_string(value);
}

bool is_true(const Field& field) {
  return field.default_text == "true" || field.default_text == "True";
}

// The default of a scalar as an expression of the member's type.
std::string scalar_default(const Field& field) {
  switch (field.type.kind) {
    case Kind::kBool: return is_true(field) ? "true" : "false";
    case Kind::kFloat64: return field.default_text.empty() ? "0" : field.default_text;
    default: break;
  }
  const std::string literal = integer_literal(field);
  if (is_error_code(field))
    return literal == "0" ? "ErrorCode::NONE" : "static_cast<ErrorCode>(" + literal + ")";
  const std::string type = element_type(field);
  return type == scalar_type(field.type.kind) ? literal : type + "(" + literal + ")";
}

bool is_scalar(const Field& field) {
  return !field.type.array && (is_integer(field.type.kind) || field.type.kind == Kind::kBool ||
                               field.type.kind == Kind::kFloat64);
}

// A condition for a value that is not null.
std::string differs_from_empty(const Field& field, const std::string& value,
                               const std::string& arrow) {
  if (field.type.array) return "!" + value + arrow + "empty()";
  switch (field.type.kind) {
    case Kind::kUuid: return "!" + value + arrow + "is_zero()";
    case Kind::kRecords: return value + arrow + "size() != 0";
    case Kind::kStruct:
      return "!(" + std::string(arrow == "->" ? "*" : "") + value + " == " + element_type(field) +
             "{})";
    default: break;
  }
  if (field.default_text.empty() || field.default_is_null()) return "!" + value + arrow + "empty()";
  return value + arrow + "sv() != \"" + field.default_text + "\"";
}

}  // namespace

std::string element_type(const Field& field) {
  if (field.type.kind == Kind::kStruct) return field.type.struct_name;
  if (field.entity == "topicName") return "TopicName";
  if (field.entity == "groupId") return "GroupId";
  if (field.entity == "transactionalId") return "TransactionalId";
  if (field.entity == "producerId") return "ProducerId";
  if (field.entity == "brokerId") return "BrokerId";
  if (is_error_code(field)) return "ErrorCode";
  return scalar_type(field.type.kind);
}

bool is_optional(const Message& message, const Field& field) {
  return !field.nullable.intersect(field.versions).intersect(message.valid).empty();
}

std::string member_type(const Message& message, const Field& field) {
  std::string type = element_type(field);
  if (field.type.array) type = "std::vector<" + type + ">";
  return is_optional(message, field) ? "std::optional<" + type + ">" : type;
}

std::string initializer(const Message& message, const Field& field) {
  if (is_optional(message, field)) {
    if (field.default_is_null()) return "";
    const bool text =
        field.type.kind == Kind::kString && !field.type.array && !field.default_text.empty();
    return text ? " = " + element_type(field) + "(\"" + field.default_text + "\")"
                : "{std::in_place}";
  }
  if (is_scalar(field)) return " = " + scalar_default(field);
  if (field.type.kind == Kind::kString && !field.type.array && !field.default_text.empty()) {
    return " = \"" + field.default_text + "\"";
  }
  return "";
}

std::string differs_from_default(const Message& message, const Field& field,
                                 const std::string& value) {
  if (is_optional(message, field)) {
    if (field.default_is_null()) return value + ".has_value()";
    return "(!" + value + ".has_value() || " + differs_from_empty(field, value, "->") + ")";
  }
  if (!is_scalar(field)) return differs_from_empty(field, value, ".");
  if (field.type.kind == Kind::kBool) return is_true(field) ? "!" + value : value;
  return value + " != " + scalar_default(field);
}

std::string version_condition(Versions range, Versions known) {
  const Versions both = range.intersect(known);
  if (both.empty()) return "false";
  std::string condition;
  if (both.low > known.low) condition = "version >= " + std::to_string(both.low);
  if (both.high < known.high) {
    if (!condition.empty()) condition += " && ";
    condition += "version <= " + std::to_string(both.high);
  }
  return condition.empty() ? "true" : condition;
}

Versions tagged_versions(const Message& message, const Field& field) {
  return field.tagged.intersect(field.versions).intersect(message.valid);
}

Versions plain_versions(const Message& message, const Field& field) {
  const Versions all = field.versions.intersect(message.valid);
  const Versions tagged = tagged_versions(message, field);
  if (tagged.empty()) return all;
  // Tagged versions reach to the last one, so what is before them is one range.
  const Versions before{all.low, static_cast<int16_t>(tagged.low - 1)};
  return before.empty() ? Versions::none() : before;
}

bool is_secret(const Field& field) {
  std::string name = field.name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  constexpr auto kSecrets = std::to_array<std::string_view>(
      {"password", "authbytes", "salt", "hmac", "storedkey", "serverkey"});
  return std::any_of(kSecrets.begin(), kSecrets.end(), [&](std::string_view secret) {
    return name.find(secret) != std::string::npos;
  });
}

bool is_error_code(const Field& field) {
  return field.type.kind == Kind::kInt16 && !field.type.array && field.name.ends_with("ErrorCode");
}

std::string banner(const std::string& source) {
  return "// Generated from schemas/" + source + ". Do not edit: change the schema, or codegen/.";
}

}  // namespace ackord::codegen
