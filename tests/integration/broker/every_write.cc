#include "tests/integration/broker/every_write.h"

#include <filesystem>
#include <fstream>

#include "protocol/record_batch/big_endian.h"

namespace ackord::integration {
namespace {

namespace fs = std::filesystem;

// A batch begins with its base offset and the length of what follows (Kafka's record batch v2).
constexpr std::streamoff kLengthAt = 8;
constexpr std::streamoff kHeadSize = 12;

int64_t batches_in(const fs::path& log) {
  std::ifstream in(log, std::ios::binary);
  const auto size = static_cast<std::streamoff>(fs::file_size(log));
  int64_t count = 0;
  for (std::streamoff at = 0; at + kHeadSize <= size; ++count) {
    std::byte length[sizeof(int32_t)];
    in.seekg(at + kLengthAt);
    in.read(reinterpret_cast<char*>(length), sizeof length);
    at += kHeadSize + protocol::load_big<int32_t>(length);
    if (at > size) break;
  }
  return count;
}

// The partition of a state topic that a key belongs to: String.hashCode() of Java.
int32_t state_partition(const std::string& key, int32_t partitions) {
  uint32_t hash = 0;
  for (const char c : key) hash = hash * 31 + static_cast<unsigned char>(c);
  return static_cast<int32_t>(std::abs(static_cast<int64_t>(static_cast<int32_t>(hash))) %
                              partitions);
}

}  // namespace

EveryWrite::EveryWrite()
    : broker_({{"share.coordinator.state.topic.num.partitions", std::to_string(kStatePartitions)},
               {"transaction.two.phase.commit.enable", "true"},
               {"cores", "1"}},
              Surroundings{{}, crash_.environment()}) {
  crash_.watch(broker_.directory());
  set_group_configs(client_, group_, {{"share.auto.offset.reset", "earliest"}});
  // Topic ids are random, and what is wanted is more than one participant.
  do {
    source_ = create_topic(client_, fresh_name("source"), kPartitions);
  } while (participants().size() < 2);
  output_ = create_topic(client_, "output", 2);
  member_.enter({source_});
}

void EveryWrite::for_each_step(const std::function<bool(int64_t step)>& round) {
  for (int64_t step = 1; step < kMostSteps; ++step) {
    SCOPED_TRACE("killed at step " + std::to_string(step));
    if (round(step)) return;
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  FAIL() << "the writes do not end";
}

bool EveryWrite::survives(int64_t step, const std::function<void()>& request) {
  crash_.arm(step);
  try {
    request();
  } catch (const std::exception&) {
    if (!crash_.struck()) throw;
  }
  // It may have struck right after the answer.
  if (!crash_.disarm()) return true;
  broker_.await_own_kill();
  return false;
}

void EveryWrite::restart(std::initializer_list<TxnProducer*> producers,
                         std::initializer_list<BatchTxn*> batches) {
  broker_.start();
  client_ = RawClient(broker_.port());
  member_.reconnect();
  for (TxnProducer* producer : producers) producer->reconnect();
  for (BatchTxn* batch : batches) batch->reconnect();
}

void EveryWrite::take_records() {
  ++round_;
  for (int32_t partition = 0; partition < kPartitions; ++partition)
    first_ = produce(client_, source_, partition, numbered_values(static_cast<int>(kPerRound)));
  acquire_all();
}

void EveryWrite::acquire_all() {
  require_none(member_.heartbeat(), "ShareGroupHeartbeat");
  int64_t left = staged_records();
  poll_until("records to acquire", [&] {
    for (const auto& [partition, ranges] : member_.fetch_all(source_, 500, 200)) {
      for (const OffsetRange& range : ranges) left -= range.last - range.first + 1;
    }
    return left <= 0;
  });
}

std::vector<Staging> EveryWrite::all() const {
  std::vector<Staging> all;
  for (int32_t partition = 0; partition < kPartitions; ++partition)
    all.push_back({source_, partition, first_, first_ + kPerRound - 1});
  return all;
}

std::string EveryWrite::state_of(int32_t partition) {
  const std::string text = share_state(client_, group_, source_, partition);
  const std::string range =
      std::to_string(first_) + "-" + std::to_string(first_ + kPerRound - 1) + " ";
  const size_t at = text.find(range);
  if (at != std::string::npos) return text.substr(at + range.size());
  const std::string end = std::to_string(first_ + kPerRound);
  return text == end + ".." + end + ":" ? "" : text;
}

void EveryWrite::await_all(const std::string& state) {
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    std::string last;
    try {
      poll_until("state", [&] {
        last = state_of(partition);
        return last == state;
      });
    } catch (const std::exception&) {
      throw std::runtime_error("partition " + std::to_string(partition) + " is '" + last +
                               "', not '" + state + "'");
    }
  }
}

void EveryWrite::finish_round() {
  acquire_all();
  for (int32_t partition = 0; partition < kPartitions; ++partition)
    require_none(member_.acknowledge(source_, partition, first_, first_ + kPerRound - 1, kAccept),
                 "ShareAcknowledge");
  await_all("");
}

std::map<std::string, int64_t> EveryWrite::batches_on_disk() const {
  std::map<std::string, int64_t> counts;
  for (const auto& folder : fs::directory_iterator(broker_.directory())) {
    if (!folder.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(folder)) {
      if (file.path().extension() == ".log")
        counts[folder.path().filename().string()] += batches_in(file.path());
    }
  }
  return counts;
}

std::set<std::string> EveryWrite::grown_since(const std::map<std::string, int64_t>& before,
                                              const std::string& prefix) const {
  std::set<std::string> grown;
  for (const auto& [folder, count] : batches_on_disk()) {
    const auto known = before.find(folder);
    if (folder.starts_with(prefix) && (known == before.end() || known->second < count))
      grown.insert(folder);
  }
  return grown;
}

std::string EveryWrite::state_folder(int32_t partition) {
  return "__share_group_state-" + std::to_string(partition);
}

std::string EveryWrite::coordinator() const {
  return state_folder(state_partition(group_, kStatePartitions));
}

std::set<std::string> EveryWrite::holders() const {
  std::set<std::string> all;
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    const std::string key = group_ + ":" + source_.id.to_string() + ":" + std::to_string(partition);
    all.insert(state_folder(state_partition(key, kStatePartitions)));
  }
  return all;
}

std::set<std::string> EveryWrite::participants() const {
  std::set<std::string> others = holders();
  others.erase(coordinator());
  return others;
}

void EveryWrite::expect_all_moments(const std::set<Moment>& seen, size_t participants) const {
  EXPECT_TRUE(seen.contains({false, 0})) << "killed before the decision";
  EXPECT_TRUE(seen.contains({true, 0})) << "killed when nobody was told";
  for (size_t told = 1; told < participants; ++told)
    EXPECT_TRUE(seen.contains({true, told})) << "killed when " << told << " were told";
  EXPECT_TRUE(seen.contains({true, participants})) << "killed when all were told";
  for (const Moment& moment : seen) EXPECT_TRUE(moment.decided || moment.told == 0);
}

}  // namespace ackord::integration
