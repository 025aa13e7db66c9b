// ackord-codec: messages between hex and JSON, and a check of the codec against vectors.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "protocol/json/json_message.h"
#include "tools/codec/codec.h"
#include "tools/codec/verify.h"

namespace {

using namespace ackord;  // NOLINT: this file is the program

int fail(const std::string& reason) {
  std::cerr << "ackord-codec: " << reason << "\n";
  return 1;
}

int run_verify(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail("cannot read " + path);
  const codec::Verdict verdict = codec::verify(in, std::cout);
  std::cout << verdict.passed << " passed, " << verdict.failed << " failed\n";
  return verdict.failed == 0 && verdict.passed != 0 ? 0 : 1;
}

int run_decode(const std::string& message, int16_t version, const std::string& hex) {
  std::vector<std::byte> bytes;
  if (!codec::parse_hex(hex, bytes)) return fail("not hex");
  const auto decoded = codec::decode(message, version, bytes);
  if (!decoded) return fail(decoded.error().message);
  std::cout << boost::json::serialize(*decoded) << "\n";
  return 0;
}

int run_encode(const std::string& message, int16_t version, const std::string& text) {
  boost::json::error_code problem;
  const boost::json::value from = boost::json::parse(text, problem);
  if (problem) return fail("not JSON: " + problem.message());
  const auto encoded = codec::encode(message, version, from);
  if (!encoded) return fail(encoded.error().message);
  std::cout << codec::hex_of(*encoded) << "\n";
  return 0;
}

int run_list() {
  for (const protocol::JsonMessage* message : protocol::all_json_messages()) {
    std::cout << message->name << " " << message->min_version << "-" << message->max_version
              << "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Messages of the Kafka protocol between hex and JSON");
  app.require_subcommand(1);
  std::string message;
  std::string text;
  int16_t version = 0;

  CLI::App* verify =
      app.add_subcommand("verify", "check vectors: one {message, version, json, hex} a line");
  verify->add_option("file", text, "the vectors")->required();
  CLI::App* decode = app.add_subcommand("decode", "print the JSON of a message");
  decode->add_option("message", message, "its name, as in schemas/")->required();
  decode->add_option("version", version)->required();
  decode->add_option("hex", text)->required();
  CLI::App* encode = app.add_subcommand("encode", "print the hex of a message");
  encode->add_option("message", message, "its name, as in schemas/")->required();
  encode->add_option("version", version)->required();
  encode->add_option("json", text)->required();
  app.add_subcommand("list", "print all messages and their versions");
  CLI11_PARSE(app, argc, argv);

  if (*verify) return run_verify(text);
  if (*decode) return run_decode(message, version, text);
  if (*encode) return run_encode(message, version, text);
  return run_list();
}
