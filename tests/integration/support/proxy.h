// Proxy: a network between clients and one broker that a test can spoil: it loses, holds, delays
// and cuts, by the API of the frames that pass or whole directions at once.
//
// It listens on a free port of 127.0.0.1 and opens one connection to the broker for each that it
// takes. It forwards whole frames (Kafka protocol guide, "Common Request and Response Structure")
// and knows an answer's API by its correlation id, so that "the broker has committed, and its
// answer is lost" is exact: {Way::kAnswers, Harm::kCutBefore, CommitBatchTxn}.
//
// Threads: the proxy has one of its own; every member may be called from any other. When a call
// returns, it is in force for each frame that has not been judged yet. Errors: std::runtime_error
// when it cannot listen. With its end all its connections end.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

namespace ackord::integration {

using Millis = std::chrono::milliseconds;

enum class Way : int8_t { kRequests, kAnswers };

// What happens to a frame, and to its connection.
enum class Harm : int8_t {
  kCutBefore,  // cut in the place of the frame
  kCutInside,  // half of the frame goes through, then it is cut
  kCutAfter,   // the frame goes through, then it is cut
  kVanish,     // the frame and all that follows in its direction, the end too, is lost in silence
  kDelay,      // later; what follows in its direction, too
  kHold,       // the same, until release(): even when the sender has given up, it arrives
};

constexpr int16_t kAnyApi = -1;
constexpr int kAlways = 1 << 30;

// Strikes `times` frames of one API, after `spared` of them have passed unharmed.
struct Fault {
  Way way = Way::kRequests;
  Harm harm = Harm::kCutBefore;
  int16_t api_key = kAnyApi;
  int times = 1;
  int spared = 0;
  Millis delay{0};  // kDelay
};

// Random faults of any frame: the chance of each harm. kHold is none of them.
struct Weather {
  double cut_before = 0;
  double cut_inside = 0;
  double cut_after = 0;
  double vanish = 0;
  double delay = 0;
  Millis longest_delay{0};
};

class Proxy {
 public:
  // To the broker's port, where nobody needs to listen yet.
  explicit Proxy(uint16_t upstream);
  ~Proxy();
  Proxy(const Proxy&) = delete;

  uint16_t port() const;

  void inject(const Fault& fault);
  void set_weather(uint64_t seed, const Weather& weather);
  // No faults, no weather from now on. What is lost or held stays so.
  void clear();
  // Frames on hold arrive now.
  void release();
  // Nothing more passes in these directions, on present and on future connections.
  void partition(std::initializer_list<Way> ways);
  // What became of that which was sent into the partition. kArrives: late, as what TCP sends again.
  // kLost: for good; connections that were used meanwhile stay silent in that direction.
  enum class Meanwhile : int8_t { kArrives, kLost };
  void heal(Meanwhile meanwhile);
  // Ends all connections.
  void cut_all();
  // Whether the port refuses (it stays taken). Present connections stay.
  void refuse(bool refuses);

  // Frames that have passed, late ones too.
  int passed(Way way, int16_t api_key) const;
  // Frames that faults and weather have struck.
  int struck() const;
  // Frames that wait, on hold or for the end of a partition.
  int waiting() const;
  // Connections taken so far.
  int taken() const;
  // All of struck(), a line each, for the message of a failed test.
  std::string story() const;

 private:
  class Network;
  std::unique_ptr<Network> network_;
};

}  // namespace ackord::integration
