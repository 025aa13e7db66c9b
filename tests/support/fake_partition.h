// log::Partition and log::LogService in memory, for the tests of services and coordinators.
//   test::FakeLogService logs(environment);
//   logs.partition("__share_group_state", 3).batches()   what was appended, in order
//   logs.hold_durability(); …; logs.release_durability();
// What is read back is real: batches v2, byte for byte, so that load_partition can parse them.
// Not checked: what a client's batch holds, sequences, the epochs of markers. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/core.h"
#include "broker/io/position_gate.h"
#include "broker/log/log_service.h"
#include "broker/log/partition.h"
#include "protocol/wire/writer.h"

namespace ackord::test {

inline uint32_t crc32c_of(std::span<const std::byte> bytes) {
  uint32_t crc = 0xffffffffu;
  for (const std::byte byte : bytes) {
    crc ^= static_cast<uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
  }
  return ~crc;
}

// One append, as the test looks at it.
struct FakeBatch {
  Offset base_offset = 0;
  Offset last_offset = 0;
  TimeMs timestamp_ms = 0;
  std::optional<log::ProducerStamp> transaction;
  std::optional<log::EndMarker> marker;
  std::vector<log::EncodedRecord> records;  // empty for a client's batch and for a marker
  std::vector<std::byte> bytes;             // as stored
};

class FakePartition : public log::Partition {
 public:
  // `home` is where waiters are resumed when a test calls from outside of every core.
  FakePartition(TopicPartition name, Uuid topic_id, log::LogConfig config,
                io::Executor* home = nullptr)
      : name_(std::move(name)), topic_id_(topic_id), config_(std::move(config)), home_(home) {}

  // ---- for tests
  const std::vector<FakeBatch>& batches() const { return batches_; }
  // Every record of every batch, in order; markers and clients' batches have none.
  std::vector<log::EncodedRecord> records() const {
    std::vector<log::EncodedRecord> all;
    for (const FakeBatch& batch : batches_) {
      all.insert(all.end(), batch.records.begin(), batch.records.end());
    }
    return all;
  }
  const log::LogConfig& config() const { return config_; }
  // While held, appends stay above the high watermark and durable() waits.
  void hold_durability() { held_ = true; }
  void release_durability() {
    held_ = false;
    advance();
  }
  // A crash: what was not durable is gone.
  void lose_undurable() {
    while (!batches_.empty() && batches_.back().last_offset >= gate_->position())
      batches_.pop_back();
    end_ = batches_.empty() ? 0 : batches_.back().last_offset + 1;
    rebuild_transactions();
  }
  // The disk fails: from now on everything is KAFKA_STORAGE_ERROR.
  void fail_storage() {
    failed_ = true;
    at_home([this] { gate_->fail(error(ErrorCode::KAFKA_STORAGE_ERROR, "failed by the test")); });
  }
  void drop() {
    removed_ = true;
    advance_.notify();
  }

  // ---- log::Partition
  const TopicPartition& name() const override { return name_; }
  const Uuid& topic_id() const override { return topic_id_; }
  int32_t leader_epoch() const override { return leader_epoch_; }
  io::Task<void> raise_leader_epoch(int32_t epoch) override {
    leader_epoch_ = std::max(leader_epoch_, epoch);
    co_return;
  }
  Offset log_start_offset() const override { return start_; }
  Offset log_end_offset() const override { return end_; }
  Offset high_watermark() const override { return gate_->position(); }
  Offset last_stable_offset() const override {
    Offset stable = high_watermark();
    for (const auto& [id, open] : open_) stable = std::min(stable, open.first_offset);
    return stable;
  }
  uint64_t size_bytes() const override {
    uint64_t size = 0;
    for (const FakeBatch& batch : batches_) size += batch.bytes.size();
    return size;
  }
  io::Signal& on_advance() override { return advance_; }

