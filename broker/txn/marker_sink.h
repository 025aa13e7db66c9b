// MarkerSink: where the transaction coordinator's markers go. Its implementation knows which
// service owns which partition; this room does not.
#pragma once

#include "broker/io/task.h"
#include "broker/log/types.h"
#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::txn {

class MarkerSink {
 public:
  virtual ~MarkerSink() = default;

  // Ends the producer's transaction on this partition. Any core. NONE once it is durable and in
  // force there. Errors as WriteTxnMarkers answers them per partition.
  virtual io::Task<ErrorCode> write_marker(TopicPartition partition, log::EndMarker marker) = 0;
};

}  // namespace ackord::txn
