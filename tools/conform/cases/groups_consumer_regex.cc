// SubscribedTopicRegex: which topics a pattern means, when they are found, what is no pattern.
#include "tools/conform/case.h"
#include "tools/conform/kit/consumer_member.h"

namespace ackord::conform {

AREA("groups.consumer.regex", "Subscription by pattern (KIP-848)");

namespace {

// How long a group's patterns may take to be looked at again: Kafka does it once in 10 s at most.
constexpr Millis kRefresh{25000};

// Topics of one partition whose names begin with something of this case's own.
struct Named {
  std::string prefix;
  Topic one, two;
};
Named two_topics(Kit& kit) {
  const std::string prefix = kit.name("re");
  return {prefix, create_topic(kit, 1, {}, prefix + "-topic-1"),
          create_topic(kit, 1, {}, prefix + "-topic-2")};
}

// A member that has joined with this pattern.
ConsumerMember member_with(Kit& kit, const std::string& regex) {
  ConsumerMember member(kit, new_group(kit));
  member.join({.regex = regex});
  return member;
}

// It gets nothing: seen by a topic that it also subscribes to by name, and that does come.
void expect_no_match(Kit& kit, const std::string& regex) {
  const Topic other = create_topic(kit);
  ConsumerMember member(kit, new_group(kit));
  member.join({.names = {{other.name}}, .regex = regex});
  member.until_assigned(partitions_of(other));
  const Value described = describe_consumer(kit, member.group())["members"][0];
  described["subscribedTopicRegex"].is(regex.c_str());
  // Patterns are resolved in the background; a match would come within moments.
  kit.pass(Millis{700});
  member.beat();
  expect_equal(member.assigned(), partitions_of(other), "assigned");
}

void expect_no_pattern(Kit& kit, const std::string& regex) {
  ConsumerMember member(kit, new_group(kit));
  const Value answer = member.try_join({.regex = regex});
  answer["errorCode"].is(ErrorCode::INVALID_REGULAR_EXPRESSION);
  answer["errorMessage"].is_not_empty();
  describe_consumer(kit, member.group())["errorCode"].is(ErrorCode::GROUP_ID_NOT_FOUND);
}

}  // namespace

CASE(matches, "KIP-848") {
  const Named topics = two_topics(kit);
  ConsumerMember member = member_with(kit, topics.prefix + "-top.*");
  member.until_assigned(united({partitions_of(topics.one), partitions_of(topics.two)}));
}

CASE(matches_whole_names_only, "KIP-848") {
  const Named topics = two_topics(kit);
  expect_no_match(kit, topics.prefix + "-topic");
}

CASE(end_of_a_name_is_no_match, "KIP-848") {
  const Named topics = two_topics(kit);
  expect_no_match(kit, topics.prefix.substr(1) + "-topic-.");
}

CASE(anchors, "KIP-848") {
  const Named topics = two_topics(kit);
  ConsumerMember member = member_with(kit, "^" + topics.prefix + "-topic-1$");
  member.until_assigned(partitions_of(topics.one));
}

CASE(star_is_no_glob, "KIP-848") {
  const Named topics = two_topics(kit);
  expect_no_match(kit, "^" + topics.prefix + "-topic*");
}

CASE(alternatives, "KIP-848") {
  const Named topics = two_topics(kit);
  ConsumerMember member =
      member_with(kit, topics.prefix + "-topic-2|" + topics.prefix + "-nothing");
  member.until_assigned(partitions_of(topics.two));
}

CASE(alternatives_are_whole_names, "KIP-848") {
  const Named topics = two_topics(kit);
  expect_no_match(kit, topics.prefix + "-topic|nothing");
}

CASE(classes_and_flags, "KIP-848") {
  const Named topics = two_topics(kit);
  ConsumerMember member = member_with(kit, R"((?i))" + topics.prefix + R"(-TOPIC-[[:digit:]])");
  member.until_assigned(united({partitions_of(topics.one), partitions_of(topics.two)}));
}

CASE(united_with_names, "KIP-848") {
  const Named topics = two_topics(kit);
  const Topic named = create_topic(kit);
  ConsumerMember member(kit, new_group(kit));
  member.join({.names = {{named.name}}, .regex = topics.prefix + "-topic-1"});
  member.until_assigned(united({partitions_of(named), partitions_of(topics.one)}));
}

CASE(name_and_pattern_for_one_topic, "KIP-848") {
  const Named topics = two_topics(kit);
  ConsumerMember member(kit, new_group(kit));
  member.join({.names = {{topics.one.name}}, .regex = topics.prefix + ".*"});
  member.until_assigned(united({partitions_of(topics.one), partitions_of(topics.two)}));
}

CASE(new_topics_come, "KIP-848", .limit_s = 60) {
  const Named topics = two_topics(kit);
  ConsumerMember member = member_with(kit, topics.prefix + "-topic-.*");
  const Partitions before = united({partitions_of(topics.one), partitions_of(topics.two)});
  member.until_assigned(before);
  const Topic third = create_topic(kit, 1, {}, topics.prefix + "-topic-3");
  member.until_assigned(united({before, partitions_of(third)}), kRefresh);
}

CASE(deleted_topics_go, "KIP-848", .limit_s = 60) {
  const Named topics = two_topics(kit);
  ConsumerMember member = member_with(kit, topics.prefix + "-topic-.*");
  member.until_assigned(united({partitions_of(topics.one), partitions_of(topics.two)}));
  delete_topic(kit, topics.one);
  member.until_assigned(partitions_of(topics.two), kRefresh);
}

CASE(null_is_unchanged, "KIP-848") {
  const Named topics = two_topics(kit);
  ConsumerMember member = member_with(kit, topics.prefix + "-topic-1");
  member.until_assigned(partitions_of(topics.one));
  member.heartbeat({.owned = member.assigned()})["errorCode"].is_none();
  describe_consumer(kit, member.group())["members"][0]["subscribedTopicRegex"].is(
      (topics.prefix + "-topic-1").c_str());
}

CASE(another_pattern, "KIP-848", .limit_s = 60) {
  const Named topics = two_topics(kit);
  ConsumerMember member = member_with(kit, topics.prefix + "-topic-1");
  member.until_assigned(partitions_of(topics.one));
  member.heartbeat({.regex = topics.prefix + "-topic-2"})["errorCode"].is_none();
  member.until_assigned(partitions_of(topics.two), kRefresh);
}

CASE(empty_clears_it, "KIP-848", .limit_s = 60) {
  const Named topics = two_topics(kit);
  const Topic named = create_topic(kit);
  ConsumerMember member(kit, new_group(kit));
  member.join({.names = {{named.name}}, .regex = topics.prefix + "-topic-1"});
  member.until_assigned(united({partitions_of(named), partitions_of(topics.one)}));
  member.heartbeat({.regex = ""})["errorCode"].is_none();
  member.until_assigned(partitions_of(named));
}

CASE(empty_at_the_join, "KIP-848") {
  ConsumerMember member = member_with(kit, "");
  member.beat();
  expect_equal(member.assigned(), Partitions{}, "assigned");
}

CASE(shared_by_members, "KIP-848", .limit_s = 60) {
  const Named topics = two_topics(kit);
  const std::string name = new_group(kit);
  ConsumerMember a(kit, name), b(kit, name);
  a.join({.regex = topics.prefix + ".*"});
  b.join({.regex = topics.prefix + ".*"});
  settle(kit, {&a, &b}, united({partitions_of(topics.one), partitions_of(topics.two)}), kRefresh);
  expect_equal(sizes_of({&a, &b}), std::vector<size_t>{1, 1}, "partitions a member");
}

CASE(own_pattern_for_each, "KIP-848", .limit_s = 60) {
  const Named topics = two_topics(kit);
  const std::string name = new_group(kit);
  ConsumerMember a(kit, name), b(kit, name);
  a.join({.regex = topics.prefix + "-topic-1"});
  b.join({.regex = topics.prefix + "-topic-2"});
  settle(kit, {&a, &b}, united({partitions_of(topics.one), partitions_of(topics.two)}), kRefresh);
  expect_equal(a.assigned(), partitions_of(topics.one), "assigned to the first");
}

CASE(unclosed_group, "KIP-848") { expect_no_pattern(kit, "("); }
CASE(nothing_to_repeat, "KIP-848") { expect_no_pattern(kit, "*a"); }
CASE(unclosed_class, "KIP-848") { expect_no_pattern(kit, "[a"); }
// RE2 knows neither of them.
CASE(lookahead, "KIP-848") { expect_no_pattern(kit, "(?!a)b"); }
CASE(backreference, "KIP-848") { expect_no_pattern(kit, R"((a)\1)"); }

CASE(bad_pattern_disturbs_nobody, "KIP-848") {
  auto [topic, member] = consumer_joined(kit);
  ConsumerMember other(kit, member.group());
  other.try_join({.regex = "("})["errorCode"].is(ErrorCode::INVALID_REGULAR_EXPRESSION);
  describe_consumer(kit, member.group())["members"].has_size(1);
  member.heartbeat({.regex = "("})["errorCode"].is(ErrorCode::INVALID_REGULAR_EXPRESSION);
  member.beat();
  expect_equal(member.assigned(), partitions_of(topic), "assigned");
}

}  // namespace ackord::conform
