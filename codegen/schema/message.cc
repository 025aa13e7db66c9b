#include "codegen/schema/message.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <set>
#include <utility>

#include "codegen/schema/error.h"
#include "codegen/schema/names.h"

namespace ackord::codegen {
namespace {

namespace json = boost::json;

constexpr auto kTypes = std::to_array<std::pair<std::string_view, MessageType>>({
    {"request", MessageType::kRequest},
    {"response", MessageType::kResponse},
    {"header", MessageType::kHeader},
    {"data", MessageType::kData},
    {"coordinator-key", MessageType::kCoordinatorKey},
    {"coordinator-value", MessageType::kCoordinatorValue},
    {"metadata", MessageType::kMetadata},
});

// Names that the generated struct has already.
constexpr auto kTaken = std::to_array<std::string_view>({"decode", "encode", "size", "to_string"});

json::object parse_object(std::string_view text, const std::string& file) {
  json::parse_options options;
  options.allow_comments = true;
  options.allow_trailing_commas = true;
  json::stream_parser parser({}, options);
  json::error_code problem;
  const size_t read = parser.write_some(text.data(), text.size(), problem);
  if (!problem) parser.finish(problem);
  if (problem) {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(read), '\n');
    throw SchemaError(file, "", "line " + std::to_string(line) + ": " + problem.message());
  }
  json::value value = parser.release();
  if (!value.is_object()) throw SchemaError(file, "", "not a JSON object");
  return value.get_object();
}

void read_head(const json::object& from, const Place& place, Message& message) {
  message.name = text_attribute(from, "name", place, "");
  if (!is_name(message.name))
    throw SchemaError(place.file, "", "\"" + message.name + "\" is not a name");
  if (std::filesystem::path(place.file).stem() != message.name) {
    throw SchemaError(place.file, "", "the file must be named after its message, " + message.name);
  }
  const std::string type = text_attribute(from, "type", place, "");
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.first == type; });
  if (found == kTypes.end())
    throw SchemaError(place.file, "", "unknown message type \"" + type + "\"");
  message.type = found->second;
  const auto valid = versions_attribute(from, "validVersions", place, "");
  if (!valid) throw SchemaError(place.file, "", "validVersions is missing");
  if (valid->high == Versions::kLast) throw SchemaError(place.file, "", "validVersions must end");
  message.valid = *valid;
  const auto flexible = versions_attribute(from, "flexibleVersions", place, "");
  if (!flexible && !valid->empty())
    throw SchemaError(place.file, "", "flexibleVersions is missing");
  message.flexible = flexible.value_or(Versions::none());
  if (!message.flexible.empty() && message.flexible.high != Versions::kLast) {
    throw SchemaError(place.file, "", "flexibleVersions must be none or open (\"3+\")");
  }
  if (const json::value* unstable = from.if_contains("latestVersionUnstable")) {
    message.latest_version_unstable = unstable->is_bool() && unstable->get_bool();
  }
}

void read_key(const json::object& from, const Place& place, Message& message) {
  const json::value* key = from.if_contains("apiKey");
  const bool needed =
      message.type == MessageType::kRequest || message.type == MessageType::kResponse;
  if (key == nullptr) {
    if (needed) throw SchemaError(place.file, "", "apiKey is missing");
    return;
  }
  if (!key->is_int64() || key->get_int64() < 0 || key->get_int64() > INT16_MAX) {
    throw SchemaError(place.file, "", "apiKey is not a number from 0 to 32767");
  }
  message.api_key = static_cast<int16_t>(key->get_int64());
}

