// The journal behind the durability of a log: what it holds after a crash, and that the log's own
// files may have lost just that.
#include "broker/log/journal.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "broker/log/journal_replay.h"
#include "broker/log/log_names.h"
#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kFileBytes = 64 * io::kBlock;

class JournalTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override {
    settings().journal_file_bytes = kFileBytes;
    ASSERT_TRUE(start().has_value());
    // The journal is made when it is first asked for: the first append syncs its own file.
    put("first");
    settle();
    ASSERT_THAT(journal_files(), ElementsAre("core-0-0.journal", "core-0-1.journal"));
    synced_bytes_ = std::filesystem::file_size(active_path());
  }

  void put(const std::string& value) {
    const auto result = append(make_batch({value}));
    ASSERT_EQ(result.error, ErrorCode::NONE);
    ASSERT_TRUE(core->run(partition->durable(result.next_offset)).has_value());
  }
  std::vector<std::string> journal_files() {
    std::vector<std::string> out;
    for (const std::string& file : *files.list(directory.path())) {
      if (file.ends_with(names::kJournal)) out.push_back(file);
    }
    return out;
  }
  JournaledBatches journaled(Uuid topic = topic_id(), int32_t index = 0) {
    auto journals = read_journals(files, directory.path());
    EXPECT_TRUE(journals.has_value());
    return (*journals)[{topic, index}];
  }
  // What an unsynced file may look like after the power has failed.
  void lose_unsynced_end() { std::filesystem::resize_file(active_path(), synced_bytes_); }
  int syncs() { return files.faults().datasyncs[active_path()]; }

  uint64_t synced_bytes_ = 0;
};

TEST_F(JournalTest, ASmallAppendIsDurableWithoutASyncOfItsFile) {
  const int before = syncs();
  put("a");
  put("b");
  EXPECT_EQ(syncs(), before);
  EXPECT_EQ(partition->high_watermark(), 3);
  EXPECT_EQ(journaled().size(), 2u);
}

TEST_F(JournalTest, WhatTheFileHasLostComesBack) {
  put("a");
  put("b");
  crash();
  lose_unsynced_end();
  ASSERT_TRUE(start().has_value());
  EXPECT_THAT(values(0), ElementsAre("first", "a", "b"));
  EXPECT_EQ(partition->high_watermark(), 3);
  put("c");
  EXPECT_THAT(values(0), ElementsAre("first", "a", "b", "c"));
}

TEST_F(JournalTest, ATornFileIsCompletedFromTheJournal) {
  put("a");
  put("b");
  crash();
  // The last batch's bytes have become zeros; the one before is whole.
  const uint64_t size = std::filesystem::file_size(active_path());
  std::filesystem::resize_file(active_path(), size - 10);
  std::filesystem::resize_file(active_path(), size);
  ASSERT_TRUE(start().has_value());
  EXPECT_THAT(values(0), ElementsAre("first", "a", "b"));
}

TEST_F(JournalTest, WhatTheFileStillHasIsNotAppendedAgain) {
  put("a");
  crash();
  ASSERT_TRUE(start().has_value());
  EXPECT_THAT(values(0), ElementsAre("first", "a"));
  EXPECT_TRUE(journal_files().empty()) << "a start uses them up";
}

TEST_F(JournalTest, ProducersAndTransactionsAreKnownAfterIt) {
  begin(5, 0, 0, "t");
  settle();
  crash();
  lose_unsynced_end();
  ASSERT_TRUE(start().has_value());
  EXPECT_TRUE(partition->has_open_transaction({ProducerId(5), 0}));
  EXPECT_EQ(partition->last_stable_offset(), 1);
}

TEST_F(JournalTest, ACleanStopLeavesNone) {
  put("a");
  stop();
  EXPECT_TRUE(journal_files().empty());
  EXPECT_TRUE(files.exists(directory / ".kafka_cleanshutdown"));
  ASSERT_TRUE(start().has_value());
  EXPECT_THAT(values(0), ElementsAre("first", "a"));
}

