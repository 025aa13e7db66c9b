#include "tools/ackordctl/batch_commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "tools/ackordctl/batch_text.h"
#include "tools/ackordctl/share_groups.h"
#include "tools/ackordctl/table.h"

namespace ackord::ctl {
namespace {

using client::BatchTransaction;
using client::BatchTransactionCoordinator;
using client::BatchTransactionState;
using client::Cluster;
using client::Deadline;
using Transactions = std::unique_ptr<BatchTransactionCoordinator>;

Result<Transactions> transactions_of(const Cluster& cluster, const std::string& group,
                                     const Deadline& deadline) {
  return BatchTransactionCoordinator::create(cluster.config(), GroupId(group), deadline.left());
}

Result<ListedBatch> find(BatchTransactionCoordinator& transactions, const BatchOptions& options,
                         const Deadline& deadline) {
  Result<std::vector<BatchTransaction>> listed = transactions.list(options.id, {}, deadline.left());
  if (!listed) return listed.error();
  for (BatchTransaction& one : *listed) {
    if (one.id == options.id) return ListedBatch{options.group, std::move(one)};
  }
  return error(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND,
               options.group + " has no batch transaction " + options.id);
}

Result<void> end_batch(Cluster& cluster, const BatchOptions& options, bool commit,
                       const Deadline& deadline, std::ostream& out) {
  Result<Transactions> transactions = transactions_of(cluster, options.group, deadline);
  if (!transactions) return transactions.error();
  Result<void> done = commit ? (*transactions)->commit(options.id, deadline.left())
                             : (*transactions)->abort(options.id, deadline.left());
  if (!done && done.error().code == ErrorCode::INVALID_TXN_STATE) {
    Result<ListedBatch> found = find(**transactions, options, deadline);
    if (!found) return found.error();
    return error(ErrorCode::INVALID_TXN_STATE,
                 options.id + " is " + client::name_of(found->transaction.state) +
                     (commit ? ": only a prepared one can be committed"
                             : ": only one that is not committed can be aborted"));
  }
  if (!done) return done;
  print(EndedBatch{options.group, options.id, commit}, options.json, out);
  return {};
}

}  // namespace

Result<void> list_batches(Cluster& cluster, const BatchOptions& options, const Deadline& deadline,
                          std::ostream& out) {
  std::vector<BatchTransactionState> states;
  for (const std::string& name : options.states) {
    const std::optional<BatchTransactionState> state = client::batch_transaction_state(name);
    if (!state) return error(ErrorCode::INVALID_REQUEST, "there is no state " + name);
    states.push_back(*state);
  }
  // What has ended stays listed for a day: it is shown when it is asked for.
  if (states.empty()) states = {BatchTransactionState::kOngoing, BatchTransactionState::kPrepare};
  std::vector<std::string> groups{options.group};
  if (options.group.empty()) {
    Result<std::vector<std::string>> all = share_groups(cluster, deadline);
    if (!all) return all.error();
    groups = std::move(*all);
    // Also where there is no group, a broker that has no batch transactions is told apart.
    if (Result<Transactions> able = transactions_of(cluster, "", deadline); !able)
      return able.error();
  }
  std::vector<ListedBatch> batches;
  for (const std::string& group : groups) {
    Result<Transactions> transactions = transactions_of(cluster, group, deadline);
    if (!transactions) return transactions.error();
    Result<std::vector<BatchTransaction>> listed =
        (*transactions)->list(options.prefix, states, deadline.left());
    if (!listed) return listed.error();
    std::stable_sort(listed->begin(), listed->end(), [](const auto& a, const auto& b) {
      return a.create_time_ms < b.create_time_ms;
    });
    for (BatchTransaction& one : *listed) batches.push_back({group, std::move(one)});
  }
  print(batches, options.json, out);
  return {};
}

Result<void> describe_batch(Cluster& cluster, const BatchOptions& options, const Deadline& deadline,
                            std::ostream& out) {
  Result<Transactions> transactions = transactions_of(cluster, options.group, deadline);
  if (!transactions) return transactions.error();
  Result<ListedBatch> found = find(**transactions, options, deadline);
  if (!found) return found.error();
  print(*found, options.json, out);
  return {};
}

Result<void> commit_batch(Cluster& cluster, const BatchOptions& options, const Deadline& deadline,
                          std::ostream& out) {
  return end_batch(cluster, options, true, deadline, out);
}

Result<void> abort_batch(Cluster& cluster, const BatchOptions& options, const Deadline& deadline,
                         std::ostream& out) {
  return end_batch(cluster, options, false, deadline, out);
}

}  // namespace ackord::ctl
