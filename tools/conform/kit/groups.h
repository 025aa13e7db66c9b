// Groups of any kind: names whose coordinator is ready, and how they are described, listed and
// deleted. Their members: classic_member.h, consumer_member.h, share_member.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/conform/kit/coordinators.h"
#include "tools/conform/kit/topics.h"

namespace ackord::conform {

// A group that does not exist, whose coordinator is there and has loaded.
std::string new_group(Kit& kit, std::string_view what = "g");

// The group's part of DescribeGroups and of ConsumerGroupDescribe.
Value describe_classic(Kit& kit, const std::string& group, int16_t version = 6);
Value describe_consumer(Kit& kit, const std::string& group, int16_t version = 1);
// What they say of its state. Failure when they have an error.
std::string classic_state(Kit& kit, const std::string& group);
std::string consumer_state(Kit& kit, const std::string& group);
void wait_for_classic_state(Kit& kit, const std::string& group, const std::string& state);
void wait_for_consumer_state(Kit& kit, const std::string& group, const std::string& state);

struct ListOptions {
  std::vector<std::string> states;  // version 4 on
  std::vector<std::string> types;   // version 5 on
  int16_t version = 5;
};
// The group's part of ListGroups; nothing when it is not listed.
std::optional<Value> listed(Kit& kit, const std::string& group, const ListOptions& options = {});

// DeleteGroups of one: its part of the answer.
Value delete_group(Kit& kit, const std::string& group, int16_t version = 2);

}  // namespace ackord::conform
