#include "codegen/schema/field.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "codegen/schema/error.h"
#include "codegen/schema/names.h"

namespace ackord::codegen {
namespace {

namespace json = boost::json;

constexpr auto kKinds = std::to_array<std::pair<std::string_view, Kind>>({
    {"bool", Kind::kBool},
    {"int8", Kind::kInt8},
    {"int16", Kind::kInt16},
    {"int32", Kind::kInt32},
    {"int64", Kind::kInt64},
    {"uint16", Kind::kUint16},
    {"uint32", Kind::kUint32},
    {"float64", Kind::kFloat64},
    {"uuid", Kind::kUuid},
    {"string", Kind::kString},
    {"bytes", Kind::kBytes},
    {"records", Kind::kRecords},
});

// What an entityType may stand on.
constexpr auto kEntities = std::to_array<std::pair<std::string_view, Kind>>({
    {"topicName", Kind::kString},
    {"groupId", Kind::kString},
    {"transactionalId", Kind::kString},
    {"producerId", Kind::kInt64},
    {"brokerId", Kind::kInt32},
});

bool flag(const json::object& from, const char* name, const Place& place,
          const std::string& field) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr) return false;
  if (value->is_bool()) return value->get_bool();
  if (value->is_string() && value->get_string() == "true") return true;
  if (value->is_string() && value->get_string() == "false") return false;
  throw SchemaError(place.file, place.field(field), std::string(name) + " is not a boolean");
}

// Defaults stand as texts or as plain JSON values.
std::string default_of(const json::object& from) {
  const json::value* value = from.if_contains("default");
  if (value == nullptr || value->is_null()) return {};
  if (value->is_string()) return std::string(value->get_string());
  return json::serialize(*value);
}

Type read_type(std::string text, const Place& place, const std::string& field) {
  Type type;
  if (text.starts_with("[]")) {
    type.array = true;
    text.erase(0, 2);
  }
  for (const auto& [name, kind] : kKinds) {
    if (name == text) {
      type.kind = kind;
      if (type.array && kind == Kind::kRecords) {
        throw SchemaError(place.file, place.field(field), "an array cannot hold records");
      }
      return type;
    }
  }
  if (!is_name(text))
    throw SchemaError(place.file, place.field(field), "unknown type \"" + text + "\"");
  if (text[0] < 'A' || text[0] > 'Z') {
    throw SchemaError(place.file, place.field(field), "unknown type \"" + text + "\"");
  }
  type.struct_name = text;
  return type;
}

void check_entity(const Field& field, const Place& place) {
  if (field.entity.empty() || field.entity == "unknown") return;
  for (const auto& [name, kind] : kEntities) {
    if (name != field.entity) continue;
    if (kind == field.type.kind) return;
    throw SchemaError(place.file, place.field(field.name),
                      "entityType " + field.entity + " does not fit the type");
  }
  throw SchemaError(place.file, place.field(field.name),
                    "unknown entityType \"" + field.entity + "\"");
}

bool can_be_null(const Type& type) {
  return type.array || type.kind == Kind::kString || type.kind == Kind::kBytes ||
         type.kind == Kind::kRecords || type.kind == Kind::kStruct;
}

void check_default(const Field& field, const Place& place) {
  const std::string& text = field.default_text;
  const auto fail = [&](const std::string& reason) {
    throw SchemaError(place.file, place.field(field.name), "default \"" + text + "\" " + reason);
  };
  if (text.empty()) return;
  if (field.default_is_null() && can_be_null(field.type)) {
    if (!field.nullable.covers(field.versions))
      fail("where the field is not nullable in all its versions");
    return;
  }
  if (field.type.array) fail("for an array can only be null or empty");
  const std::string lower = json_name(text);
  double number = 0;
  switch (field.type.kind) {
    case Kind::kBool:
      if (lower != "true" && lower != "false") fail("is not a boolean");
      break;
    case Kind::kFloat64:
      if (std::from_chars(text.data(), text.data() + text.size(), number).ptr !=
          text.data() + text.size()) {
        fail("is not a number");
      }
      break;
    case Kind::kString:
      if (text.find_first_of("\"\\\n") != std::string::npos)
        fail("has a character that needs an escape");
      break;
    case Kind::kUuid:
    case Kind::kBytes:
    case Kind::kRecords:
    case Kind::kStruct: fail("is not possible for this type"); break;
    default:
      if (!parse_integer(field.type.kind, text))
        fail("is not a number within the range of its type");
      break;
  }
}

void read_tag(const json::object& from, Field& field, const Place& place) {
  const auto tagged = versions_attribute(from, "taggedVersions", place, field.name);
  const json::value* tag = from.if_contains("tag");
  const std::string path = place.field(field.name);
  if (tagged.has_value() != (tag != nullptr)) {
    throw SchemaError(place.file, path, "tag and taggedVersions belong together");
  }
  if (tag == nullptr) return;
  if (!tag->is_int64() || tag->get_int64() < 0 || tag->get_int64() > INT32_MAX) {
    throw SchemaError(place.file, path, "tag is not a number from 0 on");
  }
  field.tagged = *tagged;
  field.tag = static_cast<uint32_t>(tag->get_int64());
  if (field.tagged.high != Versions::kLast && !field.tagged.empty() &&
      field.tagged.high < field.versions.high) {
    throw SchemaError(place.file, path, "taggedVersions must not end before versions");
  }
}

void read_flexible(const json::object& from, Field& field, const Place& place) {
  field.flexible = versions_attribute(from, "flexibleVersions", place, field.name);
  if (!field.flexible) return;
  const bool allowed =
      !field.type.array && (field.type.kind == Kind::kString || field.type.kind == Kind::kBytes);
  if (!allowed) {
    throw SchemaError(place.file, place.field(field.name),
                      "only a string or bytes field can have flexibleVersions of its own");
  }
}

