// Short forms for the JSON of requests.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/json/base64.h"

namespace ackord::conform {

namespace json = boost::json;
// One struct of a request: Object{{"name", "x"}, {"partitions", list(0, 1)}}.
using Object = json::object;

// An array of exactly these items. (json::array{…} takes two texts for a field and its value.)
template <class... Items>
json::array list(Items&&... items) {
  json::array out;
  (out.emplace_back(std::forward<Items>(items)), ...);
  return out;
}
// An array made from each of a range.
template <class Range, class Make>
json::array list_of(const Range& range, Make make) {
  json::array out;
  for (const auto& item : range) out.emplace_back(make(item));
  return out;
}

// A field of bytes or records.
inline json::value bytes(std::span<const std::byte> raw) {
  return json::string(protocol::base64_of(raw));
}
inline json::value bytes(const std::vector<std::byte>& raw) {
  return bytes(std::span<const std::byte>(raw));
}
inline json::value bytes(std::string_view text) {
  return bytes(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

// The fields of both; those of the second win.
inline Object merged(Object first, const Object& second) {
  for (const auto& [name, value] : second) first[name] = value;
  return first;
}

}  // namespace ackord::conform
