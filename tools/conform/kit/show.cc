#include "tools/conform/kit/show.h"

#include <algorithm>
#include <boost/json/serialize.hpp>

namespace ackord::conform {
namespace {

namespace json = boost::json;

constexpr size_t kTextLimit = 120;
constexpr size_t kMessageLimit = 2400;

json::value shortened(const json::value& value) {
  if (const json::string* text = value.if_string(); text != nullptr && text->size() > kTextLimit) {
    return json::string(
        fmt::format("{}… ({} characters)", std::string_view(*text).substr(0, 40), text->size()));
  }
  if (const json::array* list = value.if_array()) {
    json::array out;
    for (const json::value& item : *list) out.push_back(shortened(item));
    return out;
  }
  if (const json::object* fields = value.if_object()) {
    json::object out;
    for (const auto& [name, field] : *fields) out[name] = shortened(field);
    return out;
  }
  return value;
}

// How many bytes the character at the front of `text` takes; 0 when they are not valid UTF-8.
size_t character_size(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Shorter forms exist, surrogates, and what lies beyond the last code point.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f))
    return 0;
  return size;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t size = character_size(text);
    if (size == 0)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else
      out += text.substr(0, size);
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

std::string show_error(int64_t code) {
  return fmt::format("{}({})", name_of(static_cast<ErrorCode>(code)), code);
}

std::string show(const json::value& value) {
  std::string text = json::serialize(shortened(value));
  if (text.size() > kMessageLimit)
    text = text.substr(0, kMessageLimit) + fmt::format("… ({} characters)", text.size());
  return text;
}

}  // namespace ackord::conform
