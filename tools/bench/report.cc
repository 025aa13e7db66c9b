#include "tools/bench/report.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace ackord::bench {
namespace {

namespace json = boost::json;

constexpr std::pair<const char*, double> kQuantiles[] = {
    {"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}};
constexpr double kMillion = 1e6;
constexpr double kMega = 1024.0 * 1024.0;

double ms(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e6; }

double cpu_per_million(const Report& report) {
  return report.count > 0 ? report.broker->cpu_s * kMillion / static_cast<double>(report.count) : 0;
}

}  // namespace

void print_text(const Report& report, std::ostream& out) {
  out << fmt::format("{}: {} {} in {:.3f} s = {:.0f} a second", report.work, report.count,
                     report.unit, report.seconds, report.rate());
  if (report.bytes > 0)
    out << fmt::format(", {:.1f} MiB/s",
                       static_cast<double>(report.bytes) / kMega / report.seconds);
  out << "\n";
  for (const auto& [name, latency] : report.latencies) {
    out << fmt::format("  {:<18}", name);
    for (const auto& [label, part] : kQuantiles)
      out << fmt::format(" {} {:.3f}", label, ms(latency.quantile(part)));
    out << fmt::format(" max {:.3f} ms ({} samples)\n", ms(latency.max()), latency.count());
  }
  for (const auto& [name, value] : report.numbers)
    out << fmt::format("  {:<18} {:.6g}\n", name, value);
  if (report.broker) {
    const BrokerUse& use = *report.broker;
    out << fmt::format(
        "  {:<18} CPU {:.3f} s ({:.3f} s per million {}), {} context switches, RSS {:.1f} MiB "
        "(peak {:.1f})\n",
        "broker", use.cpu_s, cpu_per_million(report), report.unit, use.context_switches,
        static_cast<double>(use.rss_bytes) / kMega,
        static_cast<double>(use.peak_rss_bytes) / kMega);
  }
}

void print_json(const Report& report, const Options& options, std::ostream& out) {
  json::object object{{"work", report.work},
                      {"unit", report.unit},
                      {"count", report.count},
                      {"seconds", report.seconds},
                      {"per_second", report.rate()}};
  if (report.bytes > 0) object["bytes"] = report.bytes;
  json::object latencies;
  for (const auto& [name, latency] : report.latencies) {
    json::object one{{"samples", latency.count()}};
    for (const auto& [label, part] : kQuantiles)
      one[std::string(label) + "_ms"] = ms(latency.quantile(part));
    one["max_ms"] = ms(latency.max());
    latencies[name] = std::move(one);
  }
  object["latencies"] = std::move(latencies);
  json::object numbers;
  for (const auto& [name, value] : report.numbers) numbers[name] = value;
  object["numbers"] = std::move(numbers);
  if (report.broker) {
    object["broker"] = json::object{{"cpu_s", report.broker->cpu_s},
                                    {"cpu_s_per_million", cpu_per_million(report)},
                                    {"context_switches", report.broker->context_switches},
                                    {"rss_bytes", report.broker->rss_bytes},
                                    {"peak_rss_bytes", report.broker->peak_rss_bytes}};
  }
  object["options"] =
      json::object{{"partitions", options.partitions},
                   {"connections", options.connections},
                   {"in_flight", options.in_flight},
                   {"record_size", options.record_size},
                   {"batch", options.batch},
                   {"acks", options.acks},
                   {"codec", protocol::find_codec(static_cast<int>(options.codec))->name},
                   {"rate", options.rate},
                   {"max_records", options.max_records},
                   {"txn_records", options.txn_records}};
  out << json::serialize(object) << "\n";
}

}  // namespace ackord::bench