  log::AppendResult append(const log::ClientAppend& request, TimeMs now_ms) override {
    log::AppendResult result;
    if (!writable(result)) return result;
    if (request.records.size() < kHeaderSize) {
      result.error = ErrorCode::CORRUPT_MESSAGE;
      return result;
    }
    FakeBatch batch;
    batch.bytes.assign(request.records.begin(), request.records.end());
    const int32_t last_delta = load<int32_t>(batch.bytes, 23);
    const int16_t attributes = load<int16_t>(batch.bytes, 21);
    const log::ProducerStamp producer{ProducerId(load<int64_t>(batch.bytes, 43)),
                                      load<int16_t>(batch.bytes, 51)};
    if ((attributes & kTransactional) != 0) batch.transaction = producer;
    store_number<int64_t>(batch.bytes, 0, end_);
    batch.timestamp_ms = now_ms;
    return add(std::move(batch), last_delta + 1);
  }

  log::AppendResult append_marker(const log::EndMarker& marker, TimeMs now_ms) override {
    log::AppendResult result;
    if (!writable(result)) return result;
    protocol::Writer key;
    key.int16(0);
    key.int16(marker.commit ? 1 : 0);
    protocol::Writer value;
    value.int16(0);
    value.int32(marker.coordinator_epoch);
    log::EncodedRecord record{key.finish().copy(), value.finish().copy()};
    FakeBatch batch;
    batch.marker = marker;
    batch.timestamp_ms = now_ms;
    batch.bytes = encode({&record, 1}, marker.producer, kTransactional | kControl, now_ms);
    return add(std::move(batch), 1);
  }

  using log::Partition::append_records;
  log::AppendResult append_records(std::span<const log::EncodedRecord> records,
                                   std::optional<log::ProducerStamp> transaction, TimeMs now_ms,
                                   log::Flush) override {
    log::AppendResult result;
    if (!writable(result)) return result;
    FakeBatch batch;
    batch.transaction = transaction;
    batch.timestamp_ms = now_ms;
    batch.records.assign(records.begin(), records.end());
    batch.bytes = encode(records, transaction.value_or(log::ProducerStamp{}),
                         transaction ? kTransactional : 0, now_ms);
    return add(std::move(batch), static_cast<int32_t>(records.size()));
  }

  io::Task<Result<void>> durable(Offset offset) override { return gate_->reached(offset); }

  std::optional<log::ProducerView> producer(ProducerId id) const override {
    const auto at = producers_.find(id.value);
    if (at == producers_.end()) return std::nullopt;
    return at->second;
  }
  std::vector<log::ProducerView> producers() const override {
    std::vector<log::ProducerView> all;
    for (const auto& [id, view] : producers_) all.push_back(view);
    return all;
  }
  bool has_open_transaction(log::ProducerStamp producer) const override {
    const auto at = open_.find(producer.id.value);
    return at != open_.end() && at->second.epoch == producer.epoch;
  }
  uint64_t begin_verification(log::ProducerStamp) override { return ++guard_; }

  io::Task<log::ReadResult> read(log::ReadSpec spec) override {
    const Offset bound =
        spec.isolation == log::Isolation::kReadCommitted ? last_stable_offset() : high_watermark();
    log::ReadResult result = collect(spec.offset, spec.max_bytes, bound, spec.want_batches);
    if (spec.isolation == log::Isolation::kReadCommitted)
      result.aborted = aborted_from(spec.offset);
    co_return result;
  }
  io::Task<log::ReadResult> read_all(Offset offset, int64_t max_bytes) override {
    log::ReadResult result = collect(offset, max_bytes, end_, true);
    co_return result;
  }
  io::Task<Result<log::TimestampedOffset>> offset_for_timestamp(TimeMs timestamp,
                                                                log::Isolation) override {
    log::TimestampedOffset found;
    for (const FakeBatch& batch : batches_) {
      if (batch.timestamp_ms < timestamp || batch.base_offset >= high_watermark()) continue;
      found = {batch.base_offset, batch.timestamp_ms, 0};
      break;
    }
    co_return found;
  }
  io::Task<Result<log::TimestampedOffset>> offset_of_max_timestamp() override {
    log::TimestampedOffset found;
    for (const FakeBatch& batch : batches_) {
      if (batch.timestamp_ms > found.timestamp) found = {batch.base_offset, batch.timestamp_ms, 0};
    }
    co_return found;
  }
  std::pair<int32_t, Offset> end_offset_for_epoch(int32_t epoch) const override {
    if (epoch != 0) return {-1, -1};
    return {0, end_};
  }

