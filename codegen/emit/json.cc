#include "codegen/emit/json.h"

#include "codegen/emit/code_writer.h"
#include "codegen/emit/cpp.h"
#include "codegen/schema/names.h"

namespace ackord::codegen {
namespace {

class Json {
 public:
  explicit Json(const Message& message) : message_(message) {}

  std::string emit() {
    const std::string& name = message_.name;
    out_.line(banner(message_.file));
    out_.line("#include \"protocol/generated/" + snake_case(name) + "_json.h\"");
    out_.line();
    out_.line("#include <boost/json/array.hpp>");
    out_.line();
    out_.line("#include \"protocol/json/json_fields.h\"");
    out_.line("#include \"protocol/json/json_message.h\"");
    out_.line();
    out_.line("namespace ackord::protocol {");
    out_.line("namespace {");
    out_.line();
    for (const Struct& s : message_.structs) {
      emit_write(s);
      emit_read(s);
    }
    out_.line("}  // namespace");
    out_.line();
    emit_members();
    out_.line("}  // namespace ackord::protocol");
    return out_.take();
  }

 private:
  std::string qualified(const Struct& s) const {
    return &s == &message_.root() ? s.name : message_.name + "::" + s.name;
  }
  std::string condition(const Field& field) const {
    return version_condition(field.versions, message_.valid);
  }
  static bool is_number_id(const Field& field) {
    return field.entity == "producerId" || field.entity == "brokerId";
  }

  // The JSON value of a value that is not null.
  std::string to_value(const Field& field, const std::string& value) const {
    if (field.type.kind == Kind::kStruct) return "write_json(version, " + value + ")";
    if (is_error_code(field)) return "json_of(static_cast<int16_t>(" + value + "))";
    return "json_of(" + value + (is_number_id(field) ? ".value" : "") + ")";
  }

  void write_field(const Field& field) {
    const std::string key = "\"" + field.json_name + "\"";
    std::string value = "in." + field.member;
    const bool optional = is_optional(message_, field);
    if (optional) {
      out_.open("if (!" + value + ".has_value()) {");
      out_.line("out[" + key + "] = nullptr;");
      out_.next("} else {");
      value = "(*" + value + ")";
    }
    if (field.type.array) {
      out_.line("boost::json::array& list = out[" + key + "].emplace_array();");
      out_.line("for (const auto& item : " + value + ") list.push_back(" + to_value(field, "item") +
                ");");
    } else {
      out_.line("out[" + key + "] = " + to_value(field, value) + ";");
    }
    if (optional) out_.close();
  }

  void emit_write(const Struct& s) {
    out_.line("[[maybe_unused]] boost::json::value write_json([[maybe_unused]] int16_t version,");
    out_.open("                                               [[maybe_unused]] const " +
              qualified(s) + "& in) {");
    out_.line("boost::json::object out;");
    for (const Field& field : s.fields) {
      const std::string has = condition(field);
      if (has == "false") continue;
      const Versions tagged = tagged_versions(message_, field);
      std::string when = has == "true" ? "" : has;
      if (!tagged.empty()) {
        const std::string is_tagged =
            version_condition(tagged, field.versions.intersect(message_.valid));
        std::string differs = differs_from_default(message_, field, "in." + field.member);
        const size_t at = differs.find(" == " + field.type.struct_name + "{}");
        if (field.type.kind == Kind::kStruct && at != std::string::npos)
          differs.insert(at + 4, message_.name + "::");
        if (is_tagged != "true") differs = "(!(" + is_tagged + ") || " + differs + ")";
        when += (when.empty() ? "" : " && ") + differs;
      }
      if (when.empty() && !field.type.array) {
        write_field(field);
        continue;
      }
      out_.open(when.empty() ? "{" : "if (" + when + ") {");
      write_field(field);
      out_.close();
    }
    out_.line("return out;");
    out_.close();
    out_.line();
  }

  void read_value(const Field& field, const std::string& from, const std::string& target) {
    if (field.type.kind == Kind::kStruct) {
      out_.line("read_json(in, " + from + ", version, " + target + ");");
    } else if (is_error_code(field)) {
      out_.line(target + " = static_cast<ErrorCode>(in.number<int16_t>(" + from + "));");
    } else if (is_number_id(field)) {
      const std::string number = element_type(field) == "ProducerId" ? "int64_t" : "int32_t";
      out_.line(target + " = " + element_type(field) + "(in.number<" + number + ">(" + from +
                "));");
    } else if (is_integer(field.type.kind)) {
      out_.line(target + " = in.number<" + element_type(field) + ">(" + from + ");");
    } else {
      out_.line("in.read(" + from + ", " + target + ");");
    }
  }

