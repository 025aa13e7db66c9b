// Compaction of a partition, driven by the clock as the broker drives it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kBackoff = 15'000;
constexpr TimeMs kStart = 1'700'000'000'000;

class CompactionTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override {
    config.compact = true;
    config.remove = false;
    config.segment_index_bytes = 4;  // full at once: each batch has its own segment
    config.min_cleanable_dirty_ratio = 0.01;
    ASSERT_TRUE(start().has_value());
  }
  void put(const std::vector<Keyed>& records, Seq seq = {}) {
    ASSERT_EQ(append(make_keyed(records, seq)).error, ErrorCode::NONE);
    settle();
  }
  void clean() {
    settle();
    core->advance(kBackoff);
  }

  struct Entry {
    Offset offset;
    std::string key;
    std::optional<std::string> value;
    friend bool operator==(const Entry&, const Entry&) = default;
    friend void PrintTo(const Entry& entry, std::ostream* out) {
      *out << entry.offset << ":" << entry.key << "=" << entry.value.value_or("-");
    }
  };
  struct Stored {
    std::vector<protocol::BatchHeader> batches;
    std::vector<Entry> entries;
  };
  Stored stored(Isolation isolation = Isolation::kReadUncommitted) {
    Stored all;
    Offset next = partition->log_start_offset();
    while (next < partition->high_watermark()) {
      ReadResult result = read(next, 1 << 20, isolation);
      EXPECT_EQ(result.error, ErrorCode::NONE);
      const auto bytes = result.records.copy();
      if (bytes.empty()) break;
      for (std::span<const std::byte> left(bytes); !left.empty();) {
        const auto header = *protocol::parse_header(left);
        EXPECT_TRUE(protocol::check_batch(header, left).has_value());
        EXPECT_GE(header.last_offset(), next);
        std::vector<std::byte> buffer;
        auto records = protocol::uncompressed_records(header, left, 1 << 24, buffer);
        protocol::RecordReader reader(header, *records);
        protocol::Record record;
        while (reader.next(record)) {
          if (header.control()) continue;
          all.entries.push_back({record.offset, text(*record.key), {}});
          if (record.value) all.entries.back().value = text(*record.value);
        }
        EXPECT_FALSE(reader.failure());
        all.batches.push_back(header);
        next = header.next_offset();
        left = left.subspan(header.size());
      }
    }
    return all;
  }
  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<std::string> names_with(const std::string& suffix) {
    std::vector<std::string> found;
    for (const std::string& file : *files.list(folder())) {
      if (file.ends_with(suffix)) found.push_back(file);
    }
    return found;
  }
  std::string checkpoint() {
    std::ifstream in(directory / "cleaner-offset-checkpoint");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

TEST_F(CompactionTest, KeepsTheLatestRecordOfEachKeyAtItsOffset) {
  put({{"a", "1"}, {"b", "1"}});
  put({{"a", "2"}, {"c", "1"}});
  put({{"b", "2"}, {"a", "3"}});
  put({{"a", "active"}});
  const Offset end = partition->log_end_offset();
  const uint64_t before = partition->size_bytes();
  clean();
  EXPECT_THAT(stored().entries, ElementsAre(Entry{3, "c", "1"}, Entry{4, "b", "2"},
                                            Entry{5, "a", "3"}, Entry{6, "a", "active"}));
  EXPECT_EQ(partition->log_end_offset(), end);
  EXPECT_EQ(partition->log_start_offset(), 0);
  EXPECT_LT(partition->size_bytes(), before);
  EXPECT_EQ(checkpoint(), "0\n1\nt 0 6\n");
}

TEST_F(CompactionTest, NothingIsDoneBelowTheDirtyRatio) {
  config.min_cleanable_dirty_ratio = 0.5;
  partition->configure(config);
  for (int i = 0; i < 8; ++i) put({{"k" + std::to_string(i), "aaaaaaaaaaaaaaaaaaaaaaaaaaaa"}});
  clean();
  const std::string first = checkpoint();
  EXPECT_EQ(first, "0\n1\nt 0 7\n");
  put({{"k0", "b"}});
  put({{"k1", "b"}});
  put({{"k2", "b"}});
  clean();
  EXPECT_EQ(checkpoint(), first);
  EXPECT_EQ(stored().entries.size(), 11u);
  for (int i = 3; i < 8; ++i) put({{"k" + std::to_string(i), "bbbbbbbbbbbbbbbbbbbbbbbbbbbb"}});
  put({{"end", "b"}});
  clean();
  EXPECT_NE(checkpoint(), first);
  EXPECT_EQ(stored().entries.size(), 9u);
}

TEST_F(CompactionTest, AReaderThatBeganBeforeGoesOnReading) {
  for (int i = 0; i < 10; ++i) put({{"k", "v" + std::to_string(i)}});
  ReadResult old = read(2);
  const auto before = old.records.copy();
  clean();
  EXPECT_EQ(old.records.copy(), before);
  EXPECT_THAT(stored().entries, ElementsAre(Entry{8, "k", "v8"}, Entry{9, "k", "v9"}));
  // From every offset on, the next record that is left is found.
  for (Offset from = 0; from < 9; ++from) EXPECT_EQ(read(from).batches.front().last_offset, 8);
}

TEST_F(CompactionTest, OldFilesStayForTheDelayAndGoThen) {
  config.file_delete_delay_ms = 5'000;
  partition->configure(config);
  for (int i = 0; i < 10; ++i) put({{"k", "v"}});
  clean();
  EXPECT_FALSE(names_with(".log.deleted").empty());
  EXPECT_THAT(names_with(".swap"), IsEmpty());
  EXPECT_THAT(names_with(".cleaned"), IsEmpty());
  core->advance(5'001);
  EXPECT_THAT(names_with(".deleted"), IsEmpty());
}

// A crash may come after the indexes of a segment have been put away for a swap, and before its log
// has. One of which an earlier compaction has left nothing is not found by its content.
TEST_F(CompactionTest, AnEmptySegmentGetsItsIndexesBack) {
  for (int i = 0; i < 10; ++i) put({{"k", "v" + std::to_string(i)}});
  clean();
  stop();
  int empty = 0;
  for (const std::string& name : names_with(".log")) {
    const std::filesystem::path path = folder() + "/" + name;
    if (std::filesystem::file_size(path) != 0) continue;
    ++empty;
    for (const char* suffix : {".index", ".timeindex"})
      std::filesystem::remove(std::filesystem::path(path).replace_extension(suffix));
  }
  ASSERT_GT(empty, 0);
  ASSERT_TRUE(start().has_value());
  put({{"k", "later"}});
  put({{"k", "latest"}});
  clean();
  EXPECT_TRUE(service->online());
  EXPECT_THAT(stored().entries, ElementsAre(Entry{10, "k", "later"}, Entry{11, "k", "latest"}));
}

TEST_F(CompactionTest, TombstonesStayUntilTheirHorizonHasPassed) {
  config.delete_retention_ms = 100'000;
  partition->configure(config);
  put({{"a", "1"}});
  put({{"a", std::nullopt}});
  put({{"b", "1"}});
  clean();
  Stored now = stored();
  ASSERT_THAT(now.entries, ElementsAre(Entry{1, "a", std::nullopt}, Entry{2, "b", "1"}));
  EXPECT_EQ(now.batches[0].delete_horizon(), kStart + kBackoff + 100'000);
  // A later pass within the time keeps the tombstone and its horizon.
  put({{"d", "1"}});
  clean();
  now = stored();
  EXPECT_EQ(now.entries.front(), (Entry{1, "a", std::nullopt}));
  EXPECT_EQ(now.batches[0].delete_horizon(), kStart + kBackoff + 100'000);
  EXPECT_EQ(now.batches[0].max_timestamp, kStart);
  core->advance(100'000);
  put({{"f", "1"}});
  clean();
  EXPECT_EQ(stored().entries.front(), (Entry{2, "b", "1"}));
}

TEST_F(CompactionTest, AnOpenTransactionHoldsItBack) {
  put({{"a", "1"}});
  put({{"a", "2"}});
  const uint64_t guard = partition->begin_verification({ProducerId(7), 0});
  ASSERT_EQ(append(make_keyed({{"a", "open"}}, {7, 0, 0, true}), guard).error, ErrorCode::NONE);
  for (int i = 0; i < 6; ++i) put({{"a", "later" + std::to_string(i)}});
  clean();
  EXPECT_EQ(stored().entries.size(), 8u) << "all but the first";
  EXPECT_EQ(stored().entries.front(), (Entry{1, "a", "2"}));
  marker(7, 0, true);
  settle();
  put({{"b", "1"}});
  clean();
  EXPECT_EQ(stored().entries.front().value, "later5");
}

TEST_F(CompactionTest, AbortedRecordsGoAndTheirMarkerLater) {
  config.delete_retention_ms = 50'000;
  partition->configure(config);
  begin(7, 0, 0, "aborted");
  marker(7, 0, false);
  begin(8, 0, 0, "committed");
  marker(8, 0, true);
  put({{"x", "1"}});
  put({{"y", "1"}});
  clean();
  // The last batch of a producer stays, without its records.
  Stored now = stored();
  EXPECT_THAT(now.entries,
              ElementsAre(Entry{2, "k", "committed"}, Entry{4, "x", "1"}, Entry{5, "y", "1"}));
  ASSERT_EQ(now.batches.size(), 6u);
  EXPECT_EQ(now.batches[0].records_count, 0);
  EXPECT_EQ(now.batches[0].producer_id, ProducerId(7));
  EXPECT_TRUE(now.batches[1].control());
  EXPECT_EQ(read(0, 1 << 20, Isolation::kReadCommitted).aborted,
            (std::vector<AbortedTransaction>{{ProducerId(7), 0}}));
  // Once the producer has written elsewhere, neither its batch nor the marker is needed.
  ASSERT_EQ(append(make_keyed({{"k", "new"}}, {7, 1, 0})).error, ErrorCode::NONE);
  ASSERT_EQ(append(make_keyed({{"k", "new"}}, {8, 1, 0})).error, ErrorCode::NONE);
  put({{"y", "2"}});
  clean();  // the empty batch goes, and was met
  put({{"y", "3"}});
  put({{"y", "4"}});
  clean();  // the marker gets its horizon
  now = stored();
  ASSERT_TRUE(now.batches[0].control());
  EXPECT_TRUE(now.batches[0].delete_horizon().has_value());
  EXPECT_EQ(read(0, 1 << 20, Isolation::kReadCommitted).aborted,
            (std::vector<AbortedTransaction>{}));
  core->advance(50'000);
  put({{"y", "5"}});
  put({{"y", "6"}});
  clean();
  EXPECT_FALSE(stored().batches[0].control());
}

TEST_F(CompactionTest, ProducersAreKnownAfterACompactionAndARestart) {
  for (int i = 0; i < 6; ++i) put({{"a", "v" + std::to_string(i)}}, {9, 0, i});
  put({{"a", "x"}});
  put({{"a", "y"}});
  clean();
  for (const bool clean_stop : {true, false}) {
    clean_stop ? stop() : crash();
    // Its state must come from what is left of the log.
    for (const std::string& file : names_with(".snapshot")) {
      std::filesystem::remove(path(file));
    }
    ASSERT_TRUE(start().has_value());
    EXPECT_EQ(append(make_keyed({{"a", "v5"}}, {9, 0, 5})).base_offset, 5);
    EXPECT_EQ(append(make_keyed({{"a", "v"}}, {9, 0, 8})).error,
              ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER);
  }
  EXPECT_EQ(append(make_keyed({{"a", "v"}}, {9, 0, 6})).base_offset, 8);
}

TEST_F(CompactionTest, CompressedBatchesKeepTheirCodec) {
  for (const auto codec : {protocol::Codec::kGzip, protocol::Codec::kZstd, protocol::Codec::kLz4,
                           protocol::Codec::kSnappy}) {
    const std::string other = "o" + std::to_string(static_cast<int>(codec));
    ASSERT_EQ(append(make_keyed({{"a", "1"}, {other, "1"}}, {}, kStart, codec)).error,
              ErrorCode::NONE);
  }
  settle();
  put({{"a", "2"}});
  put({{"a", "3"}});
  clean();
  const Stored now = stored();
  ASSERT_EQ(now.batches.size(), 6u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NE(now.batches[i].codec(), 0);
    EXPECT_EQ(now.batches[i].records_count, 1);
    EXPECT_EQ(now.batches[i].last_offset_delta, 1);
  }
  EXPECT_EQ(now.entries.size(), 6u);
}

TEST_F(CompactionTest, SmallSegmentsGoTogether) {
  for (int i = 0; i < 12; ++i) put({{"k" + std::to_string(i), "v"}});
  EXPECT_EQ(names_with(".log").size(), 12u);
  config.segment_index_bytes = LogConfig{}.segment_index_bytes;
  config.segment_bytes = 3 * partition->size_bytes() / 12 + 1;
  partition->configure(config);
  clean();
  EXPECT_THAT(names_with(".log"),
              ElementsAre("00000000000000000000.log", "00000000000000000003.log",
                          "00000000000000000006.log", "00000000000000000009.log",
                          "00000000000000000011.log"));
  EXPECT_EQ(stored().entries.size(), 12u);
  for (const bool clean_stop : {true, false}) {
    clean_stop ? stop() : crash();
    ASSERT_TRUE(start().has_value());
    EXPECT_EQ(stored().entries.size(), 12u);
  }
}

TEST_F(CompactionTest, ASegmentOfWhichNothingIsLeftIsReadOver) {
  for (int i = 0; i < 20; ++i) put({{"a", std::string(100, 'x')}});
  clean();
  EXPECT_EQ(stored().entries.size(), 2u);
  EXPECT_EQ(read(0).batches.front().last_offset, 18);
  crash();
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(stored().entries.size(), 2u);
  EXPECT_EQ(partition->log_start_offset(), 0);
}

TEST_F(CompactionTest, LagsAreKept) {
  config.min_compaction_lag_ms = 60'000;
  partition->configure(config);
  for (int i = 0; i < 6; ++i) put({{"a", "v"}});
  clean();
  EXPECT_EQ(stored().entries.size(), 6u);
  core->advance(60'000);
  EXPECT_EQ(stored().entries.size(), 2u) << "time alone makes it due";
}

TEST_F(CompactionTest, AMaximumLagOverrulesTheRatio) {
  config.min_cleanable_dirty_ratio = 1;
  config.max_compaction_lag_ms = 100'000;
  partition->configure(config);
  for (int i = 0; i < 6; ++i) put({{"a", "v"}});
  clean();
  EXPECT_EQ(stored().entries.size(), 6u);
  crash();  // the age of old segments is read from them
  ASSERT_TRUE(start().has_value());
  core->clock.set_wall(kStart + kBackoff);
  clean();
  EXPECT_EQ(stored().entries.size(), 6u);
  core->advance(100'000);
  EXPECT_EQ(stored().entries.size(), 2u);
}

// A crash between any two changes of the disk.
TEST_F(CompactionTest, ACrashAtAnyPointLeavesTheOldOrTheNew) {
  bool whole = false;
  for (int changes = 0; !whole; ++changes) {
    ASSERT_LT(changes, 500);
    SCOPED_TRACE(changes);
    crash();
    std::filesystem::remove_all(directory.path());
    config.segment_index_bytes = 4;
    ASSERT_TRUE(start().has_value());
    begin(7, 0, 0, "aborted");
    marker(7, 0, false);
    for (int i = 0; i < 9; ++i) {
      put({{"k" + std::to_string(i % 3), "v" + std::to_string(i)},
           {"only" + std::to_string(i), "v"}});
    }
    ASSERT_EQ(append(make_keyed({{"p", "1"}}, {7, 0, 1})).error, ErrorCode::NONE);
    put({{"end", "v"}});
    const Offset end = partition->log_end_offset();
    // Several segments go into one.
    config.segment_index_bytes = LogConfig{}.segment_index_bytes;
    config.segment_bytes = 700;
    partition->configure(config);
    settle();
    files.faults().changes_left = changes;
    clean();
    whole = service->online();
    crash();
    files.faults().changes_left = INT_MAX;
    auto started = start();
    ASSERT_TRUE(started.has_value()) << started.error().message;
    EXPECT_EQ(partition->log_end_offset(), end);
    for (const char* suffix : {".swap", ".cleaned", ".deleted"}) {
      EXPECT_THAT(names_with(suffix), IsEmpty());
    }
    const auto latest = [this] {
      std::map<std::string, std::string> values;
      Offset last = -1;
      for (const Entry& entry : stored(Isolation::kReadCommitted).entries) {
        EXPECT_GT(entry.offset, last) << "no record twice";
        last = entry.offset;
        // The aborted one, which may have gone.
        if (entry.key != "k") values[entry.key] = *entry.value;
      }
      return values;
    };
    const auto now = latest();
    EXPECT_EQ(now.at("k0"), "v6");
    EXPECT_EQ(now.at("k1"), "v7");
    EXPECT_EQ(now.at("k2"), "v8");
    EXPECT_EQ(now.at("p"), "1");
    const std::vector<AbortedTransaction> aborted =
        read(0, 1 << 20, Isolation::kReadCommitted).aborted;
    EXPECT_THAT(aborted, ElementsAre(AbortedTransaction{ProducerId(7), 0}));
    clean();
    EXPECT_EQ(latest(), now);
    EXPECT_TRUE(service->online());
  }
}

TEST_F(CompactionTest, ACorruptBatchLeavesThePartitionAsItIs) {
  for (int i = 0; i < 6; ++i) put({{"a", "v" + std::to_string(i)}});
  {
    std::fstream file(active_path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(70);
    file.put('!');
  }
  const auto before = names_with("");
  clean();
  EXPECT_EQ(names_with(""), before);
  EXPECT_EQ(append(make_keyed({{"a", "on"}})).error, ErrorCode::NONE);
  settle();
  EXPECT_EQ(partition->high_watermark(), 7);
  EXPECT_TRUE(service->online());
}

TEST_F(CompactionTest, WhatIsDeletedMeanwhileStaysDeleted) {
  config.remove = true;
  partition->configure(config);
  for (int i = 0; i < 12; ++i) put({{"k" + std::to_string(i % 6), "v"}});
  // The swap of the first segments finds that they have gone.
  ASSERT_TRUE(core->run(partition->delete_records(8)).has_value());
  clean();
  const Stored now = stored();
  EXPECT_GE(now.entries.front().offset, 8);
  EXPECT_EQ(now.entries.back().offset, 11);
  EXPECT_EQ(partition->log_start_offset(), 8);
}

TEST_F(CompactionTest, ACheckpointAboveTheEndIsNotBelieved) {
  for (int i = 0; i < 6; ++i) put({{"a", "v"}});
  stop();
  std::ofstream(directory / "cleaner-offset-checkpoint") << "0\n1\nt 0 1000\n";
  ASSERT_TRUE(start().has_value());
  clean();
  EXPECT_EQ(stored().entries.size(), 2u);
  EXPECT_EQ(checkpoint(), "0\n1\nt 0 5\n");
}

TEST_F(CompactionTest, RecordsWithoutAKeyGo) {
  LogConfig plain = config;
  plain.compact = false;
  partition->configure(plain);
  protocol::BatchBuilder builder({});
  builder.add(kStart, std::nullopt, bytes_of("no key"));
  ASSERT_EQ(append(builder.build()).error, ErrorCode::NONE);
  partition->configure(config);
  put({{"a", "1"}});
  put({{"b", "1"}});
  clean();
  EXPECT_EQ(stored().entries.front(), (Entry{1, "a", "1"}));
}

TEST_F(CompactionTest, WithTheCleanerOffNothingHappens) {
  stop();
  settings().cleaner_enable = false;
  ASSERT_TRUE(start().has_value());
  for (int i = 0; i < 6; ++i) put({{"a", "v"}});
  clean();
  EXPECT_EQ(stored().entries.size(), 6u);
}

}  // namespace
}  // namespace ackord::log
