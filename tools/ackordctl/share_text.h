// The texts of `ackordctl share`: arguments that name partitions and offsets, and what is printed.
// Pure.
#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ackordctl/share_partitions.h"

namespace ackord::ctl {

// TOPIC or TOPIC:PARTITION.
struct Target {
  std::string topic;
  std::optional<int32_t> partition;
  friend bool operator==(const Target&, const Target&) = default;
};
std::optional<Target> parse_target(std::string_view text);

// A-B, or A alone.
std::optional<Offsets> parse_offsets(std::string_view text);

// One line for each range, under a heading; or that there is none.
std::string table_of(const std::vector<SharePartition>& partitions);
boost::json::value json_of(const std::vector<SharePartition>& partitions);

std::string table_of(const std::vector<Released>& released);
boost::json::value json_of(const std::vector<Released>& released);

}  // namespace ackord::ctl
