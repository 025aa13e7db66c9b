#include "broker/share/local_batch_txn_service.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/base/logging.h"
#include "broker/io/executor.h"

namespace ackord::share {
namespace {

// How long a request waits for another that is closing the same transaction.
constexpr int64_t kClosingWaitMs = 30000;

bool is_busy(const BatchTxnReply& reply) { return reply.busy; }
bool is_busy(const CloseBatchTxn::Reply& reply) { return reply.result.busy; }

BatchTxnReply failed(const Error& error) {
  BatchTxnReply reply;
  reply.error = {error.code, error.message};
  return reply;
}

BatchTxnReply none_of_that_id() {
  return failed(error(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND,
                      "The group has no batch transaction of this id."));
}

}  // namespace

LocalBatchTxnService::LocalBatchTxnService(io::Environment& environment,
                                           metadata::MetadataService& metadata, StateShards& shards,
                                           const StagingGate& gate)
    : environment_(environment), metadata_(metadata), shards_(shards), gate_(gate) {
  shards_.on_batch_timeout([this](const std::vector<BatchTxnId>& ids) {
    for (const BatchTxnId& id : ids) io::spawn(*io::Executor::current(), time_out(id));
  });
}

int32_t LocalBatchTxnService::coordinator_of(const GroupId& group) const {
  return metadata::coordinator_partition(group.sv(), shards_.partitions());
}

bool LocalBatchTxnService::topic_exists() const {
  return metadata_.image().topic(metadata::kShareStateTopic) != nullptr;
}

io::Task<Result<void>> LocalBatchTxnService::ready() { return shards_.ensure(); }

// ---------------------------------------------------------------- one transaction

template <class Op>
io::Task<Result<typename Op::Reply>> LocalBatchTxnService::settled(BatchTxnId id, Op op) {
  auto ensuring = ready();
  const Result<void> there = co_await std::move(ensuring);
  if (!there) co_return there.error();
  const int32_t index = coordinator_of(id.group_id);
  auto running =
      io::on(shards_.runner(index).core().executor, settled_here<Op>(index, std::move(op)));
  Result<typename Op::Reply> reply = co_await std::move(running);
  co_return reply;
}

template <class Op>
io::Task<Result<typename Op::Reply>> LocalBatchTxnService::settled_here(int32_t index, Op op) {
  StateShards::Runner& runner = shards_.runner(index);
  const io::Core& core = runner.core();
  const int64_t deadline_ms = core.clock.now().steady_ms + kClosingWaitMs;
  while (true) {
    const auto wakeup = io::Wakeup::make(core.executor, core.clock);
    shards_.closing_ended(index).subscribe(wakeup);
    if constexpr (std::same_as<Op, BeginBatchTxn>) {
      // share.version may go down meanwhile: a transaction that begins then must be counted, or
      // refused.
      const ErrorCode refused = gate_.check();
      if (refused != ErrorCode::NONE) co_return error(refused);
    }
    auto running = runner.run(op);
    Result<typename Op::Reply> reply = co_await std::move(running);
    if (!reply || !is_busy(*reply)) co_return reply;
    auto waiting = wakeup->wait_until(deadline_ms);
    const bool woken = co_await std::move(waiting);
    if (!woken) {
      co_return error(ErrorCode::CONCURRENT_TRANSACTIONS,
                      "Another request is closing the transaction.");
    }
  }
}

io::Task<BatchTxnReply> LocalBatchTxnService::begin(BatchTxnId id, int32_t timeout_ms) {
  auto beginning = settled(id, BeginBatchTxn{id, timeout_ms});
  Result<BatchTxnReply> reply = co_await std::move(beginning);
  if (!reply) co_return failed(reply.error());
  if (!reply->error.ok() || reply->participants.empty()) co_return std::move(*reply);
  // An earlier attempt has staged something: the engine must know.
  auto counting = count_staged(DescribeBatchTxnHere{id}, reply->participants);
  const Result<int64_t> staged = co_await std::move(counting);
  if (!staged) co_return failed(staged.error());
  reply->staged_records = *staged;
  co_return std::move(*reply);
}

io::Task<BatchTxnReply> LocalBatchTxnService::prepare(BatchTxnId id) {
  if (!topic_exists()) co_return none_of_that_id();
  auto ending = end(std::move(id), BatchTxnClosing::PREPARE);
  BatchTxnReply reply = co_await std::move(ending);
  co_return reply;
}

io::Task<BatchTxnReply> LocalBatchTxnService::abort(BatchTxnId id) {
  if (!topic_exists()) co_return none_of_that_id();
  auto ending = end(std::move(id), BatchTxnClosing::ABORT);
  BatchTxnReply reply = co_await std::move(ending);
  co_return reply;
}

io::Task<BatchTxnReply> LocalBatchTxnService::end(BatchTxnId id, BatchTxnClosing why) {
  const uint64_t token = environment_.random.next() | 1;
  auto closing = settled(id, CloseBatchTxn{id, why, token});
  Result<CloseBatchTxn::Reply> closed = co_await std::move(closing);
  if (!closed) co_return failed(closed.error());
  BatchTxnReply reply = std::move(closed->result);
  if (closed->closing) {
    auto deciding = close_and_decide(id, why, token, std::move(reply.participants));
    reply = co_await std::move(deciding);
  }
  if (!reply.error.ok() || reply.state != BatchTxnState::ABORTED) co_return reply;
  auto resolving = resolve(std::move(id), std::move(reply));
  BatchTxnReply resolved = co_await std::move(resolving);
  co_return resolved;
}

io::Task<BatchTxnReply> LocalBatchTxnService::close_and_decide(BatchTxnId id, BatchTxnClosing why,
                                                               uint64_t token,
                                                               std::vector<int32_t> participants) {
  const int32_t coordinator = coordinator_of(id.group_id);
  auto counting = count_staged(CloseBatchTxnHere{id}, std::move(participants));
  const Result<int64_t> staged = co_await std::move(counting);
  if (!staged) {
    auto giving_up = shards_.run(coordinator, GiveUpClosingBatchTxn{id, token});
    (void)co_await std::move(giving_up);
    co_return failed(staged.error());
  }
  auto deciding = shards_.run(coordinator, DecideBatchTxn{id, why, token, *staged});
  Result<BatchTxnReply> decided = co_await std::move(deciding);
  if (!decided) co_return failed(decided.error());
  co_return std::move(*decided);
}

template <class Op>
io::Task<Result<int64_t>> LocalBatchTxnService::count_staged(Op op,
                                                             std::vector<int32_t> participants) {
  std::vector<io::Task<Result<typename Op::Reply>>> asking;
  for (const int32_t participant : participants) asking.push_back(shards_.run(participant, op));
  auto all = io::when_all(std::move(asking));
  const std::vector<Result<typename Op::Reply>> replies = co_await std::move(all);
  int64_t staged = 0;
  for (const auto& reply : replies) {
    if (!reply) co_return reply.error();
    staged += reply->staged_records;
  }
  co_return staged;
}

io::Task<BatchTxnReply> LocalBatchTxnService::commit(BatchTxnId id) {
  if (!topic_exists()) co_return none_of_that_id();
  auto committing = settled(id, CommitBatchTxn{id});
  Result<BatchTxnReply> reply = co_await std::move(committing);
  if (!reply) co_return failed(reply.error());
  if (!reply->error.ok()) co_return std::move(*reply);
  auto resolving = resolve(std::move(id), std::move(*reply));
  BatchTxnReply resolved = co_await std::move(resolving);
  co_return resolved;
}

io::Task<BatchTxnReply> LocalBatchTxnService::resolve(BatchTxnId id, BatchTxnReply decided) {
  if (decided.participants.empty()) co_return decided;
  const bool commit = decided.state == BatchTxnState::COMMITTED;
  std::vector<io::Task<Result<ResolveBatchTxnHere::Reply>>> telling;
  for (const int32_t participant : decided.participants)
    telling.push_back(shards_.run(participant, ResolveBatchTxnHere{id, commit}));
  auto all = io::when_all(std::move(telling));
  const std::vector<Result<ResolveBatchTxnHere::Reply>> told = co_await std::move(all);
  std::vector<int32_t> resolved;
  for (size_t i = 0; i < told.size(); ++i) {
    if (told[i]) {
      resolved.push_back(decided.participants[i]);
    } else {
      decided.error = {told[i].error().code,
                       "The decision is made; not every record is resolved yet."};
    }
  }
  const int32_t coordinator = coordinator_of(id.group_id);
  auto noting = shards_.run(coordinator, BatchTxnResolved{id, std::move(resolved)});
  const Result<BatchTxnResolved::Reply> noted = co_await std::move(noting);
  if (!noted && decided.error.ok()) decided.error = {noted.error().code, noted.error().message};
  co_return decided;
}

io::Task<PartitionError> LocalBatchTxnService::enlist(BatchTxnId id,
                                                      std::vector<int32_t> participants) {
  const int32_t coordinator = coordinator_of(id.group_id);
  auto enlisting = shards_.run(coordinator, EnlistBatchTxn{std::move(id), std::move(participants)});
  Result<PartitionError> reply = co_await std::move(enlisting);
  if (!reply) co_return PartitionError{reply.error().code, reply.error().message};
  co_return std::move(*reply);
}

io::Task<ErrorCode> LocalBatchTxnService::doom(BatchTxnId id) {
  if (!topic_exists()) co_return ErrorCode::NONE;
  auto ensuring = ready();
  const Result<void> there = co_await std::move(ensuring);
  if (!there) co_return there.error().code;
  const int32_t coordinator = coordinator_of(id.group_id);
  auto dooming = shards_.run(coordinator, DoomBatchTxn{std::move(id)});
  const Result<DoomBatchTxn::Reply> reply = co_await std::move(dooming);
  co_return reply ? ErrorCode::NONE : reply.error().code;
}

// ---------------------------------------------------------------- behind the requests

io::Task<void> LocalBatchTxnService::time_out(BatchTxnId id) {
  const uint64_t token = environment_.random.next() | 1;
  const int32_t coordinator = coordinator_of(id.group_id);
  auto closing = shards_.run(coordinator, CloseBatchTxn{id, BatchTxnClosing::TIMEOUT, token});
  Result<CloseBatchTxn::Reply> closed = co_await std::move(closing);
  // Someone else ends it; or the log is offline.
  if (!closed || !closed->closing) co_return;
  auto deciding =
      close_and_decide(id, BatchTxnClosing::TIMEOUT, token, std::move(closed->result.participants));
  BatchTxnReply decided = co_await std::move(deciding);
  if (!decided.error.ok()) co_return;  // the timer comes again
  base::log_info("batch transaction timed out and is aborted group={} id={} records={}",
                 id.group_id.sv(), id.transaction_id.sv(), decided.staged_records);
  auto resolving = resolve(std::move(id), std::move(decided));
  (void)co_await std::move(resolving);
}

io::Task<void> LocalBatchTxnService::drive_on(BatchTxnId id, BatchTxnReply decided) {
  auto resolving = resolve(id, std::move(decided));
  const BatchTxnReply reply = co_await std::move(resolving);
  if (!reply.error.ok()) {
    base::log_warn("batch transaction is decided but not resolved group={} id={} error={}",
                   id.group_id.sv(), id.transaction_id.sv(), reply.error.error_code);
  }
}

io::Task<Result<void>> LocalBatchTxnService::resume() {
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    auto resuming = shards_.run(index, ResumeBatchTxns{});
    Result<ResumeBatchTxns::Reply> reply = co_await std::move(resuming);
    if (!reply) co_return reply.error();
    for (ResumeBatchTxns::Decision& decision : reply->decisions) {
      BatchTxnReply decided;
      decided.state = decision.commit ? BatchTxnState::COMMITTED : BatchTxnState::ABORTED;
      decided.participants = std::move(decision.participants);
      io::spawn(shards_.runner(index).core().executor,
                drive_on(std::move(decision.id), std::move(decided)));
    }
  }
  co_return Result<void>();
}

