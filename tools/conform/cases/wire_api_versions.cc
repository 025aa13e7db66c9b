// ApiVersions: the one request that must be answered before anything is known of the broker.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/raw_bytes.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("wire.api_versions", "ApiVersions");

namespace {

constexpr int16_t kApiVersions = 18;

Object client(const std::string& name, const std::string& version) {
  return {{"clientSoftwareName", name}, {"clientSoftwareVersion", version}};
}

// The same, where the version has it.
Object client_of(int16_t version) { return version < 3 ? Object{} : client("a", "1"); }

Value ask_as(Kit& kit, const std::string& name, const std::string& version) {
  return kit.ask("ApiVersions", 3, client(name, version))["errorCode"];
}

// ApiVersions in a version that none has, with a body that none can read.
void send_unknown_version(Connection& connection, int version) {
  connection.send_frame(raw_header(kApiVersions, static_cast<int16_t>(version), 2)
                            .repeat(0xff, 4)
                            .text(" garbage")
                            .bytes());
}

}  // namespace

CASE(every_version, "KIP-35", .api = "ApiVersions", .first = 0, .last = 5) {
  const Value answer = kit.ask("ApiVersions", kit.version(), client_of(kit.version()));
  answer["errorCode"].is_none();
  const Value own = answer["apiKeys"].with("apiKey", kApiVersions);
  own["minVersion"].is(0);
  own["maxVersion"].is(kit.broker().versions(kApiVersions)->max);
  if (kit.version() >= 1) answer["throttleTimeMs"].is(0);
}

CASE(same_apis_in_every_version, "KIP-35", .api = "ApiVersions", .first = 0, .last = 5) {
  const Value answer = kit.ask("ApiVersions", kit.version(), client_of(kit.version()));
  answer["apiKeys"].has_size(kit.broker().all_versions().size());
  for (const auto& [key, versions] : kit.broker().all_versions()) {
    const Value api = answer["apiKeys"].with("apiKey", key);
    api["minVersion"].is(versions.min);
    api["maxVersion"].is(versions.max);
  }
}

// The header of the answer never has tags, so that a client which does not know the broker can read
// the error.
CASE(header_has_no_tags, "KIP-511", .api = "ApiVersions", .first = 3, .last = 5) {
  Connection& connection = kit.connect();
  connection.send("ApiVersions", kit.version(), client("a", "1"), {.correlation_id = 5});
  auto frame = connection.receive_frame();
  expect(frame && frame->size() > 6, "an answer");
  frame->resize(6);
  expect_equal(*frame == RawBytes{0, 0, 0, 5, 0, 0}.bytes(), true, "correlation id, then error 0");
}

CASE(unknown_version_is_answered_in_v0, "KIP-511") {
  const int16_t newest = kit.broker().versions(kApiVersions)->max;
  for (const int version : {newest + 1, 99, INT16_MAX, -1}) {
    Connection& connection = kit.connect();
    send_unknown_version(connection, version);
    const auto frame = connection.receive_frame();
    RawBytes expected;
    expected.int32(kRawCorrelationId).int16(35).int32(1).int16(kApiVersions).int16(0).int16(newest);
    expect(frame && *frame == expected.bytes(),
           fmt::format("v{}: UNSUPPORTED_VERSION with the versions of ApiVersions alone", version));
  }
}

CASE(unknown_version_keeps_the_connection, "KIP-511") {
  Connection& connection = kit.connect();
  send_unknown_version(connection, 99);
  connection.receive_frame();
  connection.receive(connection.send("ApiVersions", 0, {}))["errorCode"].is_none();
  connection.receive(connection.send("Metadata", 1, {}));
}

CASE(bad_software_name, "KIP-511") {
  for (const char* name : {"", "bad name!", "-a", "a-", ".a", "a.", "\xc3\xbc", "a_b", "a/b"})
    ask_as(kit, name, "1").is(ErrorCode::INVALID_REQUEST);
}
CASE(bad_software_version, "KIP-511") {
  for (const char* version : {"", "1 2", "-1", "1.", "v_1"})
    ask_as(kit, "a", version).is(ErrorCode::INVALID_REQUEST);
}
CASE(good_software_name, "KIP-511") {
  for (const char* name : {"a", "apache-kafka-java", "A.b-3", "9"})
    ask_as(kit, name, "4.4.0-SNAPSHOT").is_none();
}
CASE(bad_software_name_keeps_the_connection, "KIP-511") {
  ask_as(kit, "bad name!", "1").is(ErrorCode::INVALID_REQUEST);
  ask_as(kit, "good", "1").is_none();
}

CASE(other_cluster_or_node, "KIP-1242") {
  kit.needs("ApiVersions", 5);
  const json::value cluster(cluster_id(kit));
  const int32_t node = node_id(kit);
  const auto ask = [&](const json::value& cluster_asked, int32_t node_asked) {
    return kit.ask("ApiVersions", 5,
                   merged(client("a", "1"),
                          {{"clusterId", cluster_asked}, {"nodeId", node_asked}}))["errorCode"];
  };
  ask(cluster, node).is_none();
  ask(nullptr, -1).is_none();
  ask("other-cluster", node).is(ErrorCode::REBOOTSTRAP_REQUIRED);
  ask(cluster, node + 77).is(ErrorCode::REBOOTSTRAP_REQUIRED);
}

CASE(repeated_at_any_time, "KIP-35") {
  for (int i = 0; i < 3; ++i) {
    kit.ask("ApiVersions", 3, client("a", "1"))["errorCode"].is_none();
    kit.ask("Metadata", 1, {});
  }
}

CASE(apis_of_the_wrong_kind_are_not_advertised, "KIP-500") {
  // Controller APIs, and those of ZooKeeper's times.
  for (const int16_t key : {4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82})
    expect(!kit.broker().versions(key), fmt::format("API {} is not advertised", key));
}

// librdkafka takes a first version above 0 for a broker that cannot compress.
CASE(produce_is_advertised_from_v0, "KIP-896") {
  expect_equal(kit.broker().versions("Produce")->min, 0, "the first version of Produce");
}

CASE(produce_v0_to_v2_is_refused, "KIP-896") {
  const Topic topic = create_topic(kit);
  const auto records = old_message(0, "x");
  for (int16_t version = 0; version <= 2; ++version) {
    RawBytes request = raw_header(0, version, 1);
    request.int16(1).int32(1000).int32(1).classic_text(topic.name).int32(1).int32(0);
    request.int32(static_cast<int64_t>(records.size())).raw(records);
    Connection& connection = kit.connect();
    connection.send_frame(request.bytes());
    connection.expect_closed();
  }
  expect_equal(end_offset(kit, topic), 0, "the log's end");
}

}  // namespace ackord::conform
