#include "tests/simulation/main_job.h"

#include <set>
#include <utility>

#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/describe_share_partitions_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/record_reader.h"
#include "tests/simulation/record_texts.h"
#include "tests/simulation/sim_batch_engine.h"
#include "tests/simulation/sim_plain_consumer.h"
#include "tests/simulation/sim_worker.h"

namespace ackord::simulation {
namespace {

constexpr int kRecords = 24;
constexpr uint64_t kStepsLimit = 200'000;
constexpr int8_t kGroupResource = 32;
constexpr int8_t kTxPending = 5;
constexpr const char* kPlainGroup = "plain";

class MainJob {
 public:
  explicit MainJob(World& world)
      : world_(world),
        random_(world.scheduler.random),
        connection_(world.network, "job"),
        sink_(world) {}

  io::Task<void> run() {
    auto setting_up = set_up();
    co_await std::move(setting_up);
    start_clients();
    auto producing = produce_lines();
    co_await std::move(producing);
    bool replaced = false;
    while (true) {
      auto sleeping = sleep(250);
      co_await std::move(sleeping);
      if (!replaced && !workers_.empty() && workers_[0]->asleep()) {
        replaced = true;
        add_worker(0, false);
      }
      auto asking = lag();
      const int64_t left = co_await std::move(asking);
      if (left == 0) break;
    }
    stop_ = true;
    while (running_ > 0) {
      auto sleeping = sleep(250);
      co_await std::move(sleeping);
    }
    auto checking = check();
    co_await std::move(checking);
  }

 private:
  // Not everybody takes part in every run: fewer get in each other's way more often.
  void start_clients() {
    const uint64_t mix = random_.below(4);
    const bool engine = mix != 0;
    const bool twins = mix != 3;
    if (twins) add_worker(0, true);
    if (mix != 2) add_worker(1, false);
    if (engine) {
      engine_ = std::make_unique<SimBatchEngine>(world_, sink_, lines_);
      start(engine_->run(stop_));
    }
    using Habit = SimPlainConsumer::Habit;
    plain_ = std::make_unique<SimPlainConsumer>(world_, "plain", kGroup, Habit::kRejects, lines_);
    start(plain_->run(stop_));
    if (!random_.chance(0.3)) return;
    groups_.push_back(kPlainGroup);
    bystander_ = std::make_unique<SimPlainConsumer>(world_, "bystander", kPlainGroup,
                                                    Habit::kAccepts, lines_);
    start(bystander_->run(stop_));
  }
  void add_worker(int slot, bool sleeps) {
    SimWorker::Options options;
    options.name = "worker-" + std::to_string(slot) + (slot == 0 && !sleeps ? "b" : "");
    options.transactional_id = "txn-" + std::to_string(slot);
    options.transaction_version_2 = versions_[slot];
    options.sleeps_once = sleeps;
    options.has_twin = slot == 0;
    options.through_library = through_library_[slot];
    workers_.push_back(std::make_unique<SimWorker>(world_, std::move(options), lines_));
    start(workers_.back()->run(stop_));
  }
  void start(io::Task<void> client) {
    ++running_;
    io::spawn(world_.clients, work(std::move(client)));
  }
  io::Task<void> work(io::Task<void> client) {
    co_await std::move(client);
    --running_;
  }
  io::Task<void> sleep(int64_t ms) {
    io::SleepUntil sleeping(world_.clock, world_.clock.now().steady_ms + ms);
    co_await sleeping;
  }

  io::Task<void> set_up();
  io::Task<void> produce_lines();
  io::Task<void> read_lines(int32_t partition);
  io::Task<int64_t> lag();
  io::Task<void> check();
  io::Task<bool> nothing_staged();
  io::Task<protocol::FetchResponse> fetch(const char* topic_name, int32_t partition, int64_t offset,
                                          int8_t isolation_level);
  io::Task<void> read_outputs(int32_t partition);
  // The records of committed transactions in `bytes`; the offset after them.
  int64_t take_committed(std::span<const std::byte> bytes,
                         std::vector<std::pair<int64_t, int64_t>> aborted);

