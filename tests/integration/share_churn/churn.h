// Churn: members that come, leave and are killed, at a broker that is killed, until every record of
// a topic has reached its end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/share_churn/delivery_check.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"

namespace ackord::integration {

struct ChurnOptions {
  int64_t records = 200000;
  double seconds = 100;  // the records are written over this time
  int members = 20;
  double broker_kill_seconds = 20;
  uint64_t seed = 1;
  std::string program;  // this executable
};

struct ChurnCounts {
  int started = 0;
  int killed = 0;
  int left = 0;
  int broker_kills = 0;
};

class Churn {
 public:
  explicit Churn(ChurnOptions options);
  ~Churn();
  // False when a promise was broken; prints what has happened.
  bool run();

 private:
  void write_records();
  void churn();
  void start_member(size_t slot);
  void drain();
  void end_members();
  std::vector<ArchivedRange> archived() const;
  bool report(double seconds);
  uint64_t below(uint64_t bound) { return random_() % bound; }

  ChurnOptions options_;
  std::mt19937_64 random_;
  test::TempDirectory directory_;
  BrokerProcess broker_;
  Topic topic_;
  std::vector<ChildProcess> members_;  // by slot
  std::vector<std::string> journals_;
  std::vector<std::string> findings_;
  ChurnCounts counts_;
  std::thread writer_;
  std::atomic<bool> written_{false};
};

}  // namespace ackord::integration
