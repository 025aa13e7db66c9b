#include "protocol/json/json_fields.h"

#include <memory>
#include <utility>
#include <vector>

#include "protocol/json/base64.h"

namespace ackord::protocol {

namespace json = boost::json;

json::value json_of(const Uuid& id) { return json::string(id.to_string()); }
json::value json_of(const String& text) { return json::string(text.sv()); }
json::value json_of(const Bytes& bytes) { return json::string(base64_of(bytes.span())); }
json::value json_of(const Records& records) { return json::string(base64_of(records.copy())); }

JsonReader::Struct::Struct(JsonReader& in, const json::value& from)
    : in_(in), object_(from.if_object()) {
  if (object_ == nullptr) in_.fail("not an object");
}

JsonReader::Struct::~Struct() {
  if (object_ != nullptr && found_ != object_->size())
    in_.fail("an object has fields that its version does not have");
}

const json::value* JsonReader::Struct::find(std::string_view name, bool required) {
  in_.field_ = name;
  if (object_ == nullptr) return nullptr;
  const json::value* value = object_->if_contains(name);
  if (value != nullptr) {
    ++found_;
  } else if (required && in_.missing_ == Missing::kRefused) {
    in_.fail("missing");
  }
  return value;
}

void JsonReader::fail(std::string_view reason) {
  if (!failure_.empty()) return;
  failure_ = "field " + std::string(field_) + ": " + std::string(reason);
}

Result<void> JsonReader::result(std::string_view message) const {
  if (ok()) return {};
  return error(ErrorCode::INVALID_REQUEST, std::string(message) + ": " + failure_);
}

int64_t JsonReader::integer(const json::value& value, int64_t min, int64_t max) {
  json::error_code problem;
  const auto number = value.to_number<int64_t>(problem);
  if (problem || number < min || number > max) {
    fail("not a number within the range of its type");
    return 0;
  }
  return number;
}

void JsonReader::read(const json::value& value, bool& out) {
  if (!value.is_bool()) return fail("not a boolean");
  out = value.get_bool();
}

void JsonReader::read(const json::value& value, double& out) {
  json::error_code problem;
  out = value.to_number<double>(problem);
  if (problem) fail("not a number");
}

void JsonReader::read(const json::value& value, Uuid& out) {
  if (!Uuid::parse(text(value), out)) fail("not a uuid");
}

std::string_view JsonReader::text(const json::value& value) {
  if (!value.is_string()) {
    fail("not a text");
    return {};
  }
  return value.get_string();
}

void JsonReader::read(const json::value& value, String& out) { out = String(text(value)); }
void JsonReader::read(const json::value& value, TopicName& out) { out = TopicName(text(value)); }
void JsonReader::read(const json::value& value, GroupId& out) { out = GroupId(text(value)); }
void JsonReader::read(const json::value& value, TransactionalId& out) {
  out = TransactionalId(text(value));
}

std::vector<std::byte> JsonReader::bytes(const json::value& value) {
  std::vector<std::byte> bytes;
  if (!parse_base64(text(value), bytes)) fail("not base64");
  return bytes;
}

void JsonReader::read(const json::value& value, Bytes& out) {
  out = Bytes(std::span<const std::byte>(bytes(value)));
}

void JsonReader::read(const json::value& value, Records& out) {
  out = Records();
  out.append(std::make_shared<const std::vector<std::byte>>(bytes(value)));
}

bool JsonReader::is_null(const json::value& value, bool allowed) {
  if (!value.is_null()) return false;
  if (!allowed) fail("null is not allowed in this version");
  return true;
}

const json::array& JsonReader::list(const json::value& value) {
  static const json::array kEmpty;
  if (!value.is_array()) {
    fail("not an array");
    return kEmpty;
  }
  return value.get_array();
}

}  // namespace ackord::protocol
