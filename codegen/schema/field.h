// Field and Struct: the parts of a schema, checked one by one. What needs the whole message is
// checked in message.h.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/schema/versions.h"

namespace ackord::codegen {

enum class Kind {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint16,
  kUint32,
  kFloat64,
  kUuid,
  kString,
  kBytes,
  kRecords,
  kStruct,
};

struct Type {
  Kind kind = Kind::kStruct;
  bool array = false;
  std::string struct_name;  // of a struct or of an array's elements
};

struct Field {
  std::string name;       // as in the schema
  std::string member;     // in C++
  std::string json_name;  // in Kafka's JSON form
  Type type;
  Versions versions;
  Versions nullable = Versions::none();
  Versions tagged = Versions::none();
  uint32_t tag = 0;                  // counts where `tagged` is not empty
  std::optional<Versions> flexible;  // the field's own, instead of the message's
  std::string default_text;          // empty: the type's own default
  bool ignorable = false;
  bool map_key = false;
  std::string entity;  // entityType, or empty

  bool is_tagged(int16_t version) const { return tagged.contains(version); }
  bool default_is_null() const { return default_text == "null"; }
};

struct Struct {
  std::string name;
  Versions versions;
  std::vector<Field> fields;
};

bool is_integer(Kind kind);
// Bytes of a value of a fixed size; 0 for others.
size_t fixed_size(Kind kind);
// An integer default, decimal or hexadecimal, within the range of its type; nullopt when it is not
// one.
std::optional<int64_t> parse_integer(Kind kind, const std::string& text);

// Where errors are: the file, and the path of the struct that holds the field.
struct Place {
  std::string file;
  std::string path;

  std::string field(const std::string& name) const {
    return path.empty() ? name : path + "." + name;
  }
};

// Reads a struct's "fields"; structs that are declared inside go to `structs`, innermost first.
// Throws SchemaError.
std::vector<Field> read_fields(const boost::json::object& holder, const Place& place,
                               std::vector<Struct>& structs);

// Attributes of a schema object. Throw SchemaError when one is missing or of another type.
std::string text_attribute(const boost::json::object& from, const char* name, const Place& place,
                           const std::string& field);
std::optional<Versions> versions_attribute(const boost::json::object& from, const char* name,
                                           const Place& place, const std::string& field);

}  // namespace ackord::codegen
