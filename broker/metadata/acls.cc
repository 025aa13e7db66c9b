#include "broker/metadata/acls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "broker/base/assert.h"

namespace ackord::metadata {
namespace {

constexpr std::array<std::string_view, 8> kResources = {
    "UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"};
constexpr std::array<std::string_view, 5> kPatterns = {"UNKNOWN", "ANY", "MATCH", "LITERAL",
                                                       "PREFIXED"};
constexpr std::array<std::string_view, 16> kOperations = {"UNKNOWN",
                                                          "ANY",
                                                          "ALL",
                                                          "READ",
                                                          "WRITE",
                                                          "CREATE",
                                                          "DELETE",
                                                          "ALTER",
                                                          "DESCRIBE",
                                                          "CLUSTER_ACTION",
                                                          "DESCRIBE_CONFIGS",
                                                          "ALTER_CONFIGS",
                                                          "IDEMPOTENT_WRITE",
                                                          "CREATE_TOKENS",
                                                          "DESCRIBE_TOKENS",
                                                          "TWO_PHASE_COMMIT"};
constexpr std::array<std::string_view, 4> kPermissions = {"UNKNOWN", "ANY", "DENY", "ALLOW"};

// What a peer or a record calls by a number that has no name is UNKNOWN.
template <class Names, class Enum>
std::string_view name_in(const Names& names, Enum value) {
  const auto index = static_cast<size_t>(static_cast<uint8_t>(value));
  return index < names.size() ? names[index] : names[0];
}
template <class Names, class Enum>
bool is_named(const Names& names, Enum value) {
  const auto index = static_cast<size_t>(static_cast<uint8_t>(value));
  return index != 0 && index < names.size();
}

Error invalid(std::string text) { return error(ErrorCode::INVALID_REQUEST, std::move(text)); }

std::optional<Error> fault_of(const Acl& acl) {
  if (acl.resource == AclResource::kCluster && acl.name != kClusterName) {
    return invalid(fmt::format("The only valid name for the CLUSTER resource is {}", kClusterName));
  }
  if (acl.name.empty()) return invalid("Invalid empty resource name");
  if (!is_named(kResources, acl.resource) || acl.resource == AclResource::kAny)
    return invalid(fmt::format("Invalid resourceType {}", name_of(acl.resource)));
  if (acl.pattern != AclPattern::kLiteral && acl.pattern != AclPattern::kPrefixed)
    return invalid(fmt::format("Invalid patternType {}", name_of(acl.pattern)));
  if (!is_named(kOperations, acl.operation) || acl.operation == AclOperation::kAny)
    return invalid(fmt::format("Invalid operation {}", name_of(acl.operation)));
  if (acl.permission != AclPermission::kDeny && acl.permission != AclPermission::kAllow)
    return invalid(fmt::format("Invalid permissionType {}", name_of(acl.permission)));
  if (acl.principal.find(':') == std::string::npos) {
    return invalid(
        fmt::format("Could not parse principal from `{}` (no colon is present "
                    "separating the principal type from the principal name)",
                    acl.principal));
  }
  if (acl.host.empty()) return invalid("Host pattern cannot be null or empty");
  return std::nullopt;
}

std::optional<Error> fault_of(const AclFilter& filter) {
  if (!is_named(kResources, filter.resource) || !is_named(kPatterns, filter.pattern))
    return invalid("Unknown patternFilter.");
  if (!is_named(kOperations, filter.operation) || !is_named(kPermissions, filter.permission))
    return invalid("Unknown entryFilter.");
  return std::nullopt;
}

size_t common_length(std::string_view a, std::string_view b) {
  const size_t length = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(length), b.begin()).first -
      a.begin());
}

}  // namespace

std::string_view name_of(AclResource resource) { return name_in(kResources, resource); }
std::string_view name_of(AclPattern pattern) { return name_in(kPatterns, pattern); }
std::string_view name_of(AclOperation operation) { return name_in(kOperations, operation); }
std::string_view name_of(AclPermission permission) { return name_in(kPermissions, permission); }

bool AclFilter::matches(const Acl& acl) const {
  if (resource != AclResource::kAny && resource != acl.resource) return false;
  if (principal && *principal != acl.principal) return false;
  if (host && *host != acl.host) return false;
  if (operation != AclOperation::kAny && operation != acl.operation) return false;
  if (permission != AclPermission::kAny && permission != acl.permission) return false;
  const bool any_pattern = pattern == AclPattern::kAny || pattern == AclPattern::kMatch;
  if (!any_pattern && pattern != acl.pattern) return false;
  if (!name) return true;
  if (pattern != AclPattern::kMatch) return *name == acl.name;
  if (acl.pattern == AclPattern::kPrefixed) return name->starts_with(acl.name);
  return *name == acl.name || acl.name == kWildcard;
}

