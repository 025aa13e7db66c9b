#include "codegen/emit/struct.h"

#include <algorithm>

#include "codegen/emit/code_writer.h"
#include "codegen/emit/cpp.h"

namespace ackord::codegen {
namespace {

bool any_field(const Message& message, bool (*wanted)(const Message&, const Field&)) {
  return std::any_of(message.structs.begin(), message.structs.end(), [&](const Struct& s) {
    return std::any_of(s.fields.begin(), s.fields.end(),
                       [&](const Field& f) { return wanted(message, f); });
  });
}

void emit_includes(const Message& message, CodeWriter& out) {
  out.line("#pragma once");
  out.line();
  out.line("#include <cstddef>");
  out.line("#include <cstdint>");
  if (any_field(message, is_optional)) out.line("#include <optional>");
  out.line("#include <string>");
  out.line("#include <string_view>");
  if (any_field(message, [](const Message&, const Field& f) { return f.type.array; }))
    out.line("#include <vector>");
  out.line();
  out.line("#include \"protocol/types/ids.h\"");
  if (any_field(message,
                [](const Message&, const Field& f) { return f.type.kind == Kind::kRecords; })) {
    out.line("#include \"protocol/types/records.h\"");
  }
  out.line("#include \"protocol/types/result.h\"");
  out.line("#include \"protocol/types/string.h\"");
  if (any_field(message,
                [](const Message&, const Field& f) { return f.type.kind == Kind::kRecords; })) {
    out.line("#include \"protocol/wire/records_equal.h\"");
  }
  out.line();
}

void emit_fields(const Message& message, const Struct& s, CodeWriter& out) {
  for (const Field& field : s.fields) {
    std::string text =
        member_type(message, field) + " " + field.member + initializer(message, field) + ";";
    const Versions versions = field.versions.intersect(message.valid);
    if (!versions.covers(message.valid)) {
      text += versions.empty() ? "  // in no version that is still spoken"
                               : "  // versions " + field.versions.to_string();
    }
    out.line(text);
  }
}

void emit_equality(const Struct& s, CodeWriter& out) {
  out.line("friend bool operator==(const " + s.name + "&, const " + s.name + "&) = default;");
}

}  // namespace

std::string emit_header(const Message& message) {
  CodeWriter out;
  out.line(banner(message.file));
  emit_includes(message, out);
  out.line("namespace ackord::protocol {");
  out.line();
  out.line("class Reader;");
  out.line("class Writer;");
  out.line();
  out.open("struct " + message.name + " {");
  for (const Struct& s : message.structs) {
    if (&s == &message.root()) continue;
    out.open("struct " + s.name + " {");
    emit_fields(message, s, out);
    out.line();
    emit_equality(s, out);
    out.close("};");
    out.line();
  }
  emit_fields(message, message.root(), out);
  if (!message.root().fields.empty()) out.line();
  out.line("static constexpr std::string_view kName = \"" + message.name + "\";");
  if (message.api_key >= 0) {
    out.line("static constexpr int16_t kApiKey = " + std::to_string(message.api_key) + ";");
  }
  const int16_t flexible = message.flexible.empty() ? Versions::kLast : message.flexible.low;
  out.line("static constexpr int16_t kMinVersion = " + std::to_string(message.valid.low) + ";");
  out.line("static constexpr int16_t kMaxVersion = " + std::to_string(message.valid.high) + ";");
  out.line("static constexpr int16_t kFlexibleFrom = " + std::to_string(flexible) + ";");
  out.line();
  out.line("// The decoded message borrows from the reader's bytes.");
  out.line("static Result<" + message.name + "> decode(Reader& in, int16_t version);");
  out.line("// Leaves out what the version does not have.");
  out.line("void encode(Writer& out, int16_t version) const;");
  out.line("// Bytes that encode() would write.");
  out.line("size_t size(int16_t version) const;");
  out.line("// For people; secrets are masked.");
  out.line("std::string to_string() const;");
  emit_equality(message.root(), out);
  out.close("};");
  out.line();
  out.line("}  // namespace ackord::protocol");
  return out.take();
}

}  // namespace ackord::codegen
