#include "broker/group/group_shard.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace ackord::group {
namespace {

// As the log checks them (semantics C.9): nothing that passes here is refused there.
// nullopt: to be written.
std::optional<ErrorCode> check_marker(const WriteMarker& op, bool open) {
  const log::EndMarker& marker = op.marker;
  if (!op.known) return std::nullopt;
  if (marker.coordinator_epoch < op.known->coordinator_epoch)
    return ErrorCode::TRANSACTION_COORDINATOR_FENCED;
  const int16_t last = op.known->producer.epoch;
  if (marker.producer.epoch < last) return ErrorCode::INVALID_PRODUCER_EPOCH;
  if (marker.transaction_version < 2 || marker.producer.epoch > last) return std::nullopt;
  if (marker.producer.epoch == std::numeric_limits<int16_t>::max()) return std::nullopt;
  // From version 2 on a marker carries the next epoch, so an equal one has been here before.
  return open ? ErrorCode::INVALID_PRODUCER_EPOCH : ErrorCode::NONE;
}

}  // namespace

// ---- changes

template <class ShareRecord>
void GroupShard::apply_to_share_group(const ShareRecord& record) {
  const std::string id = record.key.group_id.str();
  ShareGroup* group = to_apply<ShareGroup>(id, record.value.has_value());
  if (group == nullptr) return;
  group->apply(record);
  soft_.settled_share_groups.erase(id);
  if constexpr (std::is_same_v<ShareRecord, ShareGroupMemberMetadata>) {
    if (!record.value) soft_.sessions.erase({id, record.key.member_id.str()});
  }
  if constexpr (std::is_same_v<ShareRecord, ShareGroupStatePartitionMetadata>)
    drop_soft(id, *group);
  if (group->state() == ShareGroupState::kDead) {
    for (const auto& [member, unused] : group->members()) soft_.sessions.erase({id, member});
    soft_.initializations.erase(id);
    drop_group(id);
  }
}

void GroupShard::drop_group(const std::string& id) {
  const auto at = hard_.groups.find(id);
  if (at == hard_.groups.end()) return;
  if (ages(at->second)) --hard_.ageing;
  drop_classic_life(id);
  hard_.groups.erase(at);
}

// What is not being initialised any more is not waited for.
void GroupShard::drop_soft(const std::string& group, const ShareGroup& now) {
  const auto at = soft_.initializations.find(group);
  if (at == soft_.initializations.end()) return;
  std::erase_if(at->second, [&now](const auto& entry) {
    const auto topic = now.initializing().find(entry.first.topic_id);
    return topic == now.initializing().end() ||
           !topic->second.partitions.contains(entry.first.partition);
  });
  if (at->second.empty()) soft_.initializations.erase(at);
}

void GroupShard::apply(const Record& record, const coordinator::RecordContext& context) {
  std::visit(
      [&](const auto& r) {
        using Known = std::decay_t<decltype(r)>;
        if constexpr (std::is_same_v<Known, OffsetCommit>) {
          hard_.offsets.apply(r, context);
          // Committing makes a group of a name that is none.
          const std::string id = r.key.group.str();
          if (r.value && !hard_.groups.contains(id)) to_apply<ClassicGroup>(id, true);
        } else if constexpr (std::is_same_v<Known, ClassicGroupMetadata>) {
          apply_to_classic_group(r);
        } else if constexpr (requires(ConsumerGroup& group) { group.apply(r); }) {
          apply_to_consumer_group(r);
        } else {
          apply_to_share_group(r);
        }
      },
      record);
}

void GroupShard::apply_end_marker(const log::EndMarker& marker, const coordinator::RecordContext&) {
  hard_.offsets.apply_end_marker(marker);
  drop_guard(marker.producer.id);
}

void GroupShard::drop_guard(ProducerId producer) {
  soft_.guards.erase(producer);
  soft_.guard_deadlines.erase(producer);
}

void GroupShard::apply_soft(const Effect& effect) {
  std::visit([this](const auto& one) { apply_soft_to(one); }, effect);
}

void GroupShard::apply_soft_to(const SessionRenewed& effect) {
  soft_.sessions.set(effect.member, effect.deadline_ms);
  const auto fenced = soft_.fencing.find(effect.member);
  if (fenced != soft_.fencing.end() && fenced->second == FencingBegun::Why::kSession)
    soft_.fencing.erase(fenced);
}

void GroupShard::apply_soft_to(const SessionEnded& effect) { soft_.sessions.erase(effect.member); }

void GroupShard::apply_soft_to(const InitializationBegun& effect) {
  soft_.initializations[effect.group][effect.partition] = effect.deadline_ms;
}

void GroupShard::apply_soft_to(const ShareGroupSettled& effect) {
  soft_.settled_share_groups[effect.group] = effect.topics_version;
}

void GroupShard::apply_soft_to(const GuardGiven& effect) {
  soft_.guards[effect.producer.id] = {effect.producer, effect.token};
  soft_.guard_deadlines.set(effect.producer.id, effect.deadline_ms);
}

