// What cases about Produce expect again and again.
#pragma once

#include "tools/conform/kit/payloads.h"
#include "tools/conform/kit/records.h"

namespace ackord::conform {

// The batch is refused with this error, and nothing of it is in the log. The partition's answer.
Value refused(Kit& kit, const Topic& topic, const Bytes& batch, ErrorCode error,
              const ProduceOptions& options = {});
// The same where brokers may choose.
Value refused(Kit& kit, const Topic& topic, const Bytes& batch,
              std::initializer_list<ErrorCode> errors, const ProduceOptions& options = {});
// These records of the batch, and no others, are named in the answer, each with a message.
void has_record_errors(const Value& partition, const std::vector<int64_t>& indexes);
// The only batch of partition 0, its checksum sound.
BatchRead only_batch(Kit& kit, const Topic& topic);

}  // namespace ackord::conform
