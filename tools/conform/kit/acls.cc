#include "tools/conform/kit/acls.h"

#include <utility>

#include "tools/conform/kit/failure.h"

namespace ackord::conform {
namespace {

template <class Enum>
int number(Enum value) {
  return static_cast<int>(value);
}

Value describe(Kit& kit, const Object& filter) { return kit.ask("DescribeAcls", 3, filter); }

}  // namespace

Object acl_creation(const AclSpec& acl) {
  return {{"resourceType", number(acl.type)},
          {"resourceName", acl.name},
          {"resourcePatternType", number(acl.pattern)},
          {"principal", acl.principal},
          {"host", acl.host},
          {"operation", number(acl.operation)},
          {"permissionType", number(acl.permission)}};
}

Object acl_filter(AclType type, const json::value& name, AclPattern pattern) {
  return {{"resourceTypeFilter", number(type)},
          {"resourceNameFilter", name},
          {"patternTypeFilter", number(pattern)},
          {"principalFilter", nullptr},
          {"hostFilter", nullptr},
          {"operation", number(AclOp::kAny)},
          {"permissionType", number(AclPermission::kAny)}};
}

void needs_acls(Kit& kit) {
  const Value cluster = describe(kit, acl_filter(AclType::kCluster));
  if (cluster["errorCode"].error() == ErrorCode::SECURITY_DISABLED)
    throw Skip("it has no authorizer");
  if (cluster["errorCode"].error() != ErrorCode::NONE) throw Skip("the suite may change no ACLs");
  const std::string group = kit.name("probe");
  const Value seen = kit.ask("DescribeGroups", 5, {{"groups", list(group)}})["groups"][0];
  if (seen["errorCode"].error() == ErrorCode::GROUP_AUTHORIZATION_FAILED)
    throw Skip("it denies what no ACL speaks of (allow.everyone.if.no.acl.found)");
}

void needs_denial(Kit& kit) {
  const Value answer = describe(kit, acl_filter(AclType::kAny));
  if (answer["errorCode"].error() != ErrorCode::CLUSTER_AUTHORIZATION_FAILED)
    throw Skip("it has no authorizer that denies everything");
}

Acls::Acls(Kit& kit, AclType type, std::string name)
    : kit_(kit), type_(type), name_(std::move(name)) {
  if (type_ == AclType::kCluster) allow(AclOp::kAll);
  AclSpec other{type_, name_};
  other.principal = kOther;
  add(other);
}

Acls::~Acls() {
  try {
    kit_.ask("DeleteAcls", 3,
             {{"filters", list(acl_filter(type_, json::string(name_), AclPattern::kAny))}});
  } catch (const std::exception&) {
    // The case has failed already, or fails in the next one that meets them.
  }
}

void Acls::allow(AclOp operation) {
  AclSpec acl{type_, name_};
  acl.operation = operation;
  add(acl);
}

void Acls::deny(AclOp operation) {
  AclSpec acl{type_, name_};
  acl.operation = operation;
  acl.permission = AclPermission::kDeny;
  add(acl);
}

void Acls::add(AclSpec acl) {
  const Value results =
      kit_.ask("CreateAcls", 3, {{"creations", list(acl_creation(acl))}})["results"];
  results[0]["errorCode"].is_none();
  // Other threads of the broker may learn of it a moment later.
  kit_.until("the ACL is there", [&] {
    const Value answer = describe(kit_, acl_filter(acl.type, json::string(acl.name), acl.pattern));
    answer["errorCode"].is_none();
    for (const Value& resource : answer["resources"].items()) {
      for (const Value& one : resource["acls"].items()) {
        if (one["principal"].text() == acl.principal && one["host"].text() == acl.host &&
            one["operation"].number() == number(acl.operation) &&
            one["permissionType"].number() == number(acl.permission))
          return true;
      }
    }
    return false;
  });
}

}  // namespace ackord::conform
