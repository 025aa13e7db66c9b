// Classic and consumer members in one group, and how a group turns from one kind into the other
// while it lives (group.consumer.migration.policy bidirectional).
#include "tools/conform/case.h"
#include "tools/conform/kit/classic_member.h"
#include "tools/conform/kit/consumer_member.h"
#include "tools/conform/kit/offsets.h"

namespace ackord::conform {

AREA("groups.migration", "From classic to consumer groups and back (KIP-848)");

namespace {

constexpr int8_t kClassicType = 0;
constexpr int8_t kConsumerType = 1;
constexpr const char* kInstance = "one";

void append_int16(std::string& out, int value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}
void append_int32(std::string& out, int32_t value) {
  append_int16(out, value >> 16);
  append_int16(out, value);
}

// ConsumerProtocolSubscription, version 1: what a consumer subscribes to and what it owns.
std::string subscription(const std::vector<Topic>& topics, const Partitions& owned = {}) {
  std::string out;
  append_int16(out, 1);
  append_int32(out, static_cast<int32_t>(topics.size()));
  for (const Topic& topic : topics) {
    append_int16(out, static_cast<int>(topic.name.size()));
    out += topic.name;
  }
  append_int32(out, -1);  // no user data
  // Owned partitions are of the first topic here, or there are none.
  append_int32(out, owned.empty() ? 0 : 1);
  if (owned.empty()) return out;
  append_int16(out, static_cast<int>(topics[0].name.size()));
  out += topics[0].name;
  append_int32(out, static_cast<int32_t>(owned.size()));
  for (const auto& part : owned) append_int32(out, static_cast<int32_t>(part.second));
  return out;
}

// ConsumerProtocolAssignment of one topic: its partitions.
Partitions partitions_in(const std::string& assignment, const Topic& topic) {
  size_t at = 2;
  const auto int32 = [&] {
    if (at + 4 > assignment.size()) throw Failure("the assignment is cut");
    int32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(assignment[at++]);
    return value;
  };
  const int32_t topics = int32();
  if (topics == 0) return {};
  expect_equal(topics, 1, "topics of the assignment");
  at += 2 + topic.name.size();
  Partitions out;
  for (int32_t left = int32(); left > 0; --left) out.emplace(topic.id, int32());
  return out;
}

ClassicJoin reads(const std::vector<Topic>& topics) {
  return {.protocols = {{"range", subscription(topics)}}};
}

// What SyncGroup gives to a classic member of a consumer group; it must succeed.
Partitions synced(ClassicMember& member, const Topic& topic) {
  return partitions_in(member.sync(), topic);
}

// A classic member plays its part until it has exactly this: it rejoins when it is told to, owning
// what it was assigned.
void until_classic_has(Kit& kit, ClassicMember& member, const Topic& topic,
                       const Partitions& expected, Partitions owned,
                       const std::vector<ConsumerMember*>& others) {
  kit.until("the classic member has " + show(expected), [&] {
    for (ConsumerMember* other : others) other->beat();
    const Value beaten = member.heartbeat();
    beaten.is_one_of({ErrorCode::NONE, ErrorCode::REBALANCE_IN_PROGRESS});
    if (beaten.error() == ErrorCode::REBALANCE_IN_PROGRESS) {
      member.how().protocols = {{"range", subscription({topic}, owned)}};
      member.try_join()["errorCode"].is_none();
      owned = synced(member, topic);
    }
    return owned == expected;
  });
}

// A stable classic group of one member that has all partitions of the topic.
ClassicMember classic_with(Kit& kit, const Topic& topic,
                           const std::optional<std::string>& instance = {}) {
  ClassicJoin how = reads({topic});
  how.instance = instance;
  ClassicMember member(kit, new_group(kit), how);
  member.join();
  std::string assignment;
  append_int16(assignment, 1);
  append_int32(assignment, 1);
  append_int16(assignment, static_cast<int>(topic.name.size()));
  assignment += topic.name;
  append_int32(assignment, topic.partitions);
  for (int32_t i = 0; i < topic.partitions; ++i) append_int32(assignment, i);
  append_int32(assignment, -1);
  expect_equal(partitions_in(member.sync({{member.id(), assignment}}), topic), partitions_of(topic),
               "the classic assignment");
  return member;
}

std::string type_of(Kit& kit, const std::string& group) {
  const auto found = listed(kit, group);
  expect(found.has_value(), "the group is listed");
  return (*found)["groupType"].text();
}

}  // namespace

CASE(empty_classic_group_becomes_consumer, "KIP-848") {
  const Topic topic = create_topic(kit);
  ClassicMember classic = classic_with(kit, topic);
  try_commit(kit, classic.group(), {.topic = topic, .offset = 5},
             {.member = classic.id(), .epoch = classic.generation()})
      .is_none();
  classic.leave();
  ConsumerMember member(kit, classic.group());
  member.join({topic});
  member.until_assigned(partitions_of(topic));
  expect_equal(type_of(kit, member.group()), "consumer", "type");
  // Its offsets stay.
  expect_equal(committed_offset(kit, member.group(), topic), 5, "committed offset");
}

CASE(simple_group_becomes_consumer, "KIP-848") {
  const Topic topic = create_topic(kit);
  ConsumerMember member(kit, new_group(kit));
  commit(kit, member.group(), topic, 5);
  member.join({topic});
  expect_equal(type_of(kit, member.group()), "consumer", "type");
  expect_equal(committed_offset(kit, member.group(), topic), 5, "committed offset");
}

CASE(empty_consumer_group_becomes_classic, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  try_commit(kit, member.group(), {.topic = topic, .offset = 5},
             {.member = member.id(), .epoch = member.epoch()})
      .is_none();
  member.leave();
  ClassicMember classic(kit, member.group(), {.protocol_type = "connect"});
  form_group(kit, {&classic});
  expect_equal(type_of(kit, member.group()), "classic", "type");
  expect_equal(committed_offset(kit, member.group(), topic), 5, "committed offset");
  member.heartbeat({.epoch = 3})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(upgrade_while_it_lives, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ClassicMember classic = classic_with(kit, topic);
  ConsumerMember member(kit, classic.group());
  member.join({topic});
  expect_equal(type_of(kit, classic.group()), "consumer", "type");
  expect_equal(member.assigned(), Partitions{}, "assigned before the other has let go");
  const Value group = describe_consumer(kit, classic.group());
  group["members"].has_size(2);
  const auto type_in = [&](const std::string& id) {
    return group["members"].with("memberId", json::value(id))["memberType"];
  };
  type_in(classic.id()).is(kClassicType);
  type_in(member.id()).is(kConsumerType);
  // Nothing of it is left for the old request.
  describe_classic(kit, classic.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(classic_member_lives_on, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ClassicMember classic = classic_with(kit, topic);
  const std::string id = classic.id();
  ConsumerMember member(kit, classic.group());
  member.join({topic});
  // It is told to rejoin, and gets one partition by JoinGroup and SyncGroup, once it has let the
  // other go.
  kit.until("the classic member is told to rejoin", [&] {
    member.beat();
    return classic.heartbeat().error() == ErrorCode::REBALANCE_IN_PROGRESS;
  });
  expect_equal(member.assigned(), Partitions{}, "assigned before the other has let go");
  const Value joined = classic.try_join();
  joined["errorCode"].is_none();
  joined["memberId"].is(id.c_str());
  joined["protocolName"].is("range");
  // Nobody leads: the broker assigns.
  joined["members"].has_size(0);
  const Partitions kept = synced(classic, topic);
  expect_equal(kept.size(), 1U, "partitions kept");
  until_classic_has(kit, classic, topic, kept, kept, {&member});
  Partitions rest = partitions_of(topic);
  rest.erase(*kept.begin());
  kit.until("the consumer has the other partition", [&] {
    member.beat();
    const ErrorCode error = classic.heartbeat().error();
    if (error == ErrorCode::REBALANCE_IN_PROGRESS) {
      classic.how().protocols = {{"range", subscription({topic}, kept)}};
      classic.try_join()["errorCode"].is_none();
      expect_equal(synced(classic, topic), kept, "kept");
    }
    return member.assigned() == rest;
  });
}

CASE(classic_member_commits, "KIP-848", .api = "OffsetCommit", .first = 2, .last = 10) {
  const Topic topic = create_topic(kit);
  ClassicMember classic = classic_with(kit, topic);
  ConsumerMember member(kit, classic.group());
  member.join({topic});
  const auto as = [&](const std::string& id, int32_t generation) {
    return try_commit(kit, classic.group(), {.topic = topic, .offset = 3},
                      {.version = kit.version(), .member = id, .epoch = generation});
  };
  // By every version, as long as it is the classic protocol that it speaks.
  as(classic.id(), classic.generation()).is_none();
  as(classic.id(), classic.generation() + 9).is(ErrorCode::ILLEGAL_GENERATION);
  as("nobody", classic.generation()).is(ErrorCode::UNKNOWN_MEMBER_ID);
  expect_equal(committed_offset(kit, classic.group(), topic), 3, "committed offset");
}

CASE(classic_fencing_in_a_consumer_group, "KIP-848") {
  const Topic topic = create_topic(kit);
  ClassicMember classic = classic_with(kit, topic);
  ConsumerMember member(kit, classic.group());
  member.join({topic});
  ClassicMember other = classic;
  other.set_generation(classic.generation() + 9);
  other.heartbeat().is(ErrorCode::ILLEGAL_GENERATION);
  other.try_sync()["errorCode"].is(ErrorCode::ILLEGAL_GENERATION);
  other = classic;
  other.set_id("nobody");
  other.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  other.try_sync()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
  other.try_leave()["members"][0]["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(a_consumer_member_speaks_the_classic_protocol, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  ClassicMember classic(kit, member.group(), reads({topic}));
  classic.set_id(member.id());
  classic.set_generation(member.epoch());
  classic.set_protocol("range");
  classic.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
  classic.try_sync()["errorCode"].is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(classic_member_leaves, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ClassicMember classic = classic_with(kit, topic);
  ConsumerMember member(kit, classic.group());
  member.join({topic});
  classic.leave();
  member.until_assigned(partitions_of(topic));
  describe_consumer(kit, classic.group())["members"].has_size(1);
  classic.heartbeat().is(ErrorCode::UNKNOWN_MEMBER_ID);
}

CASE(downgrade_when_the_last_consumer_leaves, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ClassicMember classic = classic_with(kit, topic);
  ConsumerMember member(kit, classic.group());
  member.join({topic});
  expect_equal(type_of(kit, classic.group()), "consumer", "type");
  member.leave();
  expect_equal(type_of(kit, classic.group()), "classic", "type");
  // The classic members gather again, and one of them leads. Its generation was the epoch at which
  // it last joined, and the group's is another by now.
  classic.heartbeat().is(ErrorCode::ILLEGAL_GENERATION);
  const Value joined = classic.try_join();
  joined["errorCode"].is_none();
  joined["leader"].is(classic.id().c_str());
  joined["members"].has_size(1);
  classic.sync({{classic.id(), "x"}});
  describe_classic(kit, classic.group())["groupState"].is("Stable");
}

// A static member comes back with the classic protocol, and no consumer is left: nobody has gone,
// so nothing moves.
CASE(downgrade_when_the_last_consumer_is_replaced, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ConsumerMember member(kit, new_group(kit), kInstance);
  member.join({topic});
  member.until_assigned(partitions_of(topic));
  ClassicJoin how = reads({topic});
  how.instance = kInstance;
  ClassicMember classic(kit, member.group(), how);
  const Value joined = classic.try_join();
  joined["errorCode"].is_none();
  joined["leader"].is("");
  joined["members"].has_size(0);
  expect_equal(type_of(kit, member.group()), "classic", "type");
  expect_equal(synced(classic, topic), partitions_of(topic), "the assignment");
  classic.heartbeat().is_none();
  const Value described = describe_classic(kit, member.group());
  described["groupState"].is("Stable");
  described["members"].has_size(1);
  described["members"][0]["groupInstanceId"].is(kInstance);
  member.heartbeat({.epoch = member.epoch()})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

CASE(downgrade_when_others_are_classic_already, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ConsumerMember member(kit, new_group(kit), kInstance);
  member.join({topic});
  member.until_assigned(partitions_of(topic));
  ClassicMember other(kit, member.group(), reads({topic}));
  other.join();
  (void)synced(other, topic);
  kit.until("the consumer lets one go", [&] {
    member.beat();
    return member.assigned().size() == 1;
  });
  Partitions rest = partitions_of(topic);
  rest.erase(*member.assigned().begin());
  until_classic_has(kit, other, topic, rest, {}, {&member});
  expect_equal(type_of(kit, member.group()), "consumer", "type");
  ClassicJoin how = reads({topic});
  how.instance = kInstance;
  ClassicMember classic(kit, member.group(), how);
  classic.try_join()["errorCode"].is_none();
  expect_equal(type_of(kit, member.group()), "classic", "type");
  expect_equal(synced(classic, topic), member.assigned(), "the assignment");
  other.heartbeat().is_none();
}

CASE(classic_member_joins_a_consumer_group, "KIP-848") {
  auto [topic, member] = consumer_joined(kit, 2);
  ClassicMember classic(kit, member.group(), reads({topic}));
  const Value joined = classic.join();
  joined["protocolType"].is("consumer");
  joined["protocolName"].is("range");
  joined["members"].has_size(0);
  expect_equal(synced(classic, topic), Partitions{}, "assigned before the other has let go");
  describe_consumer(kit, member.group())["members"].has_size(2);
  // It gets its share by a rejoin that it is told of.
  kit.until("the consumer lets one go", [&] {
    member.beat();
    return member.assigned().size() == 1;
  });
  Partitions rest = partitions_of(topic);
  rest.erase(*member.assigned().begin());
  until_classic_has(kit, classic, topic, rest, {}, {&member});
}

CASE(classic_join_without_an_id, "KIP-394, KIP-848", .api = "JoinGroup", .first = 0, .last = 9) {
  auto [topic, member] = consumer_joined(kit);
  ClassicJoin how = reads({topic});
  how.version = kit.version();
  ClassicMember classic(kit, member.group(), how);
  const Value answer = classic.try_join();
  answer["errorCode"].is(kit.version() >= 4 ? ErrorCode::MEMBER_ID_REQUIRED : ErrorCode::NONE);
  if (kit.version() >= 4) classic.try_join()["errorCode"].is_none();
  member.beat();
}

CASE(other_protocol_type, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  ClassicMember classic(kit, member.group(), {.protocol_type = "connect"});
  classic.try_join()["errorCode"].is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  member.beat();
}

CASE(metadata_that_is_no_subscription, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  ClassicMember classic(kit, member.group(), {.protocols = {{"range", "x"}}});
  const Sent sent = classic.send_join();
  Value answer = classic.receive_join(sent);
  if (answer["errorCode"].error() == ErrorCode::MEMBER_ID_REQUIRED) answer = classic.try_join();
  answer["errorCode"].is(ErrorCode::INCONSISTENT_GROUP_PROTOCOL);
  member.beat();
}

CASE(classic_group_that_cannot_be_read, "KIP-848") {
  const Topic topic = create_topic(kit);
  ClassicMember classic(kit, new_group(kit), {.protocols = {{"own", "x"}}});
  form_group(kit, {&classic});
  ConsumerMember member(kit, classic.group());
  // Its members' metadata is no subscription: it stays classic.
  member.try_join({.names = {{topic.name}}})["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
  classic.heartbeat().is_none();
}

CASE(static_member_changes_its_protocol, "KIP-345, KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ClassicMember classic = classic_with(kit, topic, "one");
  // A rolling upgrade: the instance is down for a moment, and comes back with the new protocol.
  ConsumerMember member(kit, classic.group(), "one");
  member.join({topic});
  member.until_assigned(partitions_of(topic));
  const Value group = describe_consumer(kit, classic.group());
  group["members"].has_size(1);
  group["members"][0]["memberType"].is(kConsumerType);
  classic.heartbeat().is(ErrorCode::FENCED_INSTANCE_ID);
}

CASE(upgrade_while_gathering, "KIP-848") {
  const Topic topic = create_topic(kit);
  ClassicMember a = classic_with(kit, topic);
  ClassicMember b(kit, a.group(), reads({topic}));
  const Sent of_b = b.start_joining();
  wait_for_classic_state(kit, a.group(), "PreparingRebalance");
  ConsumerMember member(kit, a.group());
  member.join({topic});
  // What was parked is answered, so that it joins anew.
  b.receive_join(of_b)["errorCode"].is(ErrorCode::REBALANCE_IN_PROGRESS);
}

CASE(unknown_id_of_a_classic_member, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  ClassicMember classic(kit, member.group(), reads({topic}));
  classic.set_id("nobody");
  // Kafka takes the id as one that the client has made; a classic group knows only its own.
  classic.try_join()["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::UNKNOWN_MEMBER_ID});
  member.beat();
}

}  // namespace ackord::conform
