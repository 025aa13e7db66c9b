// ClientQuotas: charges clients for what they use, and says how long one is to be throttled.
//
// Limits come from the core's metadata image; a change counts from the next request on. What was
// used is counted by all cores together: each core knows the meters of its clients, and asks core 0
// for one that it has not met lately. Threads: any core; a Task resumes on the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "broker/io/core.h"
#include "broker/metadata/metadata_service.h"
#include "broker/quota/meter.h"

namespace ackord::quota {

enum class Kind : int8_t {
  kProduce,   // bytes of Produce requests: producer_byte_rate
  kFetch,     // bytes of Fetch answers: consumer_byte_rate
  kRequest,   // nanoseconds of a core: request_percentage, 100 for each whole core
  kMutation,  // partitions made and deleted: controller_mutation_rate
};

struct ClientName {
  std::string user;
  std::string client_id;
};

// Of one client and one kind, for one request.
class Charge {
 public:
  Charge() = default;
  // False: there is no limit, and the rest says so.
  bool limited() const { return meter_ != nullptr || bucket_ != nullptr; }
  // The most that is within the limit over all windows; INT64_MAX without one.
  int64_t most() const;
  // Negative: takes back what was recorded.
  void record(int64_t now_ms, int64_t amount);
  // 0 when the client is within its limit.
  int32_t throttle_ms(int64_t now_ms) const;

 private:
  friend class ClientQuotas;

  std::shared_ptr<Meter> meter_;
  std::shared_ptr<Bucket> bucket_;
  double limit_ = 0;
  Windows windows_;
};

class ClientQuotas {
 public:
  // Both must outlive it.
  ClientQuotas(io::Environment& environment, const metadata::MetadataService& metadata);
  ClientQuotas(const ClientQuotas&) = delete;

  // Whether anybody has any limit: if not, nothing needs to be asked.
  bool any() const { return !metadata_.image().quotas().empty(); }
  io::Task<Charge> charge(Kind kind, ClientName client);

 private:
  // Kind, user, client id: of the client on a core, of the scope of its limit in the registry.
  using Key = std::tuple<Kind, std::string, std::string>;
  struct Known {
    Charge charge;
    int64_t used_at_ms = 0;
  };
  struct PerCore {
    int64_t version = -1;  // of the image's quotas that `known` was made by
    std::map<Key, Known> known;
    size_t sweep_at;
  };
  struct Counted {
    std::shared_ptr<Meter> meter;
    std::shared_ptr<Bucket> bucket;
  };

  io::Task<Counted> counted(Key scope);
  void sweep(PerCore& mine, int64_t now_ms) const;

  io::Environment& environment_;
  const metadata::MetadataService& metadata_;
  const Windows windows_;    // quota.window.*
  const Windows mutations_;  // controller.quota.window.*
  std::vector<PerCore> by_core_;
  std::map<Key, Counted> registry_;  // core 0
  size_t sweep_registry_at_;
};

}  // namespace ackord::quota
