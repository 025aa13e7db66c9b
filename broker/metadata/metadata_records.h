// The records of `__cluster_metadata-0` that Ackord makes and reads, in Kafka's own schemas and
// framing: key null; value = frame version 1 | record type | record version (each an unsigned
// varint) | body (KIP-631). Other types (tokens, …) are left alone: they stay in the log and say
// nothing here, but their names are known, so that they can be named.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "broker/log/types.h"
#include "protocol/generated/abort_transaction_record.h"
#include "protocol/generated/access_control_entry_record.h"
#include "protocol/generated/begin_transaction_record.h"
#include "protocol/generated/client_quota_record.h"
#include "protocol/generated/config_record.h"
#include "protocol/generated/end_transaction_record.h"
#include "protocol/generated/feature_level_record.h"
#include "protocol/generated/partition_change_record.h"
#include "protocol/generated/partition_record.h"
#include "protocol/generated/producer_ids_record.h"
#include "protocol/generated/register_broker_record.h"
#include "protocol/generated/remove_access_control_entry_record.h"
#include "protocol/generated/remove_topic_record.h"
#include "protocol/generated/remove_user_scram_credential_record.h"
#include "protocol/generated/topic_record.h"
#include "protocol/generated/user_scram_credential_record.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

using MetadataRecord =
    std::variant<protocol::FeatureLevelRecord, protocol::TopicRecord, protocol::PartitionRecord,
                 protocol::PartitionChangeRecord, protocol::RemoveTopicRecord,
                 protocol::ConfigRecord, protocol::ClientQuotaRecord, protocol::ProducerIdsRecord,
                 protocol::RegisterBrokerRecord, protocol::BeginTransactionRecord,
                 protocol::EndTransactionRecord, protocol::AbortTransactionRecord,
                 protocol::UserScramCredentialRecord, protocol::RemoveUserScramCredentialRecord,
                 protocol::AccessControlEntryRecord, protocol::RemoveAccessControlEntryRecord>;

// In the newest version of its type.
log::EncodedRecord encode_record(const MetadataRecord& record);
// nullopt: a type that is not in the variant. CORRUPT_MESSAGE for bytes that are no such record.
// Borrows from `value`.
Result<std::optional<MetadataRecord>> decode_record(std::span<const std::byte> value);
// The type of a record that decode_record() does not know: Kafka's name of it, or its number. Empty
// for those that say nothing to a single node (NoOp, fencing, registrations, …).
std::string unserved_name(std::span<const std::byte> value);

}  // namespace ackord::metadata
