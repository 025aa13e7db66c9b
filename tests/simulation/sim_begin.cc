// How a transaction of SimWorker begins: by its own identity, or as the client library finds it out
// from a stock producer (docs/PROTOCOL.md part 3).
#include <utility>

#include "broker/base/planted_bug.h"
#include "protocol/generated/add_offsets_to_txn_request.h"
#include "protocol/generated/add_offsets_to_txn_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/txn_offset_commit_request.h"
#include "protocol/generated/txn_offset_commit_response.h"
#include "tests/simulation/client_errors.h"
#include "tests/simulation/sim_worker.h"

namespace ackord::simulation {
namespace {

constexpr int kAttempts = 30;
constexpr int64_t kSleepBetweenStepsMs = 12000;
constexpr const char* kReservedGroup = "__ackord_acks_only";

}  // namespace

// The state partitions join, and the start of the transaction comes back.
io::Task<SimWorker::Step> SimWorker::begin() {
  if (options_.through_library) {
    auto proving = prove_identity();
    const Step proved = co_await std::move(proving);
    if (proved != Step::kDone) co_return proved;
  }
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    protocol::AddShareAcksToTxnRequest request;
    request.transactional_id = TransactionalId(options_.transactional_id);
    request.producer_id = stages_as_.id;
    request.producer_epoch = stages_as_.epoch;
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
    // Whether the producer itself is fenced, only its own requests can tell.
    if (response && is_fence(response->error_code))
      co_return options_.through_library ? Step::kAbort : Step::kFenced;
    if (response && !is_worth_a_retry(response->error_code)) co_return Step::kAbort;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

// In the order of part 3: the success of the producer's own request proves that the pair which was
// read before it is the producer's.
io::Task<SimWorker::Step> SimWorker::prove_identity() {
  const bool wrong_order = base::planted(base::PlantedBug::kDescribeAfterProof);
  auto describing = wrong_order ? send_reserved_offset() : describe_transaction();
  Step step = co_await std::move(describing);
  if (step != Step::kDone) co_return step;
  if (options_.sleeps_once && !has_slept_ && random_.chance(0.3)) {
    auto sleeping = fall_asleep(kSleepBetweenStepsMs);
    co_await std::move(sleeping);
  }
  if (base::planted(base::PlantedBug::kNoReservedOffset)) co_return Step::kDone;
  auto sending = wrong_order ? describe_transaction() : send_reserved_offset();
  co_return co_await std::move(sending);
}

io::Task<SimWorker::Step> SimWorker::describe_transaction() {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    protocol::DescribeTransactionsRequest request;
    request.transactional_ids.emplace_back(options_.transactional_id);
    auto calling = connection_.call<protocol::DescribeTransactionsRequest,
                                    protocol::DescribeTransactionsResponse>(std::move(request), 0);
    const auto response = co_await std::move(calling);
    if (response && !response->transaction_states.empty() &&
        response->transaction_states[0].error_code == ErrorCode::NONE) {
      const auto& state = response->transaction_states[0];
      stages_as_ = {state.producer_id, state.producer_epoch};
      co_return Step::kDone;
    }
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

// Before transaction version 2 the group is added first, by a request of its own.
io::Task<ErrorCode> SimWorker::add_reserved_group() {
  protocol::AddOffsetsToTxnRequest request;
  request.transactional_id = TransactionalId(options_.transactional_id);
  request.producer_id = producer_id_;
  request.producer_epoch = producer_epoch_;
  request.group_id = GroupId(kReservedGroup);
  auto calling =
      connection_.call<protocol::AddOffsetsToTxnRequest, protocol::AddOffsetsToTxnResponse>(
          std::move(request), 3);
  const auto response = co_await std::move(calling);
  co_return response ? response->error_code : ErrorCode::REQUEST_TIMED_OUT;
}

io::Task<SimWorker::Step> SimWorker::send_reserved_offset() {
  producer_added_ = true;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ErrorCode code = ErrorCode::NONE;
    if (!options_.transaction_version_2) {
      auto adding = add_reserved_group();
      code = co_await std::move(adding);
    }
    if (code == ErrorCode::NONE) {
      protocol::TxnOffsetCommitRequest request;
      request.transactional_id = TransactionalId(options_.transactional_id);
      request.producer_id = producer_id_;
      request.producer_epoch = producer_epoch_;
      request.group_id = GroupId(kReservedGroup);
      auto& topic = request.topics.emplace_back();
      topic.name = TopicName(kLines);
      topic.partitions.emplace_back();
      auto calling =
          connection_.call<protocol::TxnOffsetCommitRequest, protocol::TxnOffsetCommitResponse>(
              std::move(request), options_.transaction_version_2 ? 5 : 4);
      const auto response = co_await std::move(calling);
      code = response ? response->topics[0].partitions[0].error_code : ErrorCode::REQUEST_TIMED_OUT;
    }
    if (code == ErrorCode::NONE) co_return Step::kDone;
    note("sends its reserved offset: " + std::string(name_of(code)));
    if (is_fence(code)) co_return Step::kFenced;
    if (!is_worth_a_retry(code)) co_return Step::kAbort;
    auto thinking = think(300);
    co_await std::move(thinking);
  }
  co_return Step::kAbort;
}

}  // namespace ackord::simulation
