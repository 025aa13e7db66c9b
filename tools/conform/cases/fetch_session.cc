// Fetch sessions: a client names only what changes, and is told only what changed.
#include <algorithm>
#include <exception>

#include "tools/conform/case.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("fetch.session", "Fetch sessions (KIP-227)");

// A session as a client keeps it: over some partitions, and at which epoch.
class Session {
 public:
  // Opens it with the first fetch, whose answer must be full.
  Session(Kit& kit, const std::vector<FetchPart>& parts, int16_t version)
      : kit_(kit), version_(version), opening_(ask(parts, {}, 0)) {
    opening_["errorCode"].is_none();
    id_ = static_cast<int32_t>(opening_["sessionId"].number());
    expect(id_ > 0, "the answer has the id of a session");
  }

  // Brokers keep a limited number of sessions. Not after a failure, whose request is to be shown.
  ~Session() {
    if (std::uncaught_exceptions() > 0) return;
    try {
      at_epoch(-1);
    } catch (const Failure&) {
    }
  }
  Session(const Session&) = delete;

  const Value& opening() const { return opening_; }
  int32_t id() const { return id_; }
  // The next fetch.
  Value next(const std::vector<FetchPart>& changed = {},
             const std::vector<FetchPart>& forgotten = {}) {
    const Value answer = ask(changed, forgotten, ++epoch_);
    answer["errorCode"].is_none();
    answer["sessionId"].is(id_);
    return answer;
  }
  Value at_epoch(int32_t epoch, const std::vector<FetchPart>& parts = {}) const {
    return ask(parts, {}, epoch);
  }

 private:
  Value ask(const std::vector<FetchPart>& parts, const std::vector<FetchPart>& forgotten,
            int32_t epoch) const {
    return fetch(
        kit_, parts,
        {.version = version_, .session_id = id_, .session_epoch = epoch, .forgotten = forgotten});
  }

  Kit& kit_;
  int16_t version_;
  int32_t id_ = 0;
  int32_t epoch_ = 0;
  Value opening_;
};

static std::vector<FetchPart> all_of(const Topic& topic) {
  std::vector<FetchPart> parts;
  for (int32_t i = 0; i < topic.partitions; ++i) parts.push_back({.topic = topic, .partition = i});
  return parts;
}

static std::vector<int64_t> partitions_in(const Value& answer) {
  std::vector<int64_t> partitions;
  for (const Value& topic : answer["responses"].items())
    for (const Value& part : topic["partitions"].items())
      partitions.push_back(part["partitionIndex"].number());
  std::ranges::sort(partitions);
  return partitions;
}

static void has_partitions(const Value& answer, const std::vector<int64_t>& expected) {
  expect_equal(partitions_in(answer), expected, "the partitions in the answer");
}

CASE(first_answer_is_full, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit, 3);
  has_partitions(Session(kit, all_of(topic), kit.version()).opening(), {0, 1, 2});
}

CASE(nothing_new, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  Session session(kit, all_of(create_topic(kit, 2)), kit.version());
  for (int i = 0; i < 3; ++i) session.next()["responses"].has_size(0);
}

CASE(only_changed_partitions, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit, 2);
  Session session(kit, all_of(topic), kit.version());
  produce(kit, topic, {"x"}, {.partition = 1});
  const Value answer = session.next();
  has_partitions(answer, {1});
  expect_equal(values_of(batches_of(answer["responses"][0]["partitions"][0])),
               std::vector<std::string>{"x"}, "the values");
  has_partitions(session.next(), {1});  // still unread
  has_partitions(session.next({{.topic = topic, .partition = 1, .offset = 1}}), {});
}

CASE(forgotten_partition, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit, 2);
  Session session(kit, all_of(topic), kit.version());
  has_partitions(session.next({}, {{.topic = topic}}), {});
  for (const int32_t i : {0, 1}) produce(kit, topic, {"x"}, {.partition = i});
  has_partitions(session.next(), {1});
  has_partitions(session.next({{.topic = topic}}), {0, 1});  // and taken back
}

CASE(forgotten_that_was_not_there, "KIP-227") {
  const Topic topic = create_topic(kit, 2);
  Session session(kit, {{.topic = topic}}, 12);
  has_partitions(session.next({}, {{.topic = topic, .partition = 1}}), {});
  produce(kit, topic, {"x"});
  has_partitions(session.next(), {0});
}

CASE(added_partition, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit, 2);
  Session session(kit, {{.topic = topic}}, kit.version());
  has_partitions(session.next({{.topic = topic, .partition = 1}}), {1});
  has_partitions(session.next(), {});
}

