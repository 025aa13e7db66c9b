// Share sessions: their epochs, what ends them and what becomes of the records then (KIP-932).
#include "tools/conform/case.h"
#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

AREA("share.session", "Share sessions (KIP-932)");

namespace {

// What another member of the group gets.
Ranges next_acquired(Kit& kit, const ShareMember& member, const Topic& topic) {
  ShareMember other(kit, member.group());
  return other.acquire(topic);
}

// The answer to an opening ShareFetch whose fields are sound but for those given.
Value ask_share_fetch(Kit& kit, const Object& fields) {
  return kit.ask("ShareFetch", kit.version(),
                 merged({{"groupId", kit.name("g")},
                         {"memberId", kit.name("m")},
                         {"shareSessionEpoch", 0},
                         {"maxWaitMs", 0},
                         {"minBytes", 0},
                         {"maxBytes", 1000},
                         {"maxRecords", 10},
                         {"batchSize", 10}},
                        fields));
}

// The same of a ShareAcknowledge.
Value ask_share_acknowledge(Kit& kit, const Object& fields) {
  return kit.ask(
      "ShareAcknowledge", kit.version(),
      merged({{"groupId", kit.name("g")}, {"memberId", kit.name("m")}, {"shareSessionEpoch", 1}},
             fields));
}

}  // namespace

// ---- epochs

CASE(one_counter_for_both_requests, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  const int16_t version = kit.version();
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  member
      .share_fetch({}, {.version = version,
                        .max_wait_ms = 0,
                        .acks = {{.topic = topic, .first = 0, .last = 1}},
                        .epoch = epoch})["errorCode"]
      .is_none();
  member
      .share_acknowledge({{.topic = topic, .first = 2, .last = 3}},
                         {.version = version, .epoch = epoch + 1})["errorCode"]
      .is_none();
  member.share_fetch({}, {.version = version, .max_wait_ms = 0, .epoch = epoch + 2})["errorCode"]
      .is_none();
}

CASE(replayed_epoch, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  const int16_t version = kit.version();
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  member.share_fetch({}, {.version = version, .max_wait_ms = 0});
  const Value answer =
      member.share_fetch({}, {.version = version, .max_wait_ms = 0, .epoch = epoch});
  answer["errorCode"].is(ErrorCode::INVALID_SHARE_SESSION_EPOCH);
  answer["responses"].has_size(0);
  member.share_acknowledge({{.topic = topic}}, {.version = version, .epoch = epoch})["errorCode"]
      .is(ErrorCode::INVALID_SHARE_SESSION_EPOCH);
  member.share_fetch({}, {.version = version, .max_wait_ms = 0, .epoch = epoch + 1})["errorCode"]
      .is_none();
}

CASE(skipped_epoch, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  for (const int32_t wrong : {epoch + 1, epoch + 6, INT32_MAX, -2})
    member.share_fetch({}, {.max_wait_ms = 0, .epoch = wrong})["errorCode"].is(
        ErrorCode::INVALID_SHARE_SESSION_EPOCH);
  member.share_fetch({}, {.max_wait_ms = 0, .epoch = epoch})["errorCode"].is_none();
}

CASE(acknowledge_with_wrong_epoch_does_nothing, "KIP-932", .api = "ShareAcknowledge", .first = 1,
     .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  for (const int32_t wrong : {0, epoch - 1, epoch + 1, -2}) {
    const Value answer = member.share_acknowledge({{.topic = topic, .first = 0, .last = 9}},
                                                  {.version = kit.version(), .epoch = wrong});
    answer["errorCode"].is(ErrorCode::INVALID_SHARE_SESSION_EPOCH);
    answer["responses"].has_size(0);
  }
  member.close_session();
  expect_equal(next_acquired(kit, member, topic), Ranges{{0, 9, 2}}, "acquired by the next");
}

