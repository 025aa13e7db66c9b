// The names that server.properties may have besides those of metadata/config_tables.h: Ackord's own
// `cores`, those that Kafka leaves to its authorizer, and Kafka's internal ones, which
// DescribeConfigs does not tell. The last are checked and otherwise ignored, so that a Kafka's file
// can be used as it is.
#pragma once

#include <span>

#include "broker/metadata/config_tables.h"

namespace ackord::main {

// Sorted by name.
std::span<const metadata::ConfigDef> further_config_defs();

}  // namespace ackord::main
