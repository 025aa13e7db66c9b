// Report: what a benchmark has measured, as text or as JSON.
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tools/bench/histogram.h"
#include "tools/bench/options.h"
#include "tools/bench/process_stats.h"

namespace ackord::bench {

// What the broker used while the work was done, and what it holds after it.
struct BrokerUse {
  double cpu_s = 0;
  uint64_t context_switches = 0;
  uint64_t rss_bytes = 0;
  uint64_t peak_rss_bytes = 0;
};

struct Report {
  std::string work;
  std::string unit = "records";
  int64_t count = 0;  // of `unit`
  int64_t bytes = 0;  // of record data; 0: not said
  double seconds = 0;
  std::vector<std::pair<std::string, Histogram>> latencies;
  // Further numbers, each with a name that ends in its unit.
  std::vector<std::pair<std::string, double>> numbers;
  std::optional<BrokerUse> broker;

  double rate() const { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }
};

void print_text(const Report& report, std::ostream& out);
// One object on one line, with the options that it was measured with.
void print_json(const Report& report, const Options& options, std::ostream& out);

}  // namespace ackord::bench
