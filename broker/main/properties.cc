#include "broker/main/properties.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

namespace ackord::main {
namespace {

constexpr std::string_view kBlank = " \t\f";

std::string_view skip_blanks(std::string_view text) {
  const size_t start = text.find_first_not_of(kBlank);
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

std::string_view trim(std::string_view text) {
  text = skip_blanks(text);
  const size_t last = text.find_last_not_of(kBlank);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Cuts the next line off; \n, \r and \r\n end one.
std::string_view take_line(std::string_view& rest) {
  const size_t end = rest.find_first_of("\r\n");
  const std::string_view line = rest.substr(0, end);
  if (end == std::string_view::npos) {
    rest = {};
  } else {
    const bool both = rest.substr(end, 2) == "\r\n";
    rest.remove_prefix(end + (both ? 2 : 1));
  }
  return line;
}

bool is_continued(std::string_view line) {
  const size_t last = line.find_last_not_of('\\');
  const size_t backslashes = line.size() - (last == std::string_view::npos ? 0 : last + 1);
  return backslashes % 2 == 1;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out.push_back(static_cast<char>(code));
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out.push_back(static_cast<char>(kLead[more] | code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i)
    out.push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3f)));
}

// The four digits of \uXXXX.
std::optional<uint32_t> take_hex(std::string_view& rest) {
  uint32_t code = 0;
  if (rest.size() < 4) return std::nullopt;
  const auto [end, failed] = std::from_chars(rest.data(), rest.data() + 4, code, 16);
  if (failed != std::errc() || end != rest.data() + 4) return std::nullopt;
  rest.remove_prefix(4);
  return code;
}

// Java writes characters beyond 16 bits as two escapes.
bool take_unicode(std::string_view& rest, std::string& out) {
  auto code = take_hex(rest);
  if (!code) return false;
  if (*code >= 0xd800 && *code < 0xdc00) {
    if (!rest.starts_with("\\u")) return false;
    rest.remove_prefix(2);
    const auto low = take_hex(rest);
    if (!low || *low < 0xdc00 || *low > 0xdfff) return false;
    code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
  }
  append_utf8(out, *code);
  return true;
}

// Takes one character or escape from `rest`. False for a broken \u.
bool take_character(std::string_view& rest, std::string& out) {
  const char first = rest.front();
  rest.remove_prefix(1);
  if (first != '\\' || rest.empty()) {
    if (first != '\\') out.push_back(first);
    return true;
  }
  const char escaped = rest.front();
  rest.remove_prefix(1);
  switch (escaped) {
    case 'u': return take_unicode(rest, out);
    case 't': out.push_back('\t'); return true;
    case 'n': out.push_back('\n'); return true;
    case 'r': out.push_back('\r'); return true;
    case 'f': out.push_back('\f'); return true;
    default: out.push_back(escaped); return true;
  }
}

// Name and value of a logical line; false for a broken \u.
bool split_line(std::string_view line, Property& property) {
  while (!line.empty() && line.find_first_of("=: \t\f") != 0) {
    if (!take_character(line, property.name)) return false;
  }
  line = skip_blanks(line);
  if (!line.empty() && (line.front() == '=' || line.front() == ':')) line.remove_prefix(1);
  line = skip_blanks(line);
  while (!line.empty()) {
    if (!take_character(line, property.value)) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<Property>> parse_properties(std::string_view text, std::string_view file_name) {
  std::vector<Property> properties;
  size_t number = 0;
  while (!text.empty()) {
    ++number;
    const size_t first_number = number;
    std::string line(skip_blanks(take_line(text)));
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    while (is_continued(line)) {
      line.pop_back();
      if (text.empty()) break;
      ++number;
      line += skip_blanks(take_line(text));
    }
    Property property;
    property.origin = fmt::format("{}:{}", file_name, first_number);
    if (!split_line(line, property)) {
      return error(ErrorCode::INVALID_CONFIG,
                   fmt::format("{}: malformed \\u escape", property.origin));
    }
    properties.push_back(std::move(property));
  }
  return properties;
}

Result<Property> parse_assignment(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = trim(text.substr(0, equals));
  if (equals == std::string_view::npos || name.empty()) {
    return error(ErrorCode::INVALID_CONFIG, fmt::format("--set: {} is not name=value", text));
  }
  return Property{std::string(name), std::string(trim(text.substr(equals + 1))), "--set"};
}

}  // namespace ackord::main
