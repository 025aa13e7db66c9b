// What the broker assigns to the members of a consumer group, and how partitions change hands.
#include "tools/conform/case.h"
#include "tools/conform/kit/consumer_member.h"

namespace ackord::conform {

AREA("groups.consumer.assignment", "Assignment in consumer groups (KIP-848)");

namespace {

// These members join one group, one after the other, and share all partitions of these topics.
struct Members {
  std::vector<ConsumerMember> members;
  std::vector<ConsumerMember*> pointers;
  Partitions all;
  ConsumerMember& operator[](size_t i) { return members[i]; }
};

Members share_out(Kit& kit, size_t count, const std::vector<Topic>& topics,
                  const std::string& assignor) {
  Members out;
  std::vector<std::string> names;
  for (const Topic& topic : topics) {
    names.push_back(topic.name);
    out.all = united({out.all, partitions_of(topic)});
  }
  const std::string group = new_group(kit);
  for (size_t i = 0; i < count; ++i) out.members.emplace_back(kit, group);
  for (ConsumerMember& member : out.members) {
    member.join({.names = names, .assignor = assignor});
    out.pointers.push_back(&member);
  }
  settle(kit, out.pointers, out.all);
  return out;
}

size_t count_of(const Partitions& partitions, const Topic& topic) {
  size_t count = 0;
  for (const auto& part : partitions) count += part.first == topic.id ? 1 : 0;
  return count;
}

}  // namespace

CASE(uniform_balances, "KIP-848") {
  const Topic topic = create_topic(kit, 7);
  const Members group = share_out(kit, 3, {topic}, "uniform");
  expect_equal(sizes_of(group.pointers), std::vector<size_t>{2, 2, 3}, "partitions a member");
}

CASE(uniform_balances_over_topics, "KIP-848") {
  const std::vector<Topic> topics = {create_topic(kit), create_topic(kit), create_topic(kit, 3),
                                     create_topic(kit)};
  const Members group = share_out(kit, 2, topics, "uniform");
  expect_equal(sizes_of(group.pointers), std::vector<size_t>{3, 3}, "partitions a member");
}

CASE(range_gives_ranges, "KIP-848") {
  const Topic topic = create_topic(kit, 5);
  Members group = share_out(kit, 2, {topic}, "range");
  // One has 0, 1, 2, the other 3, 4.
  ConsumerMember& first = group[0].assigned().contains({topic.id, 0}) ? group[0] : group[1];
  expect_equal(first.assigned(), (Partitions{{topic.id, 0}, {topic.id, 1}, {topic.id, 2}}),
               "the range of the first");
}

CASE(range_puts_same_numbers_together, "KIP-848") {
  const Topic a = create_topic(kit, 3), b = create_topic(kit, 3);
  Members group = share_out(kit, 3, {a, b}, "range");
  for (const ConsumerMember& member : group.members) {
    expect_equal(member.assigned().size(), 2U, "one partition of each topic");
    const auto& parts = member.assigned();
    expect_equal(parts.begin()->second, parts.rbegin()->second, "the same number in both");
  }
}

CASE(members_choose_the_assignor, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  const Members group = share_out(kit, 2, {topic}, "range");
  describe_consumer(kit, group.members[0].group())["assignorName"].is("range");
}

CASE(assignor_by_majority, "KIP-848") {
  const Topic topic = create_topic(kit, 3);
  const std::string name = new_group(kit);
  ConsumerMember a(kit, name), b(kit, name), c(kit, name);
  a.join({.names = {{topic.name}}, .assignor = "uniform"});
  b.join({.names = {{topic.name}}, .assignor = "range"});
  c.join({.names = {{topic.name}}, .assignor = "range"});
  settle(kit, {&a, &b, &c}, partitions_of(topic));
  describe_consumer(kit, name)["assignorName"].is("range");
}

CASE(default_assignor, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  describe_consumer(kit, member.group())["assignorName"].is("uniform");
}

CASE(more_members_than_partitions, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  const Members group = share_out(kit, 3, {topic}, "uniform");
  expect_equal(sizes_of(group.pointers), std::vector<size_t>{0, 1, 1}, "partitions a member");
}

CASE(hands_over_after_revocation, "KIP-848") {
  auto [topic, a] = consumer_joined(kit, 2);
  const int32_t old_epoch = a.epoch();
  ConsumerMember b(kit, a.group());
  b.join({topic});
  expect_equal(b.assigned(), Partitions{}, "assigned before the other has let go");
  // The first is told to keep one. It has not said yet that it has let the other go: its epoch
  // stays, and nobody else gets it.
  kit.until("one partition is taken from the first", [&] {
    a.heartbeat({.owned = partitions_of(topic)})["errorCode"].is_none();
    return a.assigned().size() == 1;
  });
  expect_equal(a.epoch(), old_epoch, "epoch of a member that must revoke");
  for (int i = 0; i < 3; ++i) {
    b.beat();
    expect_equal(b.assigned(), Partitions{}, "assigned before the other has let go");
    a.heartbeat({.owned = partitions_of(topic)})["errorCode"].is_none();
  }
  describe_consumer(kit, a.group())["groupState"].is("Reconciling");
  a.beat();
  expect(a.epoch() > old_epoch, "the epoch moves with the revocation");
  Partitions rest = partitions_of(topic);
  rest.erase(*a.assigned().begin());
  b.until_assigned(rest);
  settle(kit, {&a, &b}, partitions_of(topic));
  expect_equal(b.epoch(), a.epoch(), "epoch");
}

CASE(who_does_not_revoke_is_fenced, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  ConsumerMember a(kit, new_group(kit));
  a.join({.names = {{topic.name}}, .rebalance_ms = 1500});
  a.until_assigned(partitions_of(topic));
  ConsumerMember b(kit, a.group());
  b.join({topic});
  // It heartbeats, but keeps what it must give up: for as long as its rebalance timeout.
  kit.until("one partition is taken from the first", [&] {
    a.heartbeat({.owned = partitions_of(topic)})["errorCode"].is_none();
    return a.assigned().size() == 1;
  });
  kit.until("it is fenced", [&] {
    const Value answer = a.heartbeat({.owned = partitions_of(topic)});
    answer["errorCode"].is_one_of({ErrorCode::NONE, ErrorCode::UNKNOWN_MEMBER_ID});
    return answer["errorCode"].error() == ErrorCode::UNKNOWN_MEMBER_ID;
  });
  b.until_assigned(partitions_of(topic));
}

CASE(partitions_of_one_that_leaves, "KIP-848") {
  const Topic topic = create_topic(kit, 4);
  Members group = share_out(kit, 2, {topic}, "uniform");
  group[0].leave();
  group[1].until_assigned(partitions_of(topic));
}

CASE(keeps_what_it_has, "KIP-848") {
  const Topic topic = create_topic(kit, 6);
  Members group = share_out(kit, 2, {topic}, "uniform");
  const std::vector<Partitions> before = {group[0].assigned(), group[1].assigned()};
  ConsumerMember third(kit, group[0].group());
  third.join({topic});
  settle(kit, {&group[0], &group[1], &third}, partitions_of(topic));
  // Sticky: each keeps two of its three.
  for (size_t i = 0; i < 2; ++i) {
    expect_equal(group[i].assigned().size(), 2U, "partitions a member");
    expect_equal(united({before[i], group[i].assigned()}), before[i], "nothing new came to it");
  }
}

CASE(different_subscriptions, "KIP-848") {
  const Topic a = create_topic(kit, 2), b = create_topic(kit, 2);
  const std::string name = new_group(kit);
  ConsumerMember one(kit, name), both(kit, name);
  one.join({a});
  both.join({a, b});
  settle(kit, {&one, &both}, united({partitions_of(a), partitions_of(b)}));
  // Fair as far as the subscriptions allow it.
  expect_equal(one.assigned(), partitions_of(a), "of the member with one topic");
  expect_equal(both.assigned(), partitions_of(b), "of the member with both");
}

CASE(range_with_different_subscriptions, "KIP-848") {
  const Topic a = create_topic(kit, 2), b = create_topic(kit, 2);
  const std::string name = new_group(kit);
  ConsumerMember one(kit, name), both(kit, name);
  one.join({.names = {{a.name}}, .assignor = "range"});
  both.join({.names = {{a.name, b.name}}, .assignor = "range"});
  settle(kit, {&one, &both}, united({partitions_of(a), partitions_of(b)}));
  expect_equal(count_of(one.assigned(), a), 1U, "partitions of the shared topic");
  expect_equal(count_of(both.assigned(), a), 1U, "partitions of the shared topic");
  expect_equal(count_of(both.assigned(), b), 2U, "partitions of the topic of one");
}

CASE(new_partitions_are_shared, "KIP-848") {
  const Topic topic = create_topic(kit, 2);
  Members group = share_out(kit, 2, {topic}, "uniform");
  kit.ask("CreatePartitions", 3,
          {{"topics", list(Object{{"name", topic.name}, {"count", 6}, {"assignments", nullptr}})},
           {"timeoutMs", 10000}})["results"][0]["errorCode"]
      .is_none();
  Topic grown = topic;
  grown.partitions = 6;
  settle(kit, group.pointers, partitions_of(grown));
  expect_equal(sizes_of(group.pointers), std::vector<size_t>{3, 3}, "partitions a member");
}

CASE(many_members_at_once, "KIP-848") {
  const Topic topic = create_topic(kit, 16);
  const Members group = share_out(kit, 8, {topic}, "uniform");
  expect_equal(sizes_of(group.pointers), std::vector<size_t>(8, 2), "partitions a member");
}

CASE(epochs_are_one_when_stable, "KIP-848") {
  const Topic topic = create_topic(kit, 4);
  Members group = share_out(kit, 3, {topic}, "uniform");
  const Value described = describe_consumer(kit, group[0].group());
  for (const ConsumerMember& member : group.members) described["groupEpoch"].is(member.epoch());
  described["assignmentEpoch"].is(described["groupEpoch"].json());
}

}  // namespace ackord::conform
