// Records of a group, or of one of its members, with their keys and no value yet: a tombstone until
// one is set.
#pragma once

#include <string_view>

#include "protocol/types/string.h"

namespace ackord::group {

template <class Record>
Record of_group(std::string_view group) {
  Record record;
  record.key.group_id = String(group);
  return record;
}

template <class Record>
Record of_member(std::string_view group, std::string_view member) {
  auto record = of_group<Record>(group);
  record.key.member_id = String(member);
  return record;
}

}  // namespace ackord::group