CASE(epoch_0_with_acknowledgements, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  member
      .share_fetch({{topic}}, {.version = kit.version(),
                               .max_wait_ms = 0,
                               .acks = {{.topic = topic, .first = 0, .last = 1}},
                               .epoch = 0})["errorCode"]
      .is(ErrorCode::INVALID_REQUEST);
  member.share_fetch({}, {.max_wait_ms = 0, .epoch = epoch})["errorCode"].is_none();
  member.acknowledge(topic, 0, 1).is_none();
}

CASE(epoch_0_replaces_the_session, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const ShareFetched fetched =
      member.fetch(topic, {.version = kit.version(), .max_wait_ms = 0, .epoch = 0});
  expect_equal(fetched.acquired, Ranges{}, "acquired again");
  expect_equal(member.session_epoch(), 1, "the next epoch");
  member.acknowledge(topic, 0, 9).is_none();
}

CASE(epoch_0_forgets_the_partitions, "KIP-932") {
  const Topic topic = create_topic(kit, 2);
  ShareMember member(kit, earliest_group(kit));
  member.join({topic});
  member.share_fetch({{topic, 0}, {topic, 1}}, {.max_wait_ms = 0});
  member.share_fetch({{topic, 1}}, {.max_wait_ms = 0, .epoch = 0});
  produce(kit, topic, numbered(1), {.partition = 0});
  member.share_fetch({}, {.max_wait_ms = 300})["responses"].has_size(0);
}

CASE(no_session, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  ShareMember other(kit, member.group());
  other
      .share_fetch({{topic}}, {.version = kit.version(), .max_wait_ms = 0, .epoch = 3})["errorCode"]
      .is(ErrorCode::SHARE_SESSION_NOT_FOUND);
  other.share_acknowledge({{.topic = topic}}, {.version = kit.version(), .epoch = 3})["errorCode"]
      .is(ErrorCode::SHARE_SESSION_NOT_FOUND);
}

CASE(sessions_of_two_groups, "KIP-932: a session is a member's in a group") {
  auto [topic, member] = acquired_records(kit);
  ShareMember twin(kit, earliest_group(kit), member.id());
  twin.join({topic});
  expect_equal(twin.acquire(topic), Ranges{{0, 9, 1}}, "acquired in the other group");
  twin.close_session();
  member.share_fetch({}, {.max_wait_ms = 0})["errorCode"].is_none();
}

// ---- names

