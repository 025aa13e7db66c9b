// Limits of addresses among the client quotas (KIP-612). Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "broker/metadata/client_quotas.h"

namespace ackord::metadata {

inline constexpr std::string_view kConnectionCreationRate = "connection_creation_rate";

// Of an address: its own limit, else the default one of addresses.
std::optional<double> find_address_limit(const Quotas& quotas, std::string_view key,
                                         std::string_view address);

}  // namespace ackord::metadata
