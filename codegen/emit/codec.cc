#include "codegen/emit/codec.h"

#include <algorithm>

#include "codegen/emit/cpp.h"
#include "codegen/emit/printer.h"
#include "codegen/schema/names.h"

namespace ackord::codegen {
namespace {

// Functions of a struct are overloads on its type: one name for all, also where sources are
// compiled together.
std::string qualified(const Message& message, const Struct& s) {
  return &s == &message.root() ? s.name : message.name + "::" + s.name;
}

std::string choose(const std::string& condition, const std::string& yes, const std::string& no) {
  if (condition == "true") return yes;
  if (condition == "false") return no;
  return condition + " ? " + yes + " : " + no;
}

std::string lengths_of(const Message& message, const Field& field) {
  if (!field.flexible) return "lengths";
  return choose(version_condition(*field.flexible, message.valid), "Lengths::kCompact",
                "Lengths::kClassic");
}

// What null is in the versions where the field is on the wire.
std::string null_of(const Message& message, const Field& field) {
  const Versions known = field.versions.intersect(message.valid);
  return choose(version_condition(field.nullable, known), "Null::kAllowed", "Null::kForbidden");
}

std::string wire_name(Kind kind) {
  switch (kind) {
    case Kind::kBool: return "boolean";
    case Kind::kInt8: return "int8";
    case Kind::kInt16: return "int16";
    case Kind::kInt32: return "int32";
    case Kind::kInt64: return "int64";
    case Kind::kUint16: return "uint16";
    case Kind::kUint32: return "uint32";
    case Kind::kFloat64: return "float64";
    case Kind::kUuid: return "uuid";
    default: return "";
  }
}

bool is_number_id(const Field& field) {
  return field.entity == "producerId" || field.entity == "brokerId";
}

class Codec {
 public:
  explicit Codec(const Message& message) : message_(message) {}

  std::string emit() {
    out_.line(banner(message_.file));
    out_.line("#include \"protocol/generated/" + snake_case(message_.name) + ".h\"");
    out_.line();
    out_.line("#include <utility>");
    out_.line();
    out_.line("#include \"protocol/wire/message.h\"");
    out_.line("#include \"protocol/wire/printer.h\"");
    out_.line("#include \"protocol/wire/reader.h\"");
    out_.line("#include \"protocol/wire/writer.h\"");
    out_.line();
    out_.line("namespace ackord::protocol {");
    out_.line("namespace {");
    out_.line();
    for (const Struct& s : message_.structs) {
      emit_read_struct(s);
      emit_write_struct(s);
      emit_print_struct(message_, s, qualified(message_, s), out_);
    }
    out_.line("}  // namespace");
    out_.line();
    emit_members();
    out_.line("}  // namespace ackord::protocol");
    return out_.take();
  }

 private:
  bool ever_flexible() const { return !message_.flexible.intersect(message_.valid).empty(); }

  void emit_lengths() {
    const std::string condition = version_condition(message_.flexible, message_.valid);
    out_.line("[[maybe_unused]] const Lengths lengths = " +
              choose(condition, "Lengths::kCompact", "Lengths::kClassic") + ";");
  }

  // Opens a block for the condition, unless it always holds; close_if closes it.
  void open_if(const std::string& condition) {
    if (condition != "true") out_.open("if (" + condition + ") {");
  }
  void close_if(const std::string& condition) {
    if (condition != "true") out_.close();
  }

  // ---- reading

  std::string read_scalar(const Field& field) const {
    const std::string call = "in." + wire_name(field.type.kind) + "()";
    if (is_error_code(field)) return "static_cast<ErrorCode>(" + call + ")";
    return is_number_id(field) ? element_type(field) + "(" + call + ")" : call;
  }

