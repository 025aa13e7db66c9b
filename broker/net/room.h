// Room: the connections of one listener on one core. All on that core, but for core().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "broker/base/complaint.h"
#include "broker/io/core.h"
#include "broker/io/posix/asio_core.h"
#include "broker/io/posix/descriptor.h"
#include "broker/net/connection.h"
#include "broker/net/listener_settings.h"
#include "broker/net/request_sink.h"
#include "broker/net/tls_context.h"

namespace ackord::net {

// A connection that was admitted.
struct Accepted {
  io::Descriptor descriptor;
  bool ipv6;
  std::string address;
  uint16_t port;
};

class Room {
 public:
  // Shared by the rooms of a listener.
  struct Complaints {
    base::Complaint handshake;
    base::Complaint principal;
    base::Complaint late;
    base::Complaint holding;
    Connection::Complaints connection;
  };
  // All must outlive it.
  struct Surroundings {
    io::AsioCore& asio;
    io::Core core;
    io::FileSystem& files;
    RequestSink& sink;
    RequestBudget& budget;
    ListenerCounters& counters;
    Complaints& complaints;
  };
  Room(Surroundings surroundings, ListenerSettings settings);
  Room(const Room&) = delete;

  io::Core core() const { return place_.core; }
  // Called with the address of each connection that has ended.
  void on_gone(std::function<void(const std::string&)> gone) { gone_ = std::move(gone); }

  void start() { sweep(); }
  // Of the connections that come from now on.
  void use_tls(std::shared_ptr<const TlsContext> tls) { tls_ = std::move(tls); }
  void add(Accepted accepted);
  // Lets every connection answer what it has received, and closes those that have not ended after
  // `grace_ms`.
  io::Task<void> stop(int64_t grace_ms);

 private:
  struct Entry {
    std::shared_ptr<Connection> connection;
    std::string address;
    int64_t opened_at_ms = 0;
    bool was_authenticated = false;
  };

  std::vector<std::shared_ptr<Connection>> all() const;
  void remove(Connection& connection);
  std::unique_ptr<Stream> make_stream(Accepted& accepted, std::shared_ptr<api::Client> client);
  bool take_peer(api::Client& client, const std::optional<std::string>& subject);
  void sweep();
  bool is_overdue(Entry& entry, int64_t now_ms);
  void drop_holders(int64_t now_ms);
  int64_t sweep_pause_ms() const;
  void set_send_buffer(int descriptor) const;
  int64_t now_ms() const { return place_.core.clock.now().steady_ms; }

  io::AsioCore& asio_;
  const ListenerSettings settings_;
  ListenerCounters& counters_;
  Complaints& complaints_;
  Connection::Place place_;
  std::shared_ptr<const TlsContext> tls_;
  std::unordered_map<Connection*, Entry> connections_;
  std::function<void(const std::string&)> gone_;
  io::Signal emptied_;
  io::Clock::TimerId sweep_timer_ = 0;
  bool stopping_ = false;
};

}  // namespace ackord::net
