// Quotas: how they are described and altered, and what a client meets that is above its own.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

AREA("quotas", "Client quotas");

namespace {

enum Match { kExact = 0, kDefault = 1, kAny = 2 };

Object component(const std::string& type, int match, const json::value& name = nullptr) {
  return {{"entityType", type}, {"matchType", match}, {"match", name}};
}
Object exactly(const std::string& type, const std::string& name) {
  return component(type, kExact, json::value(name));
}

Value describe(Kit& kit, const json::array& components, bool strict = false, int16_t version = 1) {
  return kit.ask("DescribeClientQuotas", version, {{"components", components}, {"strict", strict}});
}

// The values that an entity of one part has; waits until it has this many.
Value values_of(Kit& kit, const std::string& type, const std::string& name, size_t count) {
  std::optional<Value> found;
  kit.until(fmt::format("{} values of {}", count, name), [&] {
    const Value entries = describe(kit, list(exactly(type, name)), true)["entries"];
    if (entries.size() != (count > 0 ? 1 : 0)) return false;
    found = count > 0 ? entries[0]["values"] : entries;
    return found->size() == count;
  });
  return *found;
}

void alter(Kit& kit, const QuotaEntity& entity, const std::vector<QuotaChange>& changes) {
  const Value entry = alter_quotas(kit, entity, changes);
  entry["errorCode"].is_none();
  entry["errorMessage"].is_null();
}

void expect_refused(Kit& kit, const QuotaEntity& entity, const std::vector<QuotaChange>& changes) {
  const Value entry = alter_quotas(kit, entity, changes);
  entry["errorCode"].is(ErrorCode::INVALID_REQUEST);
  entry["errorMessage"].is_not_empty();
}

// A client id with one quota, which goes when the case ends.
class LimitedClient {
 public:
  LimitedClient(Kit& kit, std::string key, double value)
      : kit_(kit), id_(kit.name("client")), key_(std::move(key)), connection_(kit.connect()) {
    alter(kit_, {{"client-id", id_}}, {{key_, value}});
    values_of(kit_, "client-id", id_, 1);
  }
  LimitedClient(const LimitedClient&) = delete;
  ~LimitedClient() {
    try {
      alter_quotas(kit_, {{"client-id", id_}}, {{key_, std::nullopt}});
    } catch (const std::exception&) {
      // The case has failed already.
    }
  }

  Value ask(const std::string& api, int16_t version, const Object& body) {
    return connection_.receive(connection_.send(api, version, body, {.client_id = id_}));
  }

 private:
  Kit& kit_;
  std::string id_;
  std::string key_;
  Connection& connection_;
};

constexpr size_t kBatchBytes = 26000;
// Of the whole window of 10 s a client may use 100 kB: the fourth batch is too much, by some 0.4 s.
constexpr double kBytesPerSecond = 10000;

json::value large_batch() {
  return bytes(build_batch({.records = records_of({std::string(kBatchBytes, 'x')})}));
}

}  // namespace

CASE(set_and_remove, "KIP-546", .api = "AlterClientQuotas", .first = 0, .last = 1) {
  const std::string id = kit.name("client");
  const QuotaEntity entity = {{"client-id", id}};
  const Value entry = alter_quotas(kit, entity, {{"producer_byte_rate", 1000000.0}}, kit.version());
  entry["errorCode"].is_none();
  entry["errorMessage"].is_null();
  entry["entity"][0]["entityType"].is("client-id");
  entry["entity"][0]["entityName"].is(id);
  const Value value = values_of(kit, "client-id", id, 1)[0];
  value["key"].is("producer_byte_rate");
  value["value"].is(1000000.0);
  alter_quotas(kit, entity, {{"producer_byte_rate", std::nullopt}}, kit.version())["errorCode"]
      .is_none();
  values_of(kit, "client-id", id, 0);
}

CASE(described, "KIP-546", .api = "DescribeClientQuotas", .first = 0, .last = 1) {
  const std::string user = kit.name("user");
  alter(kit, {{"user", user}}, {{"request_percentage", 50.5}, {"consumer_byte_rate", 1000.0}});
  values_of(kit, "user", user, 2);
  const Value answer = describe(kit, list(exactly("user", user)), false, kit.version());
  answer["errorCode"].is_none();
  answer["entries"].has_size(1);
  const Value entry = answer["entries"][0];
  entry["entity"][0]["entityType"].is("user");
  entry["entity"][0]["entityName"].is(user);
  entry["values"].with("key", "request_percentage")["value"].is(50.5);
  entry["values"].with("key", "consumer_byte_rate")["value"].is(1000.0);
  alter(kit, {{"user", user}},
        {{"request_percentage", std::nullopt}, {"consumer_byte_rate", std::nullopt}});
}

CASE(none, "KIP-546") {
  const Value answer = describe(kit, list(exactly("user", kit.name("nobody"))));
  answer["errorCode"].is_none();
  answer["entries"].has_size(0);
}

