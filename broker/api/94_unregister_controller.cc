// UnregisterController (key 94), version 0: there is one node, and it is the one that answers. May:
// ALTER on the cluster.
#include <fmt/format.h>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/unregister_controller_request.h"
#include "protocol/generated/unregister_controller_response.h"

namespace ackord::api {

io::Task<protocol::UnregisterControllerResponse> handle(
    RequestContext& context, protocol::UnregisterControllerRequest request) {
  protocol::UnregisterControllerResponse response;
  if (!Access(context).may_cluster(Operation::kAlter)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  if (request.controller_id == context.services.metadata.this_node().id.value) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    response.error_message = String("The only controller cannot be unregistered while it runs.");
  } else {
    response.error_code = ErrorCode::CONTROLLER_ID_NOT_REGISTERED;
    response.error_message =
        String(fmt::format("Controller ID {} is not currently registered", request.controller_id));
  }
  co_return response;
}

}  // namespace ackord::api
