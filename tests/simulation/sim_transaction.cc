// The transactional half of SimWorker: what it sends in a transaction, and to the coordinator.
#include <set>
#include <utility>

#include "broker/share/share_types.h"
#include "protocol/record_batch/batch_builder.h"
#include "tests/simulation/client_errors.h"
#include "tests/simulation/sim_worker.h"

namespace ackord::simulation {
namespace {

constexpr int kAttempts = 30;

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

io::Task<SimWorker::Step> SimWorker::produce_all(const Records& records) {
  std::map<int32_t, Records> by_partition;
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

io::Task<SimWorker::Step> SimWorker::add_partition(int32_t partition) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    protocol::AddPartitionsToTxnRequest add;
    add.v3_and_below_transactional_id = TransactionalId(options_.transactional_id);
    add.v3_and_below_producer_id = producer_id_;
    add.v3_and_below_producer_epoch = producer_epoch_;
    auto& topic = add.v3_and_below_topics.emplace_back();
    topic.name = TopicName(kProcessed);
    topic.partitions.push_back(partition);
    auto calling =
        connection_.call<protocol::AddPartitionsToTxnRequest, protocol::AddPartitionsToTxnResponse>(
            std::move(add), 3);
    const auto response = co_await std::move(calling);
    const ErrorCode code = response && !response->results_by_topic_v3_and_below.empty()
                               ? response->results_by_topic_v3_and_below[0]
                                     .results_by_partition[0]
                                     .partition_error_code
                               : ErrorCode::REQUEST_TIMED_OUT;
    if (code == ErrorCode::NONE) co_return Step::kDone;
    if (is_fence(code)) co_return Step::kFenced;
    if (!is_worth_a_retry(code)) co_return Step::kAbort;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

io::Task<SimWorker::Step> SimWorker::produce(int32_t partition, Records records) {
  producer_added_ = true;
  if (!options_.transaction_version_2) {
    auto adding = add_partition(partition);
    const Step added = co_await std::move(adding);
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
    data.records = ackord::Records::view(batch);
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
    if (!is_worth_a_retry(code)) break;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  // Whether its sequence numbers are used up is not known: only a new epoch begins anew.
  producer_ready_ = false;
  co_return Step::kAbort;
}

protocol::TxnShareAcknowledgeRequest SimWorker::stage_request(const Records& records) const {
  protocol::TxnShareAcknowledgeRequest request;
  request.transactional_id = TransactionalId(options_.transactional_id);
  request.group_id = GroupId(kGroup);
  request.producer_id = stages_as_.id;
  request.producer_epoch = stages_as_.epoch;
  request.member_id = String(consumer_.member());
  request.member_epoch = consumer_.member_epoch();
  request.transaction_start_time_ms = start_ms_;
  fill_acknowledgements(records, lines_, verdict_on, request);
  return request;
}

// The same request again, on its own connection, perhaps long after the transaction has ended.
io::Task<void> SimWorker::send_later(protocol::TxnShareAcknowledgeRequest request, int64_t delay_ms,
                                     std::shared_ptr<const bool> ended) {
  io::SleepUntil sleep(world_.clock, world_.clock.now().steady_ms + delay_ms);
  co_await sleep;
  const bool too_late = *ended;
  SimConnection connection(world_.network, options_.name + "-late");
  auto calling =
      connection.call<protocol::TxnShareAcknowledgeRequest, protocol::TxnShareAcknowledgeResponse>(
          std::move(request), 0);
  const auto response = co_await std::move(calling);
  if (!response || !too_late) co_return;
  bool joined = response->error_code == ErrorCode::NONE;
  for (const auto& topic : response->responses) {
    for (const auto& partition : topic.partitions)
      joined = joined && partition.error_code == ErrorCode::NONE;
  }
  if (joined)
    world_.ledger.finding("I8: a stage of " + options_.name +
                          " was accepted after its transaction had ended");
}

io::Task<SimWorker::Step> SimWorker::stage(const Records& records) {
  if (random_.chance(0.2)) {
    const auto delay_ms =
        static_cast<int64_t>(random_.chance(0.5) ? random_.below(3) : random_.below(20000));
    io::spawn(world_.clients, send_later(stage_request(records), delay_ms, ended_));
  }
  const bool malformed = random_.chance(0.03);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    protocol::TxnShareAcknowledgeRequest request = stage_request(records);
    if (malformed) {
      const int8_t release = 2;
      request.topics[0].partitions[0].acknowledgement_batches[0].acknowledge_types = {release};
    }
    const int64_t began_ms = world_.clock.now().steady_ms;
    auto calling = connection_.call<protocol::TxnShareAcknowledgeRequest,
                                    protocol::TxnShareAcknowledgeResponse>(std::move(request), 0);
    const auto response = co_await std::move(calling);
    note(std::string("stages: ") +
         (response ? std::string(name_of(response->error_code)) : "no answer"));
    bool retry = !response;
    if (response) {
      const Step step = judge(*response, retry);
      if (step != Step::kAbort) co_return step;
      // The broker waits 100 ms for the transaction before; what it refuses sooner, it refuses for
      // a guard that it has taken too early.
      const bool quick = world_.clock.now().steady_ms - began_ms < 100;
      const bool in_time = jumps_ == world_.scheduler.jumps();
      if (stage_is_first_ && attempt == 0 && !retry && quick && in_time)
        world_.ledger.finding("1.1: the first stage of a transaction was refused");
    }
    stage_is_first_ = false;
    if (!retry) co_return Step::kAbort;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

// kAbort: neither done nor refused for good; `retry` says whether it may be sent again.
SimWorker::Step SimWorker::judge(const protocol::TxnShareAcknowledgeResponse& response,
                                 bool& retry) {
  std::vector<ErrorCode> errors = {response.error_code};
  if (response.error_code == ErrorCode::NONE) {
    for (const auto& topic : response.responses) {
      for (const auto& partition : topic.partitions) errors.push_back(partition.error_code);
    }
  }
  Step step = Step::kDone;
  for (const ErrorCode error : errors) {
    if (error == ErrorCode::NONE) continue;
    note("  " + std::string(name_of(error)));
    if (is_fence(error)) return Step::kFenced;
    if (is_for_good(error)) {
      step = Step::kRefused;
    } else if (step == Step::kDone) {
      step = Step::kAbort;
    }
    retry = retry || is_worth_a_retry(error);
  }
  return step;
}

// Markers that were under way twice: the second one finds its epoch used up (protocol 1.3).
io::Task<void> SimWorker::repeat_markers(log::EndMarker marker, int64_t delay_ms) {
  io::SleepUntil sleep(world_.clock, world_.clock.now().steady_ms + delay_ms);
  co_await sleep;
  std::set<int32_t> state_partitions;
  for (int32_t i = 0; i < kPartitions; ++i) {
    state_partitions.insert(
        share::state_partition_of({GroupId(kGroup), lines_, i}, kStatePartitions));
  }
  for (const int32_t partition : state_partitions) world_.network.repeat_marker(partition, marker);
}

io::Task<SimWorker::Step> SimWorker::end(bool commit) {
  if (options_.through_library && !producer_added_) {
    note(std::string(commit ? "commit" : "abort") + ": the producer has nothing to end");
    co_return commit ? Step::kDone : Step::kAbort;
  }
  while (true) {
    protocol::EndTxnRequest request;
    request.transactional_id = TransactionalId(options_.transactional_id);
    request.producer_id = producer_id_;
    request.producer_epoch = producer_epoch_;
    request.committed = commit;
    const int16_t version = options_.transaction_version_2 ? 5 : 4;
    world_.provoke();
    auto calling = connection_.call<protocol::EndTxnRequest, protocol::EndTxnResponse>(
        std::move(request), version);
    const auto response = co_await std::move(calling);
    const ErrorCode code = response ? response->error_code : ErrorCode::REQUEST_TIMED_OUT;
    note(std::string(commit ? "commit: " : "abort: ") + std::string(name_of(code)));
    // A passing error may come after the decision was written.
    if (commit && is_worth_a_retry(code)) commit_unanswered_ = true;
    // A process that dies here: its next life asks for a new epoch, which aborts what was not
    // decided.
    if (!response && commit && random_.chance(0.3)) {
      note("dies without an answer to its commit");
      producer_ready_ = false;
      co_return Step::kAbort;
    }
    if (code == ErrorCode::NONE) {
      *ended_ = true;
      if (options_.transaction_version_2) {
        const bool same_id = response->producer_id == producer_id_;
        producer_id_ = response->producer_id;
        producer_epoch_ = response->producer_epoch;
        sequences_.clear();
        // All state partitions were in it, so all of them have this marker or will have it.
        if (same_id && start_ms_ >= 0 && random_.chance(0.2)) {
          const log::EndMarker marker{{producer_id_, producer_epoch_}, commit, 0, 2};
          io::spawn(world_.clients, repeat_markers(marker, static_cast<int64_t>(random_.below(
                                                               random_.chance(0.5) ? 5 : 5000))));
        }
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
