#include "tests/simulation/sim_batch_coordinator.h"

#include <utility>

#include "broker/base/planted_bug.h"
#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/describe_share_partitions_response.h"
#include "protocol/generated/list_batch_txns_request.h"
#include "protocol/generated/list_batch_txns_response.h"

namespace ackord::simulation {
namespace {

constexpr const char* kPrefix = "job-engine-";
constexpr size_t kExecutors = 2;
constexpr int kHaunts = 5;
constexpr size_t kMostZombies = 3;
constexpr double kCrashChance = 0.04;
constexpr double kHangChance = 0.03;
constexpr int32_t kTimeoutMs = 60000;

}  // namespace

SimBatchCoordinator::SimBatchCoordinator(World& world, SharedByAttempts& shared, int attempt,
                                         Uuid lines)
    : world_(world),
      random_(world.scheduler.random),
      shared_(shared),
      attempt_(attempt),
      name_("engine-" + std::to_string(attempt)),
      lines_(lines),
      connection_(world.network, name_) {}

std::string SimBatchCoordinator::name_of_next() {
  ++checkpoints_;
  // Without the attempt in it, names come again, and Begin says that they were used.
  return shared_.names_hold_attempt
             ? kPrefix + std::to_string(attempt_) + "-" + std::to_string(checkpoints_)
             : kPrefix +
                   std::to_string(shared_.sink.shown().size() + static_cast<size_t>(checkpoints_));
}

void SimBatchCoordinator::replace(size_t executor) {
  executors_[executor] = std::make_shared<SimBatchExecutor>(
      world_, name_ + "-task-" + std::to_string(++executors_made_), lines_);
}

io::Task<bool> SimBatchCoordinator::may_crash() {
  if (random_.chance(kCrashChance)) {
    note("crashes");
    co_return true;
  }
  if (!has_hung_ && random_.chance(kHangChance)) {
    note("hangs");
    has_hung_ = hanging_ = true;
    auto sleeping = world_.sleep_us(static_cast<int64_t>(random_.below(10'000'000)));
    co_await std::move(sleeping);
    note("wakes up");
  }
  co_return false;
}

io::Task<void> SimBatchCoordinator::run(const bool& stop) {
  shared_.sink.open(attempt_);
  auto recovering = recover();
  bool alive = co_await std::move(recovering);
  executors_.resize(kExecutors);
  for (size_t i = 0; i < kExecutors; ++i) replace(i);
  // One that has hung has been replaced meanwhile.
  while (alive && !stop && !hanging_) {
    auto working = checkpoint();
    const End end = co_await std::move(working);
    alive = end == End::kGoOn;
    auto sleeping = world_.sleep_us(static_cast<int64_t>(random_.below(300'000)));
    co_await std::move(sleeping);
  }
  // What its executors are at, they go on with.
  for (auto& executor : executors_) shared_.zombies.push_back(std::move(executor));
  executors_.clear();
  over_ = true;
}

io::Task<bool> SimBatchCoordinator::recover() {
  protocol::ListBatchTxnsRequest request;
  request.group_id = GroupId(kGroup);
  request.transaction_id_prefix = String(kPrefix);
  request.state_filters = {String("ONGOING"), String("PREPARE")};
  std::map<std::string, bool> prepared_by_id;
  for (bool listed = false; !listed;) {
    auto calling =
        connection_.call<protocol::ListBatchTxnsRequest, protocol::ListBatchTxnsResponse>(
            protocol::ListBatchTxnsRequest(request), 0);
    const auto response = co_await std::move(calling);
    listed = response && response->error_code == ErrorCode::NONE;
    if (!listed) {
      auto sleeping = world_.sleep_us(static_cast<int64_t>(random_.below(300'000)));
      co_await std::move(sleeping);
      continue;
    }
    for (const auto& one : response->transactions) {
      const bool prepared = one.state.sv() == "PREPARE";
      prepared_by_id[one.transaction_id.str()] = prepared;
      const auto known = shared_.prepared.find(one.transaction_id.str());
      // Another attempt may be about to end it.
      if (!prepared || known == shared_.prepared.end() || shared_.running > 1) continue;
      int64_t pending = 0;
      for (const auto& topic : one.pending_acks) {
        for (const auto& partition : topic.partitions) {
          for (const auto& batch : partition.acknowledgement_batches)
            pending += batch.last_offset - batch.first_offset + 1;
        }
      }
      if (pending != known->second)
        world_.ledger.finding("I6: " + known->first + " was prepared with " +
                              std::to_string(known->second) + " records, and " +
                              std::to_string(pending) + " are staged");
    }
  }
  // Committed in the sink means prepared, and the broker may not have forgotten that.
  for (const auto& [id, prepared] : prepared_by_id) {
    if (shared_.sink.has(id) && !prepared)
      world_.ledger.finding("2: " + id + " is in the sink, and the broker has it as ONGOING");
    if (shared_.sink.has(id)) {
      auto committing = commit(id);
      co_await std::move(committing);
    } else {
      auto aborting = abort(id);
      co_await std::move(aborting);
    }
    auto crashing = may_crash();
    const bool crashed = co_await std::move(crashing);
    if (crashed || crashed_) co_return false;
  }
  co_return true;
}

io::Task<SimBatchCoordinator::End> SimBatchCoordinator::checkpoint() {
  auto checkpoint = std::make_shared<Checkpoint>();
  checkpoint->id = name_of_next();
  auto request = request_of<protocol::BeginBatchTxnRequest>(checkpoint->id);
  const bool short_one = random_.chance(0.2);
  request.timeout_ms = short_one ? static_cast<int32_t>(1000 + random_.below(4000)) : kTimeoutMs;
  auto beginning =
      ask<protocol::BeginBatchTxnRequest, protocol::BeginBatchTxnResponse>(std::move(request));
  const Answer begun = co_await std::move(beginning);
  if (begun.error == ErrorCode::INVALID_TXN_STATE) co_return End::kGoOn;  // used before
  if (begun.error != ErrorCode::NONE) {
    world_.ledger.finding("2: BeginBatchTxn was answered " +
                          std::string(ackord::name_of(begun.error)));
    co_return End::kStop;
  }
  auto crashing = may_crash();
  bool crashed = co_await std::move(crashing);
  if (crashed) co_return End::kStop;

  auto executing = execute(checkpoint);
  const Reports reports = co_await std::move(executing);
  crashing = may_crash();
  crashed = co_await std::move(crashing);
  if (crashed) co_return End::kStop;
  if (random_.chance(0.1)) {
    auto ordering = commit_out_of_order(checkpoint->id);
    const bool fine = co_await std::move(ordering);
    if (!fine) co_return End::kStop;
  }
  if (short_one && random_.chance(0.5)) {
    auto sleeping = world_.sleep_us(static_cast<int64_t>(random_.below(6'000'000)));
    co_await std::move(sleeping);
  }
  bool failed = random_.chance(0.1);
  Records records;
  bool refused = false;
  for (const auto& report : reports) {
    failed = failed || report->failed;
    refused = refused || report->refused;
    records.insert(records.end(), report->records.begin(), report->records.end());
  }
  const bool careless = refused && random_.chance(0.5);
  bool prepared = false;
  if (!failed || careless) {
    auto preparing = prepare(checkpoint, reports);
    prepared = co_await std::move(preparing);
  } else {
    send_zombies(checkpoint);
  }
  crashing = may_crash();
  crashed = co_await std::move(crashing);
  if (crashed) co_return End::kStop;
  End end = End::kGoOn;
  if (prepared) {
    auto finishing = finish(checkpoint, std::move(records));
    end = co_await std::move(finishing);
  } else {
    auto aborting = abort(checkpoint->id);
    co_await std::move(aborting);
    checkpoint->closed = !crashed_;
    if (crashed_) end = End::kStop;
  }
  for (const auto& executor : executors_) executor->ended();
  co_return end;
}

// The executors at work, until they have reported or the engine has waited long enough: who is late
// then is given up, and what it has staged does not count.
io::Task<SimBatchCoordinator::Reports> SimBatchCoordinator::execute(
    std::shared_ptr<Checkpoint> checkpoint) {
  Reports reports;
  for (const auto& executor : executors_) {
    reports.push_back(std::make_shared<SimBatchExecutor::Report>());
    io::spawn(world_.clients, SimBatchExecutor::work(executor, checkpoint, reports.back()));
  }
  const int64_t patience_us = random_.chance(0.2) ? 200'000 : 30'000'000;
  const int64_t until_us = world_.scheduler.now_us() + patience_us;
  const auto waits = [&reports] {
    for (const auto& report : reports) {
      if (!report->done) return true;
    }
    return false;
  };
  while (waits() && world_.scheduler.now_us() < until_us) {
    auto sleeping = world_.sleep_us(50'000);
    co_await std::move(sleeping);
  }
  Reports counted;
  for (size_t i = 0; i < reports.size(); ++i) {
    if (reports[i]->done) {
      counted.push_back(reports[i]);
      continue;
    }
    note("gives an executor up");
    checkpoint->disturbed = true;
    shared_.zombies.push_back(executors_[i]);
    replace(i);
  }
  co_return counted;
}

// Zombies know what is going on, and when it hurts most.
void SimBatchCoordinator::send_zombies(const std::shared_ptr<Checkpoint>& checkpoint) {
  std::vector<std::shared_ptr<SimBatchExecutor>> left;
  for (auto& zombie : shared_.zombies) {
    if (zombie->haunts >= kHaunts || left.size() == kMostZombies) {
      zombie->drop();
      continue;
    }
    if (random_.chance(0.4)) {
      left.push_back(std::move(zombie));
      continue;
    }
    if (zombie->is_armed()) {
      checkpoint->disturbed = true;
      zombie->haunt(checkpoint);
    } else {
      io::spawn(world_.clients, SimBatchExecutor::arm(zombie));
    }
    left.push_back(std::move(zombie));
  }
  shared_.zombies = std::move(left);
}

// True: it is prepared with just what the reports say.
io::Task<bool> SimBatchCoordinator::prepare(std::shared_ptr<Checkpoint> checkpoint,
                                            const Reports& reports) {
  // A retry of one executor may take what another has staged meanwhile for its own: then the sum
  // has it twice, the broker once.
  int64_t expected = 0;
  std::set<SourceRecord> offsets;
  for (const auto& report : reports) {
    expected += report->staged;
    offsets.insert(report->records.begin(), report->records.end());
  }
  const bool each_once = expected == static_cast<int64_t>(offsets.size());
  send_zombies(checkpoint);
  auto preparing = ask<protocol::PrepareBatchTxnRequest, protocol::PrepareBatchTxnResponse>(
      request_of<protocol::PrepareBatchTxnRequest>(checkpoint->id));
  const Answer answer = co_await std::move(preparing);
  checkpoint->closed = answer.error == ErrorCode::NONE;
  switch (answer.error) {
    case ErrorCode::NONE: break;
    // Abort-only; ended by its time, or by a later attempt.
    case ErrorCode::TRANSACTION_ABORTABLE: co_return false;
    case ErrorCode::INVALID_TXN_STATE:
      if (answer.state == "ABORTED") co_return false;
      [[fallthrough]];
    default:
      world_.ledger.finding("2: PrepareBatchTxn of " + checkpoint->id + " was answered " +
                            std::string(ackord::name_of(answer.error)) + " " + answer.state);
      co_return false;
  }
  shared_.prepared[checkpoint->id] = answer.staged_records;
  for (const auto& report : reports) {
    if (report->refused)
      world_.ledger.finding("all or nothing: " + checkpoint->id +
                            " is prepared, and an acknowledgement was refused for good");
  }
  if (answer.staged_records == expected && each_once) co_return true;
  if (base::planted(base::PlantedBug::kCountNotCompared)) co_return true;
  if (!checkpoint->disturbed && answer.staged_records != static_cast<int64_t>(offsets.size()))
    world_.ledger.finding("I6: " + checkpoint->id + " holds " +
                          std::to_string(answer.staged_records) + " records, and " +
                          std::to_string(offsets.size()) + " were staged");
  note("has staged " + std::to_string(expected) + " records, and the broker counts " +
       std::to_string(answer.staged_records));
  co_return false;
}

io::Task<SimBatchCoordinator::End> SimBatchCoordinator::finish(
    std::shared_ptr<Checkpoint> checkpoint, Records records) {
  // Longer than any timeout: what is prepared waits for its coordinator alone.
  if (random_.chance(0.15)) {
    auto sleeping = world_.sleep_us(static_cast<int64_t>(random_.below(10'000'000)));
    co_await std::move(sleeping);
  }
  auto writing = shared_.sink.commit(attempt_, checkpoint->id, std::move(records));
  const bool written = co_await std::move(writing);
  if (!written) {
    note("is told by the sink that it was replaced");
    co_return End::kStop;
  }
  auto crashing = may_crash();
  const bool crashed = co_await std::move(crashing);
  if (crashed) co_return End::kStop;
  auto committing = commit(checkpoint->id);
  co_await std::move(committing);
  co_return crashed_ ? End::kStop : End::kGoOn;
}

io::Task<void> SimBatchCoordinator::commit(std::string id) {
  auto committing = ask<protocol::CommitBatchTxnRequest, protocol::CommitBatchTxnResponse>(
      request_of<protocol::CommitBatchTxnRequest>(id));
  const Answer answer = co_await std::move(committing);
  if (crashed_) co_return;
  if (answer.error != ErrorCode::NONE) {
    world_.ledger.finding("I1: " + id + " is in the sink, and its commit was answered " +
                          std::string(ackord::name_of(answer.error)) + " " + answer.state);
    co_return;
  }
  ++world_.ledger.batch_commits;
  auto checking = check_nothing_staged(std::move(id), "commit");
  co_await std::move(checking);
}

io::Task<void> SimBatchCoordinator::abort(std::string id) {
  auto aborting = ask<protocol::AbortBatchTxnRequest, protocol::AbortBatchTxnResponse>(
      request_of<protocol::AbortBatchTxnRequest>(id));
  const Answer answer = co_await std::move(aborting);
  if (crashed_) co_return;
  if (answer.error != ErrorCode::NONE) {
    world_.ledger.finding("2: AbortBatchTxn of " + id + " was answered " +
                          std::string(ackord::name_of(answer.error)) + " " + answer.state);
    co_return;
  }
  ++world_.ledger.batch_aborts;
  auto checking = check_nothing_staged(std::move(id), "abort");
  co_await std::move(checking);
}

// False: it does not know what came of it, and leaves the rest to the next attempt.
io::Task<bool> SimBatchCoordinator::commit_out_of_order(std::string id) {
  auto calling =
      connection_.call<protocol::CommitBatchTxnRequest, protocol::CommitBatchTxnResponse>(
          request_of<protocol::CommitBatchTxnRequest>(id), 0, Repeats::kNever);
  const auto response = co_await std::move(calling);
  if (response && response->error_code == ErrorCode::NONE)
    world_.ledger.finding("2: " + id + " was committed, and nobody had prepared it");
  co_return response.has_value();
}

io::Task<void> SimBatchCoordinator::check_nothing_staged(std::string id, std::string after) {
  if (!random_.chance(0.3)) co_return;
  protocol::DescribeSharePartitionsRequest request;
  request.group_id = GroupId(kGroup);
  auto& topic = request.topics.emplace_back();
  topic.topic_id = lines_;
  auto calling = connection_.call<protocol::DescribeSharePartitionsRequest,
                                  protocol::DescribeSharePartitionsResponse>(std::move(request), 0);
  const auto response = co_await std::move(calling);
  if (!response || response->error_code != ErrorCode::NONE) co_return;
  for (const auto& one : response->topics) {
    for (const auto& partition : one.partitions) {
      for (const auto& range : partition.ranges) {
        if (range.owner_transaction_id && range.owner_transaction_id->str() == id &&
            range.owner_producer_id < 0)
          world_.ledger.finding("I4: the " + after + " of " + id +
                                " was answered, and records of it are still staged");
      }
    }
  }
}

}  // namespace ackord::simulation
