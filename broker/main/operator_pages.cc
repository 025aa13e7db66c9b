#include "broker/main/operator_pages.h"

#include <utility>

#include "broker/base/metrics.h"

namespace ackord::main {
namespace {

constexpr unsigned kUnavailable = 503;
constexpr unsigned kNotFound = 404;
constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

double seconds(int64_t ms) { return static_cast<double>(ms) / 1000; }

void add_logins(base::MetricsPage& page, const security::SaslListeners& listeners) {
  const auto count = [&page](const std::string& name, const std::string& help,
                             const base::MetricsPage::Labels& labels, uint64_t value) {
    page.counter(name, help, labels, static_cast<double>(value));
  };
  for (const auto& [name, listener] : listeners) {
    for (const auto& mechanism : listener->mechanisms()) {
      const base::MetricsPage::Labels labels{{"listener", name}, {"mechanism", mechanism->name}};
      count("ackord_sasl_logins_total", "Logins that proved who it is.", labels,
            mechanism->succeeded);
      count("ackord_sasl_failed_logins_total", "Logins that proved nothing.", labels,
            mechanism->failed);
    }
    const base::MetricsPage::Labels labels{{"listener", name}};
    count("ackord_sasl_requests_out_of_order_total",
          "Connections closed for asking something before or within a login.", labels,
          listener->out_of_order);
    count("ackord_sasl_expired_sessions_total",
          "Connections closed for going on after their session's end.", labels, listener->expired);
  }
}

}  // namespace

void OperatorPages::handle(const std::string& target, http::HttpReply reply) {
  const bool metrics = target == "/metrics";
  if (!metrics && target != "/healthz" && target != "/readyz")
    return reply({kNotFound, "there are /metrics, /healthz and /readyz\n"});
  Assembly* assembly = assembly_.load();
  if (assembly != nullptr) {
    io::spawn(core_, reply_later(*assembly, metrics, std::move(reply)));
  } else if (target == "/healthz") {
    reply({200, "ok\n"});
  } else {
    reply({kUnavailable, "not ready\n"});
  }
}

// That core 0 answers at all is part of being well.
io::Task<void> OperatorPages::reply_later(Assembly& assembly, bool metrics, http::HttpReply reply) {
  if (metrics) {
    auto gathering = metrics_text(assembly, add_metrics_);
    std::string text = co_await std::move(gathering);
    reply({200, std::move(text), kMetricsType});
  } else if (assembly.log().online()) {
    reply({200, "ok\n"});
  } else {
    reply({kUnavailable, "the log directory is offline\n"});
  }
}

io::Task<std::string> metrics_text(Assembly& assembly, OperatorPages::AddMetrics add_metrics) {
  base::MetricsPage page;
  page.gauge("ackord_log_online", "1 while the log directory takes writes.", {},
             assembly.log().online() ? 1 : 0);
  add_logins(page, assembly.logins());
  add_metrics(page);
  const auto topic_name = [&assembly](const Uuid& id) {
    const auto topic = assembly.metadata().image().topic(id);
    return topic ? topic->name.str() : id.to_string();
  };
  auto counting = assembly.share().archived();
  const share::ArchiveReport::ByTopic archived = co_await std::move(counting);
  for (const auto& [name, counters] : archived) {
    const base::MetricsPage::Labels labels{{"group", name.first.str()},
                                           {"topic", topic_name(name.second)}};
    for (size_t i = 0; i < counters.archived.size(); ++i) {
      if (counters.archived[i] == 0) continue;
      base::MetricsPage::Labels with_reason = labels;
      with_reason.emplace_back("reason", name_of(static_cast<share::ArchiveReason>(i)));
      page.counter("ackord_share_archived_records_total", "Records that share groups gave up.",
                   with_reason, static_cast<double>(counters.archived[i]));
    }
    page.counter("ackord_share_dead_lettered_records_total",
                 "Records whose dead letters are durable.", labels,
                 static_cast<double>(counters.letters));
    page.counter("ackord_share_dead_letters_given_up_total",
                 "Records whose dead letters could not be written.", labels,
                 static_cast<double>(counters.letters_given_up));
  }
  auto looking = assembly.share().gauges();
  const std::vector<share::PartitionGauges> gauges = co_await std::move(looking);
  for (const share::PartitionGauges& one : gauges) {
    const base::MetricsPage::Labels labels{{"group", one.key.group_id.str()},
                                           {"topic", topic_name(one.key.topic_id)},
                                           {"partition", std::to_string(one.key.partition)}};
    if (one.lag < 0) continue;
    page.gauge("ackord_share_lag", "Records that a share group is not done with.", labels,
               static_cast<double>(one.lag));
    page.gauge("ackord_share_oldest_unacknowledged_age_seconds",
               "Age of the first record that a share group is not done with, by the largest "
               "timestamp of its batch.",
               labels, seconds(one.oldest_unacknowledged_age_ms));
  }
  co_return page.text();
}

}  // namespace ackord::main
