#include "codegen/schema/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace ackord::codegen {
namespace {

bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

constexpr auto kKeywords = std::to_array<std::string_view>(
    {"and",      "auto",     "bool",    "break",     "case",    "catch",     "char",     "class",
     "const",    "continue", "default", "delete",    "do",      "double",    "else",     "enum",
     "explicit", "export",   "extern",  "false",     "float",   "for",       "friend",   "goto",
     "if",       "inline",   "int",     "long",      "mutable", "namespace", "new",      "not",
     "operator", "or",       "private", "protected", "public",  "register",  "requires", "return",
     "short",    "signed",   "sizeof",  "static",    "struct",  "switch",    "template", "this",
     "throw",    "true",     "try",     "typedef",   "typeid",  "typename",  "union",    "unsigned",
     "using",    "virtual",  "void",    "volatile",  "while",   "xor"});

}  // namespace

std::string snake_case(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool starts_word =
        i > 0 && is_upper(name[i]) &&
        (!is_upper(name[i - 1]) || (i + 1 < name.size() && is_lower(name[i + 1])));
    if (starts_word) out.push_back('_');
    out.push_back(lower(name[i]));
  }
  return out;
}

std::string member_name(std::string_view name) {
  std::string out = snake_case(name);
  if (std::find(kKeywords.begin(), kKeywords.end(), out) != kKeywords.end()) out.push_back('_');
  return out;
}

std::string json_name(std::string_view name) {
  std::string out(name);
  if (!out.empty()) out[0] = lower(out[0]);
  return out;
}

bool is_name(std::string_view name) {
  const auto is_alnum = [](unsigned char c) { return std::isalnum(c) != 0; };
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0 &&
         std::all_of(name.begin(), name.end(), is_alnum);
}

}  // namespace ackord::codegen
