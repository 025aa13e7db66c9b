// A data directory with one partition "t-0", restarted at will, and batches to put into it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/log/log_service.h"
#include "protocol/record_batch/batch_builder.h"
#include "protocol/record_batch/record_reader.h"
#include "tests/support/local_file_system.h"
#include "tests/support/temp_directory.h"
#include "tests/support/test_executor.h"

namespace ackord::log {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline Uuid topic_id(uint8_t last = 7) {
  Uuid id;
  id.bytes[0] = 0xab;
  id.bytes[15] = last;
  return id;
}

struct Seq {
  int64_t producer = -1;
  int16_t epoch = 0;
  int32_t sequence = 0;
  bool transactional = false;
};

// A record with a key; no value is a tombstone.
struct Keyed {
  std::string key;
  std::optional<std::string> value;
  friend bool operator==(const Keyed&, const Keyed&) = default;
};
inline std::vector<std::byte> make_keyed(const std::vector<Keyed>& records, Seq seq = {},
                                         TimeMs timestamp = 1'700'000'000'000,
                                         protocol::Codec codec = protocol::Codec::kNone) {
  protocol::BatchOptions options;
  options.codec = codec;
  options.transactional = seq.transactional;
  if (seq.producer >= 0) {
    options.producer_id = ProducerId(seq.producer);
    options.producer_epoch = seq.epoch;
    options.base_sequence = seq.sequence;
  }
  protocol::BatchBuilder builder(options);
  for (const Keyed& record : records) {
    std::optional<std::span<const std::byte>> value;
    if (record.value) value = bytes_of(*record.value);
    builder.add(timestamp, bytes_of(record.key), value);
  }
  return builder.build();
}

// One batch with `values` as records, all with one key, of time `timestamp`.
inline std::vector<std::byte> make_batch(const std::vector<std::string>& values, Seq seq = {},
                                         TimeMs timestamp = 1'700'000'000'000,
                                         protocol::Codec codec = protocol::Codec::kNone) {
  std::vector<Keyed> records;
  for (const std::string& value : values) records.push_back({"k", value});
  return make_keyed(records, seq, timestamp, codec);
}

class LogHarness {
 public:
  // Without a journal, so that every append is followed by a sync of its own file.
  explicit LogHarness(bool sync_on_ack = true) {
    settings_.sync_on_ack = sync_on_ack;
    settings_.journal_file_bytes = 0;
  }
  ~LogHarness() { crash(); }
  // For the next start.
  LogSettings& settings() { return settings_; }

  test::TempDirectory directory;
  test::LocalFileSystem files;
  test::SeededRandom random;
  std::unique_ptr<test::TestCore> core;
  std::unique_ptr<io::Environment> environment;
  std::unique_ptr<LogService> service;
  std::shared_ptr<Partition> partition;
  LogConfig config;

  const TopicPartition name{TopicName("t"), 0};
  std::string folder() const { return directory / "t-0"; }
  std::string path(const std::string& file) const { return folder() + "/" + file; }
  std::string active_path(Offset base = 0) const {
    char text[32];
    std::snprintf(text, sizeof text, "%020lld.log", static_cast<long long>(base));
    return path(text);
  }

  // The partition, made when the directory does not have it.
  Result<void> start() {
    core = std::make_unique<test::TestCore>();
    environment = std::make_unique<io::Environment>(io::Environment{{core->core()}, files, random});
    settings_.directory = directory.path();
    service = make_log_service(*environment, settings_);
    auto opened = service->open();
    if (opened.has_error()) return opened.error();
    found = *opened;
    auto made = core->run(service->create(name, topic_id(), config));
    if (made.has_error()) return made;
    core->run(service->configure(name, config));
    partition = service->find(name);
    return {};
  }
  void stop() {
    core->run(service->close());
    crash();
  }
  // What is in memory is gone, what was written stays.
  void crash() {
    partition.reset();
    if (core) core->executor.destroy_spawned();
    service.reset();
    environment.reset();
    core.reset();
  }

  AppendResult append(const std::vector<std::byte>& batch, std::optional<uint64_t> guard = {}) {
    ClientAppend request;
    request.records = batch;
    request.produce_version = 11;
    request.verification_guard = guard;
    return core->executor.inside(
        [&] { return partition->append(request, core->clock.now().wall_ms); });
  }
  AppendResult marker(int64_t producer, int16_t epoch, bool commit, int32_t coordinator_epoch = 0,
                      int8_t version = 1) {
    EndMarker end{{ProducerId(producer), epoch}, commit, coordinator_epoch, version};
    return core->executor.inside(
        [&] { return partition->append_marker(end, core->clock.now().wall_ms); });
  }
  AppendResult begin(int64_t producer, int16_t epoch, int32_t sequence, const std::string& value) {
    const uint64_t guard = partition->begin_verification({ProducerId(producer), epoch});
    return append(make_batch({value}, {producer, epoch, sequence, true}), guard);
  }
  void settle() { core->run_until_idle(); }
  ReadResult read(Offset offset, int64_t max_bytes = 1 << 20,
                  Isolation isolation = Isolation::kReadUncommitted) {
    ReadSpec spec;
    spec.offset = offset;
    spec.max_bytes = max_bytes;
    spec.isolation = isolation;
    spec.want_batches = true;
    return core->run(partition->read(spec));
  }
  // The values of all records from `offset` on, read as clients do.
  std::vector<std::string> values(Offset offset, int64_t max_bytes = 1 << 20) {
    std::vector<std::string> all;
    while (offset < partition->high_watermark()) {
      ReadResult result = read(offset, max_bytes);
      EXPECT_EQ(result.error, ErrorCode::NONE);
      const auto bytes = result.records.copy();
      if (bytes.empty()) break;
      std::span<const std::byte> left(bytes);
      while (!left.empty()) {
        auto header = protocol::parse_header(left);
        EXPECT_TRUE(protocol::check_batch(*header, left).has_value());
        std::vector<std::byte> buffer;
        auto records = protocol::uncompressed_records(*header, left, 1 << 24, buffer);
        protocol::RecordReader reader(*header, *records);
        protocol::Record record;
        while (!header->control() && reader.next(record)) {
          if (record.offset < offset) continue;
          all.emplace_back(reinterpret_cast<const char*>(record.value->data()),
                           record.value->size());
        }
        offset = header->next_offset();
        left = left.subspan(header->size());
      }
    }
    return all;
  }

  std::vector<FoundPartition> found;

 private:
  LogSettings settings_;
};

}  // namespace ackord::log