  // Reads one value that is no array and, when `null` is empty, cannot be null.
  void read_value(const Field& field, const std::string& target, const std::string& null,
                  bool tagged) {
    const std::string tail = lengths_of(message_, field) + (null.empty() ? "" : ", " + null) + ");";
    switch (field.type.kind) {
      case Kind::kString: out_.line("read_text(in, " + target + ", " + tail); return;
      case Kind::kBytes: out_.line("read_blob(in, " + target + ", " + tail); return;
      case Kind::kRecords: out_.line("read_records(in, " + target + ", " + tail); return;
      case Kind::kStruct: break;
      default: out_.line(target + " = " + read_scalar(field) + ";"); return;
    }
    if (null.empty()) {
      out_.line("read_fields(in, version, " + target + ");");
      return;
    }
    const Versions known = field.versions.intersect(message_.valid);
    const std::string nullable = version_condition(field.nullable, known);
    const std::string follows = tagged ? "in.tagged_struct_follows()" : "in.struct_follows()";
    out_.open("if (" + (nullable == "true" ? follows : "!(" + nullable + ") || " + follows) +
              ") {");
    out_.line("read_fields(in, version, " + target + ".emplace());");
    out_.next("} else {");
    out_.line(target + ".reset();");
    out_.close();
  }

  void read_array(const Field& field, const std::string& target, bool tagged) {
    const bool optional = is_optional(message_, field);
    const std::string null = optional ? null_of(message_, field) : "Null::kForbidden";
    const std::string count = "in.array_length(" + lengths_of(message_, field) + ", " + null +
                              ", " + std::to_string(min_element_size(message_, field)) + ")";
    std::string list = target;
    if (optional) {
      out_.open("if (const int32_t count = " + count + "; count < 0) {");
      out_.line(target + ".reset();");
      out_.next("} else {");
      out_.line("auto& list = " + target + ".emplace();");
      out_.line("list.resize(static_cast<size_t>(count));");
      list = "list";
    } else {
      if (tagged) out_.line(target + ".clear();");
      out_.line(target + ".resize(static_cast<size_t>(" + count + "));");
    }
    out_.open("for (auto&& item : " + list + ") {");
    if (field.type.kind == Kind::kStruct) out_.line("if (!in.ok()) break;");
    read_value(field, "item", "", false);
    out_.close();
    if (optional) out_.close();
  }

  void read_field(const Field& field, bool tagged) {
    const std::string target = "out." + field.member;
    if (field.type.array) {
      read_array(field, target, tagged);
    } else {
      read_value(field, target, is_optional(message_, field) ? null_of(message_, field) : "",
                 tagged);
    }
  }

  void read_tagged(const Struct& s) {
    const std::string condition = version_condition(message_.flexible, message_.valid);
    open_if(condition);
    if (std::all_of(s.fields.begin(), s.fields.end(),
                    [&](const Field& field) { return tagged_versions(message_, field).empty(); })) {
      out_.line("skip_tagged_fields(in);");
      close_if(condition);
      return;
    }
    out_.open("for (TaggedFieldReader tags(in); tags.next();) {");
    out_.open("switch (tags.tag()) {");
    for (const Field& field : s.fields) {
      const Versions versions = tagged_versions(message_, field);
      if (versions.empty()) continue;
      out_.open("case " + std::to_string(field.tag) + ": {");
      const std::string has =
          version_condition(versions, message_.flexible.intersect(message_.valid));
      if (has != "true") {
        out_.open("if (!(" + has + ")) {");
        out_.line("tags.skip();");
        out_.line("break;");
        out_.close();
      }
      read_field(field, true);
      out_.line("break;");
      out_.close();
    }
    out_.line("default: tags.skip(); break;");
    out_.close();
    out_.close();
    close_if(condition);
  }

  void emit_read_struct(const Struct& s) {
    out_.line(
        "[[maybe_unused]] void read_fields([[maybe_unused]] Reader& in, [[maybe_unused]] int16_t "
        "version,");
    out_.open("                                  [[maybe_unused]] " + qualified(message_, s) +
              "& out) {");
    emit_lengths();
    for (const Field& field : s.fields) {
      const std::string condition =
          version_condition(plain_versions(message_, field), message_.valid);
      if (condition == "false") continue;
      open_if(condition);
      read_field(field, false);
      close_if(condition);
    }
    if (ever_flexible()) read_tagged(s);
    out_.close();
    out_.line();
  }

  // ---- writing

