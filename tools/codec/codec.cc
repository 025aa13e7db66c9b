#include "tools/codec/codec.h"

#include "protocol/json/json_message.h"

namespace ackord::codec {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

Result<const protocol::JsonMessage*> find(std::string_view message) {
  const protocol::JsonMessage* found = protocol::find_json_message(message);
  if (found == nullptr)
    return error(ErrorCode::INVALID_REQUEST, "no message is named " + std::string(message));
  return found;
}

int digit(char c) {
  if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const size_t at = kDigits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

bool parse_hex(std::string_view text, std::vector<std::byte>& out) {
  std::vector<std::byte> bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ') continue;
    const int value = digit(c);
    if (value < 0) return false;
    if (high < 0) {
      high = value;
    } else {
      bytes.push_back(static_cast<std::byte>(high * 16 + value));
      high = -1;
    }
  }
  if (high >= 0) return false;
  out = std::move(bytes);
  return true;
}

std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    text.push_back(kDigits[static_cast<size_t>(byte) >> 4]);
    text.push_back(kDigits[static_cast<size_t>(byte) & 15]);
  }
  return text;
}

Result<boost::json::value> decode(std::string_view message, int16_t version,
                                  const std::vector<std::byte>& bytes) {
  const auto found = find(message);
  if (!found) return found.error();
  protocol::Reader in(bytes);
  auto decoded = (*found)->decode(in, version);
  if (decoded && in.remaining() != 0) {
    return error(ErrorCode::INVALID_REQUEST,
                 std::to_string(in.remaining()) + " bytes are left over");
  }
  return decoded;
}

Result<std::vector<std::byte>> encode(std::string_view message, int16_t version,
                                      const boost::json::value& from) {
  const auto found = find(message);
  if (!found) return found.error();
  protocol::Writer out;
  const auto size = (*found)->encode(from, version, out, protocol::Missing::kRefused);
  if (!size) return size.error();
  std::vector<std::byte> bytes = out.finish().copy();
  if (bytes.size() != *size) {
    return error(ErrorCode::UNKNOWN_SERVER_ERROR, "size() says " + std::to_string(*size) +
                                                      " bytes, encode() wrote " +
                                                      std::to_string(bytes.size()));
  }
  return bytes;
}

}  // namespace ackord::codec