// The struct that a field declares by having fields of its own.
void read_inline_struct(const json::object& from, const Field& field, const Place& place,
                        std::vector<Struct>& structs) {
  if (!from.contains("fields")) return;
  if (field.type.kind != Kind::kStruct) {
    throw SchemaError(place.file, place.field(field.name),
                      "only a struct or an array of structs can have fields");
  }
  Struct declared;
  declared.name = field.type.struct_name;
  declared.versions = field.versions;
  declared.fields = read_fields(from, Place{place.file, place.field(field.name)}, structs);
  structs.push_back(std::move(declared));
}

Field read_field(const json::object& from, const Place& place, std::vector<Struct>& structs) {
  Field field;
  field.name = text_attribute(from, "name", place, "?");
  if (!is_name(field.name)) throw SchemaError(place.file, place.field(field.name), "not a name");
  field.member = member_name(field.name);
  field.json_name = json_name(field.name);
  field.type = read_type(text_attribute(from, "type", place, field.name), place, field.name);
  const auto tagged = versions_attribute(from, "taggedVersions", place, field.name);
  const auto versions = versions_attribute(from, "versions", place, field.name);
  if (!versions && !tagged)
    throw SchemaError(place.file, place.field(field.name), "versions is missing");
  field.versions = versions ? *versions : *tagged;
  field.nullable =
      versions_attribute(from, "nullableVersions", place, field.name).value_or(Versions::none());
  if (!field.nullable.empty() && !can_be_null(field.type)) {
    throw SchemaError(place.file, place.field(field.name), "this type cannot be null");
  }
  read_tag(from, field, place);
  read_flexible(from, field, place);
  field.default_text = default_of(from);
  field.ignorable = flag(from, "ignorable", place, field.name);
  field.map_key = flag(from, "mapKey", place, field.name);
  if (from.contains("entityType"))
    field.entity = text_attribute(from, "entityType", place, field.name);
  check_entity(field, place);
  check_default(field, place);
  read_inline_struct(from, field, place, structs);
  return field;
}

template <class Number>
bool fits(int64_t value) {
  return value >= std::numeric_limits<Number>::min() &&
         value <= int64_t{std::numeric_limits<Number>::max()};
}

}  // namespace

bool is_integer(Kind kind) {
  return kind == Kind::kInt8 || kind == Kind::kInt16 || kind == Kind::kInt32 ||
         kind == Kind::kInt64 || kind == Kind::kUint16 || kind == Kind::kUint32;
}

size_t fixed_size(Kind kind) {
  switch (kind) {
    case Kind::kBool:
    case Kind::kInt8: return 1;
    case Kind::kInt16:
    case Kind::kUint16: return 2;
    case Kind::kInt32:
    case Kind::kUint32: return 4;
    case Kind::kInt64:
    case Kind::kFloat64: return 8;
    case Kind::kUuid: return 16;
    default: return 0;
  }
}

std::optional<int64_t> parse_integer(Kind kind, const std::string& text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  }
  uint64_t magnitude = 0;
  const auto [end, problem] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude, base);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  if (magnitude > uint64_t{INT64_MAX} + (negative ? 1 : 0)) return std::nullopt;
  const auto value = static_cast<int64_t>(negative ? ~magnitude + 1 : magnitude);
  bool fit = kind == Kind::kInt64;
  if (kind == Kind::kInt8) fit = fits<int8_t>(value);
  if (kind == Kind::kInt16) fit = fits<int16_t>(value);
  if (kind == Kind::kInt32) fit = fits<int32_t>(value);
  if (kind == Kind::kUint16) fit = fits<uint16_t>(value);
  if (kind == Kind::kUint32) fit = fits<uint32_t>(value);
  return fit ? std::optional<int64_t>(value) : std::nullopt;
}

std::vector<Field> read_fields(const json::object& holder, const Place& place,
                               std::vector<Struct>& structs) {
  const json::value* list = holder.if_contains("fields");
  if (list == nullptr || !list->is_array())
    throw SchemaError(place.file, place.path, "fields is not an array");
  std::vector<Field> fields;
  std::set<std::string> members;
  std::set<uint32_t> tags;
  for (const json::value& entry : list->get_array()) {
    if (!entry.is_object()) throw SchemaError(place.file, place.path, "a field is not an object");
    Field field = read_field(entry.get_object(), place, structs);
    if (!members.insert(field.member).second) {
      throw SchemaError(place.file, place.field(field.name), "a second field of this name");
    }
    if (!field.tagged.empty() && !tags.insert(field.tag).second) {
      throw SchemaError(place.file, place.field(field.name),
                        "a second field with tag " + std::to_string(field.tag));
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string text_attribute(const json::object& from, const char* name, const Place& place,
                           const std::string& field) {
  const json::value* value = from.if_contains(name);
  if (value == nullptr)
    throw SchemaError(place.file, place.field(field), std::string(name) + " is missing");
  if (!value->is_string())
    throw SchemaError(place.file, place.field(field), std::string(name) + " is not a text");
  return std::string(value->get_string());
}

std::optional<Versions> versions_attribute(const json::object& from, const char* name,
                                           const Place& place, const std::string& field) {
  if (!from.contains(name)) return std::nullopt;
  const std::string text = text_attribute(from, name, place, field);
  const auto versions = Versions::parse(text);
  if (!versions) {
    throw SchemaError(place.file, place.field(field),
                      std::string(name) + " \"" + text + "\" is not a version range");
  }
  return versions;
}

}  // namespace ackord::codegen
