// ACL bindings (KIP-11, KIP-290): who is allowed, or denied, which operation on which resources
// from which host, as Kafka's metadata records have them. Pure; any thread. What they mean together
// is security/authorizer.h. The numbers are the protocol's; codes and texts Kafka 4.4's.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/generated/access_control_entry_record.h"
#include "protocol/generated/remove_access_control_entry_record.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

// kUnknown and kAny, and kMatch, stand in filters only.
enum class AclResource : int8_t {
  kUnknown = 0,
  kAny = 1,
  kTopic = 2,
  kGroup = 3,
  kCluster = 4,
  kTransactionalId = 5,
  kDelegationToken = 6,
  kUser = 7,
};
enum class AclPattern : int8_t { kUnknown = 0, kAny = 1, kMatch = 2, kLiteral = 3, kPrefixed = 4 };
enum class AclOperation : int8_t {
  kUnknown = 0,
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
  kCreateTokens = 13,
  kDescribeTokens = 14,
  kTwoPhaseCommit = 15,
};
enum class AclPermission : int8_t { kUnknown = 0, kAny = 1, kDeny = 2, kAllow = 3 };

// The name of the one resource of type CLUSTER, and what stands for every name, user or host.
inline constexpr std::string_view kClusterName = "kafka-cluster";
inline constexpr std::string_view kWildcard = "*";
inline constexpr std::string_view kWildcardPrincipal = "User:*";
// Records of one request, as Kafka bounds them.
inline constexpr size_t kMaxAclChanges = 10000;

// As Kafka's lines and errors write them: "TOPIC", "DESCRIBE_CONFIGS", …
std::string_view name_of(AclResource resource);
std::string_view name_of(AclPattern pattern);
std::string_view name_of(AclOperation operation);
std::string_view name_of(AclPermission permission);

struct Acl {
  AclResource resource = AclResource::kUnknown;
  std::string name;
  AclPattern pattern = AclPattern::kUnknown;
  std::string principal;  // "User:alice"
  std::string host;       // an address as Java writes it, or "*"
  AclOperation operation = AclOperation::kUnknown;
  AclPermission permission = AclPermission::kUnknown;
  friend auto operator<=>(const Acl&, const Acl&) = default;
};

// nullopt stands for everything.
struct AclFilter {
  AclResource resource = AclResource::kAny;
  std::optional<std::string> name{};
  AclPattern pattern = AclPattern::kAny;
  std::optional<std::string> principal{};
  std::optional<std::string> host{};
  AclOperation operation = AclOperation::kAny;
  AclPermission permission = AclPermission::kAny;
  bool matches(const Acl& acl) const;
};

// All that there are, by id and by resource. Copies share the entries.
class Acls {
 public:
  using Entry = std::shared_ptr<const Acl>;
  using ById = std::map<Uuid, Entry>;

  // An id that is there already takes the new content.
  void put(const protocol::AccessControlEntryRecord& record);
  void remove(const protocol::RemoveAccessControlEntryRecord& record);

  const ById& by_id() const { return by_id_; }
  bool contains(const Acl& acl) const;
  // Another one after each change.
  uint64_t version() const { return version_; }

  // Calls `visit(const Acl&)` with each that speaks of the resource of this name: literal,
  // prefixed, or "*"; until one answers false. Looks at those alone, however many there are of
  // others.
  template <class Visit>
  void for_each(AclResource resource, std::string_view name, Visit visit) const {
    for (const Entries* entries : of_resource(resource, name)) {
      for (const Entry& entry : *entries) {
        if (!visit(*entry)) return;
      }
    }
  }
  // With each of the type.
  template <class Visit>
  void for_each(AclResource resource, Visit visit) const {
    for (const AclPattern pattern : {AclPattern::kLiteral, AclPattern::kPrefixed}) {
      const auto names = by_name_.find({resource, pattern});
      if (names == by_name_.end()) continue;
      for (const auto& [name, entries] : names->second) {
        for (const Entry& entry : entries) {
          if (!visit(*entry)) return;
        }
      }
    }
  }

 private:
  using Entries = std::vector<Entry>;
  using Names = std::map<std::string, Entries, std::less<>>;
  using Kind = std::pair<AclResource, AclPattern>;

  const Names* names_of(AclResource resource, AclPattern pattern) const;
  std::vector<const Entries*> of_resource(AclResource resource, std::string_view name) const;
  void unlink(const Entry& entry);

  ById by_id_;
  uint64_t version_ = 0;
  std::map<Kind, Names> by_name_;
};

protocol::AccessControlEntryRecord acl_record(const Uuid& id, const Acl& acl);

// ---- changes

// What was answered for each ACL of a request.
using AclCreations = std::vector<std::optional<Error>>;
// What each filter has taken away, or why it has not.
using AclDeletions = std::vector<Result<std::vector<Acl>>>;

struct AclCreationPlan {
  AclCreations results;
  std::vector<protocol::AccessControlEntryRecord> records;
};
// `ids`: as many as `acls`, none of them in use. One that is there already is a success without a
// record. INVALID_REQUEST each for itself; POLICY_VIOLATION of all when they are too many.
AclCreationPlan plan_acl_creations(const Acls& acls, const std::vector<Acl>& wanted,
                                   const std::vector<Uuid>& ids);

struct AclDeletionPlan {
  AclDeletions results;
  std::vector<protocol::RemoveAccessControlEntryRecord> records;
};
// INVALID_REQUEST of a filter that says nothing; of all when they match too many together: then
// nothing is taken away.
AclDeletionPlan plan_acl_deletions(const Acls& acls, const std::vector<AclFilter>& filters);

}  // namespace ackord::metadata
