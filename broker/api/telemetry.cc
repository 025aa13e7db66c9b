#include "broker/api/telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "broker/base/logging.h"
#include "protocol/record_batch/crc32c.h"

namespace ackord::api {
namespace {

// Kafka keeps so many instances in all.
constexpr size_t kMaxInstances = 16384;
constexpr int8_t kMaxCompression = 4;  // none, gzip, snappy, lz4, zstd
constexpr std::string_view kAllMetrics = "*";

// What all subscriptions that fit a client ask for together.
TelemetrySubscription joined(const std::vector<metadata::MetricsSubscription>& subscriptions,
                             const metadata::MetricsClient& client) {
  TelemetrySubscription joined;
  joined.push_interval_ms = metadata::kDefaultPushIntervalMs;
  std::set<std::string> metrics;
  for (const metadata::MetricsSubscription& one : subscriptions) {
    if (!one.matches(client)) continue;
    joined.push_interval_ms = std::min(joined.push_interval_ms, one.interval_ms());
    metrics.insert(one.metrics().begin(), one.metrics().end());
  }
  // The protocol's word for all metrics is one empty name.
  if (metrics.contains(std::string(kAllMetrics))) metrics = {""};
  joined.metrics.assign(metrics.begin(), metrics.end());
  const std::string whole = fmt::format("{} {} {}", fmt::join(joined.metrics, ","),
                                        joined.push_interval_ms, client.instance_id);
  joined.id = static_cast<int32_t>(protocol::crc32c(std::as_bytes(std::span(whole))));
  return joined;
}

Error throttled(const Uuid& instance) {
  return error(ErrorCode::THROTTLING_QUOTA_EXCEEDED,
               fmt::format("Request from the client [{}] arrived before the next push interval "
                           "time",
                           instance.to_string()));
}

}  // namespace

metadata::MetricsClient metrics_client(const RequestContext& context, const Uuid& instance) {
  const Client& client = *context.client;
  metadata::MetricsClient seen;
  seen.instance_id = instance.to_string();
  seen.client_id = context.client_id;
  seen.software_name = client.software_name;
  seen.software_version = client.software_version;
  seen.address = client.host.starts_with('/') ? client.host.substr(1) : client.host;
  seen.port = std::to_string(client.port);
  return seen;
}

ClientTelemetry::ClientTelemetry(io::Environment& environment,
                                 const metadata::MetadataService& metadata)
    : environment_(environment), metadata_(metadata), cores_(environment.cores.size()) {}

ClientTelemetry::Instance& ClientTelemetry::instance_of(const Uuid& id,
                                                        const metadata::MetricsClient& client) {
  PerCore& mine = cores_[static_cast<size_t>(environment_.here().index)];
  const metadata::MetadataImage& image = metadata_.image();
  if (mine.version != image.metrics_version()) {
    mine.by_id.clear();
    mine.instances.clear();
    mine.subscriptions.clear();
    for (const auto& [name, configs] : image.all_metrics_configs())
      mine.subscriptions.emplace_back(configs);
    mine.version = image.metrics_version();
  }
  if (const auto at = mine.by_id.find(id); at != mine.by_id.end()) {
    mine.instances.splice(mine.instances.begin(), mine.instances, at->second);
    return mine.instances.front();
  }
  if (mine.instances.size() >= kMaxInstances / cores_.size() + 1) {
    mine.by_id.erase(mine.instances.back().id);
    mine.instances.pop_back();
  }
  Instance instance;
  instance.id = id;
  instance.subscription = joined(mine.subscriptions, client);
  mine.instances.push_front(std::move(instance));
  mine.by_id[id] = mine.instances.begin();
  return mine.instances.front();
}

io::Task<Result<TelemetrySubscription>> ClientTelemetry::subscribe(Uuid instance,
                                                                   metadata::MetricsClient client) {
  return io::on(core_of(instance).executor, subscribe_here(instance, std::move(client)));
}

io::Task<Result<void>> ClientTelemetry::push(TelemetryPush push, metadata::MetricsClient client) {
  io::Executor& executor = core_of(push.instance).executor;
  return io::on(executor, push_here(std::move(push), std::move(client)));
}

io::Task<Result<TelemetrySubscription>> ClientTelemetry::subscribe_here(
    Uuid id, metadata::MetricsClient client) {
  const int64_t now_ms = environment_.here().clock.now().steady_ms;
  Instance& instance = instance_of(id, client);
  const int64_t last_ms = std::max(instance.asked_at_ms, instance.pushed_at_ms);
  if (last_ms != kNever && now_ms - last_ms < instance.subscription.push_interval_ms)
    co_return throttled(id);
  instance.asked_at_ms = now_ms;
  co_return instance.subscription;
}

io::Task<Result<void>> ClientTelemetry::push_here(TelemetryPush push,
                                                  metadata::MetricsClient client) {
  const int64_t now_ms = environment_.here().clock.now().steady_ms;
  Instance& instance = instance_of(push.instance, client);
  if (instance.terminating) {
    co_return error(ErrorCode::INVALID_REQUEST, "The client has said its goodbye already.");
  }
  // The first push after an answer may come at once.
  const bool in_time = instance.asked_at_ms > instance.pushed_at_ms ||
                       instance.pushed_at_ms == kNever ||
                       now_ms - instance.pushed_at_ms >= instance.subscription.push_interval_ms;
  if (!in_time && !push.terminating) co_return throttled(push.instance);
  // Two within a millisecond are two.
  if (in_time) instance.pushed_at_ms = std::max(now_ms, instance.asked_at_ms);
  instance.terminating = push.terminating;
  if (push.subscription_id != instance.subscription.id) {
    co_return error(ErrorCode::UNKNOWN_SUBSCRIPTION_ID,
                    "Unknown client subscription id for the client");
  }
  if (push.compression < 0 || push.compression > kMaxCompression) {
    co_return error(ErrorCode::UNSUPPORTED_COMPRESSION_TYPE,
                    fmt::format("Unknown compression type {}", push.compression));
  }
  if (push.bytes > static_cast<size_t>(kTelemetryMaxBytes)) {
    co_return error(ErrorCode::TELEMETRY_TOO_LARGE,
                    fmt::format("Telemetry request from the client is larger than {} bytes",
                                kTelemetryMaxBytes));
  }
  pushes_.fetch_add(1, std::memory_order_relaxed);
  pushed_bytes_.fetch_add(push.bytes, std::memory_order_relaxed);
  base::log_debug("client metrics received instance={} client_id={} bytes={}", push.instance,
                  base::printable(client.client_id), push.bytes);
  co_return Result<void>();
}

}  // namespace ackord::api
