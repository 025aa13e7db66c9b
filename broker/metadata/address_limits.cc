#include "broker/metadata/address_limits.h"

#include <string>

namespace ackord::metadata {

std::optional<double> find_address_limit(const Quotas& quotas, std::string_view key,
                                         std::string_view address) {
  if (quotas.empty()) return std::nullopt;
  for (const auto& name : {std::optional<std::string>(address), std::optional<std::string>()}) {
    const auto at = quotas.find(QuotaEntity{{std::string(kQuotaIp), name}});
    if (at == quotas.end()) continue;
    const auto value = at->second.find(key);
    if (value != at->second.end()) return value->second;
  }
  return std::nullopt;
}

}  // namespace ackord::metadata