// A filter that is not strict also finds entities that have more parts.
CASE(strict, "KIP-546") {
  const std::string user = kit.name("user");
  const std::string id = kit.name("client");
  alter(kit, {{"user", user}}, {{"producer_byte_rate", 1000.0}});
  alter(kit, {{"user", user}, {"client-id", id}}, {{"producer_byte_rate", 2000.0}});
  const auto count = [&](const json::array& components, bool strictly) {
    return describe(kit, components, strictly)["entries"].size();
  };
  kit.until("both", [&] { return count(list(exactly("user", user)), false) == 2; });
  expect_equal(count(list(exactly("user", user)), true), 1u, "the user alone");
  expect_equal(count(list(exactly("client-id", id)), true), 0u, "the client id alone");
  expect_equal(count(list(exactly("client-id", id)), false), 1u, "the client id with its user");
  expect_equal(count(list(exactly("user", user), exactly("client-id", id)), true), 1u, "both");
  expect_equal(count(list(exactly("user", user), component("client-id", kAny)), true), 1u,
               "the user with any client id");
  expect_equal(count(list(), true), 0u, "strictly nothing");
  alter(kit, {{"user", user}}, {{"producer_byte_rate", std::nullopt}});
  alter(kit, {{"user", user}, {"client-id", id}}, {{"producer_byte_rate", std::nullopt}});
}

CASE(default_entity, "KIP-546", .alone = true) {
  alter(kit, {{"client-id", std::nullopt}}, {{"producer_byte_rate", 1e12}});
  const auto ask = [&] {
    return describe(kit, list(component("client-id", kDefault)), true)["entries"];
  };
  kit.until("the default", [&] { return ask().size() == 1; });
  ask()[0]["entity"][0]["entityName"].is_null();
  alter(kit, {{"client-id", std::nullopt}}, {{"producer_byte_rate", std::nullopt}});
  kit.until("no default", [&] { return ask().size() == 0; });
}

CASE(addresses, "KIP-612") {
  const QuotaEntity address = {{"ip", "127.1.2.3"}};
  alter(kit, address, {{"connection_creation_rate", 100.0}});
  values_of(kit, "ip", "127.1.2.3", 1)[0]["value"].is(100.0);
  alter(kit, address, {{"connection_creation_rate", std::nullopt}});
  expect_refused(kit, {{"ip", "not an address"}}, {{"connection_creation_rate", 100.0}});
  expect_refused(kit, address, {{"producer_byte_rate", 100.0}});
}

CASE(bad_values, "KIP-546") {
  const QuotaEntity entity = {{"client-id", kit.name("client")}};
  expect_refused(kit, entity, {{"no_such_rate", 1.0}});
  for (const double value : {0.0, -1.0, 1.5})
    expect_refused(kit, entity, {{"producer_byte_rate", value}});
  expect_refused(kit, entity, {{"request_percentage", 0.0}});
  expect_refused(kit, entity, {{"connection_creation_rate", 5.0}});
  expect_refused(kit, entity, {{"producer_byte_rate", 1.0}, {"producer_byte_rate", 2.0}});
}

CASE(bad_entities, "KIP-546") {
  const std::vector<QuotaChange> changes = {{"producer_byte_rate", 1.0}};
  expect_refused(kit, {}, changes);
  expect_refused(kit, {{"colour", "red"}}, changes);
  expect_refused(kit, {{"client-id", ""}}, changes);
  expect_refused(kit, {{"client-id", kit.name("client")}, {"ip", "127.1.2.4"}}, changes);
}

CASE(removing_what_is_not_there, "KIP-546") {
  alter(kit, {{"client-id", kit.name("client")}}, {{"producer_byte_rate", std::nullopt}});
  alter(kit, {{"client-id", kit.name("client")}}, {});
}

CASE(validate_only, "KIP-546", .api = "AlterClientQuotas", .first = 0, .last = 1) {
  const std::string id = kit.name("client");
  const auto ask = [&](const char* key) {
    return alter_quotas(kit, {{"client-id", id}}, {{key, 5.0}}, kit.version(), true)["errorCode"];
  };
  ask("producer_byte_rate").is_none();
  ask("no_such_rate").is(ErrorCode::INVALID_REQUEST);
  describe(kit, list(exactly("client-id", id)))["entries"].has_size(0);
}