  void read_field(const Field& field) {
    std::string target = "out." + field.member;
    const bool optional = is_optional(message_, field);
    if (optional) {
      const std::string null =
          version_condition(field.nullable, field.versions.intersect(message_.valid));
      out_.open("if (in.is_null(*value, " + null + ")) {");
      out_.line(target + ".reset();");
      out_.next("} else {");
    }
    if (field.type.array) {
      out_.line("auto& list = " + target + (optional ? ".emplace();" : ";"));
      out_.open("for (const boost::json::value& item : in.list(*value)) {");
      read_value(field, "item", "list.emplace_back()");
      out_.close();
    } else {
      read_value(field, "*value", target + (optional ? ".emplace()" : ""));
    }
    if (optional) out_.close();
  }

  void emit_read(const Struct& s) {
    out_.line("[[maybe_unused]] void read_json(JsonReader& in, const boost::json::value& from,");
    out_.open(
        "                                [[maybe_unused]] int16_t version, [[maybe_unused]] " +
        qualified(s) + "& out) {");
    out_.line("JsonReader::Struct scope(in, from);");
    for (const Field& field : s.fields) {
      const std::string has = condition(field);
      if (has == "false") continue;
      const Versions tagged = tagged_versions(message_, field);
      const std::string required =
          tagged.empty() ? "true" : "!(" + version_condition(tagged, message_.valid) + ")";
      const std::string find = "const boost::json::value* value = scope.find(\"" + field.json_name +
                               "\", " + required + "); value != nullptr";
      if (has != "true") out_.open("if (" + has + ") {");
      out_.open("if (" + find + ") {");
      read_field(field);
      out_.close();
      if (has != "true") out_.close();
    }
    out_.close();
    out_.line();
  }

  void emit_members() {
    const std::string& name = message_.name;
    out_.line("boost::json::value to_json(const " + name +
              "& message, int16_t version) { return write_json(version, message); }");
    out_.line();
    out_.open("Result<void> from_json(const boost::json::value& from, int16_t version, " + name +
              "& out, Missing missing) {");
    out_.line("JsonReader in(missing);");
    out_.line("read_json(in, from, version, out);");
    out_.line("return in.result(" + name + "::kName);");
    out_.close();
    out_.line();
    out_.line("extern const JsonMessage kJson" + name + ";");
    out_.open("const JsonMessage kJson" + name + " = {");
    out_.line(name + "::kName, " + name + "::kMinVersion, " + name + "::kMaxVersion,");
    out_.open("[](Reader& in, int16_t version) -> Result<boost::json::value> {");
    out_.line("auto message = " + name + "::decode(in, version);");
    out_.line("if (!message) return message.error();");
    out_.line("return to_json(*message, version);");
    out_.close("},");
    out_.open(
        "[](const boost::json::value& from, int16_t version, Writer& out, Missing missing) "
        "-> Result<size_t> {");
    out_.line(name + " message;");
    out_.line("auto read = from_json(from, version, message, missing);");
    out_.line("if (!read) return read.error();");
    out_.line("message.encode(out, version);");
    out_.line("return message.size(version);");
    out_.close("},");
    out_.open("[](Reader& in, int16_t version) -> Result<std::string> {");
    out_.line("auto message = " + name + "::decode(in, version);");
    out_.line("if (!message) return message.error();");
    out_.line("return message->to_string();");
    out_.close("}};");
    out_.line();
  }

  const Message& message_;
  CodeWriter out_;
};

}  // namespace

std::string emit_json_header(const Message& message) {
  CodeWriter out;
  out.line(banner(message.file));
  out.line("#pragma once");
  out.line();
  out.line("#include <boost/json/value.hpp>");
  out.line("#include <cstdint>");
  out.line();
  out.line("#include \"protocol/generated/" + snake_case(message.name) + ".h\"");
  out.line("#include \"protocol/json/missing.h\"");
  out.line();
  out.line("namespace ackord::protocol {");
  out.line();
  out.line("// Kafka's JSON form: see protocol/json/json_message.h. What is read owns its bytes.");
  out.line("boost::json::value to_json(const " + message.name + "& message, int16_t version);");
  out.line("Result<void> from_json(const boost::json::value& from, int16_t version, " +
           message.name + "& out,");
  out.line("                       Missing missing = Missing::kRefused);");
  out.line();
  out.line("}  // namespace ackord::protocol");
  return out.take();
}

std::string emit_json_source(const Message& message) { return Json(message).emit(); }

}  // namespace ackord::codegen