  // Repeats a call until it is answered; `good` looks at the answer.
  template <class Request, class Response, class Good>
  io::Task<Response> until(Request request, int16_t version, Good good) {
    while (true) {
      auto calling =
          connection_.call<Request, Response>(Request(request), version, Repeats::kNever);
      std::optional<Response> response = co_await std::move(calling);
      if (response && good(*response)) co_return std::move(*response);
      auto sleeping = sleep(static_cast<int64_t>(random_.below(300)));
      co_await std::move(sleeping);
    }
  }

  World& world_;
  SimRandom& random_;
  SimConnection connection_;
  Uuid lines_;
  SimSink sink_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
  std::unique_ptr<SimPlainConsumer> plain_;
  std::unique_ptr<SimPlainConsumer> bystander_;
  std::unique_ptr<SimBatchEngine> engine_;
  std::vector<std::string> groups_{kGroup};
  bool versions_[2] = {random_.chance(0.5), random_.chance(0.5)};
  bool through_library_[2] = {random_.chance(0.4), random_.chance(0.4)};
  bool stop_ = false;
  int lines_made_ = 0;
  int running_ = 0;
};

io::Task<void> MainJob::set_up() {
  protocol::CreateTopicsRequest request;
  for (const char* name : {kLines, kProcessed}) {
    auto& topic = request.topics.emplace_back();
    topic.name = TopicName(name);
    topic.num_partitions = kPartitions;
    topic.replication_factor = 1;
  }
  auto creating = until<protocol::CreateTopicsRequest, protocol::CreateTopicsResponse>(
      std::move(request), 7, [](const protocol::CreateTopicsResponse& response) {
        for (const auto& topic : response.topics) {
          if (topic.error_code != ErrorCode::NONE &&
              topic.error_code != ErrorCode::TOPIC_ALREADY_EXISTS)
            return false;
        }
        return true;
      });
  (void)co_await std::move(creating);
  protocol::MetadataRequest metadata;
  metadata.topics.emplace().emplace_back().name = TopicName(kLines);
  auto describing = until<protocol::MetadataRequest, protocol::MetadataResponse>(
      std::move(metadata), 12, [](const protocol::MetadataResponse& response) {
        return response.topics[0].error_code == ErrorCode::NONE;
      });
  const protocol::MetadataResponse described = co_await std::move(describing);
  lines_ = described.topics[0].topic_id;
  protocol::IncrementalAlterConfigsRequest configs;
  for (const char* group : {kGroup, kPlainGroup}) {
    auto& resource = configs.resources.emplace_back();
    resource.resource_type = kGroupResource;
    resource.resource_name = String(group);
    const auto set = [&resource](const char* name, const char* value) {
      auto& config = resource.configs.emplace_back();
      config.name = String(name);
      config.value = String(value);
    };
    set("share.auto.offset.reset", "earliest");
    set("share.record.lock.duration.ms", "15000");
    set("share.delivery.count.limit", std::to_string(kDeliveryCountLimit).c_str());
  }
  auto altering =
      until<protocol::IncrementalAlterConfigsRequest, protocol::IncrementalAlterConfigsResponse>(
          std::move(configs), 1, [](const protocol::IncrementalAlterConfigsResponse& response) {
            return response.responses[0].error_code == ErrorCode::NONE &&
                   response.responses[1].error_code == ErrorCode::NONE;
          });
  (void)co_await std::move(altering);
  protocol::FindCoordinatorRequest find;
  find.key_type = 1;
  find.coordinator_keys = {String("txn-0")};
  auto finding = until<protocol::FindCoordinatorRequest, protocol::FindCoordinatorResponse>(
      std::move(find), 6, [](const protocol::FindCoordinatorResponse& response) {
        return response.coordinators[0].error_code == ErrorCode::NONE;
      });
  (void)co_await std::move(finding);
}

io::Task<void> MainJob::produce_lines() {
  for (int made = 0; made < kRecords;) {
    const auto partition = static_cast<int32_t>(random_.below(kPartitions));
    const int count = static_cast<int>(1 + random_.below(4));
    protocol::BatchBuilder builder({});
    for (int i = 0; i < count; ++i) {
      // Never the same twice: a record that was lost is not to be mistaken for its repeat.
      const std::string text = "line " + std::to_string(++lines_made_);
      builder.add(world_.clock.now().wall_ms, std::nullopt,
                  std::span(reinterpret_cast<const std::byte*>(text.data()), text.size()));
    }
    const std::vector<std::byte> batch = builder.build();
    protocol::ProduceRequest request;
    request.acks = -1;
    request.timeout_ms = 30000;
    auto& topic = request.topic_data.emplace_back();
    topic.name = TopicName(kLines);
    auto& data = topic.partition_data.emplace_back();
    data.index = partition;
    data.records = ackord::Records::view(batch);
    world_.provoke();
    auto calling = connection_.call<protocol::ProduceRequest, protocol::ProduceResponse>(
        std::move(request), 11, Repeats::kNever);
    const auto response = co_await std::move(calling);
    // Without an answer it may have been stored or not: what is in the topic is found out below.
    if (response && response->responses[0].partition_responses[0].error_code == ErrorCode::NONE)
      made += count;
    auto sleeping = sleep(static_cast<int64_t>(random_.below(300)));
    co_await std::move(sleeping);
  }
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    auto reading = read_lines(partition);
    co_await std::move(reading);
  }
}

// All that was produced, once nothing more is.
// Its records borrow from the connection: they live until the next call.
io::Task<protocol::FetchResponse> MainJob::fetch(const char* topic_name, int32_t partition,
                                                 int64_t offset, int8_t isolation_level) {
  protocol::FetchRequest request;
  request.max_bytes = 1 << 24;
  request.isolation_level = isolation_level;
  auto& topic = request.topics.emplace_back();
  topic.topic = TopicName(topic_name);
  auto& target = topic.partitions.emplace_back();
  target.partition = partition;
  target.fetch_offset = offset;
  target.partition_max_bytes = 1 << 24;
  auto fetching = until<protocol::FetchRequest, protocol::FetchResponse>(
      std::move(request), 11, [](const protocol::FetchResponse& response) {
        return response.error_code == ErrorCode::NONE &&
               response.responses[0].partitions[0].error_code == ErrorCode::NONE;
      });
  protocol::FetchResponse response = co_await std::move(fetching);
  co_return std::move(response);
}

io::Task<void> MainJob::read_lines(int32_t partition) {
  int64_t next = 0;
  int64_t end = 0;
  do {
    auto fetching = fetch(kLines, partition, next, 0);
    const protocol::FetchResponse response = co_await std::move(fetching);
    const auto& data = response.responses[0].partitions[0];
    end = data.high_watermark;
    if (!data.records) continue;
    for (const auto& [offset, text] : texts_of(data.records->bytes())) {
      world_.ledger.produced({partition, offset}, text);
      next = offset + 1;
    }
  } while (next < end);
}

// Of all groups; -1: not known.
io::Task<int64_t> MainJob::lag() {
  protocol::DescribeShareGroupOffsetsRequest request;
  for (const std::string& name : groups_) {
    auto& group = request.groups.emplace_back();
    group.group_id = GroupId(name);
    group.topics.emplace();
    auto& topic = group.topics->emplace_back();
    topic.topic_name = TopicName(kLines);
    for (int32_t i = 0; i < kPartitions; ++i) topic.partitions.push_back(i);
  }
  auto calling =
      connection_.call<protocol::DescribeShareGroupOffsetsRequest,
                       protocol::DescribeShareGroupOffsetsResponse>(std::move(request), 1);
  const auto response = co_await std::move(calling);
  if (!response || response->groups.size() != groups_.size()) co_return -1;
  int64_t total = 0;
  for (const auto& group : response->groups) {
    if (group.error_code != ErrorCode::NONE) co_return -1;
    for (const auto& one : group.topics) {
      for (const auto& partition : one.partitions) {
        if (partition.error_code != ErrorCode::NONE) co_return -1;
        // Of a partition that never had a record there is no start offset, and so no lag.
        if (partition.lag < 0 && world_.ledger.produced_in(partition.partition_index) == 0)
          continue;
        if (partition.lag < 0) co_return -1;
        total += partition.lag;
      }
    }
  }
  co_return total;
}

io::Task<bool> MainJob::nothing_staged() {
  protocol::DescribeSharePartitionsRequest request;
  request.group_id = GroupId(kGroup);
  auto& topic = request.topics.emplace_back();
  topic.topic_id = lines_;
  auto calling =
      until<protocol::DescribeSharePartitionsRequest, protocol::DescribeSharePartitionsResponse>(
          std::move(request), 0, [](const protocol::DescribeSharePartitionsResponse& response) {
            return response.error_code == ErrorCode::NONE;
          });
  const auto response = co_await std::move(calling);
  for (const auto& one : response.topics) {
    for (const auto& partition : one.partitions) {
      for (const auto& range : partition.ranges) {
        if (range.state == kTxPending) co_return false;
      }
    }
  }
  co_return true;
}

io::Task<void> MainJob::check() {
  // I4: every owner is resolved by now, at the latest when its transaction has timed out.
  bool clean = false;
  for (int i = 0; i < 400 && !clean; ++i) {
    auto asking = nothing_staged();
    clean = co_await std::move(asking);
    if (!clean) {
      auto sleeping = sleep(250);
      co_await std::move(sleeping);
    }
  }
  if (!clean)
    world_.ledger.finding("I4: records are still staged, and all transactions have ended");
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    auto reading = read_outputs(partition);
    co_await std::move(reading);
  }
  for (const auto& [id, records] : sink_.shown()) {
    for (const SourceRecord& record : records) world_.ledger.output(record);
  }
  world_.ledger.check(kGroup);
}

