// GetTelemetrySubscriptions (key 71), version 0: which of its metrics a client is to push, and how
// often (KIP-714). A client without an instance id is given one.
#include "broker/api/handlers.h"
#include "broker/api/telemetry.h"
#include "protocol/generated/get_telemetry_subscriptions_request.h"
#include "protocol/generated/get_telemetry_subscriptions_response.h"

namespace ackord::api {
namespace {

// zstd, lz4, gzip, snappy: the better ones first.
constexpr int8_t kAccepted[] = {4, 3, 1, 2};

}  // namespace

io::Task<protocol::GetTelemetrySubscriptionsResponse> handle(
    RequestContext& context, protocol::GetTelemetrySubscriptionsRequest request) {
  protocol::GetTelemetrySubscriptionsResponse response;
  Uuid instance = request.client_instance_id;
  if (instance.is_zero()) instance = context.services.environment.random.uuid();
  auto asking = context.services.telemetry.subscribe(instance, metrics_client(context, instance));
  const Result<TelemetrySubscription> subscription = co_await std::move(asking);
  if (!subscription) {
    response.error_code = subscription.error().code;
    co_return response;
  }
  response.client_instance_id = instance;
  response.subscription_id = subscription->id;
  response.push_interval_ms = subscription->push_interval_ms;
  response.accepted_compression_types.assign(std::begin(kAccepted), std::end(kAccepted));
  response.telemetry_max_bytes = kTelemetryMaxBytes;
  response.delta_temporality = true;
  for (const std::string& name : subscription->metrics)
    response.requested_metrics.push_back(String(name));
  co_return response;
}

}  // namespace ackord::api
