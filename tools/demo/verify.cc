// ackord-demo-verify: proves that each accepted line was processed exactly once, each rejected one
// never, that the group has nothing left to do and that no record is staged. Prints a table; the
// exit status is 0 when all of it holds.
#include <fmt/core.h>

#include <fstream>
#include <map>
#include <thread>

#include "client/admin.h"
#include "tools/demo/kafka.h"
#include "tools/demo/options.h"

namespace ackord::demo {
namespace {

struct VerifyOptions : Options {
  std::string file;       // compared with the input topic, when given
  int timeout = 120;      // seconds, for everything
  bool lag_only = false;  // only waits for the group's lag to be 0
};

class Verifier {
 public:
  Verifier(VerifyOptions options, std::unique_ptr<client::Cluster> cluster)
      : options_(std::move(options)),
        cluster_(std::move(cluster)),
        deadline_(client::Deadline::in(std::chrono::seconds(options_.timeout))) {}

  Result<void> await_lag();
  Result<void> verify();
  bool holds() const { return wrong_ == 0; }

 private:
  Result<int64_t> lag();
  Result<int32_t> partitions_of(const std::string& topic);
  Result<void> read_lines();
  Result<void> read_results();
  Result<void> compare_with_file();
  Result<void> look_into_group();
  void row(std::string_view name, int64_t value) { fmt::print("  {:<44} {:>9}\n", name, value); }
  // A number that must be zero.
  void must_be_zero(std::string_view name, int64_t value) {
    fmt::print("  {:<44} {:>9}  {}\n", name, value, value == 0 ? "ok" : "WRONG");
    if (value != 0) ++wrong_;
  }

  struct Line {
    std::string number;
    std::string expected;  // the result's value
    bool rejected = false;
    int results = 0;
    bool different = false;
  };

