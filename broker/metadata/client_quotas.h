// Client quotas (KIP-13, KIP-546, KIP-599, KIP-612): who is limited to what. Pure; any thread.
//
// An entity names a user, a client id, or both, or an address; a name that is absent stands for all
// those that have no quota of their own. Codes and texts are Kafka 4.4's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/generated/client_quota_record.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

inline constexpr std::string_view kQuotaUser = "user";
inline constexpr std::string_view kQuotaClientId = "client-id";
inline constexpr std::string_view kQuotaIp = "ip";

// Type → name; nullopt is the default entity of the type.
using QuotaEntity = std::map<std::string, std::optional<std::string>, std::less<>>;
using QuotaValues = std::map<std::string, double, std::less<>>;  // key → limit
using Quotas = std::map<QuotaEntity, QuotaValues>;

struct QuotaChange {
  std::string key;
  std::optional<double> value;  // none: the limit goes
};

// One record for each limit that changes. INVALID_REQUEST.
Result<std::vector<protocol::ClientQuotaRecord>> quota_changes(
    const Quotas& quotas, const QuotaEntity& entity, const std::vector<QuotaChange>& changes);
void apply_quota(Quotas& quotas, const protocol::ClientQuotaRecord& record);
protocol::ClientQuotaRecord quota_record(const QuotaEntity& entity, std::string_view key,
                                         std::optional<double> value);

// A part of what DescribeClientQuotas looks for; the numbers are the protocol's.
struct QuotaFilter {
  enum class Match : int8_t { kExact = 0, kDefault = 1, kAny = 2 };
  std::string type;
  Match match = Match::kExact;
  std::optional<std::string> name;
};
// INVALID_REQUEST; UNSUPPORTED_VERSION for a type that is not known.
Result<void> check_filters(const std::vector<QuotaFilter>& filters);
// Whether the entity has every part that is looked for; `strict`: and no other.
bool fits(const QuotaEntity& entity, const std::vector<QuotaFilter>& filters, bool strict);

// The limit of a client, by Kafka's order: user and client id, user, client id, in each the named
// ones before the defaults. Who shares it: an empty name in the scope stands for all.
struct QuotaLimit {
  double limit = 0;
  std::string user;
  std::string client_id;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};
std::optional<QuotaLimit> find_limit(const Quotas& quotas, std::string_view key,
                                     std::string_view user, std::string_view client_id);

}  // namespace ackord::metadata
