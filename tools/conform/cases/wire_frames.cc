// Hostile or broken frames close their connection, without an answer, and hurt nobody else.
#include "tools/conform/case.h"
#include "tools/conform/kit/raw_bytes.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("wire.frames", "Broken frames");

namespace {

constexpr const char* kSpec = "Kafka protocol guide, Network";
constexpr int16_t kMetadata = 3;
constexpr int16_t kJoinGroup = 11;
constexpr int32_t kLargestInt = INT32_MAX;

// socket.request.max.bytes
constexpr int32_t kLargestRequest = 104857600;

void expect_alive(Kit& kit) { kit.ask("Metadata", 12, {})["brokers"].is_not_empty(); }

// The bytes, as they are, close their connection; another one goes on.
void expect_bytes_close(Kit& kit, const RawBytes& bytes) {
  kit.first();
  Connection& connection = kit.connect();
  connection.send_bytes(bytes.bytes());
  connection.expect_closed();
  expect_alive(kit);
}

void expect_frame_closes(Kit& kit, const RawBytes& payload) {
  RawBytes frame;
  frame.int32(static_cast<int64_t>(payload.bytes().size())).raw(payload.bytes());
  expect_bytes_close(kit, frame);
}

// A Metadata request whose body is written by hand.
RawBytes metadata(int16_t version) { return raw_header(kMetadata, version, version >= 9 ? 2 : 1); }

Value answer_of(Kit& kit, int16_t version, const RawBytes& payload) {
  Connection& connection = kit.connect();
  connection.send_frame(payload.bytes());
  return connection.receive({"Metadata", version, kRawCorrelationId});
}

}  // namespace

