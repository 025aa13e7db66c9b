// Random operations on one share shard against a model that holds one entry per offset, and after
// each of them a load from the log, whose hard state must be the live one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/broker/share/shard_harness.h"

namespace ackord::share {
namespace {

constexpr int64_t kLockMs = 1000;
constexpr int16_t kLimit = 4;
constexpr Offset kLogEnd = 400;

struct ModelRecord {
  RecordState state = RecordState::AVAILABLE;
  int16_t count = 0;  // as acquired
  std::string member;
  int64_t deadline = 0;
  int64_t owner = -1;  // producer id
  int8_t type = -1;
};

class Model {
 public:
  Model(uint64_t seed, int32_t updates_per_snapshot)
      : random_(seed), harness_(updates_per_snapshot) {
    records_.resize(kLogEnd);
    for (int32_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(harness_.run(Initialize{other(i), 0, 0}).ok());
    }
    activate();
  }

  void step() {
    switch (pick(14)) {
      case 0:
      case 1:
      case 2: acquire(); break;
      case 3:
      case 4: acknowledge(); break;
      case 5:
      case 6:
      case 7: stage(); break;
      case 8:
      case 9: marker(); break;
      case 10: pass_time(); break;
      case 11: release(); break;
      case 12:
        if (pick(3) == 0) move_log_start();
        break;
      default:
        if (pick(6) == 0) forget_soft();
        break;
    }
    check();
  }

  Offset start() const { return partition().start_offset(); }

 private:
  static SharePartitionKey other(int32_t partition) { return {GroupId("g"), Uuid{{1}}, partition}; }
  static SharePartitionKey key() { return other(0); }
  const SharePartition& partition() const { return *harness_.shard_view().find(key()); }
  uint64_t pick(uint64_t below) {
    return std::uniform_int_distribution<uint64_t>(0, below - 1)(random_);
  }
  std::string member() { return "m" + std::to_string(pick(3)); }
  OffsetRange range() {
    const Offset first = std::max<Offset>(0, start() - 2) + static_cast<Offset>(pick(30));
    return {first, std::min<Offset>(kLogEnd - 1, first + static_cast<Offset>(pick(8)))};
  }
  // Where something is, more often than not.
  OffsetRange acquired_range(const std::string& who) {
    std::vector<Offset> mine;
    for (Offset at = 0; at < kLogEnd; ++at) {
      if (records_[at].state == RecordState::ACQUIRED && records_[at].member == who)
        mine.push_back(at);
    }
    if (mine.empty() || pick(5) == 0) return range();
    const Offset first = mine[pick(mine.size())];
    Offset last = first;
    const auto length = static_cast<Offset>(pick(6));
    while (last - first < length && last + 1 < kLogEnd &&
           records_[last + 1].state == RecordState::ACQUIRED && records_[last + 1].member == who) {
      ++last;
    }
    return {first, last};
  }

  void activate() { EXPECT_TRUE(harness_.run(Activate{key(), 0, 0}).error.ok()); }

