// ACLs: making and taking away, and whether the broker has an authorizer that lets a case do so.
// Errors: Failure, Skip.
#pragma once

#include <string>
#include <string_view>

#include "tools/conform/kit/json.h"
#include "tools/conform/kit/kit.h"

namespace ackord::conform {

// The protocol's numbers.
enum class AclType : int8_t { kAny = 1, kTopic = 2, kGroup = 3, kCluster = 4, kTransaction = 5 };
enum class AclPattern : int8_t { kAny = 1, kMatch = 2, kLiteral = 3, kPrefixed = 4 };
enum class AclOp : int8_t {
  kAny = 1,
  kAll = 2,
  kRead = 3,
  kWrite = 4,
  kCreate = 5,
  kDelete = 6,
  kAlter = 7,
  kDescribe = 8,
  kClusterAction = 9,
  kDescribeConfigs = 10,
  kAlterConfigs = 11,
  kIdempotentWrite = 12,
  kTwoPhaseCommit = 15,
};
enum class AclPermission : int8_t { kAny = 1, kDeny = 2, kAllow = 3 };

constexpr const char* kClusterName = "kafka-cluster";
// Who the suite is, where nobody has to say so; and somebody else.
constexpr const char* kSelf = "User:ANONYMOUS";
constexpr const char* kOther = "User:conform-other";

struct AclSpec {
  AclType type = AclType::kTopic;
  std::string name;
  AclPattern pattern = AclPattern::kLiteral;
  std::string principal = kSelf;
  std::string host = "*";
  AclOp operation = AclOp::kAll;
  AclPermission permission = AclPermission::kAllow;
};
Object acl_creation(const AclSpec& acl);
// A filter for DescribeAcls and DeleteAcls; all of the type when there is no name.
Object acl_filter(AclType type, const json::value& name = nullptr,
                  AclPattern pattern = AclPattern::kAny);

// Skip unless the broker has an authorizer, lets the suite change ACLs, and allows what no ACL
// speaks of (allow.everyone.if.no.acl.found).
void needs_acls(Kit& kit);
// Skip unless the broker has an authorizer that denies the suite everything.
void needs_denial(Kit& kit);

// ACLs of one resource, gone when it goes.
class Acls {
 public:
  // At once there is one for somebody else: from now on what no ACL allows is denied.
  Acls(Kit& kit, AclType type, std::string name);
  ~Acls();
  Acls(const Acls&) = delete;

  const std::string& name() const { return name_; }
  // Of this resource, for the suite's own principal.
  void allow(AclOp operation);
  void deny(AclOp operation);
  void add(AclSpec acl);

 private:
  Kit& kit_;
  AclType type_;
  std::string name_;
};

}  // namespace ackord::conform
