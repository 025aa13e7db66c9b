// What Ackord adds to share groups: acknowledgements that may be repeated, a wait before the next
// delivery, what is in flight, and its release by an operator (docs/PROTOCOL.md 0, group configs).
#include "tools/conform/case.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.own", "Additions to share groups (Ackord)");

namespace {

constexpr int8_t kAvailableState = 0;

Acquired acquired_with(Kit& kit, const Configs& configs) {
  kit.needs("DescribeSharePartitions");
  return acquired_records(kit, 10, 10, configs);
}

const Configs kTolerant = {{"share.acknowledgement.retry.tolerance", "true"}};

// The partition's part of ReleaseSharePartitions.
Value release(Kit& kit, const std::string& group, const Topic& topic, int64_t first, int64_t last,
              const std::optional<std::string>& member = {}) {
  kit.needs("ReleaseSharePartitions");
  const Object range{{"firstOffset", first}, {"lastOffset", last}};
  const Object partition{{"partitionIndex", 0}, {"ranges", list(range)}};
  Object request{{"groupId", group},
                 {"topics", list(Object{{"topicId", topic.id}, {"partitions", list(partition)}})}};
  if (member) request["memberId"] = *member;
  return kit.ask("ReleaseSharePartitions", 0, request)["topics"][0]["partitions"][0];
}

}  // namespace

// ---------------------------------------------------------------- repeated acknowledgements

CASE(repeat_is_refused_by_default, "share.acknowledgement.retry.tolerance") {
  auto [topic, member] = acquired_with(kit, {});
  member.acknowledge(topic, 5, 5).is_none();
  member.acknowledge(topic, 5, 5).is(ErrorCode::INVALID_RECORD_STATE);
}

CASE(repeat_is_tolerated, "share.acknowledgement.retry.tolerance") {
  auto [topic, member] = acquired_with(kit, kTolerant);
  member.acknowledge(topic, 5, 8).is_none();
  member.acknowledge(topic, 5, 8).is_none();
  member.acknowledge(topic, 6, 7).is_none();
  member.acknowledge(topic, 4, 9).is_none();
}

CASE(repeat_of_another_type_or_member, "share.acknowledgement.retry.tolerance") {
  auto [topic, member] = acquired_with(kit, kTolerant);
  member.acknowledge(topic, 5, 5).is_none();
  member.acknowledge(topic, 5, 5, {kReject}).is(ErrorCode::INVALID_RECORD_STATE);
  ShareMember other(kit, member.group());
  other.share_fetch({{topic}}, {.max_wait_ms = 0});
  other.acknowledge(topic, 5, 5).is(ErrorCode::INVALID_RECORD_STATE);
}

CASE(repeat_after_another_delivery, "share.acknowledgement.retry.tolerance") {
  auto [topic, member] = acquired_with(kit, kTolerant);
  member.acknowledge(topic, 5, 5, {kRelease}).is_none();
  member.acknowledge(topic, 5, 5, {kRelease}).is_none();
  ShareMember other(kit, member.group());
  expect_equal(other.acquire(topic), Ranges{{5, 5, 2}}, "acquired again");
  member.acknowledge(topic, 5, 5, {kRelease}).is(ErrorCode::INVALID_RECORD_STATE);
}

CASE(repeat_after_a_lost_connection, "share.acknowledgement.retry.tolerance") {
  auto [topic, member] = acquired_with(kit, kTolerant);
  ShareMember keeper(kit, member.group());
  keeper.share_fetch({{topic}}, {.max_wait_ms = 0});
  member.acknowledge(topic, 5, 5).is_none();
  member.disconnect();
  ShareMember again(kit, member.group(), member.id());
  again.share_fetch({{topic}}, {.max_wait_ms = 0, .max_records = 0});
  again.acknowledge(topic, 5, 5).is_none();
  again.close_session();
  again.share_fetch({{topic}}, {.max_wait_ms = 0, .max_records = 0});
  again.acknowledge(topic, 5, 5).is(ErrorCode::INVALID_RECORD_STATE);
}

// ---------------------------------------------------------------- delayed retry

CASE(released_record_waits, "share.retry.backoff.ms") {
  auto [topic, member] = acquired_with(kit, {{"share.retry.backoff.ms", "400"}});
  member.acknowledge(topic, 0, 8).is_none();
  member.acknowledge(topic, 9, 9, {kRelease}).is_none();
  const Value range = in_flight(kit, member.group(), topic)["ranges"][0];
  range["state"].is(kAvailableState);
  expect_between(range["availableInMs"].number(), int64_t{1}, int64_t{400}, "the wait");
  produce(kit, topic, {"next"});
  expect_equal(member.acquire(topic, {.max_wait_ms = 0}), Ranges{{10, 10, 1}}, "acquired before");
  expect_equal(member.acquire(topic, {.max_wait_ms = 5000}), Ranges{{9, 9, 2}}, "acquired after");
}

CASE(wait_grows_to_its_maximum, "share.retry.backoff.multiplier, share.retry.backoff.max.ms") {
  auto [topic, member] = acquired_with(kit, {{"share.retry.backoff.ms", "2000"},
                                             {"share.retry.backoff.multiplier", "3.0"},
                                             {"share.retry.backoff.max.ms", "4000"}});
  const auto released = [&](int64_t least, int64_t most) {
    member.acknowledge(topic, 0, 9, {kRelease}).is_none();
    const Value wait = in_flight(kit, member.group(), topic)["ranges"][0]["availableInMs"];
    expect_between(wait.number(), least, most, "the wait");
  };
  released(1, 2000);
  expect_equal(member.acquire(topic, {.max_wait_ms = 5000}), Ranges{{0, 9, 2}}, "acquired again");
  released(2001, 4000);
}

CASE(bad_backoff, "share.retry.backoff.*") {
  kit.needs("DescribeSharePartitions");
  for (const auto& [name, value] : Configs{{"share.retry.backoff.ms", "-1"},
                                           {"share.retry.backoff.max.ms", "x"},
                                           {"share.retry.backoff.multiplier", "0.5"},
                                           {"share.acknowledgement.retry.tolerance", "maybe"}}) {
    alter_configs(kit, ConfigResource::kGroup, kit.name("g"), {{name, value}})["errorCode"].is(
        ErrorCode::INVALID_CONFIG);
  }
}

// ---------------------------------------------------------------- the operator

CASE(released_of_one_member, "docs/PROTOCOL.md 0") {
  auto [topic, member] = acquired_with(kit, {{"share.retry.backoff.ms", "600000"}});
  release(kit, member.group(), topic, 0, 9, "somebody")["releasedRecords"].is(0);
  const Value released = release(kit, member.group(), topic, 2, 5, member.id());
  released["errorCode"].is_none();
  released["releasedRecords"].is(4);
  ShareMember other(kit, member.group());
  expect_equal(other.acquire(topic), Ranges{{2, 5, 2}}, "acquired at once");
}

CASE(released_of_what_is_not_there, "docs/PROTOCOL.md 0") {
  auto [topic, member] = acquired_with(kit, {});
  release(kit, member.group(), topic, 5, 3)["errorCode"].is(ErrorCode::INVALID_REQUEST);
  release(kit, member.group(), topic, 100, 200)["releasedRecords"].is(0);
  const Topic unknown{topic.name, "AAAAAAAAAAAAAAAAAAAAZQ", 1};
  release(kit, member.group(), unknown, 0, 9)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
}

}  // namespace ackord::conform
