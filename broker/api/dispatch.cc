#include "broker/api/dispatch.h"

#include <algorithm>
#include <array>
#include <utility>

#include "broker/api/handlers.h"
#include "broker/api/messages.h"
#include "broker/api/throttling.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/share_service.h"
#include "protocol/generated/request_header.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::api {
namespace {

constexpr int16_t kApiVersionsKey = 18;
constexpr int16_t kInitProducerIdKey = 22;
constexpr int16_t kFirstTwoPhaseInitProducerId = 6;

constexpr std::array kServed = {
#define API(key, Name, first, last) ServedApi{key, first, last},
#include "broker/api/apis.def"
#undef API
};

// KIP-939: a client takes version 6 of InitProducerId for two-phase commit itself.
int16_t max_version(const ServedApi& api, const metadata::BrokerConfig& config) {
  const bool two_phase = config.transaction_two_phase_commit_enable;
  return api.key == kInitProducerIdKey && !two_phase
             ? static_cast<int16_t>(kFirstTwoPhaseInitProducerId - 1)
             : api.max_version;
}

struct Header {
  int16_t key = 0;
  int16_t version = 0;
  int32_t correlation_id = 0;
  std::string client_id;
};

// Everything that one request needs while it is served.
struct Serving {
  Call call;
  Header header;
  protocol::Reader body;
  base::Complaint& undecodable;
};

// A response header is only the correlation id, and from its first flexible version on an empty tag
// section; ApiVersions never has that, since its reader does not know the version yet.
protocol::Writer open_response(const Header& header, bool flexible) {
  protocol::Writer out;
  out.int32(header.correlation_id);
  if (flexible && header.key != kApiVersionsKey) out.unsigned_varint(0);
  return out;
}

// What a request counts at most: one that waits uses no processor meanwhile.
constexpr int64_t kMostNanos = 1'000'000;

// Charges the time that the request took, whatever it was (KIP-124); at most a second's throttling.
template <class Response>
io::Task<void> charge_time(RequestContext& context, Response& response, int64_t began_ns) {
  constexpr int32_t kMostThrottleMs = 1000;
  auto charging = context.services.quotas.charge(quota::Kind::kRequest, quota_client(context));
  quota::Charge charge = co_await std::move(charging);
  if (!charge.limited()) co_return;
  const int64_t took_ns = context.core.clock.steady_ns() - began_ns;
  const int64_t now_ms = context.core.clock.now().steady_ms;
  charge.record(now_ms, std::min(took_ns, kMostNanos));
  throttle(context, response, std::min(charge.throttle_ms(now_ms), kMostThrottleMs));
}

template <class Request, class Response>
io::Task<Answer> serve(Services& services, Serving serving) {
  const int64_t began_ns = services.environment.here().clock.steady_ns();
  Result<Request> request = Request::decode(serving.body, serving.header.version);
  if (!request) {
    serving.undecodable.warn(services.environment.here().clock.now().steady_ms,
                             "request refused: {} api_key={} client_id={} host={}",
                             request.error().message, serving.header.key, serving.header.client_id,
                             serving.call.client->host);
    co_return Answer{};
  }
  RequestContext context{services,
                         services.environment.here(),
                         serving.call.client,
                         serving.header.key,
                         serving.header.version,
                         serving.header.client_id,
                         serving.call.payload.size(),
                         std::move(serving.call.release_order)};
  auto handling = handle(context, std::move(*request));
  Response response = co_await std::move(handling);
  if constexpr (requires { response.throttle_time_ms; }) {
    if (services.quotas.any()) {
      auto charging = charge_time(context, response, began_ns);
      co_await std::move(charging);
    }
  }
  Answer answer;
  answer.throttle_ms = context.throttle_ms;
  if (context.close_connection) co_return answer;
  answer.kind = Answer::Kind::kNothing;
  if (context.no_response) co_return answer;
  answer.kind = Answer::Kind::kSend;
  if (context.last_after_ms) {
    auto holding = hold_back(context.client, context.core, *context.last_after_ms);
    co_await std::move(holding);
    answer.kind = Answer::Kind::kSendAndClose;
  }
  protocol::Writer out =
      open_response(serving.header, serving.header.version >= Response::kFlexibleFrom);
  response.encode(out, serving.header.version);
  answer.bytes = out.finish();
  co_return answer;
}

struct Entry {
  ServedApi api;
  int16_t first_served;  // of the versions that the schema has
  int16_t flexible_from;
  io::Task<Answer> (*serve)(Services&, Serving);
};

constexpr std::array kEntries = {
#define API(key, Name, first, last)                                     \
  Entry{{key, first, last},                                             \
        std::max<int16_t>(first, protocol::Name##Request::kMinVersion), \
        protocol::Name##Request::kFlexibleFrom,                         \
        &serve<protocol::Name##Request, protocol::Name##Response>},
#include "broker/api/apis.def"
#undef API
};

const Entry* find_entry(int16_t key) {
  const auto at = std::lower_bound(kEntries.begin(), kEntries.end(), key,
                                   [](const Entry& entry, int16_t k) { return entry.api.key < k; });
  return at != kEntries.end() && at->api.key == key ? &*at : nullptr;
}

// An unknown version of ApiVersions is answered in version 0, with the range that would do; its
// body is not read.
Answer unsupported_api_versions(const Header& header, const Entry& entry) {
  protocol::ApiVersionsResponse response;
  response.error_code = ErrorCode::UNSUPPORTED_VERSION;
  response.api_keys.push_back({entry.api.key, entry.api.min_version, entry.api.max_version});
  protocol::Writer out = open_response(header, false);
  response.encode(out, 0);
  return Answer{Answer::Kind::kSend, out.finish()};
}

}  // namespace

std::vector<ServedApi> served_apis(const metadata::BrokerConfig& config) {
  std::vector<ServedApi> served(kServed.begin(), kServed.end());
  for (ServedApi& api : served) api.max_version = max_version(api, config);
  return served;
}

io::Task<Answer> Dispatch::handle(Call call) {
  if (security::uses_sasl(call.client->protocol)) {
    const auto admission = gate_.admit(*call.client, call.payload);
    if (admission != SaslGate::Admission::kServe) return gate_.answer(admission, std::move(call));
  }
  return dispatch(std::move(call));
}

io::Task<Answer> Dispatch::dispatch(Call call) {
  Header header;
  protocol::Reader reader(call.payload);
  header.key = reader.int16();
  header.version = reader.int16();
  header.correlation_id = reader.int32();
  const Entry* entry = reader.ok() ? find_entry(header.key) : nullptr;
  if (entry == nullptr) {
    unknown_api_.warn(now_ms(), "request refused: api_key={} is not served host={}", header.key,
                      call.client->host);
    co_return Answer{};
  }
  const int16_t last_served = max_version(entry->api, services_.metadata.broker_config());
  if (header.version < entry->first_served || header.version > last_served) {
    if (header.key == kApiVersionsKey) co_return unsupported_api_versions(header, *entry);
    unknown_version_.warn(now_ms(), "request refused: api_key={} version={} is not served host={}",
                          header.key, header.version, call.client->host);
    co_return Answer{};
  }
  protocol::Reader body(call.payload);
  const int16_t header_version = header.version >= entry->flexible_from ? 2 : 1;
  Result<protocol::RequestHeader> decoded = protocol::RequestHeader::decode(body, header_version);
  if (!decoded) {
    undecodable_.warn(now_ms(), "request refused: {} api_key={} host={}", decoded.error().message,
                      header.key, call.client->host);
    co_return Answer{};
  }
  if (decoded->client_id) header.client_id = decoded->client_id->str();
  Serving serving{std::move(call), std::move(header), body, undecodable_};
  auto task = entry->serve(services_, std::move(serving));
  Answer answer = co_await std::move(task);
  co_return answer;
}

int64_t Dispatch::now_ms() const { return services_.environment.here().clock.now().steady_ms; }

void Dispatch::connection_closed(Client& client) {
  client.gone = true;
  client.on_gone.notify();
  services_.share.connection_closed(client.connection_id);
}

}  // namespace ackord::api
