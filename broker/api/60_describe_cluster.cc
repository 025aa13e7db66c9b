// DescribeCluster (key 60), versions 0-2.
//   v1  endpoint type (KIP-919): only brokers (1) are here   v2  fenced brokers: there are none
// May: DESCRIBE on the cluster, to be told the operations; else they are none.
#include <string>

#include "broker/api/authorize.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/describe_cluster_request.h"
#include "protocol/generated/describe_cluster_response.h"

namespace ackord::api {
namespace {

constexpr int8_t kBrokers = 1;
constexpr int8_t kControllers = 2;

}  // namespace

io::Task<protocol::DescribeClusterResponse> handle(RequestContext& context,
                                                   protocol::DescribeClusterRequest request) {
  protocol::DescribeClusterResponse response;
  if (request.endpoint_type == kControllers) {
    response.error_code = ErrorCode::MISMATCHED_ENDPOINT_TYPE;
    response.error_message =
        "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
        "CONTROLLER";
    co_return response;
  }
  if (request.endpoint_type != kBrokers) {
    response.error_code = ErrorCode::UNSUPPORTED_ENDPOINT_TYPE;
    response.error_message = "Unsupported endpoint type " + std::to_string(request.endpoint_type);
    co_return response;
  }
  const metadata::MetadataService& service = context.services.metadata;
  const metadata::Node node = service.node_for_listener(context.client->listener);
  response.cluster_id = service.cluster_id();
  response.controller_id = node.id;
  auto& broker = response.brokers.emplace_back();
  broker.broker_id = node.id;
  broker.host = node.host;
  broker.port = node.port;
  if (node.rack) broker.rack = *node.rack;
  if (request.include_cluster_authorized_operations) {
    const Access access(context);
    response.cluster_authorized_operations =
        access.may_cluster(Operation::kDescribe)
            ? access.operations(ResourceType::kCluster, metadata::kClusterName)
            : 0;
  }
  co_return response;
}

}  // namespace ackord::api
