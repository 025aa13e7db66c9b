#include "broker/group/consumer_classic.h"

#include <algorithm>
#include <map>
#include <utility>

#include "broker/group/consumer_protocol.h"
#include "broker/group/consumer_records.h"

namespace ackord::group {
namespace {

using metadata::MetadataImage;

std::vector<TopicPartitions> with_ids(const NamedPartitions& named, const MetadataImage& image) {
  std::vector<TopicPartitions> out;
  for (const auto& [name, partitions] : named) {
    if (const auto topic = image.topic(name)) out.push_back({topic->id, partitions});
  }
  return out;
}

template <class Partitions>
NamedPartitions with_names(const Partitions& partitions, const MetadataImage& image) {
  NamedPartitions out;
  Uuid last;
  for (const TopicIdPartition& partition : partitions) {
    const auto topic = image.topic(partition.topic_id);
    if (topic == nullptr) continue;
    if (out.empty() || last != partition.topic_id) out.push_back({topic->name.str(), {}});
    last = partition.topic_id;
    out.back().second.push_back(partition.partition);
  }
  return out;
}

int16_t version_of(const ClassicMemberMetadata& metadata) {
  const auto read = read_subscription(metadata.supported_protocols.front().metadata.sv());
  return read ? read->version : int16_t{0};
}

ClassicMemberMetadata metadata_of(int32_t session_timeout_ms,
                                  const std::vector<ClassicProtocol>& protocols) {
  ClassicMemberMetadata out;
  out.session_timeout_ms = session_timeout_ms;
  for (const ClassicProtocol& protocol : protocols) {
    auto& added = out.supported_protocols.emplace_back();
    added.name = String(protocol.name);
    added.metadata = Bytes(protocol.metadata.sv());
  }
  return out;
}

// ---- from classic to consumer

// Nothing when what the member has said cannot be read.
std::optional<ConsumerMember> as_consumer_member(const ClassicMember& member,
                                                 const ClassicPhase& phase,
                                                 const MetadataImage& image) {
  const auto said = read_subscription(member.metadata(*phase.protocol).sv());
  if (!said) return std::nullopt;
  ConsumerMember out;
  if (!member.assignment.empty()) {
    const auto has = read_assignment(member.assignment.sv());
    // User data is of an assignor that the broker does not have.
    if (!has || has->has_user_data) return std::nullopt;
    for (const TopicPartitions& topic : with_ids(has->partitions, image)) {
      for (const int32_t partition : topic.partitions)
        out.assigned[{topic.topic_id, partition}] = phase.generation;
    }
  }
  out.instance = member.instance;
  out.rack = said->rack;
  out.client_id = member.client_id;
  out.client_host = member.client_host;
  out.topics.insert(said->topics.begin(), said->topics.end());
  out.rebalance_timeout_ms = member.rebalance_timeout_ms;
  out.classic = metadata_of(member.session_timeout_ms, *member.protocols);
  out.epoch = phase.generation;
  out.previous_epoch = phase.generation;
  return out;
}

std::string why_not(std::string_view id, const ClassicLife& life,
                    const ConsumerGroupLimits& limits) {
  const std::string cannot =
      "Cannot upgrade classic group " + std::string(id) + " to consumer group because ";
  if (!limits.may_upgrade) return cannot + "online upgrade is disabled.";
  if (life.phase().protocol_type != kConsumerProtocolType || !life.phase().protocol)
    return cannot + "the group does not use the consumer embedded protocol.";
  if (life.members().size() > static_cast<size_t>(limits.max_size))
    return cannot + "the group size exceeds the consumer group maximum size.";
  return {};
}

template <class Record>
void add(Upgrade& upgrade, Record record) {
  upgrade.group.apply(record);
  upgrade.records.emplace_back(std::move(record));
}

// ---- from consumer to classic

// Each votes for the first of its protocols that all know.
std::string common_protocol(const ConsumerGroup& group, const std::set<std::string>& leaving) {
  std::map<std::string, size_t> knowing;
  size_t members = 0;
  const auto for_each = [&](const auto& visit) {
    for (const auto& [id, member] : group.members()) {
      if (!leaving.contains(id)) visit(member.classic->supported_protocols);
    }
  };
  for_each([&](const auto& protocols) {
    ++members;
    for (const auto& protocol : protocols) ++knowing[protocol.name.str()];
  });
  std::map<std::string, size_t> votes;
  for_each([&](const auto& protocols) {
    for (const auto& protocol : protocols) {
      if (knowing[protocol.name.str()] < members) continue;
      ++votes[protocol.name.str()];
      break;
    }
  });
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? std::string() : most->first;
}

}  // namespace

std::optional<ClassicAsConsumer> as_consumer(const ClassicJoin& join, const MetadataImage& image) {
  if (join.protocols.empty()) return std::nullopt;
  auto said = read_subscription(join.protocols.front().metadata.sv());
  if (!said) return std::nullopt;
  ClassicAsConsumer out;
  out.metadata = metadata_of(join.session_timeout_ms, join.protocols);
  ConsumerHeartbeat& heartbeat = out.heartbeat;
  heartbeat.group = join.group;
  heartbeat.member = join.member;
  heartbeat.epoch = kJoinEpoch;
  heartbeat.instance = join.instance;
  heartbeat.rack = std::move(said->rack);
  heartbeat.rebalance_timeout_ms = join.rebalance_timeout_ms;
  heartbeat.topics.emplace();
  for (const std::string& topic : said->topics) heartbeat.topics->emplace_back(topic);
  heartbeat.regex = "";
  heartbeat.owned = with_ids(said->owned, image);
  heartbeat.client_id = join.client_id;
  heartbeat.client_host = join.client_host;
  return out;
}

bool supports_classic(const ConsumerGroup& group, const ClassicJoin& join) {
  if (join.protocol_type != kConsumerProtocolType) return false;
  return std::any_of(
      join.protocols.begin(), join.protocols.end(), [&group](const ClassicProtocol& protocol) {
        const auto at = group.classic_protocols().find(protocol.name);
        const int32_t knowing = at == group.classic_protocols().end() ? 0 : at->second;
        return knowing == group.classic_members();
      });
}

bool must_rejoin(const ConsumerGroup& group, const std::string& id, const ConsumerMember& member) {
  if (member.epoch < group.assignment_epoch()) return true;
  if (member.state == MemberState::kUnrevokedPartitions) return true;
  if (member.state != MemberState::kUnreleasedPartitions) return false;
  const Assignment& target = group.target(id);
  return std::all_of(target.begin(), target.end(), [&](const TopicIdPartition& partition) {
    return member.assigned.contains(partition) ||
           group.partition_epoch(partition) == ConsumerGroup::kFree;
  });
}

SharedBytes assignment_bytes(const ConsumerMember& member, const MetadataImage& image) {
  std::vector<TopicIdPartition> has;
  for (const auto& [partition, since] : member.assigned) has.push_back(partition);
  return SharedBytes(write_assignment(version_of(*member.classic), with_names(has, image)));
}

ErrorCode check_classic(const ConsumerGroup& group, const ClassicMemberName& who) {
  if (who.instance) {
    const std::string* holder = group.static_member(*who.instance);
    if (holder == nullptr) return ErrorCode::UNKNOWN_MEMBER_ID;
    if (*holder != who.member) return ErrorCode::FENCED_INSTANCE_ID;
  }
  const ConsumerMember* member = group.member(who.member);
  if (member == nullptr || !member->classic) return ErrorCode::UNKNOWN_MEMBER_ID;
  return member->epoch == who.generation ? ErrorCode::NONE : ErrorCode::ILLEGAL_GENERATION;
}

Upgrade upgraded(std::string_view id, const ClassicLife& life, const TopicView& topics,
                 const ConsumerGroupLimits& limits) {
  Upgrade out;
  out.refusal = why_not(id, life, limits);
  if (!out.refusal.empty()) return out;
  std::map<std::string, ConsumerMember> members;
  std::map<std::string, SubscribedTopic> subscribed;
  for (const auto& [member, classic] : life.members()) {
    auto made = as_consumer_member(classic, life.phase(), topics.image);
    if (!made) {
      out.refusal = "Cannot upgrade classic group " + std::string(id) +
                    " to consumer group because the embedded consumer protocol is malformed.";
      return out;
    }
    for (const std::string& name : made->topics) {
      if (const auto topic = topics.image.topic(name))
        subscribed[name] = {topic->name, topic->id, topic->partitions};
    }
    members.emplace(member, std::move(*made));
  }
  std::vector<SubscribedTopic> there;
  for (auto& [name, topic] : subscribed) there.push_back(std::move(topic));
  const int32_t epoch = life.phase().generation;
  out.records.emplace_back(classic_group_tombstone(id));
  for (const auto& [member, state] : members) add(out, consumer_member_record(id, member, state));
  add(out, consumer_epoch_record(id, epoch, metadata_hash(there, topics.rack)));
  for (const auto& [member, state] : members) {
    Assignment target;
    for (const auto& [partition, since] : state.assigned) target.insert(partition);
    add(out, consumer_target_record(id, member, target));
  }
  add(out, consumer_target_epoch_record(id, epoch, 0));
  for (const auto& [member, state] : members) add(out, consumer_current_record(id, member, state));
  return out;
}

bool becomes_classic(const ConsumerGroup& group, const std::set<std::string>& leaving,
                     const ConsumerGroupLimits& limits) {
  const size_t left = group.members().size() - leaving.size();
  if (left == 0 || !limits.may_downgrade) return false;
  if (left > static_cast<size_t>(limits.classic_max_size)) return false;
  auto classic = static_cast<size_t>(group.classic_members());
  for (const std::string& id : leaving) classic -= group.member(id)->classic ? 1 : 0;
  return classic == left;
}

bool becomes_classic_by(const ConsumerGroup& group, const ClassicJoin& join,
                        const ConsumerGroupLimits& limits) {
  const std::string* replaced = join.instance ? group.static_member(*join.instance) : nullptr;
  if (replaced == nullptr || group.member(*replaced)->classic || !limits.may_downgrade)
    return false;
  const size_t members = group.members().size();
  return static_cast<size_t>(group.classic_members()) == members - 1 &&
         members <= static_cast<size_t>(limits.classic_max_size);
}

ClassicGroupMetadata downgraded(std::string_view id, const ConsumerGroup& group,
                                const std::set<std::string>& leaving, const MetadataImage& image,
                                TimeMs now_ms) {
  ClassicGroupMetadata record;
  record.key.group = String(id);
  protocol::GroupMetadataValue& value = record.value.emplace();
  const std::string protocol = common_protocol(group, leaving);
  value.protocol_type = String(kConsumerProtocolType);
  value.generation = group.epoch();
  value.protocol = String(protocol);
  value.leader.reset();
  value.current_state_timestamp = now_ms;
  for (const auto& [member_id, member] : group.members()) {
    if (leaving.contains(member_id)) continue;
    auto& out = value.members.emplace_back();
    out.member_id = String(member_id);
    out.group_instance_id.reset();
    if (member.instance) out.group_instance_id = String(*member.instance);
    out.client_id = String(member.client_id);
    out.client_host = String(member.client_host);
    out.rebalance_timeout = member.rebalance_timeout_ms;
    out.session_timeout = member.classic->session_timeout_ms;
    for (const auto& one : member.classic->supported_protocols) {
      if (one.name.sv() == protocol) out.subscription = one.metadata;
    }
    out.assignment = Bytes(
        write_assignment(version_of(*member.classic), with_names(group.target(member_id), image)));
  }
  return record;
}

}  // namespace ackord::group
