// show(): readable forms of what a failure message tells, in one line each.
#pragma once

#include <fmt/format.h>

#include <boost/json/value.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::conform {

// "INVALID_RECORD(87)".
std::string show_error(int64_t code);
// The text with every byte that is not part of valid UTF-8 written as "\xb7": answers may hold any.
std::string printable(std::string_view text);
// JSON; long texts (records in base64) and long messages are cut.
std::string show(const boost::json::value& value);

inline std::string show(ErrorCode code) { return show_error(static_cast<int16_t>(code)); }
inline std::string show(bool truth) { return truth ? "true" : "false"; }
inline std::string show(const std::string& text) { return '"' + text + '"'; }
inline std::string show(std::string_view text) { return '"' + std::string(text) + '"'; }
inline std::string show(const char* text) { return '"' + std::string(text) + '"'; }
inline std::string show(const Uuid& id) { return id.to_string(); }
template <class Number>
  requires((std::integral<Number> && !std::same_as<Number, bool>) || std::floating_point<Number>)
std::string show(Number number) {
  return fmt::format("{}", number);
}

template <class T>
std::string show(const std::optional<T>& value);
template <class A, class B>
std::string show(const std::pair<A, B>& pair);
template <class... Ts>
std::string show(const std::tuple<Ts...>& tuple);
template <class T>
std::string show(const std::vector<T>& list);
template <class T>
std::string show(const std::set<T>& set);
template <class K, class V>
std::string show(const std::map<K, V>& map);

template <class Range>
std::string show_range(const Range& range, char open, char close) {
  std::string text(1, open);
  for (const auto& item : range) {
    if (text.size() > 1) text += ", ";
    text += show(item);
  }
  return text + close;
}

template <class T>
std::string show(const std::optional<T>& value) {
  return value ? show(*value) : "null";
}
template <class A, class B>
std::string show(const std::pair<A, B>& pair) {
  return "(" + show(pair.first) + ", " + show(pair.second) + ")";
}
template <class... Ts>
std::string show(const std::tuple<Ts...>& tuple) {
  std::string text;
  std::apply(
      [&](const Ts&... items) { ((text += (text.empty() ? "(" : ", ") + show(items)), ...); },
      tuple);
  return text + ")";
}
template <class T>
std::string show(const std::vector<T>& list) {
  return show_range(list, '[', ']');
}
template <class T>
std::string show(const std::set<T>& set) {
  return show_range(set, '{', '}');
}
template <class K, class V>
std::string show(const std::map<K, V>& map) {
  return show_range(map, '{', '}');
}

}  // namespace ackord::conform
