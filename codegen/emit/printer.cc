#include "codegen/emit/printer.h"

#include "codegen/emit/cpp.h"

namespace ackord::codegen {
namespace {

void print_value(const Field& field, const std::string& value, CodeWriter& out) {
  if (field.type.kind == Kind::kStruct) {
    out.line("out.open();");
    out.line("print_fields(out, " + value + ");");
    out.line("out.close();");
    return;
  }
  const bool id = field.entity == "producerId" || field.entity == "brokerId";
  out.line("out.value(" + value + (id ? ".value" : "") + ");");
}

void print_list(const Field& field, const std::string& value, CodeWriter& out) {
  out.line("out.open_list();");
  out.open("for (const auto& item : " + value + ") {");
  print_value(field, "item", out);
  out.close();
  out.line("out.close_list();");
}

void print_field(const Message& message, const Field& field, CodeWriter& out) {
  out.line("out.name(\"" + field.json_name + "\");");
  if (is_secret(field)) {
    out.line("out.secret();");
    return;
  }
  std::string value = "in." + field.member;
  const bool optional = is_optional(message, field);
  if (optional) {
    out.open("if (!" + value + ".has_value()) {");
    out.line("out.null();");
    out.next("} else {");
    value = "(*" + value + ")";
  }
  if (field.type.array) {
    print_list(field, value, out);
  } else {
    print_value(field, value, out);
  }
  if (optional) out.close();
}

}  // namespace

void emit_print_struct(const Message& message, const Struct& s, const std::string& type,
                       CodeWriter& out) {
  out.line("[[maybe_unused]] void print_fields([[maybe_unused]] Printer& out,");
  out.open("                                   [[maybe_unused]] const " + type + "& in) {");
  for (const Field& field : s.fields) print_field(message, field, out);
  out.close();
  out.line();
}

}  // namespace ackord::codegen
