// MetricsPage: what is served at /metrics, in Prometheus' text format. Values are computed when the
// page is asked for, and put in here.
//   MetricsPage page;
//   page.gauge("ackord_share_lag", "Records that …", {{"group", "g"}}, 7);
//   page.text();
// Names are ackord_*, counters end in _total. Labels only by what is bounded: groups, topics,
// partitions. Not thread-safe.
#pragma once

#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ackord::base {

class MetricsPage {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void counter(const std::string& name, const std::string& help, const Labels& labels,
               double value);
  void gauge(const std::string& name, const std::string& help, const Labels& labels, double value);
  std::string text() const;

 private:
  prometheus::ClientMetric& add(const std::string& name, const std::string& help,
                                prometheus::MetricType type, const Labels& labels);

  std::map<std::string, prometheus::MetricFamily> families_;
};

}  // namespace ackord::base
