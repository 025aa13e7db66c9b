#include "tests/integration/share_churn/churn.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sstream>

namespace ackord::integration {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int32_t kPartitions = 4;
constexpr int kRecordsInABatch = 50;
constexpr int kDeliveryCountLimit = 5;
constexpr Millis kDrainLimit{120000};
constexpr Millis kMemberEndLimit{30000};
const std::string kGroup = "churn";

Settings settings() {
  return {{"group.share.min.record.lock.duration.ms", "1000"},
          {"group.share.min.session.timeout.ms", "6000"},
          {"group.share.min.heartbeat.interval.ms", "500"},
          {"share.coordinator.state.topic.segment.bytes", "1048576"}};
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// After SIGTERM; one that had not begun yet dies of it.
bool has_left(std::optional<int> status) { return status == 0 || status == 128 + SIGTERM; }

}  // namespace

Churn::Churn(ChurnOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      broker_(settings()),
      members_(static_cast<size_t>(options_.members)) {
  RawClient client(broker_.port());
  topic_ = create_topic(client, "work", kPartitions);
  set_group_configs(client, kGroup,
                    {{"share.auto.offset.reset", "earliest"},
                     {"share.record.lock.duration.ms", "2000"},
                     {"share.session.timeout.ms", "6000"},
                     {"share.heartbeat.interval.ms", "500"},
                     {"share.delivery.count.limit", std::to_string(kDeliveryCountLimit)}});
}

Churn::~Churn() {
  if (writer_.joinable()) writer_.join();
}

// Through the kills of the broker: what was in doubt is written once more, as another record.
void Churn::write_records() {
  const auto begin = Clock::now();
  const std::vector<std::string> values(kRecordsInABatch, std::string(100, 'w'));
  std::optional<RawClient> client;
  int64_t done = 0;
  for (int32_t batch = 0; done < options_.records; ++batch) {
    const double due =
        options_.seconds * static_cast<double>(done) / static_cast<double>(options_.records);
    if (const double early = due - seconds_since(begin); early > 0)
      std::this_thread::sleep_for(std::chrono::duration<double>(early));
    try {
      if (!client) client.emplace(broker_.port());
      produce(*client, topic_, batch % kPartitions, values);
      done += kRecordsInABatch;
    } catch (const std::exception&) {
      client.reset();
      std::this_thread::sleep_for(Millis(20));
    }
  }
  written_ = true;
}

void Churn::start_member(size_t slot) {
  journals_.push_back(directory_ / fmt::format("journal-{}", counts_.started));
  members_[slot] =
      ChildProcess(options_.program,
                   {"member", "--port", std::to_string(broker_.port()), "--group", kGroup,
                    "--topic", topic_.name, "--partitions", std::to_string(topic_.partitions),
                    "--seed", std::to_string(random_()), "--journal", journals_.back()},
                   directory_ / "members");
  ++counts_.started;
}

void Churn::churn() {
  auto broker_dies = Clock::now() + std::chrono::duration<double>(options_.broker_kill_seconds);
  while (!written_) {
    std::this_thread::sleep_for(Millis(below(300)));
    const auto slot = static_cast<size_t>(below(members_.size()));
    ChildProcess& member = members_[slot];
    if (!member.running()) {
      start_member(slot);
    } else if (below(3) == 0) {
      member.signal(SIGTERM);
      if (const auto status = member.wait_for_end(kMemberEndLimit); !has_left(status))
        findings_.push_back(fmt::format("a member did not leave: {}", status.value_or(-1)));
      ++counts_.left;
    } else {
      member.signal(SIGKILL);
      member.wait_for_end(kMemberEndLimit);
      ++counts_.killed;
    }
    if (Clock::now() < broker_dies) continue;
    fmt::print("{} the broker is killed\n", steady_us());
    broker_.crash();
    ++counts_.broker_kills;
    broker_dies = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(options_.broker_kill_seconds));
  }
}

// With all members alive, every record comes to its end.
void Churn::drain() {
  for (size_t slot = 0; slot < members_.size(); ++slot) {
    if (!members_[slot].running()) start_member(slot);
  }
  RawClient client(broker_.port());
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    const auto end =
        std::to_string(end_offset(client, topic_, partition, Isolation::kReadUncommitted));
    std::string state;
    try {
      poll_until(
          "all records have ended",
          [&] {
            state = share_state(client, kGroup, topic_, partition);
            return state == end + ".." + end + ":";
          },
          kDrainLimit);
    } catch (const std::exception& late) {
      findings_.push_back(
          fmt::format("{} of partition {}, {}; {}", late.what(), partition, end, state));
    }
  }
}

