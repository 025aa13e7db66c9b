#include "broker/metadata/client_quotas.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace ackord::metadata {
namespace {

enum class Number { kDouble, kLong, kInt };
struct Key {
  std::string_view name;
  Number number;
  bool of_address;
};
constexpr std::array kKeys = {
    Key{"connection_creation_rate", Number::kInt, true},
    Key{"consumer_byte_rate", Number::kLong, false},
    Key{"controller_mutation_rate", Number::kDouble, false},
    Key{"producer_byte_rate", Number::kLong, false},
    Key{"request_percentage", Number::kDouble, false},
};

Error refused(std::string text) { return error(ErrorCode::INVALID_REQUEST, std::move(text)); }

bool is_type(std::string_view type) {
  return type == kQuotaUser || type == kQuotaClientId || type == kQuotaIp;
}

// Names of hosts are not looked up.
bool is_address(const std::string& text) {
  in6_addr parsed{};
  return inet_pton(AF_INET, text.c_str(), &parsed) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &parsed) == 1;
}

Result<void> check_entity(const QuotaEntity& entity) {
  if (entity.empty()) return refused("Invalid empty client quota entity");
  for (const auto& [type, name] : entity) {
    if (!is_type(type)) return refused(fmt::format("Unhandled client quota entity type: {}", type));
    if (name && name->empty()) return refused(fmt::format("Empty {} not supported", type));
  }
  const auto ip = entity.find(kQuotaIp);
  if (ip == entity.end()) return {};
  if (entity.size() > 1) {
    return refused(
        "Invalid quota entity combination, IP entity should not be combined with User or ClientId");
  }
  if (ip->second && !is_address(*ip->second))
    return refused(fmt::format("{} is not a valid IP or resolvable host.", *ip->second));
  return {};
}

Result<void> check_value(const Key& key, double value) {
  if (!(value > 0)) return refused(fmt::format("Quota {} must be greater than 0", key.name));
  if (key.number == Number::kDouble) return {};
  constexpr double kNearlyWhole = 1e-6;
  const double most = key.number == Number::kInt
                          ? static_cast<double>(std::numeric_limits<int32_t>::max())
                          : static_cast<double>(std::numeric_limits<int64_t>::max());
  if (value > most || std::abs(value - std::round(value)) > kNearlyWhole) {
    return refused(fmt::format("{} must be {} value", key.name,
                               key.number == Number::kInt ? "an Integer" : "a Long"));
  }
  return {};
}

const Key* find_key(std::string_view name, bool of_address) {
  for (const Key& key : kKeys) {
    if (key.name == name && key.of_address == of_address) return &key;
  }
  return nullptr;
}

}  // namespace

protocol::ClientQuotaRecord quota_record(const QuotaEntity& entity, std::string_view key,
                                         std::optional<double> value) {
  protocol::ClientQuotaRecord record;
  for (const auto& [type, name] : entity) {
    auto& part = record.entity.emplace_back();
    part.entity_type = String(type);
    part.entity_name.reset();
    if (name) part.entity_name = String(*name);
  }
  record.key = String(key);
  record.value = value.value_or(0);
  record.remove = !value;
  return record;
}

Result<std::vector<protocol::ClientQuotaRecord>> quota_changes(
    const Quotas& quotas, const QuotaEntity& entity, const std::vector<QuotaChange>& changes) {
  if (Result<void> good = check_entity(entity); !good) return good.error();
  const auto at = quotas.find(entity);
  const QuotaValues none;
  const QuotaValues& values = at == quotas.end() ? none : at->second;
  std::set<std::string_view> seen;
  std::vector<protocol::ClientQuotaRecord> records;
  for (const QuotaChange& change : changes) {
    if (!seen.insert(change.key).second)
      return refused(fmt::format("Duplicate quota key {}", change.key));
    const Key* key = find_key(change.key, entity.contains(kQuotaIp));
    if (key == nullptr) return refused(fmt::format("Invalid configuration key {}", change.key));
    const auto value = values.find(change.key);
    if (!change.value) {
      if (value != values.end()) records.push_back(quota_record(entity, change.key, std::nullopt));
      continue;
    }
    if (Result<void> good = check_value(*key, *change.value); !good) return good.error();
    if (value != values.end() && value->second == *change.value) continue;
    records.push_back(quota_record(entity, change.key, change.value));
  }
  return records;
}

