// ackord-conform: what a Kafka-compatible broker must answer, asked of any broker.
// Exit status: 0 when all is as expected, 1 when not, 2 when there is no broker or no such option.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "tools/conform/differential/differential.h"
#include "tools/conform/known_gaps.h"
#include "tools/conform/report.h"

namespace {

using namespace ackord::conform;  // NOLINT: this file is the program

constexpr int kNotAsExpected = 1;
constexpr int kCannotRun = 2;

struct Arguments {
  std::string bootstrap;
  std::string only;
  std::string junit;
  std::string json;
  std::string label;
  std::string known_gaps;
  std::string against;
  differential::DifferentialOptions differential;
  int jobs = 8;
  bool list = false;
  bool quiet = false;
};

ackord::client::Endpoint parse_endpoint(const std::string& text) {
  const size_t colon = text.rfind(':');
  const std::string digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (digits.empty() || digits.size() > 5 ||
      digits.find_first_not_of("0123456789") != std::string::npos || std::stoi(digits) > 65535)
    throw std::runtime_error("not host:port: " + text);
  return {text.substr(0, colon), static_cast<uint16_t>(std::stoi(digits))};
}

void print_list(const std::vector<Check>& checks) {
  for (const Check& check : checks) std::cout << check.name << "  " << check.of->spec << "\n";
  std::cout << checks.size() << " checks\n";
}

std::ofstream open(const std::string& path) {
  std::ofstream out(path);
  if (!out) throw std::runtime_error("cannot write " + path);
  return out;
}

int compare(const Arguments& arguments) {
  if (arguments.bootstrap.empty()) throw std::runtime_error("--bootstrap is missing");
  const int differences = differential::run_differential(parse_endpoint(arguments.bootstrap),
                                                         parse_endpoint(arguments.against),
                                                         arguments.differential, std::cout);
  return differences == 0 ? 0 : kNotAsExpected;
}

int run(const Arguments& arguments) {
  if (!arguments.against.empty()) return compare(arguments);
  const std::vector<Check> all = all_checks();
  const std::vector<Check> checks = select_checks(all, arguments.only);
  if (arguments.list) {
    print_list(checks);
    return 0;
  }
  if (arguments.bootstrap.empty()) throw std::runtime_error("--bootstrap is missing");
  std::set<std::string> gaps;
  if (!arguments.known_gaps.empty()) gaps = read_known_gaps(arguments.known_gaps, all);
  const Broker broker(parse_endpoint(arguments.bootstrap));

  const std::vector<Result> results =
      run_checks(broker, checks, arguments.jobs, [&](const Result& result) {
        const bool expected =
            result.outcome == Outcome::kPassed ||
            (result.outcome == Outcome::kFailed && gaps.contains(result.check.name));
        if (!arguments.quiet || !expected) write_line(std::cout, result);
        std::cout.flush();
      });
  if (!arguments.junit.empty()) {
    std::ofstream out = open(arguments.junit);
    write_junit(out, results);
  }
  if (!arguments.json.empty()) {
    std::ofstream out = open(arguments.json);
    write_json(out, results, arguments.label, broker.address());
  }
  bool good = count(results).failed == 0;
  if (!arguments.known_gaps.empty()) good = compare_with_gaps(std::cout, results, gaps);
  write_closing_line(std::cout, results);
  return good ? 0 : kNotAsExpected;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Checks of the Kafka protocol against any broker");
  Arguments arguments;
  app.add_option("--bootstrap", arguments.bootstrap, "host:port of a plaintext listener");
  app.add_option("--only", arguments.only, "areas, cases or checks, with commas between");
  app.add_option("--junit", arguments.junit, "write the results as JUnit XML to this file");
  app.add_option("--json", arguments.json, "write the results as JSON to this file");
  app.add_option("--label", arguments.label, "the broker's name and version, for the JSON file");
  app.add_option("--known-gaps", arguments.known_gaps,
                 "checks that are known to fail, one a line: the run is good when exactly they do");
  app.add_option("--jobs", arguments.jobs, "checks at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_flag("--quiet", arguments.quiet, "only what is not as expected, and skips");
  app.add_flag("--list", arguments.list, "list the checks and what each is about");
  app.add_option(
      "--against", arguments.against,
      "host:port of a second broker: the same random requests to both, and what differs");
  app.add_option("--seed", arguments.differential.seed, "with --against: which requests")
      ->capture_default_str();
  app.add_option("--count", arguments.differential.count, "with --against: how many")
      ->capture_default_str();
  app.add_option("--apis", arguments.differential.only, "with --against: only these, by commas")
      ->delimiter(',');
  try {
    app.parse(argc, argv);
    return run(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kCannotRun;
  } catch (const std::exception& error) {
    std::cerr << "ackord-conform: " << error.what() << "\n";
    return kCannotRun;
  }
}
