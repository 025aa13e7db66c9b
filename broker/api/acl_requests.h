// What the ACL requests have in common: a filter as the wire has it.
#pragma once

#include "broker/api/authorize.h"
#include "broker/metadata/metadata_service.h"

namespace ackord::api {

// Of a DescribeAcls request, or of one filter of DeleteAcls.
template <class Wire>
metadata::AclFilter filter_of(const Wire& wire) {
  metadata::AclFilter filter;
  filter.resource = static_cast<metadata::AclResource>(wire.resource_type_filter);
  if (wire.resource_name_filter) filter.name = wire.resource_name_filter->str();
  filter.pattern = static_cast<metadata::AclPattern>(wire.pattern_type_filter);
  if (wire.principal_filter) filter.principal = wire.principal_filter->str();
  if (wire.host_filter) filter.host = wire.host_filter->str();
  filter.operation = static_cast<metadata::AclOperation>(wire.operation);
  filter.permission = static_cast<metadata::AclPermission>(wire.permission_type);
  return filter;
}

}  // namespace ackord::api
