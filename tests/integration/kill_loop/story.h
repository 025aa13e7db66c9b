// Story: what the threads of a run have done and found. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tests/integration/support/topics.h"

namespace ackord::integration {

class Story {
 public:
  // Against a promise: the run fails.
  void finding(std::string text);
  // Expected under kills (a lost connection, a refused stage); counted by text for the summary.
  void hindrance(const std::string& text);
  std::vector<std::string> findings() const;
  std::map<std::string, int64_t> hindrances() const;

  std::atomic<int64_t> batches{0};        // of idempotent writers, acknowledged
  std::atomic<int64_t> repeated{0};       // of those, sent again after a lost connection
  std::atomic<int64_t> commits{0};        // of transactions, answered
  std::atomic<int64_t> aborts{0};         // answered, or by the next InitProducerId
  std::atomic<int64_t> ends_repeated{0};  // EndTxn whose first answer was lost
  std::atomic<int64_t> jobs{0};           // inputs in committed jobs
  std::atomic<int> most_deliveries{0};    // of one input

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> findings_;
  std::map<std::string, int64_t> hindrances_;
};

// What all threads share. Topics: `plain` takes idempotent records, `ledger` transactions, `inputs`
// what jobs read through the share group, `output` what they write.
struct Run {
  uint16_t port = 0;
  uint64_t seed = 0;
  Topic plain;
  Topic ledger;
  Topic inputs;
  Topic output;
  std::string group;
  // Writers begin nothing new; they end when all they have begun is answered.
  std::atomic<bool> writers_stop{false};
  // Job workers end after the job at hand.
  std::atomic<bool> workers_stop{false};
  Story story;
};

// Between two tries to reach a broker that is down.
void pause_before_reconnect();

}  // namespace ackord::integration
