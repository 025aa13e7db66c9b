// The patterns of SubscribedTopicRegex (KIP-848): RE2's syntax, a match is of the whole name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/group/consumer_group.h"
#include "protocol/types/result.h"

namespace ackord::group {

// INVALID_REGULAR_EXPRESSION with a text for what is no pattern.
Result<void> check_pattern(std::string_view regex);

// One look at names, as many patterns as there are; a name at a time, so that a long list can be
// gone through in pieces. Not for more than one thread.
class PatternMatch {
 public:
  // A pattern that RE2 does not know matches nothing: a check has refused it already.
  explicit PatternMatch(const std::vector<std::string>& regexes);
  ~PatternMatch();
  PatternMatch(const PatternMatch&) = delete;
  PatternMatch& operator=(const PatternMatch&) = delete;

  void look_at(std::string_view topic);
  // By pattern: all names so far that it matches.
  const std::map<std::string, Names, std::less<>>& matches() const { return matches_; }

 private:
  struct Compiled;
  std::vector<Compiled> patterns_;
  std::map<std::string, Names, std::less<>> matches_;
};

}  // namespace ackord::group
