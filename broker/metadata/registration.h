// The record by which this process says what it is: its listeners, features and directory. Pure.
#pragma once

#include "broker/metadata/metadata_service.h"
#include "protocol/generated/register_broker_record.h"

namespace ackord::metadata {

// Its broker_epoch is not set.
protocol::RegisterBrokerRecord registration_of(const MetadataSettings& settings, Uuid incarnation);

}  // namespace ackord::metadata