  void acquire() {
    const auto next = harness_.run(NextFetch{key(), log_start_, 200});
    ASSERT_FALSE(next.inactive);
    if (!next.offset || *next.offset >= kLogEnd) return;
    EXPECT_GE(*next.offset, log_start_);
    EXPECT_EQ(records_[*next.offset].state, RecordState::AVAILABLE) << *next.offset;
    Acquire op{key(), {member(), 1}, {}};
    op.request.fetch_offset = *next.offset;
    op.request.log_start_offset = log_start_;
    op.request.max_records = 1 + static_cast<int32_t>(pick(30));
    op.request.batch_size = 1 + static_cast<int32_t>(pick(20));
    op.request.mode = pick(2) ? ShareAcquireMode::RECORD_LIMIT : ShareAcquireMode::BATCH_OPTIMIZED;
    op.request.max_record_locks = 200;
    op.request.limit.count = kLimit;
    op.request.lock_duration_ms = kLockMs;
    for (Offset base = *next.offset / 5 * 5; base < kLogEnd && op.request.batches.size() < 4;
         base += 5) {
      op.request.batches.push_back({base, base + 4});
    }
    const auto reply = harness_.run(op);
    int64_t taken = 0;
    Offset previous = -1;
    for (const AcquiredRecords& got : reply.acquired) {
      EXPECT_GT(got.first_offset, previous);
      previous = got.last_offset;
      for (Offset at = got.first_offset; at <= got.last_offset; ++at, ++taken) {
        ModelRecord& record = records_[at];
        EXPECT_EQ(record.state, RecordState::AVAILABLE) << at;
        EXPECT_EQ(got.delivery_count, record.count + 1) << at;
        EXPECT_GE(at, log_start_);
        record = {RecordState::ACQUIRED, static_cast<int16_t>(record.count + 1),
                  op.holder.member_id, harness_.now().steady_ms + kLockMs};
      }
    }
    EXPECT_EQ(taken, reply.record_count);
    EXPECT_GT(taken, 0) << "a fetch offset says that something can be taken";
    if (op.request.mode == ShareAcquireMode::RECORD_LIMIT) {
      EXPECT_LE(taken, op.request.max_records);
    }
  }

  static RecordState released(Offset at, const ModelRecord& record, Offset log_start) {
    return at < log_start || record.count >= kLimit ? RecordState::ARCHIVED
                                                    : RecordState::AVAILABLE;
  }
  void end_lock(Offset at) {
    records_[at].state = released(at, records_[at], seen_log_start());
    records_[at].member.clear();
  }
  Offset seen_log_start() const {
    return partition().active() ? partition().soft()->log_start_offset : 0;
  }

  void acknowledge() {
    Acknowledge op;
    op.member_id = member();
    const OffsetRange r = acquired_range(op.member_id);
    std::vector<int8_t> types;
    for (Offset at = r.first_offset; at <= r.last_offset; ++at)
      types.push_back(static_cast<int8_t>(pick(5)));
    if (pick(2)) types.resize(1);
    const Offset begin = start();
    const Offset end = partition().soft()->end_offset;
    bool held = true;
    for (Offset at = std::max(begin, r.first_offset); at <= r.last_offset; ++at) {
      held = held && records_[at].state == RecordState::ACQUIRED &&
             records_[at].member == op.member_id;
    }
    ErrorCode expected = held ? ErrorCode::NONE : ErrorCode::INVALID_RECORD_STATE;
    if (r.last_offset >= begin && r.last_offset >= end && begin != end)
      expected = ErrorCode::INVALID_REQUEST;
    Acknowledge::Partition asked{key(), {{r.first_offset, r.last_offset, types}}};
    asked.limit.count = kLimit;
    asked.lock_duration_ms = kLockMs;
    op.partitions.push_back(asked);
    const auto reply = harness_.run(op);
    ASSERT_EQ(reply.at(0).error_code, expected) << reply.at(0).error_message;
    if (expected != ErrorCode::NONE) return;
    for (Offset at = std::max(begin, r.first_offset); at <= r.last_offset; ++at) {
      ModelRecord& record = records_[at];
      switch (types[types.size() == 1 ? 0 : static_cast<size_t>(at - r.first_offset)]) {
        case 1: record.state = RecordState::ACKNOWLEDGED; break;
        case 2: end_lock(at); break;
        case 4: record.deadline = harness_.now().steady_ms + kLockMs; break;
        default: record.state = RecordState::ARCHIVED; break;
      }
    }
  }

