// SimBatchCoordinator: one attempt of a batch engine's coordinator: recovers what earlier attempts
// have left, then runs checkpoints: begin, executors, prepare, the sink's own commit, commit.
//
// What it must never see (part 2): an id that it has begun and that is not known; a prepared
// transaction that ended otherwise than it said; a count of staged records that is not its
// executors' sum although nobody else took part; records still staged when an end was answered.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/generated/abort_batch_txn_request.h"
#include "protocol/generated/abort_batch_txn_response.h"
#include "protocol/generated/begin_batch_txn_request.h"
#include "protocol/generated/begin_batch_txn_response.h"
#include "protocol/generated/commit_batch_txn_request.h"
#include "protocol/generated/commit_batch_txn_response.h"
#include "protocol/generated/prepare_batch_txn_request.h"
#include "protocol/generated/prepare_batch_txn_response.h"
#include "tests/simulation/client_errors.h"
#include "tests/simulation/sim_batch_executor.h"
#include "tests/simulation/sim_sink.h"

namespace ackord::simulation {

// What survives an attempt: the sink; executors that were given up and are still alive; and, for
// the checkers, what was prepared.
struct SharedByAttempts {
  SimSink& sink;
  std::vector<std::shared_ptr<SimBatchExecutor>> zombies;
  std::map<std::string, int64_t> prepared;  // id → StagedRecords
  bool names_hold_attempt = true;
  int running = 0;  // attempts that have not ended: more than one when one has hung
};

class SimBatchCoordinator {
 public:
  SimBatchCoordinator(World& world, SharedByAttempts& shared, int attempt, Uuid lines);

  // Checkpoints until `stop`, a crash, or the news that there is a later attempt.
  io::Task<void> run(const bool& stop);
  bool is_over() const { return over_; }
  // It does not move, and the engine cannot know why.
  bool is_hanging() const { return hanging_; }

 private:
  enum class End { kGoOn, kStop };
  struct Answer {
    ErrorCode error = ErrorCode::NONE;
    std::string state;
    int64_t staged_records = 0;
  };
  using Reports = std::vector<std::shared_ptr<SimBatchExecutor::Report>>;

  io::Task<bool> recover();
  io::Task<End> checkpoint();
  io::Task<Reports> execute(std::shared_ptr<Checkpoint> checkpoint);
  // From the prepared transaction to its end.
  io::Task<End> finish(std::shared_ptr<Checkpoint> checkpoint, Records records);
  io::Task<bool> prepare(std::shared_ptr<Checkpoint> checkpoint, const Reports& reports);
  io::Task<void> commit(std::string id);
  io::Task<void> abort(std::string id);
  io::Task<bool> commit_out_of_order(std::string id);
  io::Task<void> check_nothing_staged(std::string id, std::string after);
  void send_zombies(const std::shared_ptr<Checkpoint>& checkpoint);
  void replace(size_t executor);
  // Between two steps: it may be over with this attempt, or hang for a while.
  io::Task<bool> may_crash();
  std::string name_of_next();

  // One request; repeated until it has an answer that is no passing error. A commit or an abort may
  // be its last, when no answer comes (`crashed_`).
  template <class Request, class Response>
  io::Task<Answer> ask(Request request) {
    while (true) {
      world_.provoke();
      auto calling = connection_.call<Request, Response>(Request(request), 0);
      const std::optional<Response> response = co_await std::move(calling);
      const ErrorCode code = response ? response->error_code : ErrorCode::REQUEST_TIMED_OUT;
      note(std::string(Request::kName) + " " + request.transaction_id.str() + ": " +
           (response ? std::string(ackord::name_of(code)) : "no answer"));
      const bool ends = Request::kApiKey == protocol::CommitBatchTxnRequest::kApiKey ||
                        Request::kApiKey == protocol::AbortBatchTxnRequest::kApiKey;
      if (!response && ends && random_.chance(0.3)) {
        note("crashes without an answer");
        crashed_ = true;
        co_return Answer{code, {}, 0};
      }
      if (response && !is_worth_a_retry(code))
        co_return Answer{code, response->state.str(), response->staged_records};
      auto sleeping = world_.sleep_us(static_cast<int64_t>(random_.below(300'000)));
      co_await std::move(sleeping);
    }
  }
  template <class Request>
  static Request request_of(const std::string& id) {
    Request request;
    request.transaction_id = TransactionalId(id);
    request.group_id = GroupId(kGroup);
    return request;
  }
  void note(const std::string& what) { world_.ledger.note(world_.scheduler.now_us(), name_, what); }

  World& world_;
  SimRandom& random_;
  SharedByAttempts& shared_;
  int attempt_;
  std::string name_;
  Uuid lines_;
  SimConnection connection_;
  std::vector<std::shared_ptr<SimBatchExecutor>> executors_;
  int executors_made_ = 0;
  int checkpoints_ = 0;
  bool over_ = false;
  bool crashed_ = false;
  bool hanging_ = false;
  bool has_hung_ = false;
};

}  // namespace ackord::simulation
