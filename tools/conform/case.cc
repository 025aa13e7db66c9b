#include "tools/conform/case.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace ackord::conform {
namespace {

std::vector<Case>& registry() {
  static std::vector<Case> cases;
  return cases;
}

std::string case_name(const Case& c) { return std::string(c.area->name) + "." + c.name; }

bool selected(const Check& check, std::string_view by) {
  const std::string whole = case_name(*check.of);
  if (check.name == by || whole == by) return true;
  const std::string below = std::string(by) + ".";
  return whole.starts_with(below);
}

}  // namespace

bool add_case(const Case& added) {
  registry().push_back(added);
  return true;
}

std::vector<Check> all_checks() {
  std::vector<Check> checks;
  for (const Case& c : registry()) {
    if (c.options.api == nullptr) {
      checks.push_back({&c, -1, case_name(c)});
      continue;
    }
    for (int16_t version = c.options.first; version <= c.options.last; ++version)
      checks.push_back({&c, version, fmt::format("{}[v{}]", case_name(c), version)});
  }
  std::ranges::sort(checks, {}, [](const Check& check) {
    return std::make_tuple(case_name(*check.of), check.version);
  });
  return checks;
}

std::vector<Check> select_checks(const std::vector<Check>& checks, std::string_view only) {
  if (only.empty()) return checks;
  std::vector<std::string_view> names;
  for (size_t at = 0; at <= only.size();) {
    const size_t comma = std::min(only.find(',', at), only.size());
    names.push_back(only.substr(at, comma - at));
    at = comma + 1;
  }
  for (const std::string_view name : names) {
    if (std::ranges::none_of(checks, [&](const Check& check) { return selected(check, name); }))
      throw std::runtime_error("no area, case or check is named " + std::string(name));
  }
  std::vector<Check> out;
  for (const Check& check : checks) {
    if (std::ranges::any_of(names, [&](std::string_view name) { return selected(check, name); }))
      out.push_back(check);
  }
  return out;
}

}  // namespace ackord::conform