// What the broker has said in its log; it may leave lines out when there are too many.
std::vector<ArchivedRange> Churn::archived() const {
  const std::string before = "records archived group=" + kGroup + " partition=" + topic_.name + "-";
  std::vector<ArchivedRange> out;
  std::istringstream lines(broker_.output());
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(before);
    if (at == std::string::npos || line.find("reason=delivery-limit") == std::string::npos)
      continue;
    ArchivedRange range;
    char separator = 0;
    std::string word;
    std::istringstream words(line.substr(at + before.size()));
    words >> range.partition >> word;
    std::istringstream offsets(word.substr(word.find('=') + 1));
    offsets >> range.first >> separator >> range.last;
    out.push_back(range);
  }
  return out;
}

void Churn::end_members() {
  for (ChildProcess& member : members_) {
    if (member.running()) member.signal(SIGTERM);
  }
  for (ChildProcess& member : members_) {
    if (member.running() && !has_left(member.wait_for_end(kMemberEndLimit)))
      findings_.push_back("a member did not leave at the end");
  }
}

bool Churn::report(double seconds) {
  std::vector<Offset> ends;
  {
    RawClient client(broker_.port());
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      ends.push_back(end_offset(client, topic_, partition, Isolation::kReadUncommitted));
  }
  std::vector<std::vector<JournalEntry>> journals;
  for (const std::string& path : journals_) journals.push_back(read_journal(path));
  DeliverySummary summary = check_deliveries(ends, kDeliveryCountLimit, journals, archived());
  fmt::print("seed {}: {} members, {} killed, {} left; broker killed {} times; {:.0f} s\n",
             options_.seed, counts_.started, counts_.killed, counts_.left, counts_.broker_kills,
             seconds);
  fmt::print("{} records, {} deliveries:", summary.records, summary.deliveries);
  for (const auto& [count, times] : summary.counts) fmt::print(" {} x{}", times, count);
  fmt::print("\naccepted {}, rejected {}, archived at the limit {}, verdict in doubt {}\n",
             summary.accepted, summary.rejected, summary.at_the_limit, summary.in_doubt);
  fmt::print("offsets in verdicts that came too late {}\n", summary.refused_verdicts);
  for (const std::string& finding : findings_) fmt::print("FINDING {}\n", finding);
  constexpr size_t kTold = 5;
  for (size_t i = 0; i < summary.findings.size() && i < kTold; ++i) {
    const DeliveryFinding& finding = summary.findings[i];
    fmt::print("FINDING partition {} offset {}: {}\n", finding.partition, finding.offset,
               finding.text);
    for (const std::string& line : story_of(finding.partition, finding.offset, journals))
      fmt::print("  {}\n", line);
  }
  fmt::print("{} findings\n", findings_.size() + summary.findings.size());
  return findings_.empty() && summary.findings.empty();
}

bool Churn::run() {
  const auto begin = Clock::now();
  writer_ = std::thread([this] { write_records(); });
  churn();
  writer_.join();
  drain();
  end_members();
  const bool good = report(seconds_since(begin));
  return broker_.stop() == 0 && good;
}

}  // namespace ackord::integration