  io::Task<Result<Offset>> delete_records(Offset before) override {
    if (before > high_watermark()) co_return error(ErrorCode::OFFSET_OUT_OF_RANGE);
    start_ = std::max(start_, before);
    while (!batches_.empty() && batches_.front().last_offset < start_)
      batches_.erase(batches_.begin());
    advance_.notify();
    co_return start_;
  }
  void configure(const log::LogConfig& config) override { config_ = config; }

 private:
  static constexpr size_t kHeaderSize = 61;
  static constexpr int16_t kTransactional = 0x10;
  static constexpr int16_t kControl = 0x20;
  struct Open {
    int16_t epoch;
    Offset first_offset;
  };

  template <class Number>
  static Number load(const std::vector<std::byte>& bytes, size_t at) {
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(Number); ++i)
      value = value << 8 | static_cast<uint64_t>(bytes[at + i]);
    return static_cast<Number>(value);
  }
  template <class Number>
  static void store_number(std::vector<std::byte>& bytes, size_t at, Number number) {
    for (size_t i = 0; i < sizeof(Number); ++i) {
      bytes[at + i] =
          static_cast<std::byte>(static_cast<uint64_t>(number) >> (8 * (sizeof(Number) - 1 - i)));
    }
  }

  std::vector<std::byte> encode(std::span<const log::EncodedRecord> records,
                                log::ProducerStamp producer, int16_t attributes,
                                TimeMs now_ms) const {
    protocol::Writer body;
    int32_t delta = 0;
    for (const log::EncodedRecord& record : records) {
      protocol::Writer one;
      one.int8(0);
      one.varlong(0);
      one.varint(delta++);
      one.varint(record.null_key ? -1 : static_cast<int32_t>(record.key.size()));
      one.raw(record.key);
      one.varint(record.value ? static_cast<int32_t>(record.value->size()) : -1);
      if (record.value) one.raw(*record.value);
      one.varint(0);
      const std::vector<std::byte> bytes = one.finish().copy();
      body.varint(static_cast<int32_t>(bytes.size()));
      body.raw(bytes);
    }
    const std::vector<std::byte> content = body.finish().copy();
    protocol::Writer out;
    out.int64(end_);
    out.int32(static_cast<int32_t>(kHeaderSize - 12 + content.size()));
    out.int32(0);  // partition leader epoch
    out.int8(2);   // magic
    out.uint32(0);
    out.int16(attributes);
    out.int32(static_cast<int32_t>(records.size()) - 1);
    out.int64(now_ms);
    out.int64(now_ms);
    out.int64(producer.id.value);
    out.int16(producer.epoch);
    out.int32(-1);
    out.int32(static_cast<int32_t>(records.size()));
    out.raw(content);
    std::vector<std::byte> bytes = out.finish().copy();
    store_number<uint32_t>(bytes, 17, crc32c_of(std::span(bytes).subspan(21)));
    return bytes;
  }

  bool writable(log::AppendResult& result) const {
    if (failed_) result.error = ErrorCode::KAFKA_STORAGE_ERROR;
    if (removed_) result.error = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
    return result.error == ErrorCode::NONE;
  }

