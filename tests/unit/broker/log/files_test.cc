// The small formats: names, checkpoints, indexes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "broker/log/checkpoint_files.h"
#include "broker/log/indexes.h"
#include "broker/log/log_names.h"

namespace ackord::log {
namespace {

TopicPartition partition(const char* topic, int32_t number) { return {TopicName(topic), number}; }

TEST(LogNames, FilesAndFolders) {
  EXPECT_EQ(names::file_name(42, names::kLog), "00000000000000000042.log");
  EXPECT_EQ(names::parse_file_name("00000000000000000042.log", names::kLog), 42);
  for (const char* bad : {"42.log", "0000000000000000004x.log", "00000000000000000042.index",
                          "-0000000000000000042.log", "00000000000000000042.log.tmp"}) {
    EXPECT_FALSE(names::parse_file_name(bad, names::kLog)) << bad;
  }
  EXPECT_EQ(names::folder_name(partition("a-b", 3)), "a-b-3");
  EXPECT_EQ(*names::parse_folder_name("a-b-3"), partition("a-b", 3));
  for (const char* bad : {"a", "-3", "a-", "a-x", "a-3.x", "a--"})
    EXPECT_FALSE(names::parse_folder_name(bad)) << bad;
  const auto deleted =
      names::deleted_folder_name(partition(std::string(249, 't').c_str(), 12), Uuid{});
  EXPECT_EQ(deleted.size(), 255u);
  EXPECT_TRUE(deleted.ends_with("-12.00000000000000000000000000000000-delete"));
}

TEST(Checkpoints, OffsetsRoundTripAndBadOnesAreRefused) {
  const OffsetCheckpoint offsets{{partition("a", 0), 5}, {partition("b-c", 10), INT64_MAX}};
  const auto text = format_offsets(offsets);
  EXPECT_EQ(text, "0\n2\na 0 5\nb-c 10 9223372036854775807\n");
  EXPECT_EQ(*parse_offsets(text, "f"), offsets);
  EXPECT_TRUE(parse_offsets("", "f")->empty());
  for (const char* bad : {"1\n0\n", "0\n", "0\n2\na 0 5\n", "0\n1\na 0\n", "0\n1\na x 5\n", "x"}) {
    EXPECT_TRUE(parse_offsets(bad, "f").has_error()) << bad;
  }
}

TEST(Checkpoints, EpochsAndProperties) {
  const std::vector<EpochStart> epochs{{0, 0}, {3, 10}};
  EXPECT_EQ(format_epochs(epochs), "0\n2\n0 0\n3 10\n");
  EXPECT_EQ(*parse_epochs(format_epochs(epochs), "f"), epochs);
  Uuid id;
  id.bytes[3] = 9;
  EXPECT_EQ(*parse_partition_metadata(format_partition_metadata(id), "f"), id);
  EXPECT_TRUE(parse_partition_metadata("version: 1\ntopic_id: x\n", "f").has_error());
  // As Kafka 4.4 writes it.
  const auto meta = parse_meta_properties(
      "#\n#Sun Nov 29 17:48:22 UTC "
      "2026\nnode.id=1\ndirectory.id=x7GRepJlJimXbhoqWW6Iww\nversion=1\n"
      "cluster.id=AxEkY5JgSEq7WdNm36d65A\n",
      "f");
  ASSERT_TRUE(meta.has_value());
  EXPECT_EQ(meta->cluster_id, "AxEkY5JgSEq7WdNm36d65A");
  EXPECT_EQ(meta->node_id, 1);
  EXPECT_EQ(meta->directory_id.to_string(), "x7GRepJlJimXbhoqWW6Iww");
  EXPECT_EQ(parse_meta_properties(format_meta_properties(*meta), "f")->cluster_id,
            meta->cluster_id);
  EXPECT_TRUE(parse_meta_properties("version=0\n", "f").has_error());
}

TEST(Indexes, LookupsGiveWhereToStart) {
  SegmentIndexes index(100);
  index.add_offset(109, 500);
  index.add_offset(119, 1000);
  index.add_time(5, 109);
  index.add_time(5, 119);  // no later than what is there
  index.add_time(9, 125);
  EXPECT_EQ(index.position_of(100), 0u);
  EXPECT_EQ(index.position_of(108), 0u);
  EXPECT_EQ(index.position_of(109), 500u);
  EXPECT_EQ(index.position_of(5000), 1000u);
  EXPECT_EQ(index.position_before(999, 5000), 500u);
  EXPECT_EQ(index.position_before(1000, 5000), 1000u);
  EXPECT_EQ(index.position_before(1000, 119), 500u);
  EXPECT_EQ(index.position_before(1000, 109), 0u);
  EXPECT_EQ(index.times().size(), 2u);
  EXPECT_EQ(index.offset_before(5), 100);
  EXPECT_EQ(index.offset_before(6), 109);
  EXPECT_EQ(index.offset_before(10), 125);
  SegmentIndexes copy(100);
  ASSERT_TRUE(copy.decode(index.encode_offsets(), index.encode_times(), 2000).has_value());
  EXPECT_EQ(copy.offsets(), index.offsets());
  EXPECT_EQ(copy.times(), index.times());
}

TEST(Indexes, PreallocatedZerosEndThemAndNonsenseIsRefused) {
  SegmentIndexes index(0);
  index.add_offset(9, 500);
  index.add_time(5, 9);
  auto offsets = index.encode_offsets();
  auto times = index.encode_times();
  offsets.resize(80);
  times.resize(120);
  SegmentIndexes copy(0);
  ASSERT_TRUE(copy.decode(offsets, times, 600).has_value());
  EXPECT_EQ(copy.offsets().size(), 1u);
  EXPECT_EQ(copy.times().size(), 1u);
  EXPECT_TRUE(copy.decode(offsets, times, 500).has_error()) << "beyond the log";
  offsets.resize(7);
  EXPECT_TRUE(copy.decode(offsets, {}, 600).has_error());
  index.add_offset(8, 700);
  EXPECT_TRUE(copy.decode(index.encode_offsets(), {}, 1000).has_error()) << "offsets do not grow";
}

TEST(Indexes, AbortedRangesRoundTrip) {
  const std::vector<AbortedRange> entries{{ProducerId(80), 125, 127, 128},
                                          {ProducerId(1), 0, 4, 5}};
  const auto bytes = encode_aborted(entries);
  EXPECT_EQ(bytes.size(), 68u);
  EXPECT_EQ(*decode_aborted(bytes), entries);
  EXPECT_TRUE(decode_aborted(std::span(bytes).first(35)).has_error());
}

}  // namespace
}  // namespace ackord::log