  const VerifyOptions options_;
  const std::unique_ptr<client::Cluster> cluster_;
  const client::Deadline deadline_;
  std::map<std::string, Line> lines_;             // by the result's key
  std::map<std::string, std::string> by_number_;  // the lines themselves
  int64_t repeated_numbers_ = 0;
  int64_t unknown_ = 0;
  int wrong_ = 0;
};

Result<int32_t> Verifier::partitions_of(const std::string& topic) {
  const TopicName name(topic);
  if (Result<void> done = cluster_->refresh(std::span(&name, 1), deadline_); !done)
    return done.error();
  const client::Topic* found = cluster_->topic(name);
  if (found == nullptr) return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, topic);
  return static_cast<int32_t>(found->partitions.size());
}

Result<int64_t> Verifier::lag() {
  Result<int32_t> partitions = partitions_of(options_.input);
  if (!partitions) return partitions.error();
  auto offsets = client::share_group_offsets(*cluster_, GroupId(options_.group),
                                             TopicName(options_.input), deadline_);
  if (!offsets) return offsets.error();
  if (offsets->size() < static_cast<size_t>(*partitions)) return -1;
  int64_t sum = 0;
  for (const auto& [partition, offset] : *offsets) {
    if (offset.lag >= 0) {
      sum += offset.lag;
      continue;
    }
    // The group has no state there yet: nothing has been acknowledged.
    Result<int64_t> span = offset_span(options_.bootstrap, options_.input, partition, deadline_);
    if (!span) return span.error();
    sum += *span;
  }
  return sum;
}

Result<void> Verifier::await_lag() {
  while (true) {
    Result<int64_t> left = lag();
    if (left && *left == 0) return {};
    if (deadline_.passed()) {
      if (!left) return left.error();
      return error(ErrorCode::REQUEST_TIMED_OUT, fmt::format("the group's lag is {}", *left));
    }
    std::this_thread::sleep_for(client::Millis(100));
  }
}

Result<void> Verifier::read_lines() {
  Result<int32_t> partitions = partitions_of(options_.input);
  if (!partitions) return partitions.error();
  return read_committed(
      options_.bootstrap, options_.input, *partitions, deadline_, [this](Message message) {
        Line& line = lines_[output_key(options_.input, message.partition, message.offset)];
        line.number = message.key;
        line.expected = output_value(message.key, message.value);
        line.rejected = is_rejected(message.partition, message.offset);
        if (!by_number_.emplace(message.key, std::move(message.value)).second) ++repeated_numbers_;
      });
}

Result<void> Verifier::read_results() {
  Result<int32_t> partitions = partitions_of(options_.output);
  if (!partitions) return partitions.error();
  return read_committed(options_.bootstrap, options_.output, *partitions, deadline_,
                        [this](const Message& message) {
                          const auto line = lines_.find(message.key);
                          if (line == lines_.end()) {
                            ++unknown_;
                            return;
                          }
                          ++line->second.results;
                          if (line->second.expected != message.value) line->second.different = true;
                        });
}

Result<void> Verifier::compare_with_file() {
  if (options_.file.empty()) return {};
  std::ifstream in(options_.file, std::ios::binary);
  if (!in) return error(ErrorCode::INVALID_CONFIG, "cannot read " + options_.file);
  int64_t count = 0;
  int64_t missing = 0;
  for (std::string text; std::getline(in, text);) {
    const auto found = by_number_.find(std::to_string(++count));
    if (found == by_number_.end() || found->second != text) ++missing;
  }
  row("lines in the file", count);
  must_be_zero("lines not in the input topic", missing);
  must_be_zero("records that are no line of the file",
               static_cast<int64_t>(by_number_.size()) + repeated_numbers_ - (count - missing));
  return {};
}

Result<void> Verifier::look_into_group() {
  Result<int64_t> left = lag();
  if (!left) return left.error();
  must_be_zero("lag of the share group", *left);
  auto ranges = client::in_flight_ranges(*cluster_, GroupId(options_.group),
                                         TopicName(options_.input), deadline_);
  if (!ranges) return ranges.error();
  int64_t staged = 0;
  for (const client::InFlightRange& range : *ranges) {
    if (range.state == client::RecordState::kTxPending) staged += range.last - range.first + 1;
  }
  must_be_zero("records still staged", staged);
  return {};
}

Result<void> Verifier::verify() {
  if (Result<void> done = read_lines(); !done) return done;
  if (Result<void> done = read_results(); !done) return done;
  int64_t accepted = 0;
  int64_t missing = 0;
  int64_t repeated = 0;
  int64_t different = 0;
  int64_t processed_rejects = 0;
  for (const auto& [key, line] : lines_) {
    if (line.rejected) {
      if (line.results != 0) ++processed_rejects;
      continue;
    }
    ++accepted;
    if (line.results == 0) ++missing;
    if (line.results > 1) ++repeated;
    if (line.different) ++different;
  }
  if (Result<void> done = compare_with_file(); !done) return done;
  row("records in the input topic", static_cast<int64_t>(lines_.size()));
  row("of these accepted", accepted);
  row("of these rejected", static_cast<int64_t>(lines_.size()) - accepted);
  must_be_zero("accepted, without a result", missing);
  must_be_zero("accepted, with more than one result", repeated);
  must_be_zero("with a wrong result", different);
  must_be_zero("rejected, with a result", processed_rejects);
  must_be_zero("results of no record", unknown_);
  if (lines_.empty()) must_be_zero("input topic is empty", 1);
  return look_into_group();
}

int run(VerifyOptions options) {
  client::ClientConfig config;
  config.bootstrap_servers = options.bootstrap;
  Result<std::unique_ptr<client::Cluster>> cluster = client::Cluster::create(config);
  Result<void> done;
  bool holds = false;
  if (cluster) {
    const bool lag_only = options.lag_only;
    Verifier verifier(std::move(options), std::move(*cluster));
    done = lag_only ? verifier.await_lag() : verifier.verify();
    holds = verifier.holds();
  } else {
    done = cluster.error();
  }
  if (!done) {
    fmt::print(stderr, "cannot verify: {} {}\n", name_of(done.error().code), done.error().message);
    return 1;
  }
  return holds ? 0 : 1;
}

}  // namespace
}  // namespace ackord::demo

int main(int argc, char** argv) {
  ackord::demo::VerifyOptions options;
  CLI::App app("Proves that the demo's job was done exactly once");
  ackord::demo::add_options(app, options);
  app.add_option("--file", options.file, "the file whose lines are in the input topic");
  app.add_option("--timeout", options.timeout, "seconds")->capture_default_str();
  app.add_flag("--lag-only", options.lag_only, "only wait until the group's lag is 0");
  CLI11_PARSE(app, argc, argv);
  return ackord::demo::run(std::move(options));
}
