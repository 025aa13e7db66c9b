// UpdateFeatures (KIP-584): which levels may take which others' place. Pure.
//
// Codes and texts are Kafka 4.4's. Nothing may need a metadata.version other than the one that the
// records are written by, so it stays what it is.
#pragma once

#include <vector>

#include "broker/metadata/features.h"
#include "broker/metadata/image.h"
#include "broker/metadata/metadata_records.h"
#include "protocol/types/ids.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

// The records of all updates, taken one after the other; none for a level that is there already.
// INVALID_UPDATE_VERSION: one of them may not be, so none is. `node` is named in the text.
Result<std::vector<MetadataRecord>> feature_changes(const Features& features,
                                                    const std::vector<FeatureUpdate>& updates,
                                                    BrokerId node);

}  // namespace ackord::metadata