void Acls::put(const protocol::AccessControlEntryRecord& record) {
  ++version_;
  auto acl = std::make_shared<Acl>();
  acl->resource = static_cast<AclResource>(record.resource_type);
  acl->name = record.resource_name.str();
  acl->pattern = static_cast<AclPattern>(record.pattern_type);
  acl->principal = record.principal.str();
  acl->host = record.host.str();
  acl->operation = static_cast<AclOperation>(record.operation);
  acl->permission = static_cast<AclPermission>(record.permission_type);
  Entry& entry = by_id_[record.id];
  if (entry) unlink(entry);
  entry = std::move(acl);
  by_name_[{entry->resource, entry->pattern}][entry->name].push_back(entry);
}

void Acls::remove(const protocol::RemoveAccessControlEntryRecord& record) {
  const auto at = by_id_.find(record.id);
  if (at == by_id_.end()) return;
  ++version_;
  unlink(at->second);
  by_id_.erase(at);
}

void Acls::unlink(const Entry& entry) {
  Names& names = by_name_.at({entry->resource, entry->pattern});
  const auto at = names.find(entry->name);
  ACKORD_ASSERT(at != names.end(), "every entry is in both indexes");
  std::erase(at->second, entry);
  if (at->second.empty()) names.erase(at);
}

bool Acls::contains(const Acl& acl) const {
  const Names* names = names_of(acl.resource, acl.pattern);
  if (names == nullptr) return false;
  const auto at = names->find(acl.name);
  return at != names->end() && std::any_of(at->second.begin(), at->second.end(),
                                           [&acl](const Entry& one) { return *one == acl; });
}

const Acls::Names* Acls::names_of(AclResource resource, AclPattern pattern) const {
  const auto at = by_name_.find({resource, pattern});
  return at == by_name_.end() ? nullptr : &at->second;
}

std::vector<const Acls::Entries*> Acls::of_resource(AclResource resource,
                                                    std::string_view name) const {
  std::vector<const Entries*> found;
  if (const Names* literal = names_of(resource, AclPattern::kLiteral)) {
    if (const auto at = literal->find(name); at != literal->end()) found.push_back(&at->second);
    const auto every = name == kWildcard ? literal->end() : literal->find(kWildcard);
    if (every != literal->end()) found.push_back(&every->second);
  }
  const Names* prefixed = names_of(resource, AclPattern::kPrefixed);
  if (prefixed == nullptr) return found;
  // From the name downwards: what is a prefix of it is either the next entry below, or no longer
  // than what that one has in common with the name.
  auto at = prefixed->upper_bound(name);
  while (at != prefixed->begin()) {
    --at;
    const size_t common = common_length(at->first, name);
    if (common == at->first.size()) {
      found.push_back(&at->second);
    } else {
      at = prefixed->upper_bound(name.substr(0, common));
    }
  }
  return found;
}

protocol::AccessControlEntryRecord acl_record(const Uuid& id, const Acl& acl) {
  protocol::AccessControlEntryRecord record;
  record.id = id;
  record.resource_type = static_cast<int8_t>(acl.resource);
  record.resource_name = String(acl.name);
  record.pattern_type = static_cast<int8_t>(acl.pattern);
  record.principal = String(acl.principal);
  record.host = String(acl.host);
  record.operation = static_cast<int8_t>(acl.operation);
  record.permission_type = static_cast<int8_t>(acl.permission);
  return record;
}

AclCreationPlan plan_acl_creations(const Acls& acls, const std::vector<Acl>& wanted,
                                   const std::vector<Uuid>& ids) {
  ACKORD_ASSERT(ids.size() == wanted.size(), "one id for each");
  AclCreationPlan plan;
  std::set<Acl> made;
  for (size_t i = 0; i < wanted.size(); ++i) {
    plan.results.push_back(fault_of(wanted[i]));
    if (plan.results.back()) continue;
    if (acls.contains(wanted[i]) || !made.insert(wanted[i]).second) continue;
    plan.records.push_back(acl_record(ids[i], wanted[i]));
  }
  if (plan.records.size() > kMaxAclChanges) {
    plan.records.clear();
    const Error all =
        error(ErrorCode::POLICY_VIOLATION, "Unable to perform excessively large batch operation.");
    std::fill(plan.results.begin(), plan.results.end(), all);
  }
  return plan;
}

AclDeletionPlan plan_acl_deletions(const Acls& acls, const std::vector<AclFilter>& filters) {
  AclDeletionPlan plan;
  std::set<Uuid> gone;
  size_t matches = 0;  // of all filters: what the answer has to name
  for (const AclFilter& filter : filters) {
    if (auto fault = fault_of(filter)) {
      plan.results.emplace_back(std::move(*fault));
      continue;
    }
    std::vector<Acl> matched;
    for (const auto& [id, acl] : acls.by_id()) {
      if (!filter.matches(*acl) || ++matches > kMaxAclChanges) continue;
      matched.push_back(*acl);
      gone.insert(id);
    }
    if (matches > kMaxAclChanges) {
      const Error all = invalid(fmt::format(
          "Cannot remove more than {} acls in a single delete operation.", kMaxAclChanges));
      plan.results.assign(filters.size(), all);
      return plan;
    }
    plan.results.emplace_back(std::move(matched));
  }
  for (const Uuid& id : gone) {
    protocol::RemoveAccessControlEntryRecord record;
    record.id = id;
    plan.records.push_back(record);
  }
  return plan;
}

}  // namespace ackord::metadata
