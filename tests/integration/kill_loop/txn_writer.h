// TxnWriter: a transactional producer whose transactions write to every partition of the ledger,
// and which knows of each how it ended: an EndTxn whose answer is lost is repeated until it is
// answered; a transaction that was not to end yet is aborted by the next InitProducerId.
// One thread.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/integration/kill_loop/story.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {

class TxnWriter {
 public:
  struct Transaction {
    std::vector<std::string> values;  // one batch of them to each partition
    bool commit = false;
  };

  TxnWriter(Run& run, std::string transactional_id, TxnVersion version);

  // Until the run's writers stop; nothing is open then.
  void run();

  const std::string& id() const { return id_; }
  // After run().
  const std::vector<Transaction>& ended() const { return ended_; }

 private:
  void restart();
  void write();
  void end();

  Run& run_;
  std::string id_;
  TxnVersion version_;
  std::mt19937_64 random_;
  std::optional<TxnProducer> producer_;
  std::optional<Transaction> open_;
  bool ending_ = false;  // EndTxn was sent for `open_`
  int64_t numbered_ = 0;
  std::vector<Transaction> ended_;
};

}  // namespace ackord::integration
