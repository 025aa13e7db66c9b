#include "broker/share/state_batches.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace ackord::share {
namespace {

using enum RecordState;

std::vector<StateBatch> all(const StateBatches& batches, Offset from = 0) {
  return batches.to_state_batches(from).first;
}

Owner producer(int64_t id, int16_t epoch, TimeMs since) {
  return {ProducerId(id), epoch, TransactionalId("t"), since};
}

StateBatch staged(Offset first, Offset last, int16_t count, int16_t owner, int8_t type = 1) {
  return {first,
          last,
          TX_PENDING,
          count,
          owner,
          type,
          static_cast<int8_t>(type == 1 ? ACKNOWLEDGED : ARCHIVED)};
}

TEST(StateBatches, HigherCountWinsThenHigherState) {
  StateBatches batches;
  batches.merge({{0, 9, AVAILABLE, 2}}, {}, 0);
  batches.merge({{2, 3, ACKNOWLEDGED, 1}, {5, 6, ACKNOWLEDGED, 2}, {8, 12, ARCHIVED, 3}}, {}, 0);
  EXPECT_EQ(all(batches), (std::vector<StateBatch>{{0, 4, AVAILABLE, 2},
                                                   {5, 6, ACKNOWLEDGED, 2},
                                                   {7, 7, AVAILABLE, 2},
                                                   {8, 12, ARCHIVED, 3}}));
  // Newer does not win.
  batches.merge({{5, 6, AVAILABLE, 2}}, {}, 0);
  EXPECT_EQ(all(batches).at(1), (StateBatch{5, 6, ACKNOWLEDGED, 2}));
}

TEST(StateBatches, EqualNeighboursFuse) {
  StateBatches batches;
  batches.merge({{0, 4, ACKNOWLEDGED, 1}}, {}, 0);
  batches.merge({{10, 14, ACKNOWLEDGED, 1}}, {}, 0);
  batches.merge({{5, 9, ACKNOWLEDGED, 1}}, {}, 0);
  EXPECT_EQ(all(batches), (std::vector<StateBatch>{{0, 14, ACKNOWLEDGED, 1}}));
  EXPECT_EQ(batches.terminal(), 15);
}

TEST(StateBatches, StartOffsetCutsAndClips) {
  StateBatches batches;
  batches.merge({{0, 9, ACKNOWLEDGED, 1}}, {}, 0);
  batches.merge({{3, 12, ARCHIVED, 1}, {0, 1, ARCHIVED, 9}}, {}, 5);
  EXPECT_EQ(all(batches), (std::vector<StateBatch>{{5, 12, ARCHIVED, 1}}));
}

TEST(StateBatches, AStagedRangeReplacesAndIsReplaced) {
  StateBatches batches;
  batches.merge({{0, 9, AVAILABLE, 5}}, {}, 0);
  batches.merge({staged(2, 5, 1, 0)}, {producer(7, 3, 100)}, 0);
  EXPECT_EQ(batches.staged(), 4);
  EXPECT_EQ(batches.first_staged(), 2);
  EXPECT_EQ(batches.highest_epoch(ProducerId(7)), 3);
  EXPECT_EQ(batches.highest_epoch(ProducerId(6)), -1);
  EXPECT_EQ(batches.highest_epoch(ProducerId(8)), -1);
  // A lower count and a lower state: replaced all the same.
  batches.merge({{4, 5, AVAILABLE, 0}}, {}, 0);
  EXPECT_EQ(
      all(batches),
      (std::vector<StateBatch>{
          {0, 1, AVAILABLE, 5}, staged(2, 3, 1, 0), {4, 5, AVAILABLE, 0}, {6, 9, AVAILABLE, 5}}));
  batches.merge({{0, 9, ARCHIVED, 5}}, {}, 0);
  EXPECT_EQ(batches.staged(), 0);
  EXPECT_TRUE(batches.owners().empty());
}

TEST(StateBatches, StagedRangesFuseOnlyWhenAllFieldsAreEqual) {
  StateBatches batches;
  batches.merge({staged(0, 1, 1, 0)}, {producer(7, 3, 100)}, 0);
  batches.merge({staged(2, 3, 1, 0)}, {producer(7, 3, 900)}, 0);     // same owner, later
  batches.merge({staged(4, 5, 1, 0)}, {producer(7, 4, 900)}, 0);     // another epoch
  batches.merge({staged(6, 6, 1, 0, 3)}, {producer(7, 4, 900)}, 0);  // another type
  batches.merge({staged(7, 7, 2, 0, 3)}, {producer(7, 4, 900)}, 0);  // another count
  const auto [states, owners] = batches.to_state_batches(0);
  EXPECT_EQ(states, (std::vector<StateBatch>{staged(0, 3, 1, 0), staged(4, 5, 1, 1),
                                             staged(6, 6, 1, 1, 3), staged(7, 7, 2, 1, 3)}));
  EXPECT_EQ(owners, (std::vector<Owner>{producer(7, 3, 100), producer(7, 4, 900)}));
}

TEST(StateBatches, AMarkerResolvesEveryEpochOfItsProducerOnly) {
  StateBatches batches;
  batches.merge({staged(0, 1, 3, 0), staged(2, 2, 3, 1, 3), staged(4, 5, 1, 2)},
                {producer(7, 3, 1), producer(7, 4, 1), producer(8, 0, 1)}, 0);
  std::vector<OffsetRange> released;
  EXPECT_EQ(batches.resolve(ProducerId(7), true, released), 3);
  EXPECT_TRUE(released.empty());
  EXPECT_EQ(all(batches), (std::vector<StateBatch>{
                              {0, 1, ACKNOWLEDGED, 3}, {2, 2, ARCHIVED, 3}, staged(4, 5, 1, 0)}));
  EXPECT_EQ(batches.resolve(ProducerId(8), false, released), 2);
  EXPECT_EQ(released, (std::vector<OffsetRange>{{4, 5}}));
  EXPECT_EQ(all(batches).back(), (StateBatch{4, 5, AVAILABLE, 1}));
}

TEST(StateBatches, CountsBesideTheFirstStagedOffset) {
  StateBatches batches;
  batches.merge({{0, 9, ACKNOWLEDGED, 1}, {20, 29, ACKNOWLEDGED, 1}}, {}, 0);
  EXPECT_EQ(batches.terminal_above_staged(), 0);
  batches.merge({staged(12, 13, 1, 0)}, {producer(7, 3, 1)}, 0);
  EXPECT_EQ(batches.terminal_above_staged(), 10);
  batches.merge({staged(25, 26, 2, 0)}, {producer(8, 3, 1)}, 0);
  EXPECT_EQ(batches.terminal_above_staged(), 8);
  std::vector<OffsetRange> released;
  batches.resolve(ProducerId(7), true, released);
  EXPECT_EQ(batches.terminal_above_staged(), 3);
  EXPECT_EQ(batches.skip_terminal(0), 10);
}

// Against one entry per offset.
TEST(StateBatches, RandomMerges) {
  std::mt19937 random(3);
  const auto pick = [&](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  StateBatches batches;
  struct Entry {
    RecordState state = AVAILABLE;
    int count = -1;  // -1: not covered
    int owner = -1;
  };
  std::vector<Entry> model(60);
  for (int step = 0; step < 5000; ++step) {
    if (pick(8) == 0) {
      const int owner = pick(3);
      const bool commit = pick(2) != 0;
      std::vector<OffsetRange> released;
      batches.resolve(ProducerId(owner), commit, released);
      for (Entry& entry : model) {
        if (entry.state == TX_PENDING && entry.owner == owner)
          entry = {commit ? ACKNOWLEDGED : AVAILABLE, entry.count, -1};
      }
    } else {
      static constexpr RecordState kStates[] = {AVAILABLE, ACKNOWLEDGED, ARCHIVED, TX_PENDING};
      const Offset first = pick(60);
      const Offset last = std::min<Offset>(59, first + pick(9));
      StateBatch batch{first, last, kStates[pick(4)], static_cast<int16_t>(pick(4))};
      const int owner = pick(3);
      if (batch.delivery_state == TX_PENDING) batch = staged(first, last, batch.delivery_count, 0);
      batches.merge({batch}, {producer(owner, 0, 1)}, 0);
      for (Offset at = first; at <= last; ++at) {
        Entry& entry = model[static_cast<size_t>(at)];
        const bool wins =
            batch.delivery_state == TX_PENDING || entry.state == TX_PENDING || entry.count == -1 ||
            batch.delivery_count > entry.count ||
            (batch.delivery_count == entry.count && batch.delivery_state > entry.state);
        if (wins)
          entry = {batch.delivery_state, batch.delivery_count,
                   batch.delivery_state == TX_PENDING ? owner : -1};
      }
    }
    int64_t terminal = 0, pending = 0, above = 0;
    for (Offset at = 0; at < 60; ++at) {
      const Entry& entry = model[static_cast<size_t>(at)];
      const auto range = batches.at_or_after(at);
      const bool covered = range != batches.ranges().end() && range->first <= at;
      ASSERT_EQ(covered, entry.count >= 0) << at;
      if (!covered) continue;
      ASSERT_EQ(range->second.state, entry.state) << at;
      ASSERT_EQ(range->second.delivery_count, entry.count) << at;
      terminal += is_terminal(entry.state);
      above += pending > 0 && is_terminal(entry.state);
      pending += entry.state == TX_PENDING;
    }
    ASSERT_EQ(batches.terminal(), terminal);
    ASSERT_EQ(batches.staged(), pending);
    ASSERT_EQ(batches.terminal_above_staged(), above);
    const auto [states, owners] = batches.to_state_batches(0);
    StateBatches again;
    again.assign(states, owners);
    ASSERT_EQ(again.to_state_batches(0).first, states);
    ASSERT_EQ(owners.size(), batches.owners().size());
  }
}

TEST(OffsetSet, RandomChanges) {
  std::mt19937 random(5);
  const auto pick = [&](int below) {
    return std::uniform_int_distribution<int>(0, below - 1)(random);
  };
  OffsetSet set;
  std::set<Offset> model;
  for (int step = 0; step < 5000; ++step) {
    const Offset first = pick(80);
    const Offset last = first + pick(12) - 1;  // at times empty
    const bool add = pick(2) != 0;
    add ? set.add(first, last) : set.remove(first, last);
    for (Offset at = first; at <= last; ++at) {
      if (add) {
        model.insert(at);
      } else {
        model.erase(at);
      }
    }
    std::set<Offset> actual;
    Offset previous = -2;
    for (const auto& [from, to] : set.ranges()) {
      ASSERT_GT(from, previous + 1) << "neighbours are one range";
      previous = to;
      for (Offset at = from; at <= to; ++at) actual.insert(at);
    }
    ASSERT_EQ(actual, model);
  }
}

}  // namespace
}  // namespace ackord::share