void apply_quota(Quotas& quotas, const protocol::ClientQuotaRecord& record) {
  QuotaEntity entity;
  for (const auto& part : record.entity) {
    entity[part.entity_type.str()] =
        part.entity_name ? std::optional(part.entity_name->str()) : std::nullopt;
  }
  QuotaValues& values = quotas[entity];
  if (record.remove) {
    values.erase(record.key.str());
  } else {
    values[record.key.str()] = record.value;
  }
  if (values.empty()) quotas.erase(entity);
}

Result<void> check_filters(const std::vector<QuotaFilter>& filters) {
  using Match = QuotaFilter::Match;
  std::set<std::string_view> types;
  for (const QuotaFilter& filter : filters) {
    if (filter.type.empty()) return refused("Invalid empty entity type.");
    if (!types.insert(filter.type).second) {
      return refused(
          fmt::format("Entity type {} cannot appear more than once in the filter.", filter.type));
    }
    switch (filter.match) {
      case Match::kExact:
        if (!filter.name)
          return refused("Request specified MATCH_TYPE_EXACT, but set match string to null.");
        break;
      case Match::kDefault:
        if (filter.name)
          return refused(
              "Request specified MATCH_TYPE_DEFAULT, but also specified a match string.");
        break;
      case Match::kAny:
        if (filter.name)
          return refused(
              "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string.");
        break;
      default: return refused(fmt::format("Unknown match type {}", static_cast<int>(filter.match)));
    }
  }
  if (types.contains(kQuotaIp) && (types.contains(kQuotaUser) || types.contains(kQuotaClientId))) {
    return refused(
        "Invalid entity filter component combination. IP filter component should not be used with "
        "user or clientId filter component.");
  }
  for (const std::string_view type : types) {
    if (!is_type(type))
      return error(ErrorCode::UNSUPPORTED_VERSION, fmt::format("Unsupported entity type {}", type));
  }
  return {};
}

bool fits(const QuotaEntity& entity, const std::vector<QuotaFilter>& filters, bool strict) {
  for (const QuotaFilter& filter : filters) {
    const auto part = entity.find(filter.type);
    if (part == entity.end()) return false;
    if (filter.match != QuotaFilter::Match::kAny && part->second != filter.name) return false;
  }
  return !strict || entity.size() == filters.size();
}

std::optional<QuotaLimit> find_limit(const Quotas& quotas, std::string_view key,
                                     std::string_view user, std::string_view client_id) {
  struct Level {
    bool has_user;
    bool has_client;
    bool default_user;
    bool default_client;
  };
  constexpr std::array kLevels = {
      Level{true, true, false, false},  Level{true, true, false, true},
      Level{true, false, false, false}, Level{true, true, true, false},
      Level{true, true, true, true},    Level{true, false, true, false},
      Level{false, true, false, false}, Level{false, true, false, true},
  };
  for (const Level& level : kLevels) {
    QuotaEntity entity;
    if (level.has_user) {
      entity[std::string(kQuotaUser)] =
          level.default_user ? std::nullopt : std::optional<std::string>(user);
    }
    if (level.has_client) {
      entity[std::string(kQuotaClientId)] =
          level.default_client ? std::nullopt : std::optional<std::string>(client_id);
    }
    const auto at = quotas.find(entity);
    if (at == quotas.end()) continue;
    const auto value = at->second.find(key);
    if (value == at->second.end()) continue;
    return QuotaLimit{value->second, level.has_user ? std::string(user) : std::string(),
                      level.has_client ? std::string(client_id) : std::string()};
  }
  return std::nullopt;
}

}  // namespace ackord::metadata