void GroupShard::apply_soft_to(const GuardDropped& effect) { drop_guard(effect.producer); }

void GroupShard::apply_soft_to(const StateChangeBegun& effect) {
  soft_.state_changes.insert(effect.group);
}

void GroupShard::apply_soft_to(const StateChangeEnded& effect) {
  soft_.state_changes.erase(effect.group);
}

void GroupShard::apply_soft_to(const ExpiryChecked& effect) { soft_.expiry = effect; }

std::optional<int64_t> GroupShard::next_deadline() const {
  std::optional<int64_t> first;
  const auto add = [&first](std::optional<int64_t> deadline) {
    if (deadline) first = first ? std::min(*first, *deadline) : *deadline;
  };
  add(soft_.sessions.earliest());
  add(soft_.revocations.earliest());
  add(soft_.expected_joins.earliest());
  add(soft_.expected_syncs.earliest());
  add(soft_.classic_deadlines.earliest());
  add(soft_.guard_deadlines.earliest());
  if (hard_.ageing != 0) add(soft_.expiry.next_ms);
  return first;
}

// ---- groups of any kind

GroupShard::Outcome<TopicsRemoved::Reply> GroupShard::decide(const TopicsRemoved& op,
                                                             io::Now) const {
  std::set<Uuid> ids;
  for (const RemovedTopic& topic : op.topics) ids.insert(topic.id);
  const auto is_removed = [&ids](const auto& entry) { return ids.contains(entry.first); };
  std::vector<Record> records;
  for_each<ShareGroup>([&](const std::string& id, const ShareGroup& group) {
    HeldTopics initializing = group.initializing();
    HeldTopics initialized = group.initialized();
    if (std::erase_if(initializing, is_removed) + std::erase_if(initialized, is_removed) != 0) {
      records.emplace_back(state_partitions_record(id, initializing, initialized));
    }
  });
  hard_.offsets.for_each(
      [&](const std::string& group, const TopicPartition& partition, const StoredOffset& offset) {
        const bool removed =
            std::any_of(op.topics.begin(), op.topics.end(), [&](const RemovedTopic& topic) {
              return topic.name == partition.topic &&
                     (offset.value.topic_id.is_zero() || offset.value.topic_id == topic.id);
            });
        if (removed) records.emplace_back(offset_tombstone(group, partition));
      });
  return Outcome<TopicsRemoved::Reply>::of(std::move(records), {});
}

GroupShard::Outcome<GroupShard::TickReply> GroupShard::decide(const coordinator::Tick&,
                                                              io::Now now) const {
  Outcome<TickReply> outcome;
  std::vector<MemberKey> share, classic;
  for (MemberKey& key : soft_.sessions.due(now.steady_ms)) {
    if (share_group(key.group) != nullptr) {
      share.push_back(std::move(key));
    } else if (find<ClassicGroup>(key.group) != nullptr) {
      classic.push_back(std::move(key));
    }
  }
  tick_share_groups(share, outcome);
  tick_classic_groups(classic, now, outcome);
  begin_fencing(now, outcome);
  for (const ProducerId producer : soft_.guard_deadlines.due(now.steady_ms)) {
    outcome.effects.emplace_back(GuardDropped{producer});
  }
  if (hard_.ageing != 0 && soft_.expiry.next_ms <= now.steady_ms) expire_offsets(now, outcome);
  return outcome;
}

// ---- transactions

GroupShard::Outcome<Verdict> GroupShard::decide(const WriteMarker& op, io::Now) const {
  const bool open = op.known && op.known->current_txn_start_offset >= 0;
  if (const auto answer = check_marker(op, open)) return Outcome<Verdict>::answer({*answer});
  Outcome<Verdict> outcome;
  outcome.batches.push_back({{}, std::nullopt, op.marker});
  return outcome;
}

// ---- looking

std::vector<std::string> GroupShard::share_groups() const {
  std::vector<std::string> ids;
  for_each<ShareGroup>([&ids](const std::string& id, const ShareGroup&) { ids.push_back(id); });
  return ids;
}

std::set<std::string, std::less<>> GroupShard::subscribed_topics(std::string_view group) const {
  const ShareGroup* found = share_group(group);
  return found != nullptr ? found->subscribed_topics() : std::set<std::string, std::less<>>();
}

std::set<RemovedTopic> GroupShard::held_topics() const {
  std::set<RemovedTopic> topics;
  for_each<ShareGroup>([&topics](const std::string&, const ShareGroup& group) {
    for (const HeldTopics* held : {&group.initializing(), &group.initialized()}) {
      for (const auto& [topic_id, topic] : *held) topics.insert({TopicName(topic.name), topic_id});
    }
  });
  hard_.offsets.for_each(
      [&topics](const std::string&, const TopicPartition& partition, const StoredOffset& offset) {
        topics.insert({partition.topic, offset.value.topic_id});
      });
  return topics;
}

}  // namespace ackord::group
