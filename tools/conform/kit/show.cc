#include "tools/conform/kit/show.h"

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

}  // namespace

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
