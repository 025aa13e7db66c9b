#include "broker/net/room.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "broker/base/logging.h"
#include "broker/net/tcp_stream.h"
#include "broker/net/tls_stream.h"

namespace ackord::net {
namespace {

std::atomic<uint64_t> last_connection_id = 0;

constexpr int64_t kMostSweepPauseMs = 1000;
// What the transfer of a request or an answer may take while memory is short.
constexpr int64_t kHolderGraceMs = 10000;

}  // namespace

Room::Room(Surroundings surroundings, ListenerSettings settings)
    : asio_(surroundings.asio),
      settings_(std::move(settings)),
      counters_(surroundings.counters),
      complaints_(surroundings.complaints),
      place_{surroundings.core,
             surroundings.files,
             surroundings.sink,
             complaints_.connection,
             surroundings.budget,
             settings_.limits,
             [this](Connection& one) { remove(one); }} {}

void Room::add(Accepted accepted) {
  const bool needs_tls = security::uses_tls(settings_.protocol);
  if (stopping_ || (needs_tls && tls_ == nullptr)) {
    gone_(accepted.address);
    return;
  }
  set_send_buffer(accepted.descriptor.get());
  auto client = std::make_shared<api::Client>();
  client->connection_id = ++last_connection_id;
  client->host = "/" + accepted.address;
  client->port = accepted.port;
  client->listener = settings_.name;
  client->protocol = settings_.protocol;
  client->authenticated = settings_.protocol == security::SecurityProtocol::kPlaintext;
  auto stream = make_stream(accepted, client);
  auto connection = std::make_shared<Connection>(place_, std::move(stream), std::move(client));
  connections_.emplace(connection.get(),
                       Entry{connection, std::move(accepted.address), now_ms(), false});
  connection->start();
}

std::unique_ptr<Stream> Room::make_stream(Accepted& accepted, std::shared_ptr<api::Client> client) {
  const int descriptor = accepted.descriptor.release();
  if (!security::uses_tls(settings_.protocol))
    return std::make_unique<TcpStream>(asio_.context(), descriptor, accepted.ipv6);
  TlsStream::Events events;
  events.secured = [this, client](const std::optional<std::string>& subject) {
    return take_peer(*client, subject);
  };
  events.failed = [this, client](const std::string& why) {
    ++counters_.failed_handshakes;
    complaints_.handshake.warn(now_ms(), "TLS handshake failed: {} client={} listener={}", why,
                               client->host, settings_.name);
  };
  return std::make_unique<TlsStream>(asio_.context(), descriptor, accepted.ipv6,
                                     tls_->new_session(), std::move(events));
}

// With SASL it is that which says who the peer is.
bool Room::take_peer(api::Client& client, const std::optional<std::string>& subject) {
  if (security::uses_sasl(settings_.protocol)) return true;
  if (subject) {
    const auto name = settings_.principals ? settings_.principals->name_of(*subject) : subject;
    if (!name) {
      ++counters_.failed_handshakes;
      complaints_.principal.warn(
          now_ms(),
          "connection closed, no rule of ssl.principal.mapping.rules applies to the subject "
          "client={} listener={} subject={}",
          client.host, settings_.name, *subject);
      return false;
    }
    client.principal.name = *name;
  }
  client.authenticated = true;
  return true;
}

io::Task<void> Room::stop(int64_t grace_ms) {
  stopping_ = true;
  if (sweep_timer_ != 0) place_.core.clock.cancel(std::exchange(sweep_timer_, 0));
  for (const auto& connection : all()) connection->drain();
  const int64_t deadline_ms = now_ms() + grace_ms;
  while (!connections_.empty()) {
    const auto wakeup = io::Wakeup::make(place_.core.executor, place_.core.clock);
    emptied_.subscribe(wakeup);
    const bool woken = co_await wakeup->wait_until(deadline_ms);
    if (!woken) break;
  }
  for (const auto& connection : all()) connection->disconnect();
}

std::vector<std::shared_ptr<Connection>> Room::all() const {
  std::vector<std::shared_ptr<Connection>> list;
  list.reserve(connections_.size());
  for (const auto& [key, entry] : connections_) list.push_back(entry.connection);
  return list;
}

void Room::remove(Connection& connection) {
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  gone_(found->second.address);
  connections_.erase(found);
  if (connections_.empty()) emptied_.notify();
}

// A connection that waits for an answer is not idle, however long that takes.
void Room::sweep() {
  const int64_t now = now_ms();
  std::vector<std::shared_ptr<Connection>> ended;
  for (auto& [key, entry] : connections_) {
    const Connection& connection = *entry.connection;
    if (is_overdue(entry, now)) {
      ended.push_back(entry.connection);
      continue;
    }
    if (settings_.max_idle_ms < 0 || !connection.waits_for_peer()) continue;
    if (now - connection.last_activity_ms() < settings_.max_idle_ms) continue;
    ++counters_.idle;
    base::log_debug("idle connection closed client={} listener={}", connection.client().host,
                    settings_.name);
    ended.push_back(entry.connection);
  }
  // Not within the loop: it may change the table.
  for (const auto& connection : ended) connection->disconnect();
  drop_holders(now);
  sweep_timer_ = place_.core.clock.call_at(now + sweep_pause_ms(), [this] { sweep(); });
}

int64_t Room::sweep_pause_ms() const {
  int64_t shortest = settings_.max_authentication_ms;
  if (settings_.max_idle_ms >= 0) shortest = std::min(shortest, settings_.max_idle_ms);
  return std::clamp<int64_t>(shortest / 8, 10, kMostSweepPauseMs);
}

bool Room::is_overdue(Entry& entry, int64_t now) {
  const api::Client& client = entry.connection->client();
  entry.was_authenticated |= client.authenticated;
  if (entry.was_authenticated) return false;
  if (now - entry.opened_at_ms < settings_.max_authentication_ms) return false;
  ++counters_.late_authentications;
  complaints_.late.warn(now,
                        "connection closed, not authenticated within {} ms client={} listener={}",
                        settings_.max_authentication_ms, client.host, settings_.name);
  return true;
}

// While others are kept waiting for memory, who has not sent a request, or taken an answer, in that
// time loses it. Also those that themselves wait for more: else as many as have half a frame would
// wait for each other.
void Room::drop_holders(int64_t now) {
  if (!place_.budget.is_short()) return;
  for (const auto& connection : all()) {
    if (connection->held_bytes() <= static_cast<uint64_t>(RequestBudget::kSmallFrame)) continue;
    const int64_t began = connection->transfer_began_ms();
    if (began == INT64_MAX || now - began < kHolderGraceMs) continue;
    ++counters_.holding_memory;
    complaints_.holding.warn(
        now, "connection closed, slow while memory is short held_bytes={} client={} listener={}",
        connection->held_bytes(), connection->client().host, settings_.name);
    connection->disconnect();
  }
}

void Room::set_send_buffer(int descriptor) const {
  const int bytes = settings_.send_buffer_bytes;
  if (bytes >= 0) ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

}  // namespace ackord::net
