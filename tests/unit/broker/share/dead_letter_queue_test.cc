// Dead letters through the service over logs in memory: in which order things become durable, what
// a crash leaves, and what ends in vain.
#include "broker/share/dead_letter_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "broker/share/share_service.h"
#include "protocol/record_batch/record_reader.h"
#include "tests/support/metadata_fixture.h"

namespace ackord::share {
namespace {

constexpr const char* kQueue = "dlq.q";

// "<offset of the original>[ key=value]" of each letter.
std::vector<std::string> letters_in(const test::FakePartition& queue) {
  std::vector<std::string> out;
  for (const test::FakeBatch& batch : queue.batches()) {
    const auto header = protocol::parse_header(batch.bytes);
    std::vector<std::byte> buffer;
    const auto records =
        protocol::uncompressed_records(*header, batch.bytes, size_t{1} << 20, buffer);
    protocol::RecordReader reader(*header, *records);
    auto text = [](std::span<const std::byte> bytes) {
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    for (protocol::Record record; reader.next(record);) {
      std::string& letter = out.emplace_back();
      for (const protocol::RecordHeader& h : record.headers)
        if (h.key == "__dlq.errors.offset") letter = text(*h.value);
      if (record.key) letter += " " + text(*record.key) + "=";
      if (record.value) letter += text(*record.value);
    }
  }
  return out;
}

using Letters = std::vector<std::string>;

class DeadLetterQueueTest : public ::testing::Test {
 protected:
  DeadLetterQueueTest() {
    make();
    topic_ = broker_.create_topic("t");
    set_group("errors.deadletterqueue.topic.name", kQueue);
    set_group("share.auto.offset.reset", "earliest");
    EXPECT_EQ(run(service_->initialize_state({{group_, topic_->id, 0}, 1, 0})), PartitionError());
    produce(10);
  }
  ~DeadLetterQueueTest() override { broker_.core.executor.destroy_spawned(); }

  void make() {
    service_ = make_share_service(broker_.environment, broker_.logs, broker_.metadata());
    EXPECT_TRUE(run(service_->load()).has_value());
  }
  void crash() {
    broker_.core.executor.destroy_spawned();
    service_.reset();
    broker_.logs.lose_undurable();
    broker_.logs.release_durability();
    broker_.restart();
    make();
    session_epoch_ = 0;
  }
  void set_group(const std::string& name, const std::string& value) {
    EXPECT_TRUE(broker_.set_config(metadata::ResourceType::kGroup, "g", name, value));
  }
  void make_queue(std::string enabled = "true") {
    broker_.create_topic(kQueue, 1, {{"errors.deadletterqueue.group.enable", std::move(enabled)}});
  }
  test::FakePartition& queue() { return broker_.logs.partition(kQueue, 0); }
  void produce(int count) {
    std::vector<log::EncodedRecord> records;
    auto bytes = [](const std::string& text) {
      const auto view = std::as_bytes(std::span(text));
      return std::vector<std::byte>(view.begin(), view.end());
    };
    for (int i = 0; i < count; ++i)
      records.push_back({bytes("k" + std::to_string(i)), bytes("v" + std::to_string(i))});
    broker_.logs.partition("t", 0).append_records(records, std::nullopt, 0);
  }
  template <class T>
  T run(io::Task<T> task) {
    return broker_.core.run(std::move(task));
  }
  int64_t acquire() {
    ShareFetch call;
    call.group = group_;
    call.member = "m";
    call.session_epoch = session_epoch_++;
    call.max_bytes = 1 << 20;
    call.max_records = call.batch_size = 500;
    if (call.session_epoch == 0) call.listed.push_back({{topic_->id, 0}, {}});
    int64_t records = 0;
    const ShareFetchReply reply = run(service_->fetch(std::move(call)));
    for (const auto& partition : reply.partitions) {
      for (const auto& range : partition.acquired)
        records += range.last_offset - range.first_offset + 1;
    }
    return records;
  }
  io::Task<ShareAcknowledgeReply> rejecting(Offset first, Offset last) {
    ShareAcknowledgeCall call;
    call.group = group_;
    call.member = "m";
    call.session_epoch = session_epoch_++;
    call.partitions.push_back({{topic_->id, 0}, {{first, last, {3}}}});
    return service_->acknowledge(std::move(call));
  }
  void reject(Offset first, Offset last) {
    const ShareAcknowledgeReply reply = run(rejecting(first, last));
    EXPECT_TRUE(reply.error_code == ErrorCode::NONE && reply.partitions.at(0).ok());
    broker_.core.run_until_idle();
  }
  RecordState state_of(Offset offset) {
    const auto reply = run(service_->describe(group_, {topic_->id, 0}, 100));
    for (const InFlightRange& range : reply->ranges) {
      if (range.first_offset <= offset && offset <= range.last_offset) return range.state;
    }
    return reply->start_offset > offset ? RecordState::ARCHIVED : RecordState::AVAILABLE;
  }
  void hold_state(bool hold) {
    for (int32_t at = 0; at < 2; ++at) {
      auto& partition = broker_.logs.partition(metadata::kShareStateTopic, at);
      hold ? partition.hold_durability() : partition.release_durability();
    }
  }

  test::MetadataFixture broker_;
  std::unique_ptr<ShareService> service_;
  std::shared_ptr<const metadata::TopicImage> topic_;
  GroupId group_{"g"};
  int32_t session_epoch_ = 0;
};

TEST_F(DeadLetterQueueTest, ArchivingIsDurableThenTheLetterThenItIsArchived) {
  make_queue();
  ASSERT_EQ(acquire(), 10);
  hold_state(true);
  broker_.core.spawn([](io::Task<ShareAcknowledgeReply> task) -> io::Task<void> {
    (void)co_await std::move(task);
  }(rejecting(3, 4)));
  broker_.core.run_until_idle();
  EXPECT_EQ(letters_in(queue()), Letters());

  queue().hold_durability();
  hold_state(false);
  broker_.core.run_until_idle();
  EXPECT_EQ(letters_in(queue()), (Letters{"3", "4"}));
  EXPECT_EQ(state_of(3), RecordState::ARCHIVING);

  queue().release_durability();
  broker_.core.run_until_idle();
  EXPECT_EQ(state_of(3), RecordState::ARCHIVED);
  EXPECT_EQ(state_of(5), RecordState::ACQUIRED);
}

TEST_F(DeadLetterQueueTest, ACrashBeforeTheLetterIsDurableLosesNoLetter) {
  make_queue();
  ASSERT_EQ(acquire(), 10);
  queue().hold_durability();
  reject(3, 4);
  ASSERT_EQ(letters_in(queue()), (Letters{"3", "4"}));
  crash();
  broker_.core.run_until_idle();
  EXPECT_EQ(letters_in(queue()), (Letters{"3", "4"})) << "written anew";
  EXPECT_EQ(state_of(3), RecordState::ARCHIVED);
}

TEST_F(DeadLetterQueueTest, ACrashBeforeArchivedIsDurableRepeatsTheLetter) {
  make_queue();
  ASSERT_EQ(acquire(), 10);
  queue().hold_durability();
  reject(0, 0);
  hold_state(true);
  queue().release_durability();
  broker_.core.run_until_idle();
  crash();
  broker_.core.run_until_idle();
  EXPECT_EQ(letters_in(queue()), (Letters{"0", "0"}));
  EXPECT_EQ(state_of(0), RecordState::ARCHIVED);
}

TEST_F(DeadLetterQueueTest, WhatComesMeanwhileGoesOutTogether) {
  make_queue();
  ASSERT_EQ(acquire(), 10);
  queue().hold_durability();
  for (const Offset offset : {1, 3, 5, 7}) reject(offset, offset);
  queue().release_durability();
  broker_.core.run_until_idle();
  EXPECT_EQ(letters_in(queue()), (Letters{"1", "3", "5", "7"}));
  EXPECT_EQ(queue().batches().size(), 2u);
}

TEST_F(DeadLetterQueueTest, CopiesTheOriginalWhereItIsWanted) {
  make_queue();
  set_group("errors.deadletterqueue.copy.record.enable", "true");
  produce(3);
  ASSERT_EQ(acquire(), 13);
  reject(8, 11);
  EXPECT_EQ(letters_in(queue()), (Letters{"8 k8=v8", "9 k9=v9", "10 k0=v0", "11 k1=v1"}));
}

TEST_F(DeadLetterQueueTest, AnOriginalThatHasLeftTheLogIsNotCopied) {
  make_queue();
  set_group("errors.deadletterqueue.copy.record.enable", "true");
  produce(3);
  ASSERT_EQ(acquire(), 13);
  ASSERT_TRUE(run(broker_.logs.partition("t", 0).delete_records(10)));
  reject(8, 11);
  EXPECT_EQ(letters_in(queue()), (Letters{"8", "9", "10 k0=v0", "11 k1=v1"}));
}

TEST_F(DeadLetterQueueTest, AMissingTopicIsMadeOnlyWhereTheBrokerSaysSo) {
  ASSERT_EQ(acquire(), 10);
  reject(0, 0);
  EXPECT_EQ(state_of(0), RecordState::ARCHIVED);
  EXPECT_EQ(broker_.metadata().image().topic(kQueue), nullptr);
  ASSERT_TRUE(broker_.set_config(metadata::ResourceType::kBroker, "",
                                 "errors.deadletterqueue.auto.create.topics.enable", "true"));
  reject(1, 1);
  const auto made = broker_.metadata().image().topic(kQueue);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->configs, (metadata::ConfigMap{{"errors.deadletterqueue.group.enable", "true"},
                                                {"message.timestamp.type", "CreateTime"}}));
  EXPECT_EQ(letters_in(queue()), (Letters{"1"}));
}

TEST_F(DeadLetterQueueTest, ATopicThatIsNotEnabledGetsNone) {
  make_queue("false");
  ASSERT_EQ(acquire(), 10);
  reject(0, 0);
  EXPECT_EQ(letters_in(queue()), Letters());
  EXPECT_EQ(state_of(0), RecordState::ARCHIVED);
}

TEST_F(DeadLetterQueueTest, WhatMayPassIsTriedFiveTimesThenGivenUp) {
  make_queue();
  ASSERT_EQ(acquire(), 10);
  queue().drop();
  reject(0, 0);
  const int64_t least_ms[] = {800, 1600, 3200, 6400};
  for (const int64_t wait_ms : least_ms) {
    broker_.core.advance(wait_ms - 1);
    EXPECT_EQ(state_of(0), RecordState::ARCHIVING);
    broker_.core.advance(wait_ms / 2 + 2);
  }
  EXPECT_EQ(state_of(0), RecordState::ARCHIVED);
}

}  // namespace
}  // namespace ackord::share
