// Works that leave something in the broker, and say what that costs: beside them, with --stay,
// other works show whether they depend on it.
#include <utility>

#include "tools/bench/held_records.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

double rss(const Options& options) {
  return options.pid == 0 ? 0 : static_cast<double>(read_stats(options.pid).rss_bytes);
}

// What each of `count` things added to the broker's memory.
void add_memory(Report& report, const Options& options, const char* name, double before,
                double count) {
  if (options.pid == 0 || count == 0) return;
  report.numbers.emplace_back(name, (rss(options) - before) / count);
}

struct Member {
  std::shared_ptr<Wire> wire;
  std::unique_ptr<ShareMember> member;
};

// The tasks of members that stay refer to them.
struct Group {
  Topic topic;
  std::vector<Member> members;
};

Task<> beat_on(Bench& bench, ShareMember& member) {
  asio::steady_timer timer(bench.context());
  while (true) {
    co_await member.beat();
    timer.expires_at(member.next_beat());
    co_await timer.async_wait(asio::use_awaitable);
  }
}

std::shared_ptr<Group> join(Bench& bench, const Topic& topic,
                            const std::vector<std::string>& names) {
  auto group = std::make_shared<Group>();
  group->topic = topic;
  const auto wires = bench.connect(bench.options().connections);
  std::vector<Task<>> joining;
  for (size_t i = 0; i < names.size(); ++i) {
    Member& one = group->members.emplace_back();
    one.wire = wires[i % wires.size()];
    one.member = std::make_unique<ShareMember>(bench, group->topic, names[i], one.wire);
    joining.push_back(one.member->join());
  }
  bench.run(std::move(joining));
  return group;
}

void keep(Bench& bench, const std::shared_ptr<Group>& group) {
  if (!bench.options().stay) return;
  bench.keep(group);
  for (const Member& one : group->members) bench.while_staying(beat_on(bench, *one.member));
}

struct Holding {
  int64_t untaken = 0;
  int64_t held = 0;
  bool alternate = false;
  Histogram latency;

  Task<> take(ShareMember& member);
};

Task<> Holding::take(ShareMember& member) {
  std::vector<Acquired> accepted;
  while (untaken > 0 || !accepted.empty()) {
    co_await member.beat();
    const Clock::time_point start = Clock::now();
    const Polled polled = co_await member.poll(std::exchange(accepted, {}));
    latency.record(since_ns(start));
    expect_none(polled.acknowledge_error, "ShareFetch");
    untaken -= polled.records;
    held += polled.records;
    if (!alternate) continue;
    accepted = bench::alternate(polled.ranges).odd;
    held -= static_cast<int64_t>(accepted.size());
  }
}

}  // namespace

Report partitions(Bench& bench) {
  const Options& options = bench.options();
  const double before = rss(options);
  Report report;
  report.work = "partitions";
  report.unit = "partitions";
  bench.begin();
  const Topic topic = bench.create_topic(options.partitions);
  (void)bench.prefill(topic);
  report.count = options.partitions;
  bench.end(report);
  add_memory(report, options, "memory_per_partition_bytes", before, options.partitions);
  return report;
}

Report groups(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  std::vector<std::string> names;
  const std::string prefix = bench.unique("bench-groups");
  for (int i = 0; i < options.groups; ++i) names.push_back(prefix + "-" + std::to_string(i));
  const double before = rss(options);
  Report report;
  report.work = "groups";
  report.unit = "groups";
  bench.begin();
  const auto group = join(bench, topic, names);
  report.count = options.groups;
  bench.end(report);
  add_memory(report, options, "memory_per_group_bytes", before, options.groups);
  keep(bench, group);
  return report;
}

Report in_flight(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  bench.fill(topic, options.records);
  const std::string name = bench.unique("bench-in-flight");
  configure_holding(bench, name);
  const auto group =
      join(bench, topic, std::vector<std::string>(static_cast<size_t>(options.connections), name));
  Holding holding{options.records, 0, options.alternate, {}};
  std::vector<Task<>> tasks;
  for (const Member& one : group->members) tasks.push_back(holding.take(*one.member));
  const double before = rss(options);
  Report report;
  report.work = "in-flight";
  bench.begin();
  bench.run(std::move(tasks));
  report.count = options.records;
  report.latencies.emplace_back("fetch", std::move(holding.latency));
  report.numbers.emplace_back("held_records", static_cast<double>(holding.held));
  bench.end(report);
  add_memory(report, options, "memory_per_held_record_bytes", before,
             static_cast<double>(holding.held));
  keep(bench, group);
  return report;
}

}  // namespace ackord::bench
