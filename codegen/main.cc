// ackord-codegen SCHEMAS OUTPUT: writes the C++ of all schemas below SCHEMAS into OUTPUT.
// Exit code 1 when a schema is wrong; then nothing is written. A file whose content stays the same
// is not touched.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codegen/emit/codec.h"
#include "codegen/emit/json.h"
#include "codegen/emit/struct.h"
#include "codegen/emit/tables.h"
#include "codegen/schema/error.h"
#include "codegen/schema/message.h"
#include "codegen/schema/names.h"

namespace {

namespace fs = std::filesystem;
using namespace ackord::codegen;  // NOLINT: this file is the generator

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// False when the file cannot be written.
bool write_file(const fs::path& path, const std::string& content) {
  if (fs::exists(path) && read_file(path) == content) return true;
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  return !out.fail();
}

// Sorted by name, without the messages that no version is left of.
std::vector<Message> load(const fs::path& schemas) {
  std::vector<Message> messages;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(schemas)) {
    if (entry.path().extension() != ".json") continue;
    const std::string file = fs::relative(entry.path(), schemas).generic_string();
    Message message = parse_message(read_file(entry.path()), file);
    if (!message.valid.empty()) messages.push_back(std::move(message));
  }
  std::sort(messages.begin(), messages.end(),
            [](const Message& a, const Message& b) { return a.name < b.name; });
  return messages;
}

void check_together(const std::vector<Message>& messages) {
  std::map<std::pair<MessageType, int16_t>, std::string> keys;
  const Message* before = nullptr;
  for (const Message& message : messages) {
    if (before != nullptr && before->name == message.name) {
      throw SchemaError(message.file, "", "a second message of this name, after " + before->file);
    }
    before = &message;
    if (message.type != MessageType::kRequest && message.type != MessageType::kResponse) continue;
    const auto [found, added] =
        keys.emplace(std::pair(message.type, message.api_key), message.file);
    if (!added) throw SchemaError(message.file, "", "the same apiKey as " + found->second);
  }
}

std::map<std::string, std::string> generate(const std::vector<Message>& messages) {
  std::map<std::string, std::string> files;
  for (const Message& message : messages) {
    const std::string name = snake_case(message.name);
    files[name + ".h"] = emit_header(message);
    files[name + ".cc"] = emit_source(message);
    files[name + "_json.h"] = emit_json_header(message);
    files[name + "_json.cc"] = emit_json_source(message);
  }
  files["messages.h"] = emit_messages_header();
  files["messages.cc"] = emit_messages_source(messages);
  files["header_versions.h"] = emit_header_versions_header();
  files["header_versions.cc"] = emit_header_versions_source(messages);
  files["json_messages.cc"] = emit_json_messages_source(messages);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: ackord-codegen SCHEMAS OUTPUT\n";
    return 2;
  }
  try {
    const std::vector<Message> messages = load(argv[1]);
    check_together(messages);
    fs::create_directories(argv[2]);
    for (const auto& [name, content] : generate(messages)) {
      if (!write_file(fs::path(argv[2]) / name, content)) {
        std::cerr << "cannot write " << name << "\n";
        return 1;
      }
    }
  } catch (const std::exception& problem) {
    std::cerr << "error: " << problem.what() << "\n";
    return 1;
  }
  return 0;
}
