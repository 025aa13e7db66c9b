// Members of a consumer group that speak the classic protocol, and the way of a group from the one
// kind to the other while it lives (KIP-848, group.consumer.migration.policy). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "broker/group/classic_group.h"
#include "broker/group/classic_types.h"
#include "broker/group/consumer_group.h"
#include "broker/group/consumer_heartbeat.h"

namespace ackord::group {

// ---- a JoinGroup

// What it says, as a heartbeat says it; nothing when its metadata is no subscription. Its first
// protocol counts.
struct ClassicAsConsumer {
  ConsumerHeartbeat heartbeat;
  ClassicMemberMetadata metadata;
};
std::optional<ClassicAsConsumer> as_consumer(const ClassicJoin& join,
                                             const metadata::MetadataImage& image);
// Whether a member with these protocols fits the classic members that are there.
bool supports_classic(const ConsumerGroup& group, const ClassicJoin& join);

// ---- a member that is there

// Whether the member has to rejoin to get what it is to have.
bool must_rejoin(const ConsumerGroup& group, const std::string& id, const ConsumerMember& member);
// What a SyncGroup gives it.
SharedBytes assignment_bytes(const ConsumerMember& member, const metadata::MetadataImage& image);
// UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID; with a member that speaks the classic protocol
// ILLEGAL_GENERATION.
ErrorCode check_classic(const ConsumerGroup& group, const ClassicMemberName& who);

// ---- groups

// The records that make a consumer group of a classic one, and the group that they make. Only a
// group with members; `refusal` says why it cannot be done.
struct Upgrade {
  std::vector<GroupRecord> records;
  ConsumerGroup group;
  std::string refusal;
};
Upgrade upgraded(std::string_view id, const ClassicLife& life, const TopicView& topics,
                 const ConsumerGroupLimits& limits);

// Whether the group is a classic one without these members: only classic members are left.
bool becomes_classic(const ConsumerGroup& group, const std::set<std::string>& leaving,
                     const ConsumerGroupLimits& limits);
// The same of a group whose only consumer, a static one, is replaced by a classic member.
bool becomes_classic_by(const ConsumerGroup& group, const ClassicJoin& join,
                        const ConsumerGroupLimits& limits);
// The classic group's record.
ClassicGroupMetadata downgraded(std::string_view id, const ConsumerGroup& group,
                                const std::set<std::string>& leaving,
                                const metadata::MetadataImage& image, TimeMs now_ms);

}  // namespace ackord::group