  log::AppendResult add(FakeBatch batch, int32_t count) {
    log::AppendResult result;
    batch.base_offset = end_;
    batch.last_offset = end_ + count - 1;
    end_ += count;
    result.base_offset = batch.base_offset;
    result.next_offset = end_;
    result.log_start_offset = start_;
    batches_.push_back(std::move(batch));
    track(batches_.back());
    if (!held_) advance();
    return result;
  }
  void track(const FakeBatch& batch) {
    if (batch.transaction) {
      open_.emplace(batch.transaction->id.value, Open{batch.transaction->epoch, batch.base_offset});
      log::ProducerView& view = producers_[batch.transaction->id.value];
      view.producer = *batch.transaction;
      view.last_timestamp = batch.timestamp_ms;
      view.current_txn_start_offset = open_.at(batch.transaction->id.value).first_offset;
    }
    if (batch.marker) {
      const int64_t id = batch.marker->producer.id.value;
      const auto open = open_.find(id);
      if (open != open_.end()) {
        if (!batch.marker->commit) {
          aborted_.push_back({{ProducerId(id), open->second.first_offset}, batch.last_offset});
        }
        open_.erase(open);
      }
      log::ProducerView& view = producers_[id];
      view.producer = batch.marker->producer;
      view.coordinator_epoch = batch.marker->coordinator_epoch;
      view.current_txn_start_offset = -1;
    }
  }
  void rebuild_transactions() {
    open_.clear();
    producers_.clear();
    aborted_.clear();
    for (const FakeBatch& batch : batches_) track(batch);
  }
  void advance() {
    at_home([this, end = end_] {
      gate_->advance(end);
      advance_.notify();
    });
  }
  // Waiters are resumed through the current executor, so there must be one.
  void at_home(std::function<void()> work) {
    if (io::Executor::current() != nullptr || home_ == nullptr) {
      work();
    } else {
      home_->post(std::move(work));
    }
  }

  log::ReadResult collect(Offset from, int64_t max_bytes, Offset bound, bool want_batches) const {
    log::ReadResult result;
    result.high_watermark = high_watermark();
    result.last_stable_offset = last_stable_offset();
    result.log_start_offset = start_;
    if (failed_) {
      result.error = ErrorCode::KAFKA_STORAGE_ERROR;
      return result;
    }
    if (from < start_ || from > end_) {
      result.error = ErrorCode::OFFSET_OUT_OF_RANGE;
      return result;
    }
    auto bytes = std::make_shared<std::vector<std::byte>>();
    for (const FakeBatch& batch : batches_) {
      if (batch.last_offset < from) continue;
      if (batch.base_offset >= bound) break;
      if (!bytes->empty() && static_cast<int64_t>(bytes->size() + batch.bytes.size()) > max_bytes)
        break;
      bytes->insert(bytes->end(), batch.bytes.begin(), batch.bytes.end());
      if (want_batches) result.batches.push_back(info(batch));
    }
    if (!bytes->empty()) result.records.append(SharedBuffer(std::move(bytes)));
    return result;
  }
  static log::BatchInfo info(const FakeBatch& batch) {
    log::BatchInfo info;
    info.base_offset = batch.base_offset;
    info.last_offset = batch.last_offset;
    info.max_timestamp = batch.timestamp_ms;
    info.producer = {ProducerId(load<int64_t>(batch.bytes, 43)), load<int16_t>(batch.bytes, 51)};
    info.base_sequence = load<int32_t>(batch.bytes, 53);
    info.record_count = load<int32_t>(batch.bytes, 57);
    info.transactional = (load<int16_t>(batch.bytes, 21) & kTransactional) != 0;
    info.control = (load<int16_t>(batch.bytes, 21) & kControl) != 0;
    info.size = static_cast<uint32_t>(batch.bytes.size());
    return info;
  }
  std::vector<log::AbortedTransaction> aborted_from(Offset from) const {
    std::vector<log::AbortedTransaction> found;
    for (const auto& [aborted, last_offset] : aborted_) {
      if (last_offset >= from) found.push_back(aborted);
    }
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.first_offset < b.first_offset; });
    return found;
  }

  int32_t leader_epoch_ = 0;
  TopicPartition name_;
  Uuid topic_id_;
  log::LogConfig config_;
  io::Executor* home_;
  std::vector<FakeBatch> batches_;
  std::map<int64_t, Open> open_;
  std::map<int64_t, log::ProducerView> producers_;
  std::vector<std::pair<log::AbortedTransaction, Offset>> aborted_;
  std::unique_ptr<io::PositionGate> gate_ = std::make_unique<io::PositionGate>(0);
  io::Signal advance_;
  Offset start_ = 0;
  Offset end_ = 0;
  uint64_t guard_ = 0;
  bool held_ = false;
  bool failed_ = false;
  bool removed_ = false;
};

