// PushTelemetry (key 72), version 0: a client's metrics (KIP-714). They are checked and counted;
// nothing in the broker reads them.
#include "broker/api/handlers.h"
#include "broker/api/telemetry.h"
#include "protocol/generated/push_telemetry_request.h"
#include "protocol/generated/push_telemetry_response.h"

namespace ackord::api {

io::Task<protocol::PushTelemetryResponse> handle(RequestContext& context,
                                                 protocol::PushTelemetryRequest request) {
  protocol::PushTelemetryResponse response;
  if (request.client_instance_id.is_zero()) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    co_return response;
  }
  TelemetryPush push{request.client_instance_id, request.subscription_id, request.terminating,
                     request.compression_type, request.metrics.size()};
  auto pushing =
      context.services.telemetry.push(push, metrics_client(context, request.client_instance_id));
  const Result<void> pushed = co_await std::move(pushing);
  if (!pushed) response.error_code = pushed.error().code;
  co_return response;
}

}  // namespace ackord::api