// ---------------------------------------------------------------- views

io::Task<Result<std::vector<DescribeBatchTxnHere::Partition>>> LocalBatchTxnService::pending(
    BatchTxnId id, std::vector<int32_t> participants) {
  std::vector<DescribeBatchTxnHere::Partition> partitions;
  for (const int32_t participant : participants) {
    auto asking = shards_.run(participant, DescribeBatchTxnHere{id});
    Result<DescribeBatchTxnHere::Reply> reply = co_await std::move(asking);
    if (!reply) co_return reply.error();
    std::move(reply->partitions.begin(), reply->partitions.end(), std::back_inserter(partitions));
  }
  std::sort(partitions.begin(), partitions.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  co_return partitions;
}

io::Task<Result<std::vector<BatchTxnListing>>> LocalBatchTxnService::list(
    GroupId group, std::vector<BatchTxnState> states, std::string prefix) {
  std::vector<BatchTxnListing> listings;
  if (!topic_exists()) co_return listings;
  auto ensuring = ready();
  const Result<void> there = co_await std::move(ensuring);
  if (!there) co_return there.error();
  const int32_t coordinator = coordinator_of(group);
  auto listing = shards_.run(coordinator,
                             ListBatchTxns{std::move(group), std::move(states), std::move(prefix)});
  Result<ListBatchTxns::Reply> entries = co_await std::move(listing);
  if (!entries) co_return entries.error();
  for (ListBatchTxns::Entry& entry : *entries) {
    BatchTxnListing& out = listings.emplace_back();
    out.id = std::move(entry.id);
    out.value = std::move(entry.value);
    if (is_decided(out.value.state)) continue;
    auto asking = pending(out.id, out.value.state_partitions);
    auto held = co_await std::move(asking);
    if (!held) co_return held.error();
    out.pending = std::move(*held);
  }
  co_return listings;
}

io::Task<Result<int64_t>> LocalBatchTxnService::live(std::optional<GroupId> group) {
  if (!topic_exists()) co_return int64_t{0};
  auto ensuring = ready();
  const Result<void> there = co_await std::move(ensuring);
  if (!there) co_return there.error();
  int64_t count = 0;
  for (int32_t index = 0; index < shards_.partitions(); ++index) {
    if (group && index != coordinator_of(*group)) continue;
    auto counting = shards_.run(index, CountLiveBatchTxns{group});
    const Result<CountLiveBatchTxns::Reply> reply = co_await std::move(counting);
    if (!reply) co_return reply.error();
    count += reply->live;
  }
  co_return count;
}

}  // namespace ackord::share
