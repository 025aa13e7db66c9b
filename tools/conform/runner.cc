#include "tools/conform/runner.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "tools/conform/kit/show.h"

namespace ackord::conform {
namespace {

std::string failure_text(const std::exception& failure, const Exchange& exchange) {
  std::string text = failure.what();
  if (!exchange.request.empty()) text += "\n  request: " + exchange.request;
  if (!exchange.answer.empty()) text += "\n  answer:  " + exchange.answer;
  return printable(text);
}

std::optional<std::string> reason_to_skip(const Broker& broker, const Check& check) {
  const char* needs = check.of->area->needs;
  if (needs != nullptr && !broker.versions(needs))
    return std::string("the broker does not advertise ") + needs;
  return std::nullopt;
}

void run_case(const Broker& broker, const Check& check, Result& result) {
  const client::Deadline end = client::Deadline::in(Millis(check.of->options.limit_s * 1000));
  Kit kit(broker, check.version, end);
  try {
    check.of->run(kit);
    if (end.passed()) throw Failure("it took longer than its limit");
  } catch (const Skip& skip) {
    result.outcome = Outcome::kSkipped;
    result.message = skip.what();
  } catch (const std::exception& failure) {
    result.outcome = Outcome::kFailed;
    result.message = failure_text(failure, kit.last_exchange());
  }
}

Result run_check(const Broker& broker, const Check& check) {
  Result result{check, Outcome::kPassed, {}, Millis(0)};
  const Stopwatch stopwatch;
  if (const auto reason = reason_to_skip(broker, check)) {
    result.outcome = Outcome::kSkipped;
    result.message = *reason;
  } else {
    run_case(broker, check, result);
  }
  result.took = stopwatch.elapsed();
  return result;
}

}  // namespace

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed: return "passed";
    case Outcome::kFailed: return "failed";
    case Outcome::kSkipped: return "skipped";
  }
  return "";
}

std::vector<Result> run_checks(const Broker& broker, const std::vector<Check>& checks, int jobs,
                               const std::function<void(const Result&)>& report) {
  std::vector<Result> results(checks.size());
  std::mutex reporting;
  const auto run = [&](size_t at) {
    results[at] = run_check(broker, checks[at]);
    const std::lock_guard lock(reporting);
    report(results[at]);
  };

  // Those that may take longest begin first, so that none of them is waited for at the end.
  std::vector<size_t> together;
  std::vector<size_t> alone;
  for (size_t i = 0; i < checks.size(); ++i)
    (checks[i].of->options.alone ? alone : together).push_back(i);
  std::ranges::stable_sort(together, std::greater(),
                           [&](size_t i) { return checks[i].of->options.limit_s; });

  std::atomic<size_t> next{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < jobs; ++i) {
    threads.emplace_back([&] {
      for (size_t at = next++; at < together.size(); at = next++) run(together[at]);
    });
  }
  threads.clear();
  for (const size_t at : alone) run(at);
  return results;
}

}  // namespace ackord::conform
