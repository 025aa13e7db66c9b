#include "tests/simulation/sim_worker.h"

#include <set>
#include <utility>

#include "broker/base/planted_bug.h"

namespace ackord::simulation {
namespace {

constexpr int32_t kTransactionTimeoutMs = 20000;
// Longer than the shortest record lock (15 s) and the transaction's timeout together.
constexpr int64_t kLongSleepMs = 40000;

std::string epoch_text(ProducerId id, int16_t epoch) {
  return "p" + std::to_string(id.value) + "e" + std::to_string(epoch);
}

}  // namespace

SimWorker::SimWorker(World& world, Options options, Uuid lines)
    : world_(world),
      random_(world.scheduler.random),
      options_(std::move(options)),
      lines_(lines),
      consumer_(world, options_.name, kGroup, lines),
      connection_(consumer_.connection()) {}

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
    auto beating = consumer_.heartbeat();
    const bool member = co_await std::move(beating);
    if (!member) {
      auto thinking = think(500);
      co_await std::move(thinking);
      continue;
    }
    auto fetching = consumer_.fetch();
    Records records = co_await std::move(fetching);
    if (records.empty()) {
      auto thinking = think(300);
      co_await std::move(thinking);
      continue;
    }
    auto working = transaction(std::move(records), false);
    Step step = co_await std::move(working);
    if (step != Step::kFenced && producer_ready_ && !held_back_.empty()) {
      auto again = transaction(std::exchange(held_back_, {}), true);
      step = co_await std::move(again);
    }
    held_back_.clear();
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

io::Task<SimWorker::Step> SimWorker::transaction(Records records, bool at_once) {
  // One that it has not made up its mind about stays acquired, and out of the transaction.
  if (records.size() > 1 && random_.chance(0.3)) {
    held_back_ = {records.back()};
    records.pop_back();
  }
  // Under version 2 the epoch names the transaction, so that the stage itself may begin it.
  const bool lazy = options_.transaction_version_2 && !options_.through_library &&
                    (at_once || random_.chance(0.4));
  careless_ = random_.chance(0.5);
  stage_is_first_ = lazy && !options_.has_twin;
  jumps_ = world_.scheduler.jumps();
  start_ms_ = -1;
  stages_as_ = {producer_id_, producer_epoch_};
  producer_added_ = commit_unanswered_ = false;
  ended_ = std::make_shared<bool>(false);
  Step step = Step::kDone;
  if (!lazy) {
    auto beginning = begin();
    step = co_await std::move(beginning);
  }
  if (step == Step::kDone && random_.chance(0.15)) {
    auto racing = stage_and_abort(records);
    co_return co_await std::move(racing);
  }
  if (step == Step::kDone) {
    auto working = work(records);
    step = co_await std::move(working);
  }
  if (step != Step::kFenced && options_.sleeps_once && !has_slept_ && random_.chance(0.4)) {
    auto sleeping = fall_asleep(kLongSleepMs);
    co_await std::move(sleeping);
  }
  if (step == Step::kFenced) co_return step;
  const bool refused = step == Step::kRefused;
  const bool commit = (step == Step::kDone && !random_.chance(0.2)) || (refused && careless_);
  auto ending = end(commit);
  step = co_await std::move(ending);
  if (step == Step::kDone) {
    if (refused)
      world_.ledger.finding("all or nothing: " + options_.name +
                            " has committed, and a stage had failed for good");
    ++world_.ledger.commits;
    world_.ledger.settled(kGroup, records, world_.scheduler.now_us());
  } else if (step == Step::kAbort) {
    ++world_.ledger.aborts;
  }
  if (step != Step::kDone && commit_unanswered_) world_.ledger.undecided(kGroup, records);
  co_return step;
}

io::Task<void> SimWorker::fall_asleep(int64_t up_to_ms) {
  note("falls asleep");
  has_slept_ = asleep_ = true;
  auto sleeping = think(up_to_ms);
  co_await std::move(sleeping);
  asleep_ = false;
  note("wakes up");
}

// A part of the records after the other, now and then.
io::Task<SimWorker::Step> SimWorker::work(const Records& records) {
  const bool outputs_first = random_.chance(0.5);
  const size_t split = random_.chance(0.3) ? random_.below(records.size()) : 0;
  Records parts[2] = {{records.begin(), records.begin() + static_cast<ptrdiff_t>(split)},
                      {records.begin() + static_cast<ptrdiff_t>(split), records.end()}};
  Step step = Step::kDone;
  for (Records& part : parts) {
    if (part.empty()) continue;
    auto working = work_on(std::move(part), outputs_first);
    const Step done = co_await std::move(working);
    if (done == Step::kFenced || done == Step::kAbort) co_return done;
    if (done == Step::kRefused) step = done;
    if (step == Step::kRefused && !careless_) co_return step;
    if (random_.chance(0.05)) {
      note("drops its session");
      consumer_.drop();
    }
    if (random_.chance(0.08)) {
      auto thinking = think_too_long(records);
      const Step after = co_await std::move(thinking);
      if (after != Step::kDone) co_return after;
    }
  }
  co_return step;
}

io::Task<SimWorker::Step> SimWorker::work_on(Records records, bool outputs_first) {
  Step step = Step::kDone;
  if (outputs_first) {
    auto producing = produce_all(records);
    step = co_await std::move(producing);
    if (step != Step::kDone) co_return step;
  }
  auto staging = stage(records);
  step = co_await std::move(staging);
  const bool go_on = step == Step::kDone || (step == Step::kRefused && careless_);
  if (outputs_first || !go_on) co_return step;
  auto producing = produce_all(records);
  const Step produced = co_await std::move(producing);
  co_return produced == Step::kDone ? step : produced;
}

// The locks end meanwhile; and then it may be handed the same records again.
io::Task<SimWorker::Step> SimWorker::think_too_long(const Records& held) {
  auto thinking = think(25000);
  co_await std::move(thinking);
  auto fetching = consumer_.fetch();
  const Records more = co_await std::move(fetching);
  const std::set<SourceRecord> known(held.begin(), held.end());
  for (const SourceRecord& record : more) {
    // The rule of the protocol's part 3: a second copy within the transaction leaves only abort.
    if (!known.contains(record)) continue;
    if (!base::planted(base::PlantedBug::kSecondCopyUsed)) co_return Step::kAbort;
    auto working = work_on({record}, true);
    (void)co_await std::move(working);
  }
  // The others stay acquired until their locks end: this transaction does not take them.
  co_return Step::kDone;
}

// It gives the stage up before its answer, as after a timeout, and aborts.
io::Task<SimWorker::Step> SimWorker::stage_and_abort(const Records& records) {
  note("stages and does not wait:" + list_of(records));
  io::spawn(world_.clients,
            send_later(stage_request(records), static_cast<int64_t>(random_.below(3)), ended_));
  auto thinking = think(4);
  co_await std::move(thinking);
  auto ending = end(false);
  const Step step = co_await std::move(ending);
  if (step == Step::kAbort) ++world_.ledger.aborts;
  co_return step;
}

}  // namespace ackord::simulation
