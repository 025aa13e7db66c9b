#include "broker/api/authorize.h"

#include "broker/api/authorized_operations.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {
namespace {

int32_t known_operations(ResourceType type) {
  switch (type) {
    case ResourceType::kTopic: return kTopicOperations;
    case ResourceType::kGroup: return kGroupOperations;
    default: return kClusterOperations;
  }
}

}  // namespace

Access::Access(const RequestContext& context) : context_(context) {
  if (context.services.authorization == nullptr) return;
  subject_.emplace(
      security::Subject{context.client->principal.str(), security::acl_host(context.client->host)});
}

bool Access::allowed(Operation operation, ResourceType type, std::string_view name,
                     bool log) const {
  Authorization& authorization = *context_.services.authorization;
  const metadata::Acls& acls = context_.services.metadata.image().acls();
  if (authorization.authorizer.allows(acls, *subject_, operation, type, name)) return true;
  if (log) {
    authorization.denials.warn(context_.core.clock.now().steady_ms,
                               "denied principal={} host={} operation={} resource={}:{} api_key={}",
                               subject_->principal, subject_->host, metadata::name_of(operation),
                               metadata::name_of(type), name, context_.api_key);
  }
  return false;
}

bool Access::may_any(Operation operation, ResourceType type) const {
  if (!limited()) return true;
  const metadata::Acls& acls = context_.services.metadata.image().acls();
  return context_.services.authorization->authorizer.allows_any(acls, *subject_, operation, type);
}

std::function<bool(const metadata::MetadataImage&, std::string_view)> Access::describable() const {
  if (!limited()) return {};
  return [&authorizer = context_.services.authorization->authorizer, subject = *subject_](
             const metadata::MetadataImage& image, std::string_view topic) {
    return authorizer.allows(image.acls(), subject, Operation::kDescribe, ResourceType::kTopic,
                             topic);
  };
}

int32_t Access::operations(ResourceType type, std::string_view name) const {
  const int32_t known = known_operations(type);
  if (!limited()) return known;
  int32_t may = 0;
  for (int bit = 0; bit < 32; ++bit) {
    if ((known >> bit & 1) == 0) continue;
    if (may_see(static_cast<Operation>(bit), type, name)) may |= 1 << bit;
  }
  return may;
}

}  // namespace ackord::api
