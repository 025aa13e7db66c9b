// The two parts of the broker table, for config_tables_broker.cc to join. Constant data.
#pragma once

#include <span>

#include "broker/metadata/config_tables.h"

namespace ackord::metadata {

// Sorted by name.
std::span<const ConfigDef> other_broker_config_defs();

}  // namespace ackord::metadata
