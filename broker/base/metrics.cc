#include "broker/base/metrics.h"

#include <prometheus/text_serializer.h>

#include <sstream>

namespace ackord::base {

prometheus::ClientMetric& MetricsPage::add(const std::string& name, const std::string& help,
                                           prometheus::MetricType type, const Labels& labels) {
  prometheus::MetricFamily& family = families_[name];
  family.name = name;
  family.help = help;
  family.type = type;
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  for (const auto& [label, value] : labels) metric.label.push_back({label, value});
  return metric;
}

void MetricsPage::counter(const std::string& name, const std::string& help, const Labels& labels,
                          double value) {
  add(name, help, prometheus::MetricType::Counter, labels).counter.value = value;
}

void MetricsPage::gauge(const std::string& name, const std::string& help, const Labels& labels,
                        double value) {
  add(name, help, prometheus::MetricType::Gauge, labels).gauge.value = value;
}

std::string MetricsPage::text() const {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& [name, family] : families_) families.push_back(family);
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families);
  return out.str();
}

}  // namespace ackord::base
