// IdempotentWriter: an idempotent producer with several batches under way to one partition, that
// sends again, in order and with the same sequences, what a lost connection has left unanswered.
// One thread.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/integration/kill_loop/story.h"

namespace ackord::integration {

class IdempotentWriter {
 public:
  // `pause` between two batches bounds the rate.
  IdempotentWriter(Run& run, Topic topic, int32_t partition, Millis pause);

  // Until the run's writers stop and everything is acknowledged.
  void run();

  const Topic& topic() const { return topic_; }
  int32_t partition() const { return partition_; }
  // After run(): what was acknowledged where.
  const std::map<Offset, std::string>& acknowledged() const { return acknowledged_; }

 private:
  struct Batch {
    int32_t sequence = 0;
    std::vector<std::string> values;
    std::optional<Pending> sent;  // on the present connection
  };

  void connect();
  void begin_batch();
  void send(Batch& batch);
  void receive();
  bool finished() const { return run_.writers_stop && unanswered_.empty(); }

  Run& run_;
  Topic topic_;
  int32_t partition_;
  Millis pause_;
  std::optional<RawClient> client_;
  ProducerId producer_id_;
  int16_t producer_epoch_ = -1;
  int32_t next_sequence_ = 0;
  std::deque<Batch> unanswered_;
  std::map<Offset, std::string> acknowledged_;
  bool refused_ = false;
};

}  // namespace ackord::integration
