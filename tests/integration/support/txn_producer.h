// TxnProducer: one transactional producer in raw requests, as the clients of either transaction
// version send them: version 1 adds partitions by itself and keeps its epoch (Produce 11, EndTxn
// 4); version 2 lets Produce add them and gets a new epoch with every end (Produce 12, EndTxn 5).
// Errors: std::runtime_error for everything that a test does not expect. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/txn_share_acknowledge_request.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {

enum class TxnVersion : int8_t { k1 = 1, k2 = 2 };

struct Staging {
  Topic topic;
  int32_t partition = 0;
  Offset first = 0;
  Offset last = 0;
  int8_t type = kAccept;
};

// The answer of a stage: top level, then per partition in the order of the request.
struct Staged {
  ErrorCode error = ErrorCode::NONE;
  std::vector<ErrorCode> partitions;
  friend bool operator==(const Staged&, const Staged&) = default;
};
std::ostream& operator<<(std::ostream& out, const Staged& staged);
// NONE everywhere for this many partitions, or one error for the only partition.
Staged staged_ok(size_t partitions = 1);
Staged refused(ErrorCode partition_error);
Staged refused_whole(ErrorCode error);

struct Enlisted {
  ErrorCode error = ErrorCode::NONE;
  int64_t start_time_ms = -1;
};

class TxnProducer {
 public:
  TxnProducer(uint16_t port, std::string transactional_id, TxnVersion version);

  // InitProducerId until it is not told to come again.
  void init(int32_t timeout_ms = 60000);
  // The same under two-phase commit, of a broker that has it. With `keep_prepared` the open
  // transaction stays: its epoch, or -1 when there was none.
  int16_t init_two_phase(bool keep_prepared);
  // One batch of the open transaction to one partition; the partition's error.
  ErrorCode produce(const Topic& topic, int32_t partition, const std::vector<std::string>& values);
  // AddShareAcksToTxn.
  Enlisted enlist(const std::string& group, const std::vector<Staging>& what,
                  int64_t start_time_ms = -1);
  // TxnShareAcknowledge as this member.
  Staged stage(const ShareMember& member, const std::vector<Staging>& what,
               int64_t start_time_ms = -1);
  Staged stage(const protocol::TxnShareAcknowledgeRequest& request);
  // The request of stage(), to be changed or sent without waiting.
  protocol::TxnShareAcknowledgeRequest stage_request(const ShareMember& member,
                                                     const std::vector<Staging>& what,
                                                     int64_t start_time_ms = -1) const;
  ErrorCode end(bool commit);
  ErrorCode commit() { return end(true); }
  ErrorCode abort() { return end(false); }
  // EndTxn as a client does it that waits for the coordinator to load and repeats a lost one.
  void end_for_sure(bool commit);
  Pending send_end(bool commit);
  ErrorCode receive_end(const Pending& pending);
  void reconnect();

  const std::string& id() const { return id_; }
  ProducerId producer_id() const { return producer_id_; }
  int16_t producer_epoch() const { return producer_epoch_; }
  RawClient& client() { return client_; }

 private:
  int16_t init(const protocol::InitProducerIdRequest& request, int16_t version);
  ErrorCode add_partition(const Topic& topic, int32_t partition);

  uint16_t port_;
  std::string id_;
  TxnVersion version_;
  ProducerId producer_id_;
  int16_t producer_epoch_ = -1;
  std::map<TopicPartition, int32_t> next_sequence_;
  RawClient client_;
};

}  // namespace ackord::integration