CASE(added_topic, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit);
  const Topic other = create_topic(kit);
  Session session(kit, {{.topic = topic}}, kit.version());
  produce(kit, other, {"x"});
  has_partitions(session.next({{.topic = other}}), {0});
}

CASE(new_offset, "KIP-227") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"a"});
  produce(kit, topic, {"b"});
  Session session(kit, {{.topic = topic}}, 12);
  const auto values = [](const Value& answer) {
    return values_of(batches_of(answer["responses"][0]["partitions"][0]));
  };
  expect_equal(values(session.next({{.topic = topic, .offset = 1}})), std::vector<std::string>{"b"},
               "the values");
  expect_equal(values(session.next({{.topic = topic}})), std::vector<std::string>{"a", "b"},
               "the values after going back");
}

CASE(new_limit, "KIP-227") {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 3; ++i) produce(kit, topic, {std::string(1000, 'x')});
  Session session(kit, {{.topic = topic, .max_bytes = 1}}, 12);
  const auto count = [](const Value& answer) {
    return batches_of(answer["responses"][0]["partitions"][0]).size();
  };
  expect_equal(count(session.next()), size_t{1}, "batches within the old limit");
  expect_equal(count(session.next({{.topic = topic}})), size_t{3}, "batches within the new limit");
}

CASE(high_watermark_is_reported, "KIP-227") {
  const Topic topic = create_topic(kit);
  produce(kit, topic, {"a"});
  Session session(kit, {{.topic = topic, .offset = 1}}, 12);
  has_partitions(session.next(), {});
  produce(kit, topic, {"b"});
  const Value answer = session.next();
  has_partitions(answer, {0});
  answer["responses"][0]["partitions"][0]["highWatermark"].is(2);
}

CASE(log_start_is_reported, "KIP-227") {
  const Topic topic = create_topic(kit, 2);
  Session session(kit, all_of(topic), 12);
  produce(kit, topic, {"x"});
  session.next({{.topic = topic, .offset = 1}});
  delete_records(kit, topic, 1);
  const Value answer = session.next();
  has_partitions(answer, {0});
  answer["responses"][0]["partitions"][0]["logStartOffset"].is(1);
  has_partitions(session.next(), {});
}