io::Task<void> MainJob::read_outputs(int32_t partition) {
  int64_t next = 0;
  int64_t end = 0;
  int attempts = 0;
  do {
    auto fetching = fetch(kProcessed, partition, next, 1);
    const protocol::FetchResponse response = co_await std::move(fetching);
    const auto& data = response.responses[0].partitions[0];
    end = data.high_watermark;
    std::vector<std::pair<int64_t, int64_t>> aborted;
    if (data.aborted_transactions) {
      for (const auto& one : *data.aborted_transactions)
        aborted.emplace_back(one.first_offset, one.producer_id.value);
    }
    if (data.records && data.records->size() != 0)
      next = take_committed(data.records->bytes(), std::move(aborted));
    if (next < end) {
      if (++attempts > 400) {
        world_.ledger.finding("I4: the last stable offset of the output stays at " +
                              std::to_string(next));
        co_return;
      }
      auto sleeping = sleep(250);
      co_await std::move(sleeping);
    }
  } while (next < end);
}

int64_t MainJob::take_committed(std::span<const std::byte> bytes,
                                std::vector<std::pair<int64_t, int64_t>> aborted) {
  std::set<int64_t> open;
  size_t at = 0;
  int64_t next = 0;
  while (!bytes.empty()) {
    const auto header = protocol::parse_header(bytes);
    if (!header) {
      world_.ledger.finding("the output cannot be read: " + header.error().message);
      return next;
    }
    while (at < aborted.size() && aborted[at].first <= header->last_offset())
      open.insert(aborted[at++].second);
    if (header->control()) {
      open.erase(header->producer_id.value);
    } else if (!header->transactional() || !open.contains(header->producer_id.value)) {
      protocol::RecordReader reader(*header, bytes.subspan(61, header->size() - 61));
      protocol::Record record;
      while (reader.next(record)) {
        const std::string text(reinterpret_cast<const char*>(record.value->data()),
                               record.value->size());
        const size_t colon = text.find(':');
        world_.ledger.output(
            {std::stoi(text.substr(0, colon)), std::stoll(text.substr(colon + 1))});
      }
    }
    next = header->next_offset();
    bytes = bytes.subspan(header->size());
  }
  return next;
}

}  // namespace

Report run_main_job(uint64_t seed) {
  World world(seed);
  MainJob job(world);
  world.run(job.run(), kStepsLimit);
  Report report;
  report.seed = seed;
  report.steps = world.scheduler.steps();
  report.simulated_ms = world.scheduler.now_us() / 1000;
  report.crash_steps = world.crash_steps;
  report.ledger = world.ledger;
  return report;
}

}  // namespace ackord::simulation
