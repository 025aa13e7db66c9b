#include "broker/net/connection_quotas.h"

#include <algorithm>
#include <utility>

namespace ackord::net {
namespace {

constexpr size_t kSweepAt = 1024;

// Never longer than what is counted by lasts.
int64_t throttle_of(const quota::Meter& created, double rate, quota::Windows windows,
                    int64_t now_ms) {
  const int64_t most_ms = windows.count * windows.size_ms;
  return rate > 0 ? std::min(created.throttle_ms(now_ms, rate), most_ms) : most_ms;
}

}  // namespace

ConnectionQuotas::ConnectionQuotas(ConnectionBounds bounds, quota::Windows windows)
    : bounds_(std::move(bounds)), windows_(windows), created_(windows), sweep_at_(kSweepAt) {}

size_t ConnectionQuotas::add_listener(ListenerBounds bounds, std::function<void()> on_room) {
  listeners_.push_back({bounds, std::move(on_room), quota::Meter(windows_), 0});
  return listeners_.size() - 1;
}

void ConnectionQuotas::set_bounds(ConnectionBounds bounds) {
  bounds_ = std::move(bounds);
  tell_all();
}

void ConnectionQuotas::set_bounds(size_t listener, ListenerBounds bounds) {
  listeners_[listener].bounds = bounds;
  listeners_[listener].on_room();
}

void ConnectionQuotas::tell_all() const {
  for (const OneListener& one : listeners_) one.on_room();
}

bool ConnectionQuotas::has_room(size_t listener) const {
  const OneListener& one = listeners_[listener];
  return open_ < bounds_.max_connections && one.open < one.bounds.max_connections;
}

int64_t ConnectionQuotas::pause_ms(size_t listener, int64_t now_ms) const {
  const OneListener& one = listeners_[listener];
  const auto throttle = [this, now_ms](const quota::Meter& created, int64_t rate) {
    return rate >= INT32_MAX ? 0
                             : throttle_of(created, static_cast<double>(rate), windows_, now_ms);
  };
  return std::max(throttle(created_, bounds_.max_creation_rate),
                  throttle(one.created, one.bounds.max_creation_rate));
}

int64_t ConnectionQuotas::max_of(const std::string& address) const {
  const auto found = bounds_.per_ip_overrides.find(address);
  return found == bounds_.per_ip_overrides.end() ? bounds_.max_per_ip : found->second;
}

ConnectionQuotas::Taking ConnectionQuotas::take(size_t listener, const std::string& address,
                                                int64_t now_ms) {
  OneListener& one = listeners_[listener];
  created_.record(now_ms, 1);
  one.created.record(now_ms, 1);
  if (const int64_t throttle_ms = address_throttle_ms(address, now_ms); throttle_ms > 0)
    return {Verdict::kTooFast, throttle_ms};
  const auto known = by_address_.find(address);
  if ((known == by_address_.end() ? 0 : known->second) >= max_of(address))
    return {Verdict::kTooMany, 0};
  ++open_;
  ++one.open;
  ++by_address_[address];
  return {};
}

void ConnectionQuotas::gone(size_t listener, const std::string& address) {
  --open_;
  --listeners_[listener].open;
  const auto found = by_address_.find(address);
  if (found != by_address_.end() && --found->second == 0) by_address_.erase(found);
  if (open_ + 1 >= bounds_.max_connections) {
    tell_all();
  } else {
    listeners_[listener].on_room();
  }
}

// A connection that is refused for its rate does not count, so that the peer's tries do not keep
// it out.
int64_t ConnectionQuotas::address_throttle_ms(const std::string& address, int64_t now_ms) {
  if (!address_rate_) return 0;
  const auto rate = address_rate_(address);
  if (!rate) return 0;
  if (address_meters_.size() >= sweep_at_) {
    const int64_t idle_ms = 2 * windows_.count * windows_.size_ms;
    std::erase_if(address_meters_, [now_ms, idle_ms](const auto& entry) {
      return now_ms - entry.second.used_at_ms > idle_ms;
    });
    sweep_at_ = std::max(kSweepAt, address_meters_.size() * 2);
  }
  const auto at =
      address_meters_.try_emplace(address, AddressMeter{quota::Meter(windows_), 0}).first;
  AddressMeter& meter = at->second;
  meter.used_at_ms = now_ms;
  meter.created.record(now_ms, 1);
  const int64_t throttle_ms = throttle_of(meter.created, *rate, windows_, now_ms);
  if (throttle_ms > 0) meter.created.record(now_ms, -1);
  return throttle_ms;
}

}  // namespace ackord::net
