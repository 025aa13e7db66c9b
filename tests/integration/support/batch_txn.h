// BatchTxn: one batch transaction of one group in raw requests (docs/PROTOCOL.md part 2).
// Errors: std::runtime_error for everything that a test does not expect. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {

class BatchTxn {
 public:
  struct Answer {
    ErrorCode error = ErrorCode::NONE;
    std::string state;  // "ONGOING", …; empty: there is none
    int64_t staged_records = 0;
  };

  BatchTxn(uint16_t port, std::string group, std::string id);

  // Each waits while the coordinator loads.
  Answer begin(int32_t timeout_ms = 60000);
  Answer prepare();
  Answer commit();
  Answer abort();
  // BatchTxnAcknowledge as this member.
  Staged stage(const ShareMember& member, const std::vector<Staging>& what);
  // As ListBatchTxns has it; empty: there is none.
  std::string state();
  void reconnect();

  const std::string& id() const { return id_; }

 private:
  template <class Response, class Request>
  Answer ask(Request request);

  uint16_t port_;
  std::string group_;
  std::string id_;
  RawClient client_;
};

}  // namespace ackord::integration