  void stage() {
    const int64_t pid = static_cast<int64_t>(pick(3));
    Stage op;
    op.owner = {ProducerId(pid), epochs_[pid], TransactionalId("tx"), 0};
    op.member_id = member();
    op.producer = harness_.producer(ProducerId(pid));
    op.guard = harness_.run(TakeGuard{{ProducerId(pid), {}, {}}, ++token_});
    const OffsetRange r = acquired_range(op.member_id);
    const int8_t type = pick(3) ? 1 : pick(2) ? 3 : 0;
    op.partitions.push_back({key(), {{r.first_offset, r.last_offset, {type}}}});
    bool good = true;
    for (Offset at = r.first_offset; at <= r.last_offset; ++at) {
      const ModelRecord& record = records_[at];
      const bool again =
          record.state == RecordState::TX_PENDING && record.owner == pid && record.type == type;
      good = good &&
             (again || (record.state == RecordState::ACQUIRED && record.member == op.member_id));
    }
    const auto reply = harness_.run(op);
    ASSERT_EQ(reply.at(0).error.error_code,
              good ? ErrorCode::NONE : ErrorCode::INVALID_RECORD_STATE)
        << reply.at(0).error.error_message;
    if (!good) return;
    for (Offset at = r.first_offset; at <= r.last_offset; ++at) {
      records_[at].state = RecordState::TX_PENDING;
      records_[at].owner = pid;
      records_[at].type = type;
    }
  }

  void marker() {
    const int64_t pid = static_cast<int64_t>(pick(3));
    const bool new_protocol = pick(2) != 0;
    if (new_protocol) ++epochs_[pid];
    Marker op{{{ProducerId(pid), epochs_[pid]},
               pick(2) != 0,
               0,
               static_cast<int8_t>(new_protocol ? 2 : 1)},
              harness_.producer(ProducerId(pid))};
    const auto reply = harness_.run(op);
    ASSERT_TRUE(reply.error.ok()) << reply.error.error_message;
    int64_t resolved = 0;
    for (Offset at = 0; at < kLogEnd; ++at) {
      ModelRecord& record = records_[at];
      if (record.state != RecordState::TX_PENDING || record.owner != pid) continue;
      ++resolved;
      const bool accept = record.type == 1;
      record.state = at < seen_log_start() ? RecordState::ARCHIVED
                     : !op.marker.commit   ? RecordState::AVAILABLE
                     : accept              ? RecordState::ACKNOWLEDGED
                                           : RecordState::ARCHIVED;
      record.owner = -1;
      record.member.clear();
    }
    EXPECT_EQ(reply.resolved_records, resolved);
  }

  void pass_time() {
    harness_.wait(static_cast<int64_t>(pick(1500)));
    const auto reply = harness_.tick();
    int64_t expired = 0;
    for (Offset at = 0; at < kLogEnd; ++at) {
      if (records_[at].state != RecordState::ACQUIRED ||
          records_[at].deadline > harness_.now().steady_ms)
        continue;
      end_lock(at);
      ++expired;
    }
    EXPECT_EQ(reply.expired_records, expired);
  }

  void release() {
    const std::string who = member();
    const auto reply = harness_.run(ReleaseMember{{who, kEverySession}, {key()}, kLimit, false});
    int64_t freed = 0;
    for (Offset at = 0; at < kLogEnd; ++at) {
      if (records_[at].state != RecordState::ACQUIRED || records_[at].member != who) continue;
      end_lock(at);
      ++freed;
    }
    EXPECT_EQ(reply.released_records, freed);
  }

  void move_log_start() {
    log_start_ =
        std::min<Offset>(kLogEnd, std::max(log_start_, start() + static_cast<Offset>(pick(12))));
    harness_.run(NextFetch{key(), log_start_, 200});
  }

  // A reload, or the group idle: what was acquired falls back to what was logged of it.
  void forget_soft() {
    if (pick(2)) {
      harness_.reload();
    } else {
      harness_.run(DropSoft{GroupId("g"), kEverySession});
    }
    for (Offset at = 0; at < kLogEnd; ++at) {
      if (records_[at].state == RecordState::ACQUIRED) records_[at].state = RecordState::AVAILABLE;
      if (records_[at].state == RecordState::AVAILABLE) records_[at].count = logged_count(at);
    }
    activate();
    harness_.run(NextFetch{key(), log_start_, 200});
  }
  int16_t logged_count(Offset at) const {
    int16_t count = 0;
    partition().hard().batches.for_each_piece(
        at, at, [&](Offset, Offset, const StateBatches::Range* range) {
          if (range != nullptr) count = range->delivery_count;
        });
    return count;
  }

