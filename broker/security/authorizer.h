// Authorizer: what Kafka's StandardAuthorizer decides (KIP-11, KIP-290, KIP-679, KIP-801). Pure:
// the ACLs come in as an argument, of the image of the core that asks. Any thread.
//
// A super user may do everything. Else, of the ACLs that speak of the resource (literally, by
// prefix, or "*"), of the principal or "User:*", of the host or "*", and of the operation or ALL:
// one that denies decides, else one that allows; where there are none, it is denied, or, when no
// ACL at all speaks of the resource, as `allow_if_no_acl` says. To be allowed READ, WRITE, DELETE
// or ALTER is to be allowed DESCRIBE, and ALTER_CONFIGS DESCRIBE_CONFIGS; to be denied them is not.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "broker/metadata/acls.h"
#include "protocol/types/result.h"

namespace ackord::security {

using Operation = metadata::AclOperation;
using ResourceType = metadata::AclResource;

// Who asks: the principal as ACLs write it ("User:alice"), the peer's address as Java writes it.
struct Subject {
  std::string principal;
  std::string host;
};
// An address of this process's making ("/127.0.0.1", "::1") in Java's form ("127.0.0.1",
// "0:0:0:0:0:0:0:1"; an IPv4 address in an IPv6 one as IPv4), since hosts of ACLs are compared as
// texts.
std::string acl_host(std::string_view address);

struct AuthorizerConfig {
  std::set<std::string, std::less<>> super_users;  // "User:alice"
  bool allow_if_no_acl = false;                    // allow.everyone.if.no.acl.found
};
// The list of super.users: principals with ";" between. INVALID_CONFIG for one without a type.
Result<std::set<std::string, std::less<>>> parse_super_users(std::string_view text);

class Authorizer {
 public:
  explicit Authorizer(AuthorizerConfig config) : config_(std::move(config)) {}

  bool allows(const metadata::Acls& acls, const Subject& subject, Operation operation,
              ResourceType type, std::string_view name) const;
  // Whether it may do it with any resource of the type at all, named or not (KIP-679).
  bool allows_any(const metadata::Acls& acls, const Subject& subject, Operation operation,
                  ResourceType type) const;

 private:
  AuthorizerConfig config_;
};

}  // namespace ackord::security
