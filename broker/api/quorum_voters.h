// Why the voters of the metadata quorum cannot be changed, in Kafka's words.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "broker/api/handler.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/types/result.h"

namespace ackord::api {

// INCONSISTENT_CLUSTER_ID for another cluster's, else UNSUPPORTED_VERSION. `change` is the verb.
inline Error voters_refused(const RequestContext& context, const std::optional<String>& cluster_id,
                            std::string_view change) {
  const std::string& own = context.services.metadata.cluster_id();
  if (cluster_id && cluster_id->sv() != own) {
    return error(ErrorCode::INCONSISTENT_CLUSTER_ID,
                 fmt::format("The given id \"{}\" doesn't match the cluster id \"{}\"",
                             cluster_id->sv(), own));
  }
  return error(
      ErrorCode::UNSUPPORTED_VERSION,
      fmt::format("Cluster doesn't support {} voter because the kraft.version feature is 0",
                  change));
}

}  // namespace ackord::api
