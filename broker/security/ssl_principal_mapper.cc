#include "broker/security/ssl_principal_mapper.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace ackord::security {
namespace {

constexpr std::string_view kDefault = "DEFAULT";
constexpr std::string_view kRule = "RULE:";

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Where the `/` is that ends a pattern or a replacement; a backslash takes the next character's
// meaning away.
size_t end_of_part(std::string_view text, size_t from) {
  for (size_t at = from; at < text.size(); ++at) {
    if (text[at] == '/') return at;
    if (text[at] == '\\') ++at;
  }
  return std::string_view::npos;
}

struct Parts {
  std::string_view pattern;
  std::string_view replacement;
  char letters = ' ';  // L, U or neither
  size_t end = 0;      // behind them
};

// Of a text that begins with RULE:.
std::optional<Parts> parts_of(std::string_view text) {
  const size_t first = end_of_part(text, kRule.size());
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = end_of_part(text, first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  Parts parts{text.substr(kRule.size(), first - kRule.size()),
              text.substr(first + 1, second - first - 1), ' ', second + 1};
  if (parts.end < text.size() && (text[parts.end] == 'L' || text[parts.end] == 'U'))
    parts.letters = text[parts.end++];
  return parts;
}

// The rules; a comma within the parts of one does not end it.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  text = without_space(text);
  while (!text.empty()) {
    size_t search_from = 0;
    if (text.starts_with(kRule)) {
      if (const auto parts = parts_of(text)) search_from = parts->end;
    }
    const size_t comma = text.find(',', search_from);
    items.push_back(without_space(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text = without_space(text.substr(comma + 1));
  }
  return items;
}

void change_letters(std::string& text, char letters) {
  if (letters == ' ') return;
  std::transform(text.begin(), text.end(), text.begin(), [letters](unsigned char c) {
    return static_cast<char>(letters == 'L' ? std::tolower(c) : std::toupper(c));
  });
}

}  // namespace

struct SslPrincipalMapper::Rule {
  Rule() = default;
  Rule(std::string_view pattern_text, std::string_view replacement_text, char case_letters)
      : is_default(false),
        pattern(re2::StringPiece(pattern_text.data(), pattern_text.size()), RE2::Quiet),
        replacement(replacement_text),
        letters(case_letters) {}

  std::optional<std::string> apply(const std::string& name) const {
    if (is_default) return name;
    if (!RE2::FullMatch(name, pattern)) return std::nullopt;
    std::string out = replaced(name);
    change_letters(out, letters);
    return out;
  }

  // Every match, as Java's replaceAll: an empty one behind the last counts, too.
  std::string replaced(const std::string& name) const {
    std::string out;
    std::vector<re2::StringPiece> groups(static_cast<size_t>(pattern.NumberOfCapturingGroups()) +
                                         1);
    size_t copied = 0;
    for (size_t at = 0; at <= name.size();) {
      if (!pattern.Match(name, at, name.size(), RE2::UNANCHORED, groups.data(),
                         static_cast<int>(groups.size())))
        break;
      const auto begin = static_cast<size_t>(groups[0].data() - name.data());
      const size_t end = begin + groups[0].size();
      out.append(name, copied, begin - copied);
      append_replacement(out, groups);
      copied = end;
      at = groups[0].empty() ? end + 1 : end;
    }
    return out.append(name, std::min(copied, name.size()));
  }

  // $n stands for a group; where there is no such group the text stays as it is. A backslash takes
  // the next character's meaning away.
  void append_replacement(std::string& out, const std::vector<re2::StringPiece>& groups) const {
    for (size_t at = 0; at < replacement.size(); ++at) {
      const char c = replacement[at];
      const bool has_next = at + 1 < replacement.size();
      if (c == '\\' && has_next) {
        out.push_back(replacement[++at]);
        continue;
      }
      const char next = has_next ? replacement[at + 1] : ' ';
      if (c != '$' || std::isdigit(static_cast<unsigned char>(next)) == 0) {
        out.push_back(c);
        continue;
      }
      auto group = static_cast<size_t>(next - '0');
      if (group >= groups.size()) {
        out.push_back(c);
        continue;
      }
      ++at;
      // More digits belong to it as long as there is such a group.
      while (at + 1 < replacement.size() &&
             std::isdigit(static_cast<unsigned char>(replacement[at + 1])) != 0) {
        const size_t longer = group * 10 + static_cast<size_t>(replacement[at + 1] - '0');
        if (longer >= groups.size()) break;
        group = longer;
        ++at;
      }
      if (groups[group].data() != nullptr) out.append(groups[group].data(), groups[group].size());
    }
  }

  bool is_default = true;
  RE2 pattern{""};
  std::string replacement;
  char letters = ' ';
};

SslPrincipalMapper::SslPrincipalMapper() = default;
SslPrincipalMapper::SslPrincipalMapper(SslPrincipalMapper&&) noexcept = default;
SslPrincipalMapper& SslPrincipalMapper::operator=(SslPrincipalMapper&&) noexcept = default;
SslPrincipalMapper::~SslPrincipalMapper() = default;

Result<SslPrincipalMapper> SslPrincipalMapper::make(std::string_view rules) {
  const auto refuse = [](std::string_view rule, std::string_view why) {
    return error(ErrorCode::INVALID_CONFIG,
                 fmt::format("ssl.principal.mapping.rules: {}: {}", rule, why));
  };
  SslPrincipalMapper mapper;
  for (const std::string_view item : split(rules)) {
    if (item.empty()) continue;
    if (item == kDefault) {
      mapper.rules_.push_back(std::make_unique<Rule>());
      continue;
    }
    const auto parts = item.starts_with(kRule) ? parts_of(item) : std::nullopt;
    if (!parts) return refuse(item, "neither DEFAULT nor RULE:pattern/replacement/[LU]");
    if (parts->end != item.size()) return refuse(item, "only L or U may follow the last /");
    auto rule = std::make_unique<Rule>(parts->pattern, parts->replacement, parts->letters);
    if (!rule->pattern.ok()) return refuse(item, rule->pattern.error());
    mapper.rules_.push_back(std::move(rule));
  }
  return mapper;
}

std::optional<std::string> SslPrincipalMapper::name_of(
    const std::string& distinguished_name) const {
  for (const auto& rule : rules_) {
    if (auto name = rule->apply(distinguished_name)) return name;
  }
  return std::nullopt;
}

}  // namespace ackord::security
