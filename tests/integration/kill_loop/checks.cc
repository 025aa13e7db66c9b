#include "tests/integration/kill_loop/checks.h"

#include <thread>

namespace ackord::integration {
namespace {

constexpr Millis kFollowInterval{50};

std::string place(const Topic& topic, int32_t partition) {
  return topic.name + "-" + std::to_string(partition);
}

std::map<std::string, int> counted(const std::vector<std::string>& values) {
  std::map<std::string, int> counts;
  for (const std::string& value : values) ++counts[value];
  return counts;
}

void compare(Run& run, const std::string& where, const std::map<std::string, int>& expected,
             const std::map<std::string, int>& found) {
  for (const auto& [value, count] : expected) {
    const auto at = found.find(value);
    if (at == found.end()) {
      run.story.finding(where + ": " + value + " is missing");
    } else if (at->second != count) {
      run.story.finding(where + ": " + value + " is there " + std::to_string(at->second) +
                        " times");
    }
  }
  for (const auto& [value, count] : found) {
    if (!expected.contains(value)) run.story.finding(where + ": " + value + " should not be there");
  }
}

std::map<Offset, std::string> by_offset(const std::vector<ReadRecord>& records) {
  std::map<Offset, std::string> values;
  for (const ReadRecord& record : records) values[record.offset] = record.value.value_or("");
  return values;
}

void expect_at(Run& run, const std::string& what, const std::map<Offset, std::string>& expected,
               const std::map<Offset, std::string>& found) {
  for (const auto& [offset, value] : expected) {
    const auto at = found.find(offset);
    if (at != found.end() && at->second == value) continue;
    run.story.finding(what + " at offset " + std::to_string(offset) + " is " +
                      (at == found.end() ? "missing" : "another") + ": " + value);
  }
}

}  // namespace

void Follower::run() {
  while (!run_.writers_stop) {
    try {
      RawClient client(run_.port);
      while (!run_.writers_stop) {
        for (const ReadRecord& record :
             read_records(client, topic_, partition_, Isolation::kReadUncommitted, next_)) {
          seen_[record.offset] = record.value.value_or("");
          next_ = record.offset + 1;
        }
        std::this_thread::sleep_for(kFollowInterval);
      }
    } catch (const std::exception& lost) {
      run_.story.hindrance(std::string("follower: ") + lost.what());
      pause_before_reconnect();
    }
  }
}

void Follower::check(RawClient& client) const {
  const auto found =
      by_offset(read_records(client, topic_, partition_, Isolation::kReadUncommitted));
  expect_at(run_, "a record that was read from " + place(topic_, partition_), seen_, found);
}

void check_idempotent(Run& run, RawClient& client, const IdempotentWriter& writer) {
  const std::string where = place(writer.topic(), writer.partition());
  const auto records =
      read_records(client, writer.topic(), writer.partition(), Isolation::kReadUncommitted);
  expect_at(run, "an acknowledged record of " + where, writer.acknowledged(), by_offset(records));
  std::vector<std::string> expected;
  for (const auto& [offset, value] : writer.acknowledged()) expected.push_back(value);
  std::vector<std::string> found;
  for (const ReadRecord& record : records) found.push_back(record.value.value_or(""));
  compare(run, where, counted(expected), counted(found));
}

void check_ledger(Run& run, RawClient& client, const std::vector<TxnWriter>& writers) {
  std::vector<std::string> expected;
  for (const TxnWriter& writer : writers) {
    for (const TxnWriter::Transaction& one : writer.ended()) {
      if (one.commit) expected.insert(expected.end(), one.values.begin(), one.values.end());
    }
  }
  for (int32_t partition = 0; partition < run.ledger.partitions; ++partition) {
    const auto found = read_values(client, run.ledger, partition, Isolation::kReadCommitted);
    compare(run, place(run.ledger, partition), counted(expected), counted(found));
  }
}

void check_jobs(Run& run, RawClient& client) {
  const Offset end = end_offset(client, run.inputs, 0, Isolation::kReadUncommitted);
  std::vector<std::string> expected;
  for (Offset input = 0; input < end; ++input) expected.push_back(JobWorker::output_of(input));
  std::vector<std::string> found;
  for (int32_t partition = 0; partition < run.output.partitions; ++partition) {
    const auto values = read_values(client, run.output, partition, Isolation::kReadCommitted);
    found.insert(found.end(), values.begin(), values.end());
  }
  compare(run, run.output.name, counted(expected), counted(found));
}

void check_nothing_hangs(Run& run, RawClient& client, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    std::string state;
    try {
      poll_until("the end of " + id, [&] {
        state = transaction_state(client, id);
        return state == "Empty" || state == "CompleteCommit" || state == "CompleteAbort";
      });
    } catch (const std::exception&) {
      run.story.finding("the transaction of " + id + " hangs: " + state);
    }
  }
  for (const Topic& topic : {run.ledger, run.output}) {
    for (int32_t partition = 0; partition < topic.partitions; ++partition) {
      const Offset stable = end_offset(client, topic, partition, Isolation::kReadCommitted);
      const Offset end = end_offset(client, topic, partition, Isolation::kReadUncommitted);
      if (stable == end) continue;
      run.story.finding(place(topic, partition) + ": the last stable offset is " +
                        std::to_string(stable) + " of " + std::to_string(end));
    }
  }
}

}  // namespace ackord::integration
