// MarkerRouting: the marker of a transaction on its way to whoever owns the partition: the group
// service for
// `__consumer_offsets`, the share service for `__share_group_state`, the log for everything else.
//
// Any core. Two callers: the transaction coordinator (write_marker) and WriteTxnMarkers from the
// wire, which may name a state partition of a transaction that is still open
// (write_foreign_marker).
#pragma once

#include "broker/group/group_service.h"
#include "broker/log/log_service.h"
#include "broker/share/share_service.h"
#include "broker/txn/marker_sink.h"
#include "broker/txn/txn_service.h"

namespace ackord::api {

class MarkerRouting final : public txn::MarkerSink {
 public:
  MarkerRouting(log::LogService& log, group::GroupService& group, share::ShareService& share)
      : log_(log), group_(group), share_(share) {}

  io::Task<ErrorCode> write_marker(TopicPartition partition, log::EndMarker marker) override;

  // The same for a marker that no coordinator of this broker sends. It must not tear a transaction:
  // for a share state partition that an open transaction of the producer lists, INVALID_TXN_STATE
  // after the rules of epochs.
  io::Task<ErrorCode> write_foreign_marker(txn::TxnService& txn, TopicPartition partition,
                                           log::EndMarker marker);

 private:
  io::Task<ErrorCode> append(TopicPartition partition, log::EndMarker marker);

  log::LogService& log_;
  group::GroupService& group_;
  share::ShareService& share_;
};

}  // namespace ackord::api
