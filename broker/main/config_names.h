// The names that server.properties may have besides those of metadata/config_tables.h: what main
// itself acts on (sockets, listeners, cores), and what has a meaning in Kafka only. The latter are
// checked and otherwise ignored, so that a Kafka's file can be used as it is.
#pragma once

#include <span>

#include "broker/metadata/config_tables.h"

namespace ackord::main {

// Sorted by name.
std::span<const metadata::ConfigDef> further_config_defs();

}  // namespace ackord::main