void read_common_structs(const json::object& from, const std::string& file,
                         std::vector<Struct>& structs) {
  const json::value* list = from.if_contains("commonStructs");
  if (list == nullptr) return;
  if (!list->is_array()) throw SchemaError(file, "", "commonStructs is not an array");
  for (const json::value& entry : list->get_array()) {
    if (!entry.is_object()) throw SchemaError(file, "", "a common struct is not an object");
    const json::object& object = entry.get_object();
    Struct common;
    common.name = text_attribute(object, "name", Place{file, ""}, "commonStructs");
    if (!is_name(common.name)) throw SchemaError(file, common.name, "not a name");
    common.versions = versions_attribute(object, "versions", Place{file, ""}, common.name)
                          .value_or(Versions::all());
    common.fields = read_fields(object, Place{file, common.name}, structs);
    structs.push_back(std::move(common));
  }
}

// Puts the structs that the message reaches into an order in which each stands behind those that it
// holds.
class Order {
 public:
  Order(const std::string& file, const std::vector<Struct>& declared)
      : file_(file), declared_(declared) {}

  void visit(const Struct& s, const std::string& path) {
    if (done_.contains(s.name)) return;
    if (!open_.insert(s.name).second)
      throw SchemaError(file_, path, "the struct " + s.name + " holds itself");
    for (const Field& field : s.fields) {
      if (field.type.kind != Kind::kStruct) continue;
      const std::string field_path = path.empty() ? field.name : path + "." + field.name;
      const auto found = std::find_if(declared_.begin(), declared_.end(), [&](const Struct& d) {
        return d.name == field.type.struct_name;
      });
      if (found == declared_.end()) {
        throw SchemaError(file_, field_path, "unknown type \"" + field.type.struct_name + "\"");
      }
      visit(*found, field_path);
    }
    open_.erase(s.name);
    done_.insert(s.name);
    result_.push_back(s);
  }
  std::vector<Struct> take() { return std::move(result_); }

 private:
  const std::string& file_;
  const std::vector<Struct>& declared_;
  std::set<std::string> done_;
  std::set<std::string> open_;
  std::vector<Struct> result_;
};

void check_unique(const std::vector<Struct>& structs, const Message& message) {
  std::set<std::string> names{message.name};
  for (const Struct& s : structs) {
    if (!names.insert(s.name).second)
      throw SchemaError(message.file, s.name, "a second struct of this name");
  }
}

void check_fields(const Message& message) {
  for (const Struct& s : message.structs) {
    for (const Field& field : s.fields) {
      const std::string path = &s == &message.root() ? field.name : s.name + "." + field.name;
      const Versions tagged = field.tagged.intersect(message.valid);
      if (!message.flexible.covers(tagged)) {
        throw SchemaError(message.file, path,
                          "taggedVersions " + field.tagged.to_string() +
                              " outside of flexibleVersions " + message.flexible.to_string());
      }
      if (!field.versions.covers(field.tagged)) {
        throw SchemaError(message.file, path,
                          "taggedVersions " + field.tagged.to_string() + " outside of versions " +
                              field.versions.to_string());
      }
    }
  }
}

}  // namespace

const Struct& Message::find(const std::string& struct_name) const {
  return *std::find_if(structs.begin(), structs.end(),
                       [&](const Struct& s) { return s.name == struct_name; });
}

Message parse_message(std::string_view text, const std::string& file) {
  const json::object from = parse_object(text, file);
  const Place place{file, ""};
  Message message;
  message.file = file;
  read_head(from, place, message);
  read_key(from, place, message);
  std::vector<Struct> declared;
  read_common_structs(from, file, declared);
  Struct root;
  root.name = message.name;
  root.versions = message.valid;
  // A message that was removed says only that.
  if (!message.valid.empty() || from.contains("fields")) {
    root.fields = read_fields(from, place, declared);
  }
  for (Field& field : root.fields) {
    if (std::find(kTaken.begin(), kTaken.end(), field.member) != kTaken.end())
      field.member.push_back('_');
  }
  check_unique(declared, message);
  Order order(file, declared);
  order.visit(root, "");
  message.structs = order.take();
  check_fields(message);
  return message;
}

}  // namespace ackord::codegen
