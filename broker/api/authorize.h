// What a handler asks before it does anything for a client: whether the principal of the connection
// may. Without an authorizer everything is allowed, and asking costs one comparison.
//
//   const Access access(context);
//   if (!access.may(Operation::kRead, ResourceType::kGroup, request.group_id)) …
//
// Codes are the resource's: TOPIC_AUTHORIZATION_FAILED and so on; a handler's card says which
// operation on which resource, as Kafka 4.4's KafkaApis and ControllerApis have it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "broker/api/handler.h"
#include "broker/base/complaint.h"
#include "broker/metadata/image.h"
#include "broker/security/authorizer.h"
#include "protocol/types/error_code.h"

namespace ackord::api {

using security::Operation;
using security::ResourceType;

// The broker's authorizer, and what is said of those whom it denies. Any thread.
struct Authorization {
  explicit Authorization(security::AuthorizerConfig config) : authorizer(std::move(config)) {}
  const security::Authorizer authorizer;
  base::Complaint denials;
};

// One request's questions. On the connection's core; the context must outlive it.
class Access {
 public:
  explicit Access(const RequestContext& context);

  // False: everything is allowed.
  bool limited() const { return subject_.has_value(); }
  // A denial is logged: the client asked for just this.
  bool may(Operation operation, ResourceType type, std::string_view name) const {
    return !limited() || allowed(operation, type, name, true);
  }
  // For what is only left out of an answer, or has another way to be allowed.
  bool may_see(Operation operation, ResourceType type, std::string_view name) const {
    return !limited() || allowed(operation, type, name, false);
  }
  bool may_topic(Operation operation, std::string_view topic) const {
    return may(operation, ResourceType::kTopic, topic);
  }
  bool may_group(Operation operation, std::string_view group) const {
    return may(operation, ResourceType::kGroup, group);
  }
  bool may_transaction(Operation operation, std::string_view id) const {
    return may(operation, ResourceType::kTransactionalId, id);
  }
  bool may_cluster(Operation operation) const {
    return may(operation, ResourceType::kCluster, metadata::kClusterName);
  }
  // Some resource of the type, whichever.
  bool may_any(Operation operation, ResourceType type) const;
  // Whether it may describe topics, for services that ask later and elsewhere, of the image there.
  // Empty: it may all of them.
  std::function<bool(const metadata::MetadataImage& image, std::string_view topic)> describable()
      const;
  // The operations that a client is told it may do (KIP-430), as bits by number.
  int32_t operations(ResourceType type, std::string_view name) const;

 private:
  bool allowed(Operation operation, ResourceType type, std::string_view name, bool log) const;

  const RequestContext& context_;
  std::optional<security::Subject> subject_;
};

}  // namespace ackord::api
