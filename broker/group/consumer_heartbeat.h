// What a ConsumerGroupHeartbeat does to its group: the decision, as records, and what is left to do
// (KIP-848; semantics D.2). Pure: the topics that exist are looked up in the image that is handed
// in. A heartbeat that changes nothing costs lookups, and no walk over members or topics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/group/classic_types.h"
#include "broker/group/consumer_group.h"
#include "broker/group/group_service.h"
#include "broker/metadata/image.h"

namespace ackord::group {

// The topics that exist, and the rack of the node that has their partitions.
struct TopicView {
  const metadata::MetadataImage& image;
  std::optional<std::string> rack;
};

// Configs in force: of the group (consumer.*) where it has them, else of the broker.
struct ConsumerGroupLimits {
  int32_t session_timeout_ms = 45000;
  int32_t heartbeat_interval_ms = 5000;
  int32_t assignment_interval_ms = 1000;
  int32_t regex_refresh_interval_ms = 600000;
  int32_t max_size = INT32_MAX;
  std::string default_assignor = "uniform";
  // group.consumer.migration.policy: whether classic groups become consumer groups and the other
  // way, and whether classic members may join at all.
  bool may_upgrade = true;
  bool may_downgrade = true;
  bool may_mix = true;
  int32_t classic_max_size = INT32_MAX;
};

// What is known of the group that is not logged.
struct ConsumerGroupSoftState {
  // The topics' version for which the group's metadata hash was right.
  std::optional<uint64_t> checked_topics_version;
  bool resolving = false;  // its patterns are being looked at
};

struct ConsumerHeartbeatInput {
  const ConsumerHeartbeat& request;
  const TopicView& topics;
  const ConsumerGroupLimits& limits;
  const ConsumerGroupSoftState& soft;
  TimeMs now_wall_ms = 0;
  // Set where a JoinGroup speaks: the member speaks the classic protocol.
  const ClassicMemberMetadata* classic = nullptr;
  bool knows_its_id = false;  // likewise: it is a member that comes back
};

struct ConsumerHeartbeatDecision {
  ConsumerHeartbeatReply reply;
  std::vector<GroupRecord> records;
  // Set when the group's metadata hash is right for this version of the topics.
  std::optional<uint64_t> checked_topics_version;
  // Set when the member must give partitions up within this time.
  std::optional<int32_t> revocation_timeout_ms;
  // To members of a classic group that has become this one, who waited.
  ClassicAnswers answers;
  // Patterns to be looked at behind the answer.
  std::vector<std::string> resolve;
};

// Join or heartbeat. `group` is null for a group that does not exist yet; only epoch 0 may create
// it.
ConsumerHeartbeatDecision decide_heartbeat(const ConsumerGroup* group,
                                           const ConsumerHeartbeatInput& input);
// Epoch -1 or -2. `group` exists. The records are those of epoch -2; who leaves for good is removed
// by the caller.
ConsumerHeartbeatDecision decide_leave(const ConsumerGroup& group,
                                       const ConsumerHeartbeatInput& input);

// Members gone, whether they left or were fenced: their tombstones, those of patterns that nobody
// has any more, one epoch more, and the target's end when nobody is left.
std::vector<GroupRecord> remove_consumers(std::string_view group_id, const ConsumerGroup& group,
                                          const std::vector<std::string>& members,
                                          const TopicView& topics);

// The topics that patterns stand for have been found: their records, and one epoch more when they
// are others than before.
std::vector<GroupRecord> apply_resolution(std::string_view group_id, const ConsumerGroup& group,
                                          const std::map<std::string, ResolvedRegex>& found,
                                          const TopicView& topics);

// The assignor that most members prefer; the default where nobody prefers one.
std::string preferred_assignor(const ConsumerGroup::Counts& preferred,
                               const std::string& default_assignor);

}  // namespace ackord::group
