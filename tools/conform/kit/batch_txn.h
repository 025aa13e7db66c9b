// Batch transactions of share acknowledgements (docs/PROTOCOL.md part 2): one of them, request by
// request. Each function sends one request and hands back the answer. Errors: Failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/conform/kit/share_member.h"

namespace ackord::conform {

class BatchTxn {
 public:
  // An empty id: one of its own. Not begun yet.
  BatchTxn(Kit& kit, std::string group, std::string id = {});

  const std::string& id() const { return id_; }

  Value begin(int32_t timeout_ms = 60000);
  Value acknowledge(const ShareMember& member, const std::vector<ShareAck>& acks);
  // Of one range of partition 0: the error code of the partition. An error at the top is a Failure.
  Value acknowledge_one(const ShareMember& member, const ShareAck& ack);
  Value prepare() { return decide("PrepareBatchTxn"); }
  Value commit() { return decide("CommitBatchTxn"); }
  Value abort() { return decide("AbortBatchTxn"); }
  // Its part of ListBatchTxns; nothing when it is not listed.
  std::optional<Value> listed(const std::vector<std::string>& states = {});

 private:
  Value decide(const char* api);

  Kit& kit_;
  std::string group_;
  std::string id_;
};

// The answer has no error, and says where the transaction stands.
void expect_batch(const Value& answer, const char* state, int64_t staged);

}  // namespace ackord::conform
