// ShareMembership: this process's member of a share group, kept alive by a thread of its own, so
// that it stays a member while the application works on its records. Source: KIP-932,
// ShareGroupHeartbeat v1.
//
// The member id is made here. After UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH and GROUP_ID_NOT_FOUND
// it joins anew under the same id; an unreachable or changing coordinator is looked up again; any
// other error ends the thread and is kept. Thread-safe.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/cluster.h"
#include "client/in_flight.h"

namespace ackord::client {

struct ShareAssignment {
  int64_t generation = 0;  // grows with every change
  std::vector<TopicIdPartition> partitions;
  std::optional<Error> failure;  // the membership has ended
};

class ShareMembership {
 public:
  // `book` learns member id and epoch. `cluster` is used by the thread alone.
  ShareMembership(std::unique_ptr<Cluster> cluster, GroupId group, std::optional<std::string> rack,
                  std::shared_ptr<InFlight> book);
  ~ShareMembership();  // stops without leaving: the group notices after the session timeout

  // Starts the thread at the first call; later calls replace the subscription.
  void subscribe(std::vector<TopicName> topics);
  ShareAssignment assignment() const;
  // Returns when the generation differs from the given one, or at the deadline.
  void wait_for_change(int64_t generation, const Deadline& deadline);
  // Stops the thread and leaves the group.
  Result<void> leave(const Deadline& deadline);
  const std::string& member_id() const { return member_id_; }

 private:
  void run();
  Result<Millis> heartbeat(std::optional<std::vector<TopicName>> topics, int32_t epoch,
                           const Deadline& deadline);
  void pause(std::unique_lock<std::mutex>& lock, Millis time);
  void stop();

  const std::unique_ptr<Cluster> cluster_;
  const GroupId group_;
  const std::optional<std::string> rack_;
  const std::string member_id_;
  const std::shared_ptr<InFlight> book_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<TopicName> topics_;
  bool subscription_changed_ = false;
  bool stopping_ = false;
  int32_t epoch_ = 0;
  ShareAssignment assignment_;
  std::thread thread_;
};

}  // namespace ackord::client
