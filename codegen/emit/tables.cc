#include "codegen/emit/tables.h"

#include "codegen/emit/code_writer.h"

namespace ackord::codegen {
namespace {

constexpr const char* kBanner =
    "// Generated from all schemas. Do not edit: change the schemas, or codegen/.";
// ApiVersions is asked before the versions are known, so its answer always has the first header.
constexpr int16_t kApiVersionsKey = 18;

const char* type_name(MessageType type) {
  switch (type) {
    case MessageType::kRequest: return "kRequest";
    case MessageType::kResponse: return "kResponse";
    case MessageType::kHeader: return "kHeader";
    case MessageType::kData: return "kData";
    case MessageType::kCoordinatorKey: return "kCoordinatorKey";
    case MessageType::kCoordinatorValue: return "kCoordinatorValue";
    case MessageType::kMetadata: return "kMetadata";
  }
  return "";
}

int16_t flexible_from(const Message& message) {
  return message.flexible.empty() ? Versions::kLast : message.flexible.low;
}

void emit_header_switch(const std::vector<Message>& messages, MessageType type, CodeWriter& out) {
  out.open("switch (api_key) {");
  for (const Message& message : messages) {
    if (message.type != type) continue;
    const bool exempt = type == MessageType::kResponse && message.api_key == kApiVersionsKey;
    const int16_t from = exempt ? Versions::kLast : flexible_from(message);
    const std::string plain = type == MessageType::kRequest ? "1" : "0";
    const std::string flexible = type == MessageType::kRequest ? "2" : "1";
    const std::string value =
        from == Versions::kLast ? plain
        : from == 0             ? flexible
                    : "api_version >= " + std::to_string(from) + " ? " + flexible + " : " + plain;
    out.line("case " + std::to_string(message.api_key) + ": return " + value + ";  // " +
             message.name);
  }
  out.line("default: return -1;");
  out.close();
}

}  // namespace

std::string emit_messages_header() {
  CodeWriter out;
  out.line(kBanner);
  out.line("#pragma once");
  out.line();
  out.line("#include <cstdint>");
  out.line("#include <span>");
  out.line("#include <string_view>");
  out.line();
  out.line("namespace ackord::protocol {");
  out.line();
  out.open("enum class MessageType {");
  out.line("kRequest,");
  out.line("kResponse,");
  out.line("kHeader,");
  out.line("kData,");
  out.line("kCoordinatorKey,");
  out.line("kCoordinatorValue,");
  out.line("kMetadata,");
  out.close("};");
  out.line();
  out.open("struct MessageInfo {");
  out.line("std::string_view name;");
  out.line("MessageType type;");
  out.line("int16_t api_key;  // or the type of the record; -1: none");
  out.line("int16_t min_version;");
  out.line("int16_t max_version;");
  out.line("int16_t flexible_from;  // 32767: never");
  out.line("bool latest_version_unstable;");
  out.close("};");
  out.line();
  out.line("// Sorted by name.");
  out.line("std::span<const MessageInfo> all_messages();");
  out.line("// nullptr when there is none of this name.");
  out.line("const MessageInfo* find_message(std::string_view name);");
  out.line(
      "// The request or response of an API, the key or value of a record type: the first of this "
      "type and key.");
  out.line("const MessageInfo* find_message(MessageType type, int16_t api_key);");
  out.line();
  out.line("}  // namespace ackord::protocol");
  return out.take();
}

std::string emit_messages_source(const std::vector<Message>& messages) {
  CodeWriter out;
  out.line(kBanner);
  out.line("#include \"protocol/generated/messages.h\"");
  out.line();
  out.line("#include <algorithm>");
  out.line();
  out.line("namespace ackord::protocol {");
  out.line("namespace {");
  out.line();
  out.open("constexpr MessageInfo kMessages[] = {");
  for (const Message& m : messages) {
    out.line("{\"" + m.name + "\", MessageType::" + type_name(m.type) + ", " +
             std::to_string(m.api_key) + ", " + std::to_string(m.valid.low) + ", " +
             std::to_string(m.valid.high) + ", " + std::to_string(flexible_from(m)) + ", " +
             (m.latest_version_unstable ? "true" : "false") + "},");
  }
  out.close("};");
  out.line();
  out.line("}  // namespace");
  out.line();
  out.line("std::span<const MessageInfo> all_messages() { return kMessages; }");
  out.line();
  out.open("const MessageInfo* find_message(std::string_view name) {");
  out.line(
      "const auto* found = std::lower_bound(std::begin(kMessages), std::end(kMessages), name,");
  out.line(
      "    [](const MessageInfo& message, std::string_view wanted) { return message.name < wanted; "
      "});");
  out.line("return found != std::end(kMessages) && found->name == name ? found : nullptr;");
  out.close();
  out.line();
  out.open("const MessageInfo* find_message(MessageType type, int16_t api_key) {");
  out.line("const auto* found = std::find_if(std::begin(kMessages), std::end(kMessages),");
  out.line(
      "    [=](const MessageInfo& message) { return message.type == type && message.api_key == "
      "api_key; });");
  out.line("return found != std::end(kMessages) ? found : nullptr;");
  out.close();
  out.line();
  out.line("}  // namespace ackord::protocol");
  return out.take();
}

std::string emit_header_versions_header() {
  CodeWriter out;
  out.line(kBanner);
  out.line("#pragma once");
  out.line();
  out.line("#include <cstdint>");
  out.line();
  out.line("namespace ackord::protocol {");
  out.line();
  out.line(
      "// The version of the RequestHeader or ResponseHeader that precedes the body; -1 for an "
      "unknown key.");
  out.line("// A version beyond the last one is taken for flexible if the last one is.");
  out.line("int16_t request_header_version(int16_t api_key, int16_t api_version);");
  out.line("int16_t response_header_version(int16_t api_key, int16_t api_version);");
  out.line();
  out.line("}  // namespace ackord::protocol");
  return out.take();
}

std::string emit_header_versions_source(const std::vector<Message>& messages) {
  CodeWriter out;
  out.line(kBanner);
  out.line("#include \"protocol/generated/header_versions.h\"");
  out.line();
  out.line("namespace ackord::protocol {");
  out.line();
  out.open("int16_t request_header_version(int16_t api_key, int16_t api_version) {");
  emit_header_switch(messages, MessageType::kRequest, out);
  out.close();
  out.line();
  out.open("int16_t response_header_version(int16_t api_key, int16_t api_version) {");
  emit_header_switch(messages, MessageType::kResponse, out);
  out.close();
  out.line();
  out.line("}  // namespace ackord::protocol");
  return out.take();
}

std::string emit_json_messages_source(const std::vector<Message>& messages) {
  CodeWriter out;
  out.line(kBanner);
  out.line("#include <algorithm>");
  out.line();
  out.line("#include \"protocol/json/json_message.h\"");
  out.line();
  out.line("namespace ackord::protocol {");
  out.line();
  for (const Message& m : messages) out.line("extern const JsonMessage kJson" + m.name + ";");
  out.line();
  out.line("namespace {");
  out.line();
  out.open("constexpr const JsonMessage* kJsonMessages[] = {");
  for (const Message& m : messages) out.line("&kJson" + m.name + ",");
  out.close("};");
  out.line();
  out.line("}  // namespace");
  out.line();
  out.line("std::span<const JsonMessage* const> all_json_messages() { return kJsonMessages; }");
  out.line();
  out.open("const JsonMessage* find_json_message(std::string_view name) {");
  out.line("const auto* found = std::find_if(std::begin(kJsonMessages), std::end(kJsonMessages),");
  out.line("    [=](const JsonMessage* message) { return message->name == name; });");
  out.line("return found != std::end(kJsonMessages) ? *found : nullptr;");
  out.close();
  out.line();
  out.line("}  // namespace ackord::protocol");
  return out.take();
}

}  // namespace ackord::codegen
