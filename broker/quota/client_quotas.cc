#include "broker/quota/client_quotas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ackord::quota {
namespace {

constexpr size_t kSweepAt = 1024;
constexpr double kNanosPerPercent = 1e7;  // of a second

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kProduce: return "producer_byte_rate";
    case Kind::kFetch: return "consumer_byte_rate";
    case Kind::kRequest: return "request_percentage";
    case Kind::kMutation: return "controller_mutation_rate";
  }
  return "";
}

Windows windows_of(int32_t count, int32_t seconds) {
  constexpr int64_t kMsPerSecond = 1000;
  return {count, seconds * kMsPerSecond};
}

}  // namespace

int64_t Charge::most() const {
  if (!limited()) return std::numeric_limits<int64_t>::max();
  const double most = limit_ * static_cast<double>(windows_.count * windows_.size_ms) / 1000.0;
  constexpr double kMax = 9e18;
  return most >= kMax ? std::numeric_limits<int64_t>::max() : static_cast<int64_t>(most);
}

void Charge::record(int64_t now_ms, int64_t amount) {
  if (meter_) meter_->record(now_ms, amount);
  if (bucket_) bucket_->take(now_ms, static_cast<double>(amount), limit_);
}

int32_t Charge::throttle_ms(int64_t now_ms) const {
  int64_t wait = 0;
  if (meter_) wait = meter_->throttle_ms(now_ms, limit_);
  if (bucket_) wait = bucket_->throttle_ms(now_ms);
  return static_cast<int32_t>(std::min<int64_t>(wait, std::numeric_limits<int32_t>::max()));
}

ClientQuotas::ClientQuotas(io::Environment& environment, const metadata::MetadataService& metadata)
    : environment_(environment),
      metadata_(metadata),
      windows_(windows_of(metadata.broker_config().quota_window_num,
                          metadata.broker_config().quota_window_size_seconds)),
      mutations_(windows_of(metadata.broker_config().controller_quota_window_num,
                            metadata.broker_config().controller_quota_window_size_seconds)),
      by_core_(environment.cores.size(), PerCore{-1, {}, kSweepAt}),
      sweep_registry_at_(kSweepAt) {}

io::Task<Charge> ClientQuotas::charge(Kind kind, ClientName client) {
  const io::Core& core = environment_.here();
  PerCore& mine = by_core_[static_cast<size_t>(core.index)];
  const int64_t now_ms = core.clock.now().steady_ms;
  const metadata::MetadataImage& image = metadata_.image();
  if (mine.version != image.quotas_version()) {
    mine.known.clear();
    mine.version = image.quotas_version();
  }
  Key key{kind, client.user, client.client_id};
  if (const auto at = mine.known.find(key); at != mine.known.end()) {
    at->second.used_at_ms = now_ms;
    co_return at->second.charge;
  }
  const auto limit =
      metadata::find_limit(image.quotas(), name_of(kind), client.user, client.client_id);
  Charge charge;
  if (limit) {
    const int64_t version = mine.version;
    auto asking = io::on(environment_.cores.front().executor,
                         counted(Key{kind, limit->user, limit->client_id}));
    Counted found = co_await std::move(asking);
    charge.meter_ = std::move(found.meter);
    charge.bucket_ = std::move(found.bucket);
    charge.limit_ = kind == Kind::kRequest ? limit->limit * kNanosPerPercent : limit->limit;
    charge.windows_ = kind == Kind::kMutation ? mutations_ : windows_;
    if (mine.version != version) co_return charge;
  }
  if (mine.known.size() >= mine.sweep_at) sweep(mine, now_ms);
  mine.known[std::move(key)] = {charge, now_ms};
  co_return charge;
}

io::Task<ClientQuotas::Counted> ClientQuotas::counted(Key scope) {
  if (registry_.size() >= sweep_registry_at_) {
    // What no core knows has not been used for as long as its windows.
    std::erase_if(registry_, [](const auto& one) {
      return one.second.meter.use_count() <= 1 && one.second.bucket.use_count() <= 1;
    });
    sweep_registry_at_ = std::max(kSweepAt, registry_.size() * 2);
  }
  Counted& found = registry_[scope];
  if (!found.meter && !found.bucket) {
    if (std::get<Kind>(scope) == Kind::kMutation) {
      found.bucket = std::make_shared<Bucket>(mutations_);
    } else {
      found.meter = std::make_shared<Meter>(windows_);
    }
  }
  co_return found;
}

void ClientQuotas::sweep(PerCore& mine, int64_t now_ms) const {
  const auto span_of = [](Windows windows) { return 2 * windows.count * windows.size_ms; };
  const int64_t idle_ms = std::max(span_of(windows_), span_of(mutations_));
  std::erase_if(mine.known,
                [&](const auto& one) { return now_ms - one.second.used_at_ms > idle_ms; });
  mine.sweep_at = std::max(kSweepAt, mine.known.size() * 2);
}

}  // namespace ackord::quota
