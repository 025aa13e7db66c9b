// MarkerSender: takes a decided transaction's marker to all its partitions, until each has it.
//
// One call per transaction at a time (the shard hands out a decision once), and inside it one
// marker per partition at a time: never are two markers of one (transaction, partition) under way.
// Errors per partition as Kafka 4.4 treats them: what a restart or a move can heal is tried again
// after 20 ms, doubling up to 1 s; a topic that has been deleted is left out; a partition that
// knows a newer epoch stops the transaction where it is. Threads: runs on the core that calls it;
// the sink hops by itself.
#pragma once

#include "broker/io/core.h"
#include "broker/io/task.h"
#include "broker/metadata/metadata_service.h"
#include "broker/txn/marker_sink.h"
#include "broker/txn/txn_shard.h"

namespace ackord::txn {

class MarkerSender {
 public:
  MarkerSender(MarkerSink& sink, metadata::MetadataService& metadata)
      : sink_(sink), metadata_(metadata) {}

  // True once every partition has the marker or is gone; false when one refused it for good.
  io::Task<bool> send(io::Core core, PreparedTransaction transaction);

 private:
  io::Task<bool> send_to(io::Core core, TransactionalId id, TopicPartition partition,
                         log::EndMarker marker);
  bool is_deleted(const TopicPartition& partition) const;

  MarkerSink& sink_;
  metadata::MetadataService& metadata_;
};

}  // namespace ackord::txn
