#include "tools/codec/verify.h"

#include <boost/json.hpp>
#include <istream>
#include <ostream>
#include <string>

#include "tools/codec/codec.h"

namespace ackord::codec {
namespace {

namespace json = boost::json;

constexpr size_t kReported = 10;

// What is wrong with a line; empty when it passes.
std::string check(const std::string& line) {
  json::error_code problem;
  const json::value parsed = json::parse(line, problem);
  if (problem || !parsed.is_object()) return "not a JSON object";
  const json::object& vector = parsed.get_object();
  const json::value* message = vector.if_contains("message");
  const json::value* version = vector.if_contains("version");
  const json::value* expected = vector.if_contains("json");
  const json::value* hex = vector.if_contains("hex");
  if (message == nullptr || !message->is_string() || version == nullptr || !version->is_int64() ||
      expected == nullptr || hex == nullptr || !hex->is_string()) {
    return "message, version, json or hex is missing";
  }
  const std::string name(message->get_string());
  const auto number = static_cast<int16_t>(version->get_int64());
  const std::string head = name + " v" + std::to_string(number) + ": ";
  std::vector<std::byte> bytes;
  if (!parse_hex(hex->get_string(), bytes)) return head + "hex is not hex";
  const auto decoded = decode(name, number, bytes);
  if (!decoded) return head + "decode: " + decoded.error().message;
  if (*decoded != *expected) {
    return head + "decoded\n  " + json::serialize(*decoded) + "\nexpected\n  " +
           json::serialize(*expected);
  }
  const auto encoded = encode(name, number, *expected);
  if (!encoded) return head + "encode: " + encoded.error().message;
  if (*encoded != bytes)
    return head + "encoded\n  " + hex_of(*encoded) + "\nexpected\n  " + hex_of(bytes);
  return "";
}

}  // namespace

Verdict verify(std::istream& in, std::ostream& report) {
  Verdict verdict;
  std::string line;
  for (size_t number = 1; std::getline(in, line); ++number) {
    if (line.empty()) continue;
    const std::string difference = check(line);
    if (difference.empty()) {
      ++verdict.passed;
    } else if (++verdict.failed <= kReported) {
      report << "line " << number << ": " << difference << "\n";
    }
  }
  return verdict;
}

}  // namespace ackord::codec
