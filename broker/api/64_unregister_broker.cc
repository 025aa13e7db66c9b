// UnregisterBroker (key 64), version 0: there is one node, and it is the one that answers. May:
// ALTER on the cluster.
#include <fmt/format.h>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/unregister_broker_request.h"
#include "protocol/generated/unregister_broker_response.h"

namespace ackord::api {

io::Task<protocol::UnregisterBrokerResponse> handle(RequestContext& context,
                                                    protocol::UnregisterBrokerRequest request) {
  protocol::UnregisterBrokerResponse response;
  if (!Access(context).may_cluster(Operation::kAlter)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  if (request.broker_id == context.services.metadata.this_node().id) {
    response.error_code = ErrorCode::INVALID_REQUEST;
    response.error_message = String("The only broker cannot be unregistered while it runs.");
  } else {
    response.error_code = ErrorCode::BROKER_ID_NOT_REGISTERED;
    response.error_message =
        String(fmt::format("Broker ID {} is not currently registered", request.broker_id.value));
  }
  co_return response;
}

}  // namespace ackord::api
