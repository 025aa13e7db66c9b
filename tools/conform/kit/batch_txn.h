// Batch transactions of share acknowledgements (docs/PROTOCOL.md part 2): one of them, request by
// request. Each function sends one request and hands back the answer. Errors: Failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

// What an acknowledgement says instead of what is true.
struct BatchAckOptions {
  std::optional<std::string> member;
  std::optional<int32_t> member_epoch;
};

class BatchTxn {
 public:
  // An empty id: one of its own. Not begun yet.
  BatchTxn(Kit& kit, std::string group, std::string id = {});

  const std::string& id() const { return id_; }

  Value begin(int32_t timeout_ms = 60000);
  Value acknowledge(const ShareMember& member, const std::vector<ShareAck>& acks,
                    const BatchAckOptions& options = {});
  // Of one range of partition 0: the error code of the partition. An error at the top is a Failure.
  Value acknowledge_one(const ShareMember& member, const ShareAck& ack);
  // Failure unless everything is staged.
  void stage(const ShareMember& member, const std::vector<ShareAck>& acks);
  Value prepare() { return decide("PrepareBatchTxn"); }
  Value commit() { return decide("CommitBatchTxn"); }
  Value abort() { return decide("AbortBatchTxn"); }
  // Its part of ListBatchTxns; nothing when it is not listed.
  std::optional<Value> listed(const std::vector<std::string>& states = {});

  // The requests themselves, for what happens between sending and receiving.
  Object acknowledge_request(const ShareMember& member, const std::vector<ShareAck>& acks,
                             const BatchAckOptions& options = {}) const;
  Object name() const { return {{"transactionId", id_}, {"groupId", group_}}; }

 private:
  Value decide(const char* api);

  Kit& kit_;
  std::string group_;
  std::string id_;
};

// The answer has no error, and says where the transaction stands.
void expect_batch(const Value& answer, const char* state, int64_t staged);
// INVALID_TXN_STATE, and where it stands.
void expect_wrong_state(const Value& answer, const char* state);

// ListBatchTxns of a group; the whole answer.
Value list_batches(Kit& kit, const std::string& group, const std::vector<std::string>& states = {},
                   const std::optional<std::string>& prefix = {});

// Ten records acquired by a member, and a transaction that has been begun.
struct Begun {
  Topic topic;
  ShareMember member;
  BatchTxn batch;
};
Begun begun(Kit& kit, int32_t timeout_ms = 60000, const Configs& group_configs = {});

}  // namespace ackord::conform