CASE(null_group, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  ask_share_fetch(kit, {{"groupId", nullptr}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(bad_member_ids, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  for (const json::value& id : list(nullptr, "", std::string(37, 'x')))
    ask_share_fetch(kit, {{"memberId", id}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(member_id_of_36_characters, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  ask_share_fetch(kit, {{"memberId", std::string(36, 'x')}})["errorCode"].is_none();
}

CASE(null_group_of_acknowledge, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  ask_share_acknowledge(kit, {{"groupId", nullptr}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

CASE(bad_member_ids_of_acknowledge, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  for (const json::value& id : list(nullptr, "", std::string(37, 'x')))
    ask_share_acknowledge(kit, {{"memberId", id}})["errorCode"].is(ErrorCode::INVALID_REQUEST);
}

// ---- the end of a session

CASE(closed_by_fetch, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  member.share_fetch({}, {.version = kit.version(), .epoch = -1})["errorCode"].is_none();
  expect_equal(next_acquired(kit, member, topic), Ranges{{0, 9, 2}}, "acquired by the next");
}

CASE(closed_by_fetch_with_acknowledgements, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const Value answer = member.share_fetch(
      {},
      {.version = kit.version(), .acks = {{.topic = topic, .first = 0, .last = 2}}, .epoch = -1});
  answer["errorCode"].is_none();
  const ShareFetched fetched = fetched_of(answer, topic);
  expect(fetched.present, "the acknowledged partition is in the answer");
  expect_equal(fetched.acknowledge_error, ErrorCode::NONE, "error of the acknowledgement");
  expect_equal(fetched.acquired, Ranges{}, "acquired while closing");
  expect_equal(next_acquired(kit, member, topic), Ranges{{3, 9, 2}}, "acquired by the next");
}

CASE(closed_by_fetch_gives_no_records, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 3, 3);
  produce(kit, topic, numbered(2));
  const Value answer = member.share_fetch({{topic}}, {.epoch = -1});
  answer["errorCode"].is_none();
  expect_equal(fetched_of(answer, topic).acquired, Ranges{}, "acquired while closing");
}

CASE(closed_by_acknowledge, "KIP-932", .api = "ShareAcknowledge", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const Value answer = member.share_acknowledge({{.topic = topic, .first = 0, .last = 2}},
                                                {.version = kit.version(), .epoch = -1});
  answer["errorCode"].is_none();
  answer["responses"][0]["partitions"][0]["errorCode"].is_none();
  expect_equal(next_acquired(kit, member, topic), Ranges{{3, 9, 2}}, "acquired by the next");
}

CASE(closed_by_acknowledge_of_nothing, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.share_acknowledge({}, {.epoch = -1})["errorCode"].is_none();
  expect_equal(next_acquired(kit, member, topic), Ranges{{0, 9, 2}}, "acquired by the next");
}

CASE(after_the_close, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  member.close_session();
  member.share_fetch({}, {.max_wait_ms = 0, .epoch = epoch})["errorCode"].is(
      ErrorCode::SHARE_SESSION_NOT_FOUND);
  member.share_acknowledge({{.topic = topic}}, {.epoch = epoch})["errorCode"].is(
      ErrorCode::SHARE_SESSION_NOT_FOUND);
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired in a new session");
}

CASE(close_without_a_session, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  ShareMember other(kit, member.group());
  other.share_fetch({}, {.version = kit.version(), .epoch = -1})["errorCode"].is(
      ErrorCode::SHARE_SESSION_NOT_FOUND);
  other.share_acknowledge({}, {.version = kit.version(), .epoch = -1})["errorCode"].is(
      ErrorCode::SHARE_SESSION_NOT_FOUND);
}

CASE(disconnect_releases, "KIP-932: a session ends with its connection") {
  auto [topic, member] = acquired_records(kit);
  member.disconnect();
  expect_equal(next_acquired(kit, member, topic), Ranges{{0, 9, 2}}, "acquired by the next");
}

CASE(session_ends_with_its_connection, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  const int32_t epoch = member.session_epoch();
  member.reconnect();
  // A request that comes before the broker has seen the end of the connection is still good.
  kit.until("the session is gone", [&, next = epoch]() mutable {
    const Value answer = member.share_fetch({}, {.max_wait_ms = 0, .epoch = next++});
    return answer["errorCode"].error() == ErrorCode::SHARE_SESSION_NOT_FOUND;
  });
}

CASE(leaving_the_group_keeps_the_session, "KIP-932: sessions know no membership") {
  auto [topic, member] = acquired_records(kit);
  member.leave();
  ShareMember other(kit, member.group());
  expect_equal(other.fetch(topic, {.max_wait_ms = 300}).acquired, Ranges{}, "of another member");
  member.acknowledge(topic, 0, 9).is_none();
}

CASE(close_releases_only_the_own_records, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 3, 3);
  produce(kit, topic, numbered(2));
  ShareMember other(kit, member.group());
  expect_equal(other.acquire(topic), Ranges{{3, 4, 1}}, "acquired by another member");
  other.close_session();
  expect_equal(next_acquired(kit, member, topic), Ranges{{3, 4, 2}}, "acquired by the next");
  member.acknowledge(topic, 0, 2).is_none();
}

// ---- partitions of a session

CASE(partitions_stay_in_the_session, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  produce(kit, topic, numbered(1));
  const Value answer = member.share_fetch({}, {.max_wait_ms = 5000});
  expect_equal(fetched_of(answer, topic).acquired, Ranges{{10, 10, 1}}, "acquired");
}

CASE(acknowledged_partition_joins_the_session, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.share_fetch({}, {.max_wait_ms = 0, .forgotten = {{topic}}});
  member.share_fetch({}, {.max_wait_ms = 0, .acks = {{.topic = topic, .first = 0, .last = 2}}});
  produce(kit, topic, numbered(1));
  const Value answer = member.share_fetch({}, {.max_wait_ms = 5000});
  expect_equal(fetched_of(answer, topic).acquired, Ranges{{10, 10, 1}}, "acquired");
}

CASE(forgotten_partition, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  member
      .share_fetch(
          {}, {.version = kit.version(), .max_wait_ms = 0, .forgotten = {{topic}}})["errorCode"]
      .is_none();
  produce(kit, topic, numbered(1));
  member.share_fetch({}, {.version = kit.version(), .max_wait_ms = 300})["responses"].has_size(0);
}

CASE(forgetting_does_not_release, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.share_fetch({}, {.max_wait_ms = 0, .forgotten = {{topic}}});
  ShareMember other(kit, member.group());
  expect_equal(other.fetch(topic, {.max_wait_ms = 300}).acquired, Ranges{}, "of another member");
  member.acknowledge(topic, 0, 9).is_none();
}

CASE(forgotten_with_acknowledgements, "KIP-932", .api = "ShareFetch", .first = 1, .last = 2) {
  auto [topic, member] = acquired_records(kit);
  const Value answer = member.share_fetch({}, {.version = kit.version(),
                                               .max_wait_ms = 0,
                                               .acks = {{.topic = topic, .first = 0, .last = 4}},
                                               .forgotten = {{topic}}});
  answer["errorCode"].is_none();
  expect(fetched_of(answer, topic).present, "the acknowledged partition is in the answer");
  expect_equal(fetched_of(answer, topic).acknowledge_error, ErrorCode::NONE, "its error");
  member.acknowledge(topic, 5, 9, {kRelease}).is_none();
  expect_equal(next_acquired(kit, member, topic), Ranges{{5, 9, 2}}, "acquired by the next");
}

CASE(forgotten_partitions_wait_for_their_locks, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  // While another session of the group lives: the last one takes all that is in memory with it.
  ShareMember other(kit, member.group());
  other.fetch(topic, {.max_wait_ms = 0});
  member.share_fetch({}, {.max_wait_ms = 0, .forgotten = {{topic}}});
  member.close_session();
  expect_equal(other.fetch(topic, {.max_wait_ms = 300}).acquired, Ranges{}, "of another member");
}

CASE(forgotten_that_was_not_there, "KIP-932") {
  auto [topic, member] = acquired_records(kit, 3, 3);
  member
      .share_fetch({},
                   {.max_wait_ms = 0, .forgotten = {{ghost_topic(kit)}, {topic, 7}}})["errorCode"]
      .is_none();
  member.acknowledge(topic, 0, 2).is_none();
}

CASE(forgotten_in_the_opening_fetch, "KIP-932: there is nothing to forget yet") {
  auto [topic, member] = acquired_records(kit);
  member.share_fetch({{topic}}, {.max_wait_ms = 0, .forgotten = {{topic}}, .epoch = 0})["errorCode"]
      .is_none();
  produce(kit, topic, numbered(1));
  const Value answer = member.share_fetch({}, {.max_wait_ms = 2000});
  expect_equal(fetched_of(answer, topic).acquired, Ranges{{10, 10, 1}}, "acquired");
}

CASE(named_and_forgotten_at_once, "KIP-932") {
  auto [topic, member] = acquired_records(kit);
  member.share_fetch({{topic}}, {.max_wait_ms = 0, .forgotten = {{topic}}})["errorCode"].is_none();
  produce(kit, topic, numbered(1));
  member.share_fetch({}, {.max_wait_ms = 300})["responses"].has_size(0);
}

CASE(another_connection_may_go_on, "KIP-932: while the first one lives") {
  auto [topic, member] = acquired_records(kit);
  Connection& other = kit.connect();
  member.acknowledge(topic, 0, 4, {kAccept}, {.connection = &other}).is_none();
  other.close();
  member.acknowledge(topic, 5, 9).is_none();
}

}  // namespace ackord::conform