TEST_F(JournalTest, ALargeAppendSyncsItsOwnFile) {
  const int before = syncs();
  put(std::string(70'000, 'x'));
  EXPECT_EQ(syncs(), before + 1);
  EXPECT_TRUE(journaled().empty());
}

TEST_F(JournalTest, ARoundServesAllLogs) {
  auto made = core->run(service->create({TopicName("u"), 0}, topic_id(2), config));
  ASSERT_TRUE(made.has_value());
  auto other = service->find({TopicName("u"), 0});
  put("a");
  files.faults().hold_datasync = [](const std::string&) { return true; };
  append(make_batch({"b"}));
  settle();  // on its way
  ClientAppend request;
  const auto batch = make_batch({"c"});
  request.records = batch;
  request.produce_version = 11;
  const auto third =
      core->executor.inside([&] { return other->append(request, core->clock.now().wall_ms); });
  ASSERT_EQ(third.error, ErrorCode::NONE);
  append(make_batch({"d"}));
  settle();
  EXPECT_EQ(files.faults().held.size(), 1u);
  files.release_datasyncs();
  settle();
  EXPECT_EQ(partition->high_watermark(), 3);
  EXPECT_EQ(files.faults().held.size(), 1u) << "one write for both logs";
  files.faults().hold_datasync = nullptr;
  files.release_datasyncs();
  settle();
  EXPECT_EQ(partition->high_watermark(), 4);
  EXPECT_EQ(other->high_watermark(), 1);
  EXPECT_EQ(journaled(topic_id(2)).size(), 1u);
}

TEST_F(JournalTest, ItsSpaceIsUsedAgainOnceTheLogsAreSynced) {
  const int before = syncs();
  const int appends = 10 * static_cast<int>(kFileBytes / io::kBlock);
  for (int i = 0; i < appends; ++i) put(std::to_string(i));
  EXPECT_GE(syncs() - before, 9);
  EXPECT_LE(syncs() - before, 20);
  for (const std::string& file : journal_files())
    EXPECT_EQ(std::filesystem::file_size(directory / file), kFileBytes);
  // Whatever is not synced is there: cut the file where the journal begins.
  const auto left = journaled();
  ASSERT_FALSE(left.empty());
  const Offset first = protocol::parse_header(left.front())->base_offset;
  const auto all = values(0);
  uint64_t position = 0;
  for (const BatchInfo& batch : read(0, 1 << 30).batches) {
    if (batch.base_offset < first) position += batch.size;
  }
  crash();
  std::filesystem::resize_file(active_path(), position);
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(values(0), all);
}

TEST_F(JournalTest, ALogIsSyncedBeforeItsEntriesAreWrittenOver) {
  files.faults().hold_datasync = [this](const std::string& file) { return file == active_path(); };
  // The sync that the first full file asks for stays in flight: its entries must stay, too, and the
  // other file goes on until it is full.
  const int rounds = static_cast<int>(kFileBytes / io::kBlock);
  for (int i = 0; i < rounds + 1; ++i) {
    append(make_batch({std::to_string(i)}));
    settle();
  }
  ASSERT_EQ(files.faults().held.size(), 1u);
  const auto left = journaled();
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(protocol::parse_header(left.front())->base_offset, 1);
  files.release_datasyncs();
  files.faults().hold_datasync = nullptr;
  settle();
  EXPECT_EQ(partition->high_watermark(), rounds + 2);
}

TEST_F(JournalTest, ARollSyncsTheOldSegment) {
  config.segment_bytes = 400;
  partition->configure(config);
  for (int i = 0; i < 20; ++i) put(std::to_string(i));
  const auto all = values(0);
  crash();
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(values(0), all);
}

// Rolled, and not synced yet: what was acknowledged of it stands in the journal alone.
TEST_F(JournalTest, TheEndOfASealedSegmentComesBack) {
  config.segment_bytes = 200;
  partition->configure(config);
  put("a");
  append(make_batch({"not acknowledged"}));
  ASSERT_TRUE(files.exists(active_path(2)));
  crash();
  lose_unsynced_end();
  const auto started = start();
  ASSERT_TRUE(started.has_value()) << started.error().message;
  EXPECT_THAT(values(0), ElementsAre("first", "a"));
  EXPECT_FALSE(files.exists(active_path(2)));
  put("b");
  EXPECT_THAT(values(0), ElementsAre("first", "a", "b"));
}

TEST_F(JournalTest, AGapIsRefused) {
  put("a");
  put("b");
  crash();
  // A file that was synced has lost its bytes.
  std::filesystem::resize_file(active_path(), 0);
  const auto started = start();
  ASSERT_TRUE(started.has_error());
  EXPECT_THAT(started.error().message, HasSubstr("the log ends at offset 0"));
  EXPECT_THAT(started.error().message, HasSubstr(active_path()));
}

// Of a broker that knows no journal: it has cut the log, and gone on under an epoch of its own.
TEST_F(JournalTest, WhatAnotherBrokerHasAppendedSinceStays) {
  put("a");
  put("b");
  crash();
  lose_unsynced_end();
  protocol::BatchBuilder builder({.base_offset = 1, .leader_epoch = 5});
  builder.add(1'700'000'000'000, std::nullopt, bytes_of("other"));
  const auto batch = builder.build();
  std::ofstream(active_path(), std::ios::app | std::ios::binary)
      .write(reinterpret_cast<const char*>(batch.data()),
             static_cast<std::streamsize>(batch.size()));
  ASSERT_TRUE(start().has_value());
  EXPECT_THAT(values(0), ElementsAre("first", "other"));
  EXPECT_EQ(partition->log_end_offset(), 2);
}

TEST_F(JournalTest, AnotherTopicOfTheSameNameGetsNothing) {
  put("a");
  ASSERT_TRUE(core->run(service->remove(name)).has_value());
  ASSERT_TRUE(core->run(service->create(name, topic_id(8), config)).has_value());
  crash();
  core = std::make_unique<test::TestCore>();
  environment = std::make_unique<io::Environment>(io::Environment{{core->core()}, files, random});
  service = make_log_service(*environment, settings());
  ASSERT_TRUE(service->open().has_value());
  partition = service->find(name);
  EXPECT_EQ(partition->log_end_offset(), 0);
}

TEST_F(JournalTest, AFailedWriteTakesTheDirectoryOffline) {
  files.faults().fail_write = [](const std::string& file) {
    return file.ends_with(names::kJournal);
  };
  const auto result = append(make_batch({"a"}));
  EXPECT_EQ(result.error, ErrorCode::NONE);
  EXPECT_EQ(core->run(partition->durable(result.next_offset)).error().code,
            ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_FALSE(service->online());
  EXPECT_EQ(partition->high_watermark(), 1);
}

// A log whose file cannot be synced any more.
class LostLog : public Journaled {
 public:
  io::Task<bool> sync_files() override { co_return false; }
};

// What the disk took before it failed may be all that there is.
TEST(JournalFilesTest, ThatAreNeededAreNotWrittenOverWhenTheDiskHasFailed) {
  test::TempDirectory directory;
  test::LocalFileSystem files;
  test::TestCore core;
  Journal journal(files, core.core().executor, directory.path(), "core-0-", kFileBytes);
  while (!journal.takes(1)) {
    ASSERT_TRUE(core.executor.wait_for_work(std::chrono::seconds(5)));
    core.run_until_idle();
  }
  const auto batch = make_batch({"v"});
  auto file = *files.open(directory / "log", io::OpenMode::kCreateNew);
  const std::span<const std::byte> bytes = batch;
  ASSERT_TRUE(file->pwritev(std::span(&bytes, 1), 0).has_value());
  const auto write = [&](int32_t partition) {
    Journal::Entry entry{topic_id(), partition, file, 0, batch.size(), std::make_shared<LostLog>()};
    return core.run(journal.write(std::move(entry))).has_value();
  };
  // As many rounds as the two files have, and more.
  const auto rounds = static_cast<int32_t>(2 * kFileBytes / io::kBlock);
  for (int32_t i = 0; i < 2 * rounds; ++i) ASSERT_TRUE(write(i));
  auto journals = read_journals(files, directory.path());
  ASSERT_TRUE(journals.has_value());
  EXPECT_EQ(journals->size(), static_cast<size_t>(rounds));
  for (int32_t i = 0; i < rounds; ++i) EXPECT_TRUE(journals->contains({topic_id(), i})) << i;
}

TEST(JournalFilesTest, ThatCannotBeMadeAreDoneWithout) {
  LogHarness log;
  log.settings().journal_file_bytes = kFileBytes;
  log.files.faults().fail_write = [](const std::string& file) {
    return file.ends_with(names::kJournal);
  };
  ASSERT_TRUE(log.start().has_value());
  for (int i = 0; i < 3; ++i) {
    const auto result = log.append(make_batch({"a"}));
    ASSERT_TRUE(log.core->run(log.partition->durable(result.next_offset)).has_value());
  }
  EXPECT_TRUE(log.service->online());
  EXPECT_GE(log.files.faults().datasyncs[log.active_path()], 3);
}

}  // namespace
}  // namespace ackord::log
