#include "tests/simulation/sim_worker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "protocol/record_batch/batch_builder.h"

namespace ackord::simulation {
namespace {

constexpr int32_t kTransactionTimeoutMs = 20000;
// Longer than the shortest record lock (15 s) and the transaction's timeout together.
constexpr int64_t kLongSleepMs = 40000;
constexpr int kAttempts = 30;

bool is_fence(ErrorCode error) {
  return error == ErrorCode::PRODUCER_FENCED || error == ErrorCode::INVALID_PRODUCER_EPOCH ||
         error == ErrorCode::INVALID_PRODUCER_ID_MAPPING;
}

bool is_worth_a_retry(ErrorCode error) {
  return is_retriable(error) || error == ErrorCode::CONCURRENT_TRANSACTIONS;
}

std::string list(const std::vector<SourceRecord>& records) {
  std::string text;
  for (const SourceRecord& record : records) text += " " + record.text();
  return text;
}

std::string epoch_text(ProducerId id, int16_t epoch) {
  return "p" + std::to_string(id.value) + "e" + std::to_string(epoch);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

SimWorker::SimWorker(World& world, Options options, Uuid lines)
    : world_(world),
      random_(world.scheduler.random),
      options_(std::move(options)),
      lines_(lines),
      connection_(world.network, options_.name),
      member_(random_.uuid().to_string()) {}

io::Task<void> SimWorker::think(int64_t up_to_ms) {
  const int64_t until = world_.clock.now().steady_ms +
                        static_cast<int64_t>(random_.below(static_cast<uint64_t>(up_to_ms)));
  io::SleepUntil sleep(world_.clock, until);
  co_await sleep;
}

io::Task<void> SimWorker::run(const bool& stop) {
  while (!stop) {
    if (!producer_ready_) {
      auto initialising = init_producer();
      const bool ready = co_await std::move(initialising);
      if (!ready) {
        auto thinking = think(500);
        co_await std::move(thinking);
        continue;
      }
    }
    auto beating = heartbeat();
    const bool member = co_await std::move(beating);
    if (!member) {
      auto thinking = think(500);
      co_await std::move(thinking);
      continue;
    }
    auto fetching = fetch();
    std::vector<SourceRecord> records = co_await std::move(fetching);
    if (records.empty()) {
      auto thinking = think(300);
      co_await std::move(thinking);
      continue;
    }
    auto working = transaction(std::move(records));
    const Step step = co_await std::move(working);
    if (step == Step::kFenced) {
      ++world_.ledger.fenced;
      // Replaced by another: a zombie goes. One that was only timed out comes back with a new
      // epoch.
      if (has_slept_) co_return;
      producer_ready_ = false;
    }
  }
}

io::Task<bool> SimWorker::init_producer() {
  protocol::InitProducerIdRequest request;
  request.transactional_id = TransactionalId(options_.transactional_id);
  request.transaction_timeout_ms = kTransactionTimeoutMs;
  auto calling =
      connection_.call<protocol::InitProducerIdRequest, protocol::InitProducerIdResponse>(
          std::move(request), 5);
  const auto response = co_await std::move(calling);
  if (!response || response->error_code != ErrorCode::NONE) co_return false;
  producer_id_ = response->producer_id;
  producer_epoch_ = response->producer_epoch;
  sequences_.clear();
  producer_ready_ = true;
  note("is " + epoch_text(producer_id_, producer_epoch_));
  co_return true;
}

io::Task<bool> SimWorker::heartbeat() {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(kGroup);
  request.member_id = String(member_);
  request.member_epoch = member_epoch_;
  if (member_epoch_ == 0)
    request.subscribed_topic_names = std::vector<TopicName>{TopicName(kLines)};
  auto calling =
      connection_.call<protocol::ShareGroupHeartbeatRequest, protocol::ShareGroupHeartbeatResponse>(
          std::move(request), 1);
  const auto response = co_await std::move(calling);
  if (!response) co_return false;
  if (response->error_code != ErrorCode::NONE) {
    if (response->error_code == ErrorCode::UNKNOWN_MEMBER_ID ||
        response->error_code == ErrorCode::FENCED_MEMBER_EPOCH) {
      member_epoch_ = 0;
    }
    co_return false;
  }
  member_epoch_ = response->member_epoch;
  co_return true;
}

io::Task<std::vector<SourceRecord>> SimWorker::fetch() {
  protocol::ShareFetchRequest request;
  request.group_id = GroupId(kGroup);
  request.member_id = String(member_);
  request.share_session_epoch = session_epoch_;
  request.max_wait_ms = 200;
  request.min_bytes = 1;
  request.max_bytes = 1 << 20;
  request.max_records = static_cast<int32_t>(1 + random_.below(6));
  request.batch_size = request.max_records;
  request.share_acquire_mode = static_cast<int8_t>(random_.below(2));
  if (session_epoch_ == 0) {
    protocol::ShareFetchRequest::FetchTopic topic;
    topic.topic_id = lines_;
    for (int32_t i = 0; i < kPartitions; ++i) topic.partitions.emplace_back().partition_index = i;
    request.topics.push_back(std::move(topic));
  }
  auto calling = connection_.call<protocol::ShareFetchRequest, protocol::ShareFetchResponse>(
      std::move(request), 2);
  const auto response = co_await std::move(calling);
  std::vector<SourceRecord> records;
  if (!response || response->error_code != ErrorCode::NONE) {
    note(std::string("fetch: ") +
         (response ? std::string(name_of(response->error_code)) : "no answer"));
    session_epoch_ = 0;
    co_return records;
  }
  session_epoch_ = session_epoch_ == INT32_MAX ? 1 : session_epoch_ + 1;
  for (const auto& topic : response->responses) {
    for (const auto& partition : topic.partitions) {
      for (const auto& range : partition.acquired_records) {
        for (int64_t offset = range.first_offset; offset <= range.last_offset; ++offset) {
          const SourceRecord record{partition.partition_index, offset};
          world_.ledger.delivered(record, options_.name);
          records.push_back(record);
        }
      }
    }
  }
  if (!records.empty()) note("fetched" + list(records));
  co_return records;
}

io::Task<SimWorker::Step> SimWorker::transaction(std::vector<SourceRecord> records) {
  auto beginning = begin();
  Step step = co_await std::move(beginning);
  const bool outputs_first = random_.chance(0.5);
  if (step == Step::kDone && outputs_first) {
    auto producing = produce_all(records);
    step = co_await std::move(producing);
  }
  // Thinks for so long now and then that the locks end; and then it may be handed the same records
  // again.
  if (step == Step::kDone && random_.chance(0.15)) {
    auto thinking = think(25000);
    co_await std::move(thinking);
    auto fetching = fetch();
    const std::vector<SourceRecord> more = co_await std::move(fetching);
    const std::set<SourceRecord> held(records.begin(), records.end());
    for (const SourceRecord& record : more) {
      // The rule of the protocol's part 3: a second copy within the transaction leaves only abort.
      if (held.contains(record)) step = Step::kAbort;
    }
    // The others stay acquired until their locks end: this transaction does not take them.
  }
  if (step == Step::kDone) {
    auto staging = stage(records);
    step = co_await std::move(staging);
  }
  if (step == Step::kDone && !outputs_first) {
    auto producing = produce_all(records);
    step = co_await std::move(producing);
  }
  if (step != Step::kFenced && options_.sleeps_once && !has_slept_ && random_.chance(0.4)) {
    has_slept_ = asleep_ = true;
    io::SleepUntil sleep(world_.clock, world_.clock.now().steady_ms + kLongSleepMs);
    co_await sleep;
    asleep_ = false;
  }
  if (step == Step::kFenced) co_return step;
  const bool commit = step == Step::kDone && !random_.chance(0.2);
  auto ending = end(commit);
  step = co_await std::move(ending);
  if (step == Step::kDone && commit) {
    ++world_.ledger.commits;
    world_.ledger.committed(records);
  } else if (step == Step::kDone || step == Step::kAbort) {
    ++world_.ledger.aborts;
  }
  co_return step;
}

// The state partitions join, and the start of the transaction comes back.
io::Task<SimWorker::Step> SimWorker::begin() {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    protocol::AddShareAcksToTxnRequest request;
    request.transactional_id = TransactionalId(options_.transactional_id);
    request.producer_id = producer_id_;
    request.producer_epoch = producer_epoch_;
    request.group_id = GroupId(kGroup);
    auto& topic = request.topics.emplace_back();
    topic.topic_id = lines_;
    for (int32_t i = 0; i < kPartitions; ++i) topic.partitions.push_back(i);
    auto calling =
        connection_.call<protocol::AddShareAcksToTxnRequest, protocol::AddShareAcksToTxnResponse>(
            std::move(request), 0);
    const auto response = co_await std::move(calling);
    if (response && response->error_code == ErrorCode::NONE) {
      start_ms_ = response->transaction_start_time_ms;
      note("begins at " + std::to_string(start_ms_));
      co_return Step::kDone;
    }
    if (response && is_fence(response->error_code)) co_return Step::kFenced;
    if (response && !is_worth_a_retry(response->error_code)) co_return Step::kAbort;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

io::Task<SimWorker::Step> SimWorker::produce_all(const std::vector<SourceRecord>& records) {
  std::map<int32_t, std::vector<SourceRecord>> by_partition;
  for (const SourceRecord& record : records) {
    if (!is_rejected(record)) by_partition[record.partition % kPartitions].push_back(record);
  }
  for (auto& [partition, mine] : by_partition) {
    auto producing = produce(partition, std::move(mine));
    const Step step = co_await std::move(producing);
    if (step != Step::kDone) co_return step;
  }
  co_return Step::kDone;
}

io::Task<SimWorker::Step> SimWorker::produce(int32_t partition, std::vector<SourceRecord> records) {
  if (!options_.transaction_version_2) {
    Step added = Step::kAbort;
    for (int attempt = 0; attempt < kAttempts && added == Step::kAbort; ++attempt) {
      protocol::AddPartitionsToTxnRequest add;
      add.v3_and_below_transactional_id = TransactionalId(options_.transactional_id);
      add.v3_and_below_producer_id = producer_id_;
      add.v3_and_below_producer_epoch = producer_epoch_;
      auto& topic = add.v3_and_below_topics.emplace_back();
      topic.name = TopicName(kProcessed);
      topic.partitions.push_back(partition);
      auto calling = connection_.call<protocol::AddPartitionsToTxnRequest,
                                      protocol::AddPartitionsToTxnResponse>(std::move(add), 3);
      const auto response = co_await std::move(calling);
      const ErrorCode code = response && !response->results_by_topic_v3_and_below.empty()
                                 ? response->results_by_topic_v3_and_below[0]
                                       .results_by_partition[0]
                                       .partition_error_code
                                 : ErrorCode::REQUEST_TIMED_OUT;
      if (code == ErrorCode::NONE)
        added = Step::kDone;
      else if (is_fence(code))
        co_return Step::kFenced;
      else if (!is_worth_a_retry(code))
        co_return Step::kAbort;
      else {
        auto thinking = think(300);
        co_await std::move(thinking);
      }
    }
    if (added != Step::kDone) co_return added;
  }
  protocol::BatchOptions options;
  options.transactional = true;
  options.producer_id = producer_id_;
  options.producer_epoch = producer_epoch_;
  options.base_sequence = sequences_[partition];
  protocol::BatchBuilder builder(options);
  for (const SourceRecord& record : records) {
    const std::string text = record.text();
    builder.add(world_.clock.now().wall_ms, std::nullopt, bytes_of(text));
  }
  const std::vector<std::byte> batch = builder.build();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    protocol::ProduceRequest request;
    request.transactional_id = TransactionalId(options_.transactional_id);
    request.acks = -1;
    request.timeout_ms = 30000;
    auto& topic = request.topic_data.emplace_back();
    topic.name = TopicName(kProcessed);
    auto& data = topic.partition_data.emplace_back();
    data.index = partition;
    data.records = Records::view(batch);
    const int16_t version = options_.transaction_version_2 ? 12 : 11;
    auto calling = connection_.call<protocol::ProduceRequest, protocol::ProduceResponse>(
        std::move(request), version);
    const auto response = co_await std::move(calling);
    const ErrorCode code = response ? response->responses[0].partition_responses[0].error_code
                                    : ErrorCode::REQUEST_TIMED_OUT;
    if (code == ErrorCode::NONE) {
      sequences_[partition] += static_cast<int32_t>(records.size());
      co_return Step::kDone;
    }
    if (is_fence(code)) co_return Step::kFenced;
    if (!is_worth_a_retry(code)) co_return Step::kAbort;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

protocol::TxnShareAcknowledgeRequest SimWorker::stage_request(
    const std::vector<SourceRecord>& records) const {
  protocol::TxnShareAcknowledgeRequest request;
  request.transactional_id = TransactionalId(options_.transactional_id);
  request.group_id = GroupId(kGroup);
  request.producer_id = producer_id_;
  request.producer_epoch = producer_epoch_;
  request.member_id = String(member_);
  request.member_epoch = member_epoch_;
  request.transaction_start_time_ms = start_ms_;
  auto& topic = request.topics.emplace_back();
  topic.topic_id = lines_;
  std::map<int32_t, std::vector<SourceRecord>> by_partition;
  for (const SourceRecord& record : records) by_partition[record.partition].push_back(record);
  for (auto& [index, mine] : by_partition) {
    std::sort(mine.begin(), mine.end());
    auto& partition = topic.partitions.emplace_back();
    partition.partition_index = index;
    for (const SourceRecord& record : mine) {
      auto& batch = partition.acknowledgement_batches.emplace_back();
      batch.first_offset = batch.last_offset = record.offset;
      batch.acknowledge_types.push_back(is_rejected(record) ? 3 : 1);
    }
  }
  return request;
}

// The same request again, on its own connection, perhaps long after the transaction has ended.
io::Task<void> SimWorker::send_later(protocol::TxnShareAcknowledgeRequest request,
                                     int64_t delay_ms) {
  io::SleepUntil sleep(world_.clock, world_.clock.now().steady_ms + delay_ms);
  co_await sleep;
  SimConnection connection(world_.network, options_.name + "-late");
  auto calling =
      connection.call<protocol::TxnShareAcknowledgeRequest, protocol::TxnShareAcknowledgeResponse>(
          std::move(request), 0);
  (void)co_await std::move(calling);
}

io::Task<SimWorker::Step> SimWorker::stage(const std::vector<SourceRecord>& records) {
  if (random_.chance(0.2)) {
    const auto delay_ms =
        static_cast<int64_t>(random_.chance(0.5) ? random_.below(3) : random_.below(20000));
    io::spawn(world_.clients, send_later(stage_request(records), delay_ms));
  }
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto calling =
        connection_
            .call<protocol::TxnShareAcknowledgeRequest, protocol::TxnShareAcknowledgeResponse>(
                stage_request(records), 0);
    const auto response = co_await std::move(calling);
    bool retry = !response || is_worth_a_retry(response->error_code);
    note(std::string("stages: ") +
         (response ? std::string(name_of(response->error_code)) : "no answer"));
    if (response) {
      if (is_fence(response->error_code)) co_return Step::kFenced;
      if (response->error_code == ErrorCode::NONE) {
        bool all = true;
        for (const auto& topic : response->responses) {
          for (const auto& partition : topic.partitions) {
            if (partition.error_code == ErrorCode::NONE) continue;
            all = false;
            note("  partition " + std::to_string(partition.partition_index) + ": " +
                 std::string(name_of(partition.error_code)));
            if (is_fence(partition.error_code)) co_return Step::kFenced;
            if (is_worth_a_retry(partition.error_code)) retry = true;
          }
        }
        if (all) co_return Step::kDone;
      }
    }
    if (!retry) co_return Step::kAbort;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

io::Task<SimWorker::Step> SimWorker::end(bool commit) {
  while (true) {
    protocol::EndTxnRequest request;
    request.transactional_id = TransactionalId(options_.transactional_id);
    request.producer_id = producer_id_;
    request.producer_epoch = producer_epoch_;
    request.committed = commit;
    const int16_t version = options_.transaction_version_2 ? 5 : 4;
    auto calling = connection_.call<protocol::EndTxnRequest, protocol::EndTxnResponse>(
        std::move(request), version);
    const auto response = co_await std::move(calling);
    const ErrorCode code = response ? response->error_code : ErrorCode::REQUEST_TIMED_OUT;
    note(std::string(commit ? "commit: " : "abort: ") + std::string(name_of(code)));
    if (code == ErrorCode::NONE) {
      if (options_.transaction_version_2) {
        producer_id_ = response->producer_id;
        producer_epoch_ = response->producer_epoch;
        sequences_.clear();
      }
      co_return commit ? Step::kDone : Step::kAbort;
    }
    if (is_fence(code)) co_return Step::kFenced;
    if (code == ErrorCode::TRANSACTION_ABORTABLE && commit) {
      commit = false;  // doomed: only abort is left
      continue;
    }
    if (code == ErrorCode::INVALID_TXN_STATE) {
      // Nothing of this transaction has reached the broker, or it was ended by its timeout: begin
      // anew.
      producer_ready_ = false;
      co_return Step::kAbort;
    }
    auto thinking = think(300);
    co_await std::move(thinking);
  }
}

}  // namespace ackord::simulation
