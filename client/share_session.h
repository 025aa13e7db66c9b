// ShareSession: the share session of one member with one broker (KIP-932): its connection, its
// epoch and the partitions that the broker fetches for it. The connection is the session's own,
// because the broker releases the member's records when it breaks.
//
// One request at a time; a fetch may be left under way. After any error the caller calls reset(),
// and the next fetch opens a new session. Errors: the transport's and the answers' top-level codes.
// One thread at a time.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/acknowledgements.h"
#include "client/cluster.h"
#include "client/in_flight.h"
#include "client/record.h"
#include "protocol/generated/share_fetch_response.h"

namespace ackord::client {

// share.acquire.mode
enum class AcquireMode : int8_t { kBatchOptimized = 0, kRecordLimit = 1 };

struct ShareFetchLimits {
  int32_t max_poll_records = 500;  // max.poll.records
  Millis max_wait{500};            // fetch.max.wait.ms
  int32_t min_bytes = 1;           // fetch.min.bytes
  int32_t max_bytes = 52428800;    // fetch.max.bytes
  AcquireMode acquire_mode = AcquireMode::kBatchOptimized;
};

class ShareSession {
 public:
  struct FetchedPartition {
    TopicIdPartition source;
    ErrorCode error = ErrorCode::NONE;
    ErrorCode acknowledge_error = ErrorCode::NONE;
    PartitionLeader leader;              // when the broker is not the leader
    std::span<const std::byte> records;  // of Fetched::answer
    std::vector<AcquiredRange> acquired;
  };
  struct Fetched {
    Answer<protocol::ShareFetchResponse> answer;
    std::vector<FetchedPartition> partitions;
    PartitionAcknowledgements acknowledged;  // what the request carried
    Millis lock_time{0};
    InFlight::Moment sent = 0;
  };

  ShareSession(BrokerId broker, GroupId group, std::string member_id, ShareFetchLimits limits);

  BrokerId broker() const { return broker_; }
  bool open() const { return epoch_ != 0; }
  bool fetching() const { return fetch_.has_value(); }
  int descriptor() const { return connection_->descriptor(); }
  const std::set<TopicIdPartition>& partitions() const { return partitions_; }
  // Whether there is a reason to send a fetch with these.
  bool needs_fetch(const std::set<TopicIdPartition>& wanted,
                   const PartitionAcknowledgements& acknowledgements) const;
  // Not before its backoff has passed.
  bool ready() const { return not_before_.passed(); }

  // Whether there is a connection by the deadline. Where there is none, one is being made behind,
  // for as long as socket.connection.setup.timeout.ms allows: ask again. An error: it cannot be
  // made.
  Result<bool> connect(const Cluster& cluster, const Deadline& deadline);
  // Sends a ShareFetch for these partitions, with acknowledgements of some of them. Connected only;
  // a new session cannot carry acknowledgements.
  Result<void> start_fetch(const ClientConfig& config, const std::set<TopicIdPartition>& wanted,
                           PartitionAcknowledgements acknowledgements, Millis max_wait,
                           InFlight::Moment now);
  // Takes the answer of the fetch under way; waits for it until it must have come, and until the
  // deadline.
  Result<Fetched> finish_fetch(const ClientConfig& config, const Deadline& deadline);
  // Whether the fetch under way has taken too long.
  bool fetch_overdue() const { return fetch_ && fetch_->deadline.passed(); }
  // What the fetch under way carries.
  const PartitionAcknowledgements& carried() const { return carried_; }

  // ShareAcknowledge, no fetch being under way: the error per partition. `last`: ends the session.
  Result<std::map<TopicIdPartition, ErrorCode>> acknowledge(
      const PartitionAcknowledgements& acknowledgements, bool renew, bool last,
      const Deadline& deadline);
  // Forgets the session; the next fetch opens a new one.
  void reset(bool keep_connection);

 private:
  struct Fetch {
    Sent sent;
    Deadline due;       // the broker has answered by then
    Deadline deadline;  // nobody waits any longer
    InFlight::Moment moment;
  };
  using Opened = Result<std::unique_ptr<Connection>>;
  void advance();

  const BrokerId broker_;
  const GroupId group_;
  const std::string member_id_;
  const ShareFetchLimits limits_;
  std::unique_ptr<Connection> connection_;
  std::future<Opened> connecting_;
  int32_t epoch_ = 0;  // of the next request; 0 opens a session
  std::set<TopicIdPartition> partitions_;
  std::set<TopicIdPartition> requested_;
  PartitionAcknowledgements carried_;
  std::optional<Fetch> fetch_;
  Deadline not_before_ = Deadline::in(Millis(0));
  std::optional<Backoff> backoff_;
};

}  // namespace ackord::client
