#include "tests/simulation/sim_batch_executor.h"

#include <utility>

#include "broker/base/planted_bug.h"
#include "tests/simulation/client_errors.h"

namespace ackord::simulation {
namespace {

constexpr int kAttempts = 20;
constexpr int64_t kShortestLockMs = 15000;

// The first error that matters; NONE: all of it is staged.
ErrorCode error_of(const protocol::BatchTxnAcknowledgeResponse& response) {
  if (response.error_code != ErrorCode::NONE) return response.error_code;
  ErrorCode first = ErrorCode::NONE;
  for (const auto& topic : response.responses) {
    for (const auto& partition : topic.partitions) {
      if (is_for_good(partition.error_code)) return partition.error_code;
      if (first == ErrorCode::NONE) first = partition.error_code;
    }
  }
  return first;
}

}  // namespace

protocol::BatchTxnAcknowledgeRequest SimBatchExecutor::request_of(const Checkpoint& checkpoint,
                                                                  const Records& records) const {
  protocol::BatchTxnAcknowledgeRequest request;
  request.transaction_id = TransactionalId(checkpoint.id);
  request.group_id = GroupId(kGroup);
  request.member_id = String(consumer_.member());
  request.member_epoch = consumer_.member_epoch();
  fill_acknowledgements(records, consumer_.lines(), verdict_on, request);
  return request;
}

io::Task<void> SimBatchExecutor::work(std::shared_ptr<SimBatchExecutor> self,
                                      std::shared_ptr<Checkpoint> checkpoint,
                                      std::shared_ptr<Report> report) {
  auto working = self->work_on(std::move(checkpoint), report);
  co_await std::move(working);
  report->done = true;
}

io::Task<void> SimBatchExecutor::work_on(std::shared_ptr<Checkpoint> checkpoint,
                                         std::shared_ptr<Report> report) {
  const uint64_t rounds = 1 + random_.below(3);
  for (uint64_t round = 0; round < rounds && !report->failed; ++round) {
    auto beating = consumer_.heartbeat();
    const bool member = co_await std::move(beating);
    Records records;
    if (member) {
      auto fetching = consumer_.fetch();
      records = co_await std::move(fetching);
    }
    if (records.empty()) {
      auto thinking = consumer_.think(300);
      co_await std::move(thinking);
      continue;
    }
    for (const SourceRecord& record : records) {
      // A second copy within the transaction leaves only an abort (part 3): the broker cannot tell
      // it from a retry.
      const bool again = !taken_.insert(record).second;
      if (again && !base::planted(base::PlantedBug::kSecondCopyUsed)) report->failed = true;
    }
    if (report->failed) break;
    if (random_.chance(0.1)) {
      auto thinking = consumer_.think(kShortestLockMs + 5000);
      co_await std::move(thinking);
    }
    auto staging = stage(checkpoint, records);
    const Outcome outcome = co_await std::move(staging);
    if (outcome == Outcome::kStaged) {
      report->staged += static_cast<int64_t>(records.size());
      report->records.insert(report->records.end(), records.begin(), records.end());
    } else {
      report->failed = true;
      report->refused = outcome == Outcome::kRefused;
    }
    if (random_.chance(0.05)) {
      consumer_.note("drops its session");
      consumer_.drop();
    }
  }
}

io::Task<SimBatchExecutor::Outcome> SimBatchExecutor::stage(std::shared_ptr<Checkpoint> checkpoint,
                                                            Records records) {
  if (random_.chance(0.2)) {
    const auto delay_us = static_cast<int64_t>(random_.chance(0.5) ? random_.below(3'000)
                                                                   : random_.below(20'000'000));
    io::spawn(world_.clients, send_later(world_, name_ + "-late", checkpoint,
                                         request_of(*checkpoint, records), delay_us, records));
  }
  const bool malformed = random_.chance(0.03);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    protocol::BatchTxnAcknowledgeRequest request = request_of(*checkpoint, records);
    if (malformed) {
      const int8_t release = 2;
      request.topics[0].partitions[0].acknowledgement_batches[0].acknowledge_types = {release};
    }
    auto calling =
        consumer_.connection()
            .call<protocol::BatchTxnAcknowledgeRequest, protocol::BatchTxnAcknowledgeResponse>(
                std::move(request), 0);
    const auto response = co_await std::move(calling);
    const ErrorCode code = response ? error_of(*response) : ErrorCode::REQUEST_TIMED_OUT;
    consumer_.note("stages in " + checkpoint->id + ":" + list_of(records) + " " +
                   (response ? std::string(name_of(code)) : "no answer"));
    if (code == ErrorCode::NONE) co_return Outcome::kStaged;
    if (code == ErrorCode::TRANSACTIONAL_ID_NOT_FOUND)
      world_.ledger.finding("2: " + checkpoint->id + " was begun, and is not known");
    if (is_for_good(code)) co_return Outcome::kRefused;
    if (!is_worth_a_retry(code)) co_return Outcome::kFailed;
    auto thinking = consumer_.think(300);
    co_await std::move(thinking);
  }
  co_return Outcome::kFailed;
}

// The same request again, or a first one that nobody counts, on a connection of its own.
io::Task<void> SimBatchExecutor::send_later(World& world, std::string name,
                                            std::shared_ptr<Checkpoint> checkpoint,
                                            protocol::BatchTxnAcknowledgeRequest request,
                                            int64_t delay_us, Records records) {
  auto sleeping = world.sleep_us(delay_us);
  co_await std::move(sleeping);
  const bool closed = checkpoint->closed;
  SimConnection connection(world.network, name);
  auto calling =
      connection.call<protocol::BatchTxnAcknowledgeRequest, protocol::BatchTxnAcknowledgeResponse>(
          std::move(request), 0);
  const auto response = co_await std::move(calling);
  if (!response) co_return;
  const ErrorCode code = error_of(*response);
  world.ledger.note(
      world.scheduler.now_us(), name,
      "late in " + checkpoint->id + ":" + list_of(records) + " " + std::string(name_of(code)));
  if (closed && code == ErrorCode::NONE)
    world.ledger.finding("I8: an acknowledgement joined " + checkpoint->id +
                         " after it was closed");
}

io::Task<void> SimBatchExecutor::arm(std::shared_ptr<SimBatchExecutor> self) {
  auto beating = self->consumer_.heartbeat();
  const bool member = co_await std::move(beating);
  if (!member) co_return;
  auto fetching = self->consumer_.fetch();
  self->held_ = co_await std::move(fetching);
}

void SimBatchExecutor::haunt(const std::shared_ptr<Checkpoint>& checkpoint) {
  ++haunts;
  // One record a request: several chances to meet the closing.
  for (const SourceRecord& record : std::exchange(held_, {})) {
    const Records one{record};
    io::spawn(world_.clients,
              send_later(world_, name_ + "-zombie", checkpoint, request_of(*checkpoint, one),
                         static_cast<int64_t>(random_.below(2'000)), one));
  }
}

}  // namespace ackord::simulation