  void write_value(const Field& field, const std::string& value, const std::string& null,
                   bool tagged) {
    const std::string lengths = lengths_of(message_, field);
    const std::string tail = value + ", " + lengths + ", " + null + ");";
    switch (field.type.kind) {
      case Kind::kString:
        out_.line(null.empty() ? "out.text(" + value + ".sv(), " + lengths + ");"
                               : "write_text(out, " + tail);
        return;
      case Kind::kBytes:
        out_.line(null.empty() ? "out.blob(" + value + ".span(), " + lengths + ");"
                               : "write_blob(out, " + tail);
        return;
      case Kind::kRecords:
        out_.line(null.empty() ? "out.records(" + value + ", " + lengths + ");"
                               : "write_records(out, " + tail);
        return;
      case Kind::kStruct: break;
      default:
        out_.line("out." + wire_name(field.type.kind) + "(" + write_scalar(field, value) + ");");
        return;
    }
    if (null.empty()) {
      out_.line("write_fields(out, version, " + value + ");");
      return;
    }
    write_nullable_struct(field, value, tagged);
  }

  std::string write_scalar(const Field& field, const std::string& value) const {
    if (is_error_code(field)) return "static_cast<int16_t>(" + value + ")";
    return is_number_id(field) ? value + ".value" : value;
  }

  void write_nullable_struct(const Field& field, const std::string& value, bool tagged) {
    const Versions known = field.versions.intersect(message_.valid);
    const std::string nullable = version_condition(field.nullable, known);
    const std::string mark = tagged ? "out.tagged_struct_mark(" : "out.struct_mark(";
    open_if(nullable);
    out_.line(mark + value + ".has_value());");
    out_.line("if (" + value + ".has_value()) write_fields(out, version, *" + value + ");");
    if (nullable == "true") return;
    out_.next("} else {");
    out_.line("write_fields(out, version, " + value + ".value_or(" + message_.name +
              "::" + element_type(field) + "{}));");
    out_.close();
  }

  void write_array(const Field& field, const std::string& value) {
    const std::string lengths = lengths_of(message_, field);
    std::string list = value;
    const bool optional = is_optional(message_, field);
    if (optional) {
      out_.open("if (" + value + ".has_value()) {");
      list = "(*" + value + ")";
    }
    out_.line("out.array_length(" + list + ".size(), " + lengths + ");");
    out_.open("for (const auto& item : " + list + ") {");
    write_value(field, "item", "", false);
    out_.close();
    if (!optional) return;
    out_.next("} else {");
    const Versions known = field.versions.intersect(message_.valid);
    const std::string nullable = version_condition(field.nullable, known);
    open_if(nullable);
    out_.line("out.null_array(" + lengths + ");");
    if (nullable != "true") {
      out_.next("} else {");
      out_.line("out.array_length(0, " + lengths + ");");
      out_.close();
    }
    out_.close();
  }

  void write_field(const Field& field, bool tagged) {
    const std::string value = "in." + field.member;
    if (field.type.array) {
      write_array(field, value);
    } else {
      write_value(field, value, is_optional(message_, field) ? null_of(message_, field) : "",
                  tagged);
    }
  }

  void write_tagged(const Struct& s) {
    std::vector<const Field*> tagged;
    for (const Field& field : s.fields) {
      if (!tagged_versions(message_, field).empty()) tagged.push_back(&field);
    }
    std::sort(tagged.begin(), tagged.end(),
              [](const Field* a, const Field* b) { return a->tag < b->tag; });
    const std::string condition = version_condition(message_.flexible, message_.valid);
    open_if(condition);
    std::string sum;
    for (const Field* field : tagged) {
      const std::string has = version_condition(tagged_versions(message_, *field),
                                                message_.flexible.intersect(message_.valid));
      const std::string name = "has_" + field->member;
      const std::string differs = differs_from_default(message_, *field, "in." + field->member);
      out_.line("const bool " + name + " = " + (has == "true" ? "" : has + " && ") +
                qualify_struct(*field, differs) + ";");
      sum += (sum.empty() ? "" : " + ") + ("(" + name + " ? 1U : 0U)");
    }
    out_.line("out.unsigned_varint(" + (sum.empty() ? "0" : sum) + ");");
    for (const Field* field : tagged) {
      out_.open("if (has_" + field->member + ") {");
      out_.line("const Writer::Tag tag = out.begin_tag(" + std::to_string(field->tag) + ");");
      write_field(*field, true);
      out_.line("out.end_tag(tag);");
      out_.close();
    }
    close_if(condition);
  }

