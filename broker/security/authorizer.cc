#include "broker/security/authorizer.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace ackord::security {
namespace {

using metadata::Acl;
using metadata::AclPattern;
using metadata::AclPermission;
using metadata::Acls;
using metadata::kWildcard;
using metadata::kWildcardPrincipal;

bool is_of(const Acl& acl, const Subject& subject) {
  return (acl.principal == subject.principal || acl.principal == kWildcardPrincipal) &&
         (acl.host == kWildcard || acl.host == subject.host);
}

bool allows_operation(Operation allowed, Operation asked) {
  if (allowed == asked) return true;
  if (asked == Operation::kDescribe) {
    return allowed == Operation::kRead || allowed == Operation::kWrite ||
           allowed == Operation::kDelete || allowed == Operation::kAlter;
  }
  return asked == Operation::kDescribeConfigs && allowed == Operation::kAlterConfigs;
}

bool speaks_of(const Acl& acl, Operation operation) {
  if (acl.operation == Operation::kAll) return true;
  return acl.permission == AclPermission::kAllow ? allows_operation(acl.operation, operation)
                                                 : acl.operation == operation;
}

using NameSet = std::set<std::string_view>;

// Whether a denied prefix covers the name, or the prefix, that is allowed.
bool is_below(const NameSet& prefixes, std::string_view name) {
  for (size_t length = 1; length <= name.size(); ++length) {
    if (prefixes.contains(name.substr(0, length))) return true;
  }
  return false;
}

}  // namespace

std::string acl_host(std::string_view address) {
  if (address.starts_with('/')) address.remove_prefix(1);
  if (address.find(':') == std::string_view::npos) return std::string(address);
  // The zone of a link-local address is Java's own business; ACLs do not name it.
  const std::string text(address.substr(0, address.find('%')));
  in6_addr parsed{};
  if (::inet_pton(AF_INET6, text.c_str(), &parsed) != 1) return std::string(address);
  const uint8_t* bytes = parsed.s6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&parsed))
    return fmt::format("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
  std::string host;
  for (size_t i = 0; i < 16; i += 2) {
    fmt::format_to(std::back_inserter(host), "{}{:x}", i == 0 ? "" : ":",
                   (bytes[i] << 8) | bytes[i + 1]);
  }
  return host;
}

Result<std::set<std::string, std::less<>>> parse_super_users(std::string_view text) {
  std::set<std::string, std::less<>> users;
  constexpr std::string_view kSpace = " \t\r\n";
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    std::string_view user = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    user.remove_prefix(std::min(user.find_first_not_of(kSpace), user.size()));
    user = user.substr(0, user.find_last_not_of(kSpace) + 1);
    if (user.empty()) continue;
    if (user.find(':') == std::string_view::npos) {
      return error(ErrorCode::INVALID_CONFIG,
                   fmt::format("super.users: expected a string in format "
                               "principalType:principalName but got {}",
                               user));
    }
    users.emplace(user);
  }
  return users;
}

bool Authorizer::allows(const Acls& acls, const Subject& subject, Operation operation,
                        ResourceType type, std::string_view name) const {
  if (config_.super_users.contains(subject.principal)) return true;
  bool any = false;
  bool allowed = false;
  bool denied = false;
  acls.for_each(type, name, [&](const Acl& acl) {
    any = true;
    if (!is_of(acl, subject) || !speaks_of(acl, operation)) return true;
    denied = acl.permission != AclPermission::kAllow;
    allowed = true;
    return !denied;
  });
  if (!any) return config_.allow_if_no_acl;
  return allowed && !denied;
}

bool Authorizer::allows_any(const Acls& acls, const Subject& subject, Operation operation,
                            ResourceType type) const {
  // A resource that no ACL names, only "*" and those of all: super users, and where the default is
  // to allow.
  if (allows(acls, subject, operation, type, "hardcode")) return true;
  NameSet denied_names, denied_prefixes, allowed_names, allowed_prefixes;
  bool all_denied = false;
  bool all_allowed = false;
  acls.for_each(type, [&](const Acl& acl) {
    if (!is_of(acl, subject)) return true;
    if (acl.operation != operation && acl.operation != Operation::kAll) return true;
    const bool allow = acl.permission == AclPermission::kAllow;
    if (acl.pattern == AclPattern::kPrefixed) {
      (allow ? allowed_prefixes : denied_prefixes).insert(acl.name);
    } else if (acl.name != kWildcard) {
      (allow ? allowed_names : denied_names).insert(acl.name);
    } else {
      (allow ? all_allowed : all_denied) = true;
    }
    return true;
  });
  if (all_denied) return false;
  if (all_allowed) return true;
  for (const std::string_view name : allowed_names) {
    if (!denied_names.contains(name) && !is_below(denied_prefixes, name)) return true;
  }
  for (const std::string_view prefix : allowed_prefixes) {
    if (!is_below(denied_prefixes, prefix)) return true;
  }
  return false;
}

}  // namespace ackord::security