class FakeLogService : public log::LogService {
 public:
  explicit FakeLogService(io::Environment& environment) : environment_(environment) {}

  // ---- for tests
  // Must exist.
  FakePartition& partition(std::string_view topic, int32_t index) {
    return *partitions_.at(TopicPartition{TopicName(topic), index});
  }
  bool has(std::string_view topic, int32_t index) const {
    return partitions_.contains(TopicPartition{TopicName(topic), index});
  }
  size_t partition_count() const { return partitions_.size(); }
  // All partitions, also those made later.
  void hold_durability() {
    held_ = true;
    for (auto& [name, partition] : partitions_) partition->hold_durability();
  }
  void release_durability() {
    held_ = false;
    for (auto& [name, partition] : partitions_) partition->release_durability();
  }
  void lose_undurable() {
    for (auto& [name, partition] : partitions_) partition->lose_undurable();
  }
  void fail_storage() {
    online_ = false;
    for (auto& [name, partition] : partitions_) partition->fail_storage();
  }
  log::CleanerConfig cleaner;  // as it was configured last
  // What create() and create_all() answer from now on.
  void fail_create(ErrorCode code) { create_error_ = code; }

  // ---- log::LogService
  Result<std::vector<log::FoundPartition>> open() override { return found(); }
  std::vector<log::FoundPartition> found() const {
    std::vector<log::FoundPartition> all;
    for (const auto& [name, partition] : partitions_) all.push_back({name, partition->topic_id()});
    return all;
  }
  io::Task<void> close() override { co_return; }
  const std::string& cluster_id() const override { return cluster_id_; }
  const io::Core& core_of(const TopicPartition& name) const override {
    return environment_.core(std::hash<TopicPartition>()(name));
  }
  std::shared_ptr<log::Partition> find(const TopicPartition& name) override {
    const auto at = partitions_.find(name);
    return at == partitions_.end() ? nullptr : at->second;
  }
  io::Task<Result<void>> create(TopicPartition name, Uuid topic_id,
                                log::LogConfig config) override {
    std::vector<TopicPartition> names;
    names.push_back(std::move(name));
    co_return create_now(names, topic_id, config);
  }
  io::Task<Result<void>> create_all(std::vector<TopicPartition> names, Uuid topic_id,
                                    log::LogConfig config) override {
    co_return create_now(names, topic_id, config);
  }
  io::Task<Result<void>> remove(TopicPartition name) override {
    const auto at = partitions_.find(name);
    if (at != partitions_.end()) {
      at->second->drop();
      partitions_.erase(at);
    }
    co_return Result<void>{};
  }
  io::Task<void> configure(TopicPartition name, log::LogConfig config) override {
    const auto at = partitions_.find(name);
    if (at != partitions_.end()) at->second->configure(config);
    co_return;
  }
  bool online() const override { return online_; }
  void configure_cleaner(log::CleanerConfig config) override { cleaner = config; }

 private:
  Result<void> create_now(const std::vector<TopicPartition>& names, Uuid topic_id,
                          const log::LogConfig& config) {
    if (create_error_ != ErrorCode::NONE) return error(create_error_, "refused by the test");
    for (const TopicPartition& name : names) {
      const auto at = partitions_.find(name);
      if (at != partitions_.end()) {
        if (at->second->topic_id() == topic_id) continue;
        return error(ErrorCode::INCONSISTENT_TOPIC_ID, "another topic's partition is there");
      }
      auto partition =
          std::make_shared<FakePartition>(name, topic_id, config, &core_of(name).executor);
      if (held_) partition->hold_durability();
      partitions_.emplace(name, std::move(partition));
    }
    return {};
  }

  io::Environment& environment_;
  std::string cluster_id_ = "fakeClusterIdAAAAAAAAA";
  std::map<TopicPartition, std::shared_ptr<FakePartition>> partitions_;
  ErrorCode create_error_ = ErrorCode::NONE;
  bool held_ = false;
  bool online_ = true;
};

}  // namespace ackord::test