CASE(size_negative, kSpec) { expect_bytes_close(kit, RawBytes().int32(-1)); }
CASE(size_smallest, kSpec) { expect_bytes_close(kit, RawBytes().int32(INT32_MIN)); }
CASE(size_zero, kSpec) { expect_bytes_close(kit, RawBytes().int32(0)); }
CASE(size_largest, kSpec) { expect_bytes_close(kit, RawBytes().int32(kLargestInt)); }
CASE(size_above_the_limit, "socket.request.max.bytes") {
  expect_bytes_close(kit, RawBytes().int32(kLargestRequest + 1));
}
CASE(http_request, kSpec) {
  expect_bytes_close(kit, RawBytes().text("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
}
CASE(tls_hello, kSpec) {
  expect_bytes_close(kit, RawBytes{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 3});
}

CASE(half_a_frame_then_the_end, kSpec) {
  Connection& connection = kit.connect();
  connection.send_bytes(RawBytes().int32(100).text("0123456789").bytes());
  connection.close();
  expect_alive(kit);
}

// It waits for the rest for as long as the connection lives.
CASE(half_a_frame_waits, kSpec) {
  Connection& connection = kit.connect();
  connection.send_bytes(RawBytes().int32(100).text("0123456789").bytes());
  expect(!connection.readable_within(Millis(500)), "neither an answer nor the end");
  expect_alive(kit);
}

CASE(frame_in_pieces, kSpec) {
  const auto payload = metadata(1).int32(0).bytes();
  const auto frame = RawBytes().int32(static_cast<int64_t>(payload.size())).raw(payload).bytes();
  Connection& connection = kit.connect();
  for (size_t at = 0; at < frame.size(); at += 3) {
    connection.send_bytes(std::span(frame).subspan(at, std::min<size_t>(3, frame.size() - at)));
    kit.pass(Millis(10));
  }
  connection.receive({"Metadata", 1, kRawCorrelationId})["brokers"].is_not_empty();
}

CASE(two_frames_in_one_piece, kSpec) {
  const auto payload = metadata(1).int32(0).bytes();
  RawBytes frames;
  for (int i = 0; i < 2; ++i) frames.int32(static_cast<int64_t>(payload.size())).raw(payload);
  Connection& connection = kit.connect();
  connection.send_bytes(frames.bytes());
  for (int i = 0; i < 2; ++i) connection.receive({"Metadata", 1, kRawCorrelationId});
}

CASE(header_cut_anywhere, kSpec) {
  const RawBytes whole = raw_header(kMetadata, 1, 1);
  for (size_t size = 1; size < whole.bytes().size(); ++size)
    expect_frame_closes(kit, RawBytes(whole).cut_to(size));
}
CASE(body_missing, kSpec) { expect_frame_closes(kit, metadata(1)); }
CASE(body_cut, kSpec) { expect_frame_closes(kit, metadata(12).these({1})); }

CASE(unknown_key_closes, kSpec) {
  for (const int16_t key : {INT16_MIN, -1, 999, INT16_MAX})
    expect_frame_closes(kit, raw_header(static_cast<int16_t>(key), 0, 1));
}

CASE(removed_key_closes, "KIP-896") {
  constexpr int16_t kLeaderAndIsr = 4;
  expect_frame_closes(kit, raw_header(kLeaderAndIsr, 0, 1).repeat(0, 40));
}

CASE(controller_key_closes, "KIP-595") {
  constexpr int16_t kVote = 52;
  expect_frame_closes(kit, raw_header(kVote, 0, 2).repeat(0, 40));
}

// There is no layout that the answer could have.
CASE(version_too_new_closes, kSpec) { expect_frame_closes(kit, metadata(99).int32(0)); }
CASE(version_one_too_new_closes, kSpec) {
  const auto newest = static_cast<int16_t>(kit.broker().versions("Metadata")->max + 1);
  expect_frame_closes(kit, metadata(newest).these({1, 0, 0, 0}));
}
CASE(version_negative_closes, kSpec) {
  expect_frame_closes(kit, raw_header(kMetadata, -1, 1).int32(0));
}
CASE(version_too_old_closes, "KIP-896") {
  constexpr int16_t kFetch = 1;
  expect_frame_closes(kit, raw_header(kFetch, 3, 1).repeat(0, 30));
}

CASE(array_count_huge, kSpec) { expect_frame_closes(kit, metadata(1).int32(0x7ffffffe)); }
CASE(array_count_beyond_the_frame, kSpec) {
  expect_frame_closes(kit, metadata(1).int32(5).classic_text("a"));
}
CASE(array_null_where_it_may_not, kSpec) { expect_frame_closes(kit, metadata(0).int32(-1)); }
CASE(compact_count_too_long, "KIP-482") { expect_frame_closes(kit, metadata(9).repeat(0xff, 5)); }
CASE(compact_count_largest, "KIP-482") {
  expect_frame_closes(kit, metadata(9).these({0xff, 0xff, 0xff, 0xff, 0x0f}));
}
CASE(string_length_minus_2, kSpec) { expect_frame_closes(kit, metadata(1).int32(1).int16(-2)); }
CASE(string_null_where_it_may_not, kSpec) {
  expect_frame_closes(kit, metadata(1).int32(1).int16(-1));
}
CASE(compact_string_null_where_it_may_not, "KIP-482") {
  expect_frame_closes(kit, metadata(9).these({2, 0, 0, 0, 0, 0, 0}));
}
CASE(string_beyond_the_frame, kSpec) {
  expect_frame_closes(kit, metadata(1).int32(1).int16(1000).text("abc"));
}
CASE(bytes_beyond_the_frame, kSpec) {
  RawBytes join = raw_header(kJoinGroup, 0, 1);
  join.classic_text("g").int32(10000).classic_text("").classic_text("consumer");
  expect_frame_closes(kit, join.int32(1).classic_text("range").int32(0x7ffffff0));
}
CASE(client_id_beyond_the_frame, kSpec) {
  expect_frame_closes(kit, RawBytes().int16(kMetadata).int16(1).int32(1).int16(100).int32(0));
}

CASE(client_id_null, kSpec) {
  Connection& connection = kit.connect();
  const Sent sent = connection.send("Metadata", 12, {}, {.client_id = std::nullopt});
  connection.receive(sent)["brokers"].is_not_empty();
}
CASE(client_id_empty, kSpec) {
  Connection& connection = kit.connect();
  const Sent sent = connection.send("Metadata", 12, {}, {.client_id = ""});
  connection.receive(sent)["brokers"].is_not_empty();
}

// Kafka ignores what follows a whole request; closing is as safe. Nothing else is.
CASE(bytes_after_a_request, kSpec) {
  Connection& connection = kit.connect();
  connection.send_frame(metadata(1).int32(0).text("junk").bytes());
  const auto frame = connection.receive_frame();
  if (frame) decode_answer({"Metadata", 1, kRawCorrelationId}, *frame);
  expect_alive(kit);
}

// Texts are bytes to the broker: what is no UTF-8 is no name of a topic, and nothing worse.
CASE(topic_name_not_utf8, kSpec) {
  RawBytes request = metadata(1);
  const Value answer = answer_of(kit, 1, request.int32(1).int16(2).these({0xff, 0xfe}));
  answer["topics"][0]["errorCode"].is(ErrorCode::INVALID_TOPIC_EXCEPTION);
}

CASE(request_of_a_lost_client_counts, kSpec) {
  const Topic topic = create_topic(kit);
  Connection& connection = kit.connect();
  const auto batch = bytes(build_batch({.records = records_of({"x"})}));
  connection.send("Produce", 9, produce_request(topic, batch, {.version = 9}));
  connection.close();
  kit.until("the record is in the log", [&] { return end_offset(kit, topic) == 1; });
}

CASE(parked_fetch_of_a_lost_client, kSpec) {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 3; ++i) {
    Connection& connection = kit.connect();
    connection.send("Fetch", 12, fetch_request({{.topic = topic}}, {.max_wait_ms = 10000}));
    connection.close();
  }
  produce(kit, topic, std::vector<std::string>{"x"});
  expect_equal(values_of(read_all(kit, topic)), std::vector<std::string>{"x"}, "the records");
}

}  // namespace ackord::conform