  void check() {
    const ShareShard again = harness_.loaded();
    for (int32_t i = 0; i < 2; ++i) {
      ASSERT_EQ(hard_text(*harness_.shard_view().find(other(i))), hard_text(*again.find(other(i))));
    }
    int64_t staged = 0;
    for (Offset at = 0; at < kLogEnd; ++at) {
      const ModelRecord& record = records_[at];
      staged += record.state == RecordState::TX_PENDING;
      if (at >= start()) continue;
      ASSERT_TRUE(is_terminal(record.state) ||
                  (record.state == RecordState::AVAILABLE && at < log_start_))
          << at << " is below the start offset but " << name_of(record.state);
    }
    ASSERT_EQ(partition().hard().batches.staged(), staged);
    for (const InFlightRange& r : harness_.run(Describe{key(), 100000}).ranges) {
      for (Offset at = r.first_offset; at <= r.last_offset; ++at) {
        const ModelRecord& record = records_[at];
        ASSERT_EQ(name_of(r.state), name_of(record.state)) << at;
        if (r.state == RecordState::ACQUIRED) {
          ASSERT_EQ(r.member_id, record.member);
        }
        if (r.state == RecordState::TX_PENDING) {
          ASSERT_EQ(r.owner->producer_id.value, record.owner);
        }
        if (!is_terminal(r.state)) {
          ASSERT_EQ(r.delivery_count, record.count) << at;
        }
      }
    }
    check_counts();
  }

  void check_counts() {
    const SharePartition::SoftState& soft = *partition().soft();
    int64_t expected = soft.end_offset - soft.start_offset;
    Offset first_staged = kLogEnd;
    for (Offset at = kLogEnd - 1; at >= 0; --at) {
      if (records_[at].state == RecordState::TX_PENDING) first_staged = at;
    }
    for (Offset at = soft.start_offset; at < soft.end_offset; ++at) {
      expected -= records_[at].state == RecordState::TX_PENDING;
      expected -= at > first_staged && is_terminal(records_[at].state);
    }
    ASSERT_EQ(partition().in_flight(), expected);
    for (Offset at = 0; at < kLogEnd; ++at) {
      const auto range = soft.free.at_or_after(at);
      const bool free = range != soft.free.ranges().end() && range->first <= at;
      ASSERT_EQ(free, at >= std::max(soft.start_offset, soft.log_start_offset) &&
                          at < soft.end_offset && records_[at].state == RecordState::AVAILABLE)
          << at;
    }
    std::optional<int64_t> deadline;
    for (const ModelRecord& record : records_) {
      if (record.state == RecordState::ACQUIRED)
        deadline = std::min(deadline.value_or(INT64_MAX), record.deadline);
    }
    ASSERT_EQ(partition().earliest_deadline(), deadline);
  }

  std::mt19937_64 random_;
  ShardHarness harness_;
  std::vector<ModelRecord> records_;
  std::map<int64_t, int16_t> epochs_;
  uint64_t token_ = 0;
  Offset log_start_ = 0;
};

TEST(ShareModel, RandomOperationsAndReloads) {
  Offset moved = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model model(seed, seed % 3 == 0 ? 3 : 20);
    for (int i = 0; i < 250; ++i) {
      SCOPED_TRACE("step " + std::to_string(i));
      model.step();
      if (testing::Test::HasFailure()) return;
    }
    moved = std::max(moved, model.start());
  }
  EXPECT_GT(moved, 20) << "the runs get somewhere";
}

}  // namespace
}  // namespace ackord::share
