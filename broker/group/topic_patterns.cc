#include "broker/group/topic_patterns.h"

#include <re2/re2.h>

#include <memory>

namespace ackord::group {
namespace {

RE2::Options options() {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(int64_t{1} << 20);  // a client's pattern may not grow to what it likes
  return options;
}

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Result<void> check_pattern(std::string_view regex) {
  const RE2 pattern(piece(regex), options());
  if (pattern.ok()) return {};
  return error(ErrorCode::INVALID_REGULAR_EXPRESSION,
               "SubscribedTopicRegex `" + std::string(regex) +
                   "` is not a valid regular expression: " + pattern.error() + ".");
}

struct PatternMatch::Compiled {
  std::unique_ptr<RE2> regex;
  Names* matches;
};

PatternMatch::PatternMatch(const std::vector<std::string>& regexes) {
  for (const std::string& regex : regexes) {
    Names& matches = matches_[regex];
    auto compiled = std::make_unique<RE2>(piece(regex), options());
    if (compiled->ok()) patterns_.push_back({std::move(compiled), &matches});
  }
}
PatternMatch::~PatternMatch() = default;

void PatternMatch::look_at(std::string_view topic) {
  for (const Compiled& pattern : patterns_) {
    if (RE2::FullMatch(piece(topic), *pattern.regex)) pattern.matches->emplace(topic);
  }
}

}  // namespace ackord::group
