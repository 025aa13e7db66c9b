// BatchTransactions: the batch transactions of the groups whose coordinator is one partition of
// `__share_group_state`; a part of its ShareShard. Pure; see coordinator/shard.h for decide and
// apply.
//
// Hard: the transactions, from their records. Soft: closings under way, and the timers of
// transactions that time out or are forgotten. Costs: O(log n); no operation walks over all but
// those that say so. Rules: docs/PROTOCOL.md part 2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "broker/coordinator/shard.h"
#include "broker/io/clock.h"
#include "broker/share/batch_txn_types.h"

namespace ackord::share {

struct BatchClosingBegun {
  BatchTxnId id;
  uint64_t token = 0;
};
struct BatchClosingEnded {
  BatchTxnId id;
};
// When Tick looks at it next.
struct BatchTimerSet {
  BatchTxnId id;
  int64_t deadline_ms = 0;
};
using BatchTxnEffect = std::variant<BatchClosingBegun, BatchClosingEnded, BatchTimerSet>;

class BatchTransactions {
 public:
  // What a decision logs and changes besides its reply.
  struct Changes {
    std::vector<BatchTxnRecord> records;
    std::vector<BatchTxnEffect> effects;
  };

  // `retention_ms`: share.batch.transaction.retention.ms.
  explicit BatchTransactions(int64_t retention_ms) : retention_ms_(retention_ms) {}

  BatchTxnReply decide(const BeginBatchTxn& op, io::Now now, Changes& changes) const;
  PartitionError decide(const EnlistBatchTxn& op, io::Now now, Changes& changes) const;
  DoomBatchTxn::Reply decide(const DoomBatchTxn& op, io::Now now, Changes& changes) const;
  CloseBatchTxn::Reply decide(const CloseBatchTxn& op, io::Now now, Changes& changes) const;
  BatchTxnReply decide(const DecideBatchTxn& op, io::Now now, Changes& changes) const;
  GiveUpClosingBatchTxn::Reply decide(const GiveUpClosingBatchTxn& op, io::Now now,
                                      Changes& changes) const;
  BatchTxnReply decide(const CommitBatchTxn& op, io::Now now, Changes& changes) const;
  BatchTxnResolved::Reply decide(const BatchTxnResolved& op, io::Now now, Changes& changes) const;
  // Walks over the group's transactions.
  ListBatchTxns::Reply decide(const ListBatchTxns& op, io::Now now, Changes& changes) const;
  // Walks over the group's transactions, or over all.
  CountLiveBatchTxns::Reply decide(const CountLiveBatchTxns& op, io::Now now,
                                   Changes& changes) const;
  // Walks over all.
  ResumeBatchTxns::Reply decide(const ResumeBatchTxns& op, io::Now now, Changes& changes) const;
  // Forgets those whose retention is over; returns those whose time is over, for the caller to
  // abort.
  std::vector<BatchTxnId> tick(io::Now now, Changes& changes) const;

  // Logs the `budget` oldest records anew, as they are, where what they hold back from being pruned
  // is several times what they are: the log behind them stays in proportion to their number.
  // `end`: of the log. True when there may be more to do.
  bool log_anew(Offset end, size_t budget, Changes& changes) const;

  void apply(const BatchTxnRecord& record, const coordinator::RecordContext& context);
  void apply_soft(const BatchTxnEffect& effect);
  std::optional<int64_t> next_deadline() const;

  // Null: there is none.
  const BatchTxnRecord::Value* find(const BatchTxnId& id) const;
  // Whether a closing has ended since the last call: those that wait for it may go on. Const, since
  // it is no state.
  bool take_closing_ended() const { return std::exchange(closing_ended_, false); }
  // The smallest offset that a record of one that is not forgotten has; records below it are of no
  // use to a load.
  std::optional<Offset> first_needed_offset() const;

 private:
  struct Transaction {
    BatchTxnRecord::Value value;
    Offset log_offset = 0;
  };
  struct Hard {
    std::map<BatchTxnId, Transaction> transactions;
    std::set<std::pair<Offset, BatchTxnId>> by_offset;
  };
  struct Soft {
    std::map<BatchTxnId, uint64_t> closings;  // token
    std::map<BatchTxnId, int64_t> timers;
    std::set<std::pair<int64_t, BatchTxnId>> timers_by_deadline;
  };

  static BatchTxnReply reply_of(const BatchTxnRecord::Value& value);
  static BatchTxnReply wrong_state(const BatchTxnRecord::Value& value);
  static BatchTxnReply not_found();
  bool is_closing(const BatchTxnId& id) const { return soft_.closings.contains(id); }
  // Logs the decision; the reply names the participants to be told.
  BatchTxnReply conclude(const BatchTxnId& id, const BatchTxnRecord::Value& before,
                         BatchTxnState to, int64_t staged_records, io::Now now,
                         Changes& changes) const;
  void set_timer(const BatchTxnId& id, const BatchTxnRecord::Value& value, io::Now now,
                 Changes& changes) const;
  std::map<BatchTxnId, Transaction>::const_iterator first_of(const GroupId& group) const;
  void drop_timer(const BatchTxnId& id);

  int64_t retention_ms_;
  Hard hard_;
  Soft soft_;
  mutable bool closing_ended_ = false;
};

}  // namespace ackord::share
