// Files that have gone, and bytes that have changed, below what was durable: nothing of that is
// served as if it were whole.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/broker/log/log_harness.h"

namespace ackord::log {
namespace {

using testing::HasSubstr;

constexpr Offset kRecords = 40;
// Of a batch's length: its highest byte.
constexpr std::streamoff kLengthPosition = 8;

// Several segments, each of a few batches.
class DamageTest : public testing::Test, public LogHarness {
 protected:
  void SetUp() override {
    config.segment_bytes = 400;
    ASSERT_TRUE(start().has_value());
    for (Offset i = 0; i < kRecords; ++i) append(make_batch({"v" + std::to_string(i)}));
    settle();
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
      const std::string file = entry.path().filename();
      if (entry.path().extension() == ".log") bases_.push_back(std::stoll(file));
    }
    std::sort(bases_.begin(), bases_.end());
    ASSERT_GT(bases_.size(), 4u);
  }
  void end(bool cleanly) { cleanly ? stop() : crash(); }
  std::string file(Offset base, const std::string& suffix) {
    std::string path = active_path(base);
    return path.replace(path.size() - 4, 4, suffix);
  }
  void lose(Offset base, std::initializer_list<const char*> suffixes) {
    for (const char* suffix : suffixes) std::filesystem::remove(file(base, suffix));
  }
  std::string refusal() {
    auto started = start();
    EXPECT_TRUE(started.has_error());
    return started.has_error() ? started.error().message : "";
  }
  void flip(Offset base, std::streamoff position) {
    std::fstream bytes(active_path(base), std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(position);
    const int was = bytes.get();
    bytes.seekp(position);
    bytes.put(static_cast<char>(was ^ 0x40));
  }

  std::vector<Offset> bases_;
};

TEST_F(DamageTest, AMissingSegmentStopsTheStart) {
  for (const bool cleanly : {true, false}) {
    end(cleanly);
    const std::string lost = file(bases_[2], ".log");
    std::filesystem::rename(lost, lost + ".away");
    const std::string why = refusal();
    EXPECT_THAT(why, HasSubstr(active_path(bases_[1])));
    EXPECT_THAT(why, HasSubstr("ends at offset " + std::to_string(bases_[2])));
    EXPECT_THAT(why, HasSubstr("begins at " + std::to_string(bases_[3])));
    EXPECT_THAT(why, HasSubstr("missing"));
    crash();
    std::filesystem::rename(lost + ".away", lost);
    ASSERT_TRUE(start().has_value()) << "nothing was changed by the refused start";
    EXPECT_EQ(values(0).size(), static_cast<size_t>(kRecords));
  }
}

TEST_F(DamageTest, ASegmentThatIsMissingWithAllItsFilesStopsTheStart) {
  stop();
  lose(bases_[2], {".log", ".index", ".timeindex", ".snapshot"});
  EXPECT_THAT(refusal(), HasSubstr("segment files are missing"));
}

TEST_F(DamageTest, TheFirstSegmentIsMissedToo) {
  stop();
  ASSERT_TRUE(start().has_value());  // a start writes down where its logs begin
  crash();
  lose(bases_[0], {".log"});
  const std::string why = refusal();
  EXPECT_THAT(why, HasSubstr(folder()));
  EXPECT_THAT(why, HasSubstr("begins at offset " + std::to_string(bases_[1])));
}

TEST_F(DamageTest, TheLastSegmentIsMissedAfterACleanStopToo) {
  stop();
  lose(bases_.back(), {".log"});
  EXPECT_THAT(refusal(), HasSubstr("durable up to " + std::to_string(kRecords)));
}

TEST_F(DamageTest, TheWholeLogIsMissed) {
  stop();
  for (const Offset base : bases_) lose(base, {".log", ".index", ".timeindex", ".snapshot"});
  EXPECT_THAT(refusal(), HasSubstr("durable up to " + std::to_string(kRecords)));
}

TEST_F(DamageTest, AnIndexThatPointsIntoTheMiddleOfABatchIsNoLoss) {
  stop();
  std::ofstream(file(bases_[1], ".index"), std::ios::binary) << std::string("\0\0\0\1\0\0\0\7", 8);
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(partition->high_watermark(), kRecords);
}

// Records that were deleted are no loss.
TEST_F(DamageTest, ALogWhoseBeginningWasDeletedStarts) {
  ASSERT_TRUE(core->run(partition->delete_records(bases_[3])).has_value());
  settle();
  stop();
  ASSERT_TRUE(start().has_value());
  EXPECT_EQ(partition->log_start_offset(), bases_[3]);
  EXPECT_EQ(values(bases_[3]).size(), static_cast<size_t>(kRecords - bases_[3]));
}

// A byte of a record: its batch reaches clients with a checksum that does not fit, all others are
// whole.
TEST_F(DamageTest, AChangedRecordInAnOldSegmentIsSeenByItsChecksum) {
  stop();
  flip(bases_[1], protocol::batch_format::kHeaderSize + 3);
  ASSERT_TRUE(start().has_value());
  std::vector<Offset> bad;
  for (Offset next = 0; next < kRecords;) {
    const ReadResult result = read(next);
    ASSERT_EQ(result.error, ErrorCode::NONE);
    const auto bytes = result.records.copy();
    std::span<const std::byte> left(bytes);
    ASSERT_FALSE(left.empty());
    while (!left.empty()) {
      const auto header = protocol::parse_header(left);
      ASSERT_TRUE(header.has_value());
      EXPECT_EQ(header->base_offset, next);
      if (protocol::check_batch(*header, left).has_error()) bad.push_back(header->base_offset);
      next = header->next_offset();
      left = left.subspan(header->size());
    }
  }
  EXPECT_EQ(bad, std::vector<Offset>{bases_[1]});
}

// A batch whose header makes no sense ends what can be read there; the rest of the log, and the
// directory, go on.
TEST_F(DamageTest, AChangedHeaderInAnOldSegmentRefusesItsReadersOnly) {
  flip(bases_[1], kLengthPosition);
  EXPECT_EQ(read(bases_[1]).error, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(read(bases_[2]).error, ErrorCode::NONE);
  EXPECT_EQ(values(bases_[2]).size(), static_cast<size_t>(kRecords - bases_[2]));
  EXPECT_TRUE(service->online());
  EXPECT_EQ(append(make_batch({"more"})).error, ErrorCode::NONE);
}

TEST_F(DamageTest, AChangedHeaderAtTheEndOfAnOldSegmentStopsTheStart) {
  stop();
  flip(bases_[1], kLengthPosition);
  const std::string why = refusal();
  EXPECT_THAT(why, HasSubstr(active_path(bases_[1])));
  EXPECT_THAT(why, HasSubstr("position 0"));
}

}  // namespace
}  // namespace ackord::log