  // The default of a struct is written outside of the message's scope.
  std::string qualify_struct(const Field& field, std::string text) const {
    if (field.type.kind != Kind::kStruct || field.type.array) return text;
    const std::string plain = " == " + field.type.struct_name + "{}";
    const size_t at = text.find(plain);
    if (at != std::string::npos) text.insert(at + 4, message_.name + "::");
    return text;
  }

  void emit_write_struct(const Struct& s) {
    out_.line(
        "[[maybe_unused]] void write_fields([[maybe_unused]] Writer& out, [[maybe_unused]] int16_t "
        "version,");
    out_.open("                                   [[maybe_unused]] const " +
              qualified(message_, s) + "& in) {");
    emit_lengths();
    for (const Field& field : s.fields) {
      const std::string condition =
          version_condition(plain_versions(message_, field), message_.valid);
      if (condition == "false") continue;
      open_if(condition);
      write_field(field, false);
      close_if(condition);
    }
    if (ever_flexible()) write_tagged(s);
    out_.close();
    out_.line();
  }

  // ---- the members of the message

  void emit_members() {
    const std::string& name = message_.name;
    out_.open("Result<" + name + "> " + name + "::decode(Reader& in, int16_t version) {");
    out_.line(
        "if (version < kMinVersion || version > kMaxVersion) return unsupported_version(kName, "
        "version);");
    out_.line(name + " out;");
    out_.line("read_fields(in, version, out);");
    out_.line("if (!in.ok()) return in.error(kName, version);");
    out_.line("return Result<" + name + ">(std::move(out));");
    out_.close();
    out_.line();
    out_.line(
        "void " + name +
        "::encode(Writer& out, int16_t version) const { write_fields(out, version, *this); }");
    out_.line();
    out_.open("size_t " + name + "::size(int16_t version) const {");
    out_.line("Writer counter = Writer::counting();");
    out_.line("write_fields(counter, version, *this);");
    out_.line("return counter.size();");
    out_.close();
    out_.line();
    out_.open("std::string " + name + "::to_string() const {");
    out_.line("Printer out(kName);");
    out_.line("print_fields(out, *this);");
    out_.line("return out.take();");
    out_.close();
    out_.line();
  }

  const Message& message_;
  CodeWriter out_;
};

size_t min_size(const Message& message, const Struct& s, int16_t version);

size_t min_size(const Message& message, const Field& field, bool array, int16_t version) {
  const bool flexible =
      field.flexible ? field.flexible->contains(version) : message.is_flexible(version);
  if (array) return flexible ? 1 : 4;
  switch (field.type.kind) {
    case Kind::kString: return flexible ? 1 : 2;
    case Kind::kBytes:
    case Kind::kRecords: return flexible ? 1 : 4;
    case Kind::kStruct:
      if (!field.type.array && field.nullable.contains(version)) return 1;
      return min_size(message, message.find(field.type.struct_name), version);
    default: return fixed_size(field.type.kind);
  }
}

size_t min_size(const Message& message, const Struct& s, int16_t version) {
  size_t size = message.is_flexible(version) ? 1 : 0;
  for (const Field& field : s.fields) {
    if (field.versions.contains(version) && !field.is_tagged(version)) {
      size += min_size(message, field, field.type.array, version);
    }
  }
  return size;
}

}  // namespace

size_t min_element_size(const Message& message, const Field& field) {
  size_t least = SIZE_MAX;
  for (int16_t version = message.valid.low; version <= message.valid.high; ++version) {
    if (field.versions.contains(version))
      least = std::min(least, min_size(message, field, false, version));
  }
  return least == SIZE_MAX ? 1 : std::max<size_t>(least, 1);
}

std::string emit_source(const Message& message) { return Codec(message).emit(); }

}  // namespace ackord::codegen
