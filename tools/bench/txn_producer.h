// TxnProducer: a transactional producer under transaction version 2 (KIP-890): each transaction has
// an epoch of its own, and the first Produce adds its partition. Errors: BenchError.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/bench.h"

namespace ackord::bench {

class TxnProducer {
 public:
  TxnProducer(Bench& bench, std::string transactional_id, std::shared_ptr<Wire> wire);

  Task<> init();
  // One request of `records` records to a partition, in the current transaction.
  Task<> produce(const Topic& topic, int32_t partition, int records);
  Task<> commit();

  const std::string& transactional_id() const { return transactional_id_; }
  ProducerId producer_id() const { return producer_id_; }
  int16_t producer_epoch() const { return epoch_; }
  Wire& wire() { return *wire_; }

 private:
  Bench& bench_;
  std::string transactional_id_;
  std::shared_ptr<Wire> wire_;
  ProducerId producer_id_;
  int16_t epoch_ = -1;
  int32_t sequence_ = 0;
};

}  // namespace ackord::bench
