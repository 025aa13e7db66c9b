#include "tools/ackordctl/share_commands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/ackordctl/share_groups.h"
#include "tools/ackordctl/share_text.h"
#include "tools/ackordctl/table.h"

namespace ackord::ctl {
namespace {

constexpr int32_t kMostRanges = 100000;  // the broker answers no more

// A group that has no offsets is told from one that there is not.
Result<void> check_group(client::Cluster& cluster, const std::string& group,
                         const client::Deadline& deadline) {
  Result<std::vector<std::string>> groups = share_groups(cluster, deadline);
  if (!groups) return groups.error();
  if (std::find(groups->begin(), groups->end(), group) != groups->end()) return {};
  return error(ErrorCode::GROUP_ID_NOT_FOUND, "there is no share group " + group);
}

}  // namespace

Result<void> show_in_flight(client::Cluster& cluster, const ShareOptions& options,
                            const client::Deadline& deadline, std::ostream& out) {
  std::vector<Target> targets;
  if (!options.target.empty()) {
    targets.push_back(parse_target(options.target).value());
  } else {
    Result<std::vector<std::string>> topics = topics_of(cluster, options.group, deadline);
    if (!topics) return topics.error();
    if (topics->empty()) {
      if (Result<void> exists = check_group(cluster, options.group, deadline); !exists)
        return exists;
    }
    for (std::string& topic : *topics) targets.push_back({std::move(topic), std::nullopt});
  }
  std::vector<SharePartition> all;
  for (const Target& target : targets) {
    Result<std::vector<SharePartition>> some = in_flight(
        cluster, options.group, target.topic, target.partition, options.max_ranges, deadline);
    if (!some) return some.error();
    for (SharePartition& one : *some) all.push_back(std::move(one));
  }
  print(all, options.json, out);
  return {};
}

Result<void> release_records(client::Cluster& cluster, const ShareOptions& options,
                             const client::Deadline& deadline, std::ostream& out) {
  const Target target = parse_target(options.target).value();
  std::optional<Offsets> offsets;
  if (!options.offsets.empty()) offsets = parse_offsets(options.offsets).value();
  std::optional<std::string> member;
  if (!options.member.empty()) member = options.member;
  Result<std::vector<SharePartition>> partitions =
      in_flight(cluster, options.group, target.topic, target.partition, kMostRanges, deadline);
  if (!partitions) return partitions.error();
  std::vector<Released> all;
  for (const SharePartition& partition : *partitions) {
    std::vector<Offsets> ranges;
    if (offsets) {
      ranges.push_back(*offsets);
    } else {
      for (const InFlight& range : partition.ranges) {
        if (range.state != State::kAcquired || (member && range.member != member)) continue;
        ranges.push_back(range.offsets);
      }
    }
    if (ranges.empty()) continue;
    Result<Released> released = release(cluster, options.group, partition.topic,
                                        partition.partition, ranges, member, deadline);
    if (!released) return released.error();
    all.push_back(std::move(*released));
  }
  print(all, options.json, out);
  return {};
}

}  // namespace ackord::ctl
