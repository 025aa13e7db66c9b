// Client metrics: GetTelemetrySubscriptions and PushTelemetry. Kafka advertises them only with a
// plugin that takes the metrics, but answers without one too; a broker that does not know them
// closes the connection, and skips these cases. All are alone: a change of any subscription makes
// the broker forget what a client has said and when.
#include <random>

#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"

namespace ackord::conform {

AREA("telemetry", "Client metrics (KIP-714)");

namespace {

constexpr const char* kSpec = "KIP-714";

class Client {
 public:
  explicit Client(Kit& kit, std::string client_id = "conform")
      : kit_(kit), connection_(kit.connect()), client_id_(std::move(client_id)) {}

  Value subscribe(const std::string& instance = kZeroId) {
    const Value answer = ask("GetTelemetrySubscriptions", {{"clientInstanceId", instance}});
    if (answer["errorCode"].error() == ErrorCode::NONE) {
      instance_ = answer["clientInstanceId"].text();
      subscription_ = answer["subscriptionId"].number();
    }
    return answer;
  }
  // With the instance and the subscription of the last subscribe(), where `fields` says no other.
  Value push(const Object& fields = {}) {
    return ask("PushTelemetry", merged({{"clientInstanceId", instance_},
                                        {"subscriptionId", subscription_},
                                        {"terminating", false},
                                        {"compressionType", 0},
                                        {"metrics", ""}},
                                       fields))["errorCode"];
  }
  const std::string& instance() const { return instance_; }
  int64_t subscription() const { return subscription_; }

 private:
  Value ask(const char* api, const Object& body) {
    const Sent sent = connection_.send(api, 0, body, {.client_id = client_id_});
    const auto frame = connection_.receive_frame();
    if (!frame) {
      kit_.needs(api);
      throw Failure(std::string(api) + ": the broker closed the connection");
    }
    return decode_answer(sent, *frame);
  }

  Kit& kit_;
  Connection& connection_;
  std::string client_id_;
  std::string instance_ = kZeroId;
  int64_t subscription_ = 0;
};

std::string random_instance() {
  std::random_device device;
  Uuid id;
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(device());
  return id.to_string();
}

// A subscription for one client id, which goes when the case ends.
class Subscription {
 public:
  Subscription(Kit& kit, const std::string& client_id) : kit_(kit), name_(kit.name("metrics")) {
    set_configs(kit, ConfigResource::kClientMetrics, name_,
                {{"metrics", "org.apache.kafka.producer."},
                 {"interval.ms", "700"},
                 {"match", "client_id=" + client_id}});
  }
  Subscription(const Subscription&) = delete;
  ~Subscription() {
    try {
      replace_configs(kit_, ConfigResource::kClientMetrics, name_, {});
    } catch (const std::exception&) {
      // The case has failed already.
    }
  }

 private:
  Kit& kit_;
  std::string name_;
};

}  // namespace

CASE(a_new_client, kSpec, .alone = true) {
  Client client(kit);
  const Value answer = client.subscribe();
  answer["errorCode"].is_none();
  answer["clientInstanceId"].is_not(json::value(kZeroId));
  answer["requestedMetrics"].has_size(0);
  answer["pushIntervalMs"].is(300000);
  answer["telemetryMaxBytes"].is(1048576);
  answer["deltaTemporality"].is(true);
  // zstd, lz4, gzip, snappy: the better ones first.
  answer["acceptedCompressionTypes"].is(list(4, 3, 1, 2));
}

CASE(two_clients, kSpec, .alone = true) {
  Client one(kit);
  Client other(kit);
  one.subscribe()["errorCode"].is_none();
  other.subscribe()["errorCode"].is_none();
  expect(one.instance() != other.instance(), "each client has an instance of its own");
}

CASE(a_client_that_has_an_instance, kSpec, .alone = true) {
  const std::string instance = random_instance();
  Client client(kit);
  const Value answer = client.subscribe(instance);
  answer["errorCode"].is_none();
  answer["clientInstanceId"].is(instance);
}

CASE(asks_too_often, kSpec, .alone = true) {
  Client client(kit);
  client.subscribe()["errorCode"].is_none();
  client.subscribe(client.instance())["errorCode"].is(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
}

CASE(pushes, kSpec, .alone = true) {
  Client client(kit);
  client.subscribe();
  client.push().is_none();
  client.push().is(ErrorCode::THROTTLING_QUOTA_EXCEEDED);
}

CASE(says_goodbye, kSpec, .alone = true) {
  Client client(kit);
  client.subscribe();
  client.push({{"terminating", true}}).is_none();
  client.push({{"terminating", true}}).is(ErrorCode::INVALID_REQUEST);
}

CASE(says_goodbye_early, kSpec, .alone = true) {
  Client client(kit);
  client.subscribe();
  client.push().is_none();
  client.push({{"terminating", true}}).is_none();
}

CASE(pushes_without_an_instance, kSpec, .alone = true) {
  Client client(kit);
  client.push().is(ErrorCode::INVALID_REQUEST);
}

CASE(pushes_without_a_subscription, kSpec, .alone = true) {
  Client client(kit);
  client.push({{"clientInstanceId", random_instance()}, {"subscriptionId", 1}})
      .is(ErrorCode::UNKNOWN_SUBSCRIPTION_ID);
}

CASE(pushes_for_another_subscription, kSpec, .alone = true) {
  Client client(kit);
  client.subscribe();
  client.push({{"subscriptionId", client.subscription() ^ 1}})
      .is(ErrorCode::UNKNOWN_SUBSCRIPTION_ID);
}

CASE(pushes_too_much, kSpec, .alone = true) {
  Client client(kit);
  client.subscribe();
  client.push({{"metrics", bytes(std::string(1048577, 'x'))}}).is(ErrorCode::TELEMETRY_TOO_LARGE);
}

CASE(unknown_compression, kSpec, .alone = true) {
  Client client(kit);
  client.subscribe();
  client.push({{"compressionType", 9}, {"metrics", bytes("x")}})
      .is(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE);
}

CASE(subscribed_client, kSpec, .alone = true) {
  Client(kit).subscribe();
  const std::string id = kit.name("client");
  const Subscription subscription(kit, id);
  std::optional<Value> answer;
  kit.until("the subscription is known", [&] {
    answer = Client(kit, id).subscribe();
    return (*answer)["requestedMetrics"].size() > 0;
  });
  (*answer)["requestedMetrics"].is(list("org.apache.kafka.producer."));
  (*answer)["pushIntervalMs"].is(700);
  Client(kit, kit.name("other")).subscribe()["requestedMetrics"].has_size(0);
}

CASE(pushes_at_its_interval, kSpec, .alone = true) {
  Client(kit).subscribe();
  const std::string id = kit.name("client");
  const Subscription subscription(kit, id);
  kit.until("the subscription is known",
            [&] { return Client(kit, id).subscribe()["pushIntervalMs"].number() == 700; });
  Client client(kit, id);
  client.subscribe();
  client.push().is_none();
  kit.pass(Millis(800));
  client.push().is_none();
}

}  // namespace ackord::conform