CASE(bad_filters, "KIP-546") {
  const auto refused = [&](const json::array& components, ErrorCode code) {
    const Value answer = describe(kit, components);
    answer["errorCode"].is(code);
    answer["errorMessage"].is_not_empty();
    answer["entries"].is_null();
  };
  refused(list(exactly("colour", "red")), ErrorCode::UNSUPPORTED_VERSION);
  refused(list(exactly("", "x")), ErrorCode::INVALID_REQUEST);
  refused(list(component("client-id", 3)), ErrorCode::INVALID_REQUEST);
  refused(list(component("client-id", kExact)), ErrorCode::INVALID_REQUEST);
  refused(list(component("client-id", kDefault, "x")), ErrorCode::INVALID_REQUEST);
  refused(list(exactly("client-id", "x"), exactly("client-id", "y")), ErrorCode::INVALID_REQUEST);
  refused(list(exactly("client-id", "x"), exactly("ip", "127.0.0.1")), ErrorCode::INVALID_REQUEST);
}

// ---- above the quota

// The records are taken; the answer says how long the connection will be silent, and it is.
CASE(produce, "KIP-219", .api = "Produce", .first = 3, .last = 13) {
  const Topic topic = create_topic(kit);
  LimitedClient client(kit, "producer_byte_rate", kBytesPerSecond);
  const Object request = produce_request(topic, large_batch(), {.version = kit.version()});
  int64_t sent = 0;
  int64_t throttled = 0;
  kit.until("the client is throttled", [&] {
    const Value answer = client.ask("Produce", kit.version(), request);
    answer["responses"][0]["partitionResponses"][0]["errorCode"].is_none();
    ++sent;
    throttled = answer["throttleTimeMs"].number();
    return throttled > 0;
  });
  expect_between(throttled, int64_t{1}, int64_t{10000}, "throttleTimeMs");
  const Stopwatch stopwatch;
  client.ask("ApiVersions", 0, {});
  expect_between(int64_t{stopwatch.elapsed().count()}, throttled * 7 / 10, throttled + 10000,
                 "milliseconds until the next answer");
  expect_equal(end_offset(kit, topic), sent, "the log's end");
}

// Other clients are not throttled with it.
CASE(other_clients, "KIP-219") {
  const Topic topic = create_topic(kit);
  LimitedClient client(kit, "producer_byte_rate", kBytesPerSecond);
  const Object request = produce_request(topic, large_batch());
  kit.until("the client is throttled",
            [&] { return client.ask("Produce", 11, request)["throttleTimeMs"].number() > 0; });
  kit.ask("Produce", 11, request)["throttleTimeMs"].is(0);
}

// The answer has no records then; they come with a later Fetch.
CASE(fetch, "KIP-219", .api = "Fetch", .first = 4, .last = 17) {
  const Topic topic = create_topic(kit);
  for (int i = 0; i < 2; ++i)
    produce(kit, topic, build_batch({.records = records_of({std::string(60000, 'x')})}));
  LimitedClient client(kit, "consumer_byte_rate", kBytesPerSecond);
  const FetchOptions options{.version = kit.version(), .max_bytes = 60000};
  std::optional<Value> throttled;
  kit.until("the client is throttled", [&] {
    const Value answer =
        client.ask("Fetch", kit.version(), fetch_request({{.topic = topic}}, options));
    throttled = answer;
    return answer["throttleTimeMs"].number() > 0;
  });
  (*throttled)["throttleTimeMs"].is_between(1, 10000);
  for (const Value& part : (*throttled)["responses"].items())
    for (const Value& partition : part["partitions"].items())
      expect(partition["records"].null() || partition["records"].text().empty(), "no records");
}

CASE(requests, "KIP-124") {
  LimitedClient client(kit, "request_percentage", 0.0001);
  kit.until("the client is throttled",
            [&] { return client.ask("Metadata", 12, {})["throttleTimeMs"].number() > 0; });
}

// Up to v5 the topics are made and the client is silent; from v6 on it is told.
CASE(mutations_before_v6, "KIP-599", .api = "CreateTopics", .first = 3, .last = 5) {
  LimitedClient client(kit, "controller_mutation_rate", 5.0);
  kit.until("the client is throttled", [&] {
    const std::string name = kit.name("t");
    kit.forget_later(name);
    const Value answer = client.ask("CreateTopics", kit.version(),
                                    {{"topics", list(new_topic(name, 30))}, {"timeoutMs", 10000}});
    answer["topics"][0]["errorCode"].is_none();
    return answer["throttleTimeMs"].number() > 0;
  });
}

CASE(mutations_from_v6, "KIP-599", .api = "CreateTopics", .first = 6, .last = 7) {
  LimitedClient client(kit, "controller_mutation_rate", 5.0);
  kit.until("the client is told", [&] {
    const std::string name = kit.name("t");
    kit.forget_later(name);
    const Value answer = client.ask("CreateTopics", kit.version(),
                                    {{"topics", list(new_topic(name, 30))}, {"timeoutMs", 10000}});
    const Value topic = answer["topics"][0];
    if (topic["errorCode"].error() == ErrorCode::NONE) return false;
    topic["errorCode"].is(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
    answer["throttleTimeMs"].is_between(1, 60000);
    describe_topic(kit, name)["errorCode"].is(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
    return true;
  });
}

}  // namespace ackord::conform
