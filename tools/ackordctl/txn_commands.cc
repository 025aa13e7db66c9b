#include "tools/ackordctl/txn_commands.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/deadline.h"
#include "tools/ackordctl/share_groups.h"
#include "tools/ackordctl/table.h"
#include "tools/ackordctl/txn_text.h"

namespace ackord::ctl {
namespace {

using client::Cluster;
using client::Deadline;

TimeMs now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A decided transaction's markers are on their way: until they have arrived.
Result<Transaction> await_complete(Cluster& cluster, const std::string& id,
                                   const Deadline& deadline) {
  client::Backoff backoff(cluster.config());
  while (true) {
    Result<Transaction> now = describe_transaction(cluster, id, deadline);
    if (!now || !now->prepared()) return now;
    if (!backoff.sleep(deadline)) {
      return error(ErrorCode::REQUEST_TIMED_OUT,
                   id + " is decided (" + now->state + "), but its markers are not written yet");
    }
  }
}

// Whether a coordinator has a transaction of this producer open that lists the partition.
Result<void> refuse_if_open(Cluster& cluster, const PartitionAbort& abort,
                            const Deadline& deadline) {
  TransactionFilter filter;
  filter.producer_ids = {abort.producer_id};
  Result<std::vector<ListedTransaction>> listed = list_transactions(cluster, filter, deadline);
  if (!listed) return listed.error();
  for (const ListedTransaction& one : *listed) {
    Result<Transaction> found = describe_transaction(cluster, one.id, deadline);
    if (!found) return found.error();
    if (!found->open() && !found->prepared()) continue;
    const auto topic = found->partitions.find(abort.topic);
    if (topic == found->partitions.end()) continue;
    const std::vector<int32_t>& indexes = topic->second;
    if (std::find(indexes.begin(), indexes.end(), abort.partition) == indexes.end()) continue;
    return error(ErrorCode::INVALID_TXN_STATE, "its coordinator has it open (" + found->state +
                                                   "): end all of it with txn abort " + one.id);
  }
  return {};
}

Result<PartitionAbort> find_hanging(Cluster& cluster, const TxnOptions& options,
                                    const Deadline& deadline) {
  PartitionAbort abort{options.topic, options.partition, options.producer_id.value_or(-1),
                       options.producer_epoch, std::max(options.coordinator_epoch, 0)};
  if (!options.start_offset) return abort;
  Result<std::vector<PartitionProducer>> producers =
      producers_of(cluster, options.topic, options.partition, deadline);
  if (!producers) return producers.error();
  for (const PartitionProducer& one : *producers) {
    if (one.transaction_start_offset != *options.start_offset) continue;
    abort.producer_id = one.producer_id;
    abort.producer_epoch = static_cast<int16_t>(one.producer_epoch);
    abort.coordinator_epoch = std::max(one.coordinator_epoch, 0);
    return abort;
  }
  return error(ErrorCode::INVALID_TXN_STATE, "no transaction is open there that starts at offset " +
                                                 std::to_string(*options.start_offset) +
                                                 ": see txn producers");
}

}  // namespace

Result<void> list_txns(Cluster& cluster, const TxnOptions& options, const Deadline& deadline,
                       std::ostream& out) {
  Result<std::vector<ListedTransaction>> listed =
      list_transactions(cluster, options.filter, deadline);
  if (!listed) return listed.error();
  print(*listed, options.json, out);
  return {};
}

Result<void> describe_txn(Cluster& cluster, const TxnOptions& options, const Deadline& deadline,
                          std::ostream& out) {
  Result<Transaction> found = describe_transaction(cluster, options.id, deadline);
  if (!found) return found.error();
  DescribedTransaction described{*found, {}, now_ms()};
  if (found->holds_share_acknowledgements()) {
    const int64_t producer = found->producer_id;
    Result<std::vector<StagedRange>> staged = staged_ranges(
        cluster, [producer](const InFlight& range) { return range.producer_id == producer; },
        deadline);
    if (!staged) return staged.error();
    described.staged = std::move(*staged);
  }
  print(described, options.json, out);
  return {};
}

Result<void> show_producers(Cluster& cluster, const TxnOptions& options, const Deadline& deadline,
                            std::ostream& out) {
  Result<std::vector<PartitionProducer>> producers =
      producers_of(cluster, options.topic, options.partition, deadline);
  if (!producers) return producers.error();
  print(*producers, options.json, out);
  return {};
}

Result<void> abort_txn(Cluster& cluster, const TxnOptions& options, const Deadline& deadline,
                       std::ostream& out) {
  // A fence would create an unknown id, and hit a producer at rest for nothing.
  Result<Transaction> found = describe_transaction(cluster, options.id, deadline);
  if (!found) return found.error();
  EndedTransaction ended{options.id, "nothing open", found->state};
  if (found->open()) {
    if (Result<void> fenced = fence(cluster, options.id, deadline); !fenced) return fenced;
    ended.outcome = "fenced";
  } else if (found->prepared()) {
    ended.outcome = found->state == "PrepareAbort" ? "aborted" : "committed";
  }
  Result<Transaction> now = await_complete(cluster, options.id, deadline);
  if (!now) return now.error();
  ended.state = now->state;
  print(ended, options.json, out);
  return {};
}

Result<void> abort_hanging(Cluster& cluster, const TxnOptions& options, const Deadline& deadline,
                           std::ostream& out) {
  Result<PartitionAbort> abort = find_hanging(cluster, options, deadline);
  if (!abort) return abort.error();
  if (Result<void> alone = refuse_if_open(cluster, *abort, deadline); !alone) return alone;
  if (Result<void> done = write_abort_marker(cluster, *abort, deadline); !done) return done;
  print(*abort, options.json, out);
  return {};
}

Result<void> commit_txn(Cluster& cluster, const TxnOptions& options, const Deadline& deadline,
                        std::ostream& out) {
  Result<Transaction> found = describe_transaction(cluster, options.id, deadline);
  if (!found) return found.error();
  if (!found->open() || !found->two_phase()) {
    return error(ErrorCode::INVALID_TXN_STATE,
                 options.id + " is no open two-phase transaction (" + found->state +
                     "): only its producer knows whether it is complete");
  }
  if (Result<void> decided = commit(cluster, *found, deadline); !decided) return decided;
  Result<Transaction> now = await_complete(cluster, options.id, deadline);
  if (!now) return now.error();
  print(EndedTransaction{options.id, "committed", now->state}, options.json, out);
  return {};
}

}  // namespace ackord::ctl