CASE(wrong_epoch, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  Session session(kit, all_of(create_topic(kit)), kit.version());
  for (const int32_t epoch : {9, 2, INT32_MAX}) {
    const Value answer = session.at_epoch(epoch);
    answer["errorCode"].is(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
    answer["responses"].has_size(0);
  }
  session.next();  // the right one is still good
  session.at_epoch(1)["errorCode"].is(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
}

CASE(unknown_session, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Value answer =
      fetch(kit, {}, {.version = kit.version(), .session_id = 123456789, .session_epoch = 1});
  answer["errorCode"].is(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
  answer["responses"].has_size(0);
}

CASE(session_id_0_at_a_later_epoch, "KIP-227") {
  const Value answer = fetch(kit, {}, {.session_epoch = 1});
  answer["errorCode"].is(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
}

CASE(without_session, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit);
  const Value answer = fetch(kit, all_of(topic), {.version = kit.version()});
  answer["errorCode"].is_none();
  answer["sessionId"].is(0);
  has_partitions(answer, {0});
}

CASE(close, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit);
  const Session session(kit, all_of(topic), kit.version());
  const Value closing = session.at_epoch(-1, all_of(topic));
  closing["errorCode"].is_none();
  closing["sessionId"].is(0);
  has_partitions(closing, {0});
  session.at_epoch(1)["errorCode"].is(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
}

// A client closes a session that the broker has forgotten, and notices nothing.
CASE(close_of_an_unknown_session, "KIP-227") {
  const Topic topic = create_topic(kit);
  const Value answer = fetch(kit, all_of(topic), {.session_id = 123456789});
  answer["errorCode"].is_none();
  has_partitions(answer, {0});
}

CASE(replace, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit);
  const Session session(kit, all_of(topic), kit.version());
  const Value answer = session.at_epoch(0, all_of(topic));
  answer["errorCode"].is_none();
  expect(answer["sessionId"].number() > 0, "the answer has the id of a session");
  answer["sessionId"].is_not(session.id());
  has_partitions(answer, {0});
  session.at_epoch(1)["errorCode"].is(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
}

CASE(opened_without_partitions, "KIP-227") {
  const Topic topic = create_topic(kit);
  Session session(kit, {}, 12);
  session.opening()["responses"].has_size(0);
  produce(kit, topic, {"x"});
  has_partitions(session.next(all_of(topic)), {0});
  has_partitions(session.next(), {0});
}

CASE(from_names_to_ids, "KIP-516") {
  const Topic topic = create_topic(kit);
  const Session session(kit, all_of(topic), 12);
  const Value answer =
      fetch(kit, all_of(topic), {.version = 13, .session_id = session.id(), .session_epoch = 1});
  answer["errorCode"].is(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
}

CASE(from_ids_to_names, "KIP-516") {
  const Topic topic = create_topic(kit);
  const Session session(kit, all_of(topic), 13);
  const Value answer =
      fetch(kit, all_of(topic), {.version = 12, .session_id = session.id(), .session_epoch = 1});
  answer["errorCode"].is(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
}

CASE(error_is_repeated, "KIP-227", .api = "Fetch", .first = 7, .last = 18) {
  const Topic topic = create_topic(kit);
  Session session(kit, {{.topic = topic}, {.topic = topic, .partition = 7}}, kit.version());
  for (int i = 0; i < 2; ++i) {
    const Value answer = session.next();
    has_partitions(answer, {7});
    answer["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
}

CASE(out_of_range_is_repeated, "KIP-227") {
  const Topic topic = create_topic(kit, 2);
  Session session(kit, {{.topic = topic}, {.topic = topic, .partition = 1, .offset = 5}}, 12);
  const Value answer = session.next();
  has_partitions(answer, {1});
  answer["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::OFFSET_OUT_OF_RANGE);
  has_partitions(session.next({{.topic = topic, .partition = 1}}), {1});
  has_partitions(session.next(), {});
}

CASE(unknown_id_in_a_session, "KIP-516", .api = "Fetch", .first = 13, .last = 18) {
  const Topic topic = create_topic(kit);
  const Topic ghost = ghost_topic(kit);
  Session session(kit, {{.topic = topic}, {.topic = ghost}}, kit.version());
  for (int i = 0; i < 2; ++i) {
    const Value answer = session.next();
    answer["responses"].has_size(1);
    answer["responses"][0]["topicId"].is(json::value(ghost.id));
    answer["responses"][0]["partitions"][0]["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_ID);
  }
}

CASE(topic_deleted_in_a_session, "KIP-516", .api = "Fetch", .first = 13, .last = 18) {
  const Topic topic = create_topic(kit);
  Session session(kit, all_of(topic), kit.version());
  delete_topic(kit, topic);
  kit.until("the session says that the topic is gone", [&] {
    const Value answer = session.next();
    if (answer["responses"].size() == 0) return false;
    answer["responses"][0]["topicId"].is(json::value(topic.id));
    const ErrorCode error = answer["responses"][0]["partitions"][0]["errorCode"].error();
    return error == ErrorCode::UNKNOWN_TOPIC_ID || error == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  });
}

// A session is not tied to a connection.
CASE(another_connection, "KIP-227") {
  const Topic topic = create_topic(kit);
  const Session session(kit, all_of(topic), 12);
  produce(kit, topic, {"x"});
  Connection& other = kit.connect();
  const Value answer =
      fetch(kit, {}, {.session_id = session.id(), .session_epoch = 1, .connection = &other});
  answer["errorCode"].is_none();
  has_partitions(answer, {0});
}

CASE(two_sessions, "KIP-227") {
  const Topic topic = create_topic(kit);
  Session first(kit, all_of(topic), 12);
  Session second(kit, all_of(topic), 12);
  expect(first.id() != second.id(), "different ids");
  produce(kit, topic, {"x"});
  has_partitions(first.next({{.topic = topic, .offset = 1}}), {0});
  has_partitions(second.next(), {0});
  has_partitions(first.next(), {});
}

// Small answers take turns, so that no partition starves.
CASE(partitions_take_turns, "KIP-227") {
  const Topic topic = create_topic(kit, 3);
  for (const int32_t i : {0, 1, 2})
    produce(kit, topic, {std::string(10000, 'x')}, {.partition = i});
  std::vector<FetchPart> parts = all_of(topic);
  Value answer = fetch(kit, parts, {.max_bytes = 1, .session_epoch = 0});
  const auto session = static_cast<int32_t>(answer["sessionId"].number());
  std::vector<int64_t> served;
  for (int32_t epoch = 1; epoch <= 4; ++epoch) {
    for (const Value& part : answer["responses"][0]["partitions"].items())
      if (!batches_of(part).empty()) served.push_back(part["partitionIndex"].number());
    answer = fetch(kit, {}, {.max_bytes = 1, .session_id = session, .session_epoch = epoch});
  }
  std::ranges::sort(served);
  served.erase(std::ranges::unique(served).begin(), served.end());
  expect_equal(served, std::vector<int64_t>{0, 1, 2}, "the partitions with records");
}

}  // namespace ackord::conform
