// What the machine may do to a broker: a full disk, files that are missing or changed, a directory
// that cannot be written, no descriptors left. A clear error, nothing acknowledged that is lost,
// nothing wrong that is served.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/record_batch/batch_builder.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/share_member.h"
#include "tests/integration/support/txn_producer.h"

namespace ackord::integration {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;
using testing::HasSubstr;

constexpr int kCannotStart = 1;
constexpr int kWasOffline = 3;

// One batch without a producer id; what the broker says of it.
ErrorCode try_produce(RawClient& client, const Topic& topic, int32_t partition,
                      const std::string& value) {
  const std::vector<std::byte> batch = batch_of({value});
  auto answer =
      client.call<protocol::ProduceResponse>(produce_request(topic, partition, batch), 11);
  return answer.message.responses.at(0).partition_responses.at(0).error_code;
}

ErrorCode try_fetch(RawClient& client, const Topic& topic, Offset offset) {
  protocol::FetchRequest request;
  request.min_bytes = 1;
  auto& asked = request.topics.emplace_back();
  asked.topic = TopicName(topic.name);
  auto& part = asked.partitions.emplace_back();
  part.fetch_offset = offset;
  part.partition_max_bytes = 1 << 20;
  auto answer = client.call<protocol::FetchResponse>(request, 12);
  return answer.message.responses.at(0).partitions.at(0).error_code;
}

ErrorCode try_init(RawClient& client, const std::string& transactional_id) {
  protocol::InitProducerIdRequest request;
  request.transactional_id = TransactionalId(transactional_id);
  request.transaction_timeout_ms = 60000;
  return client.call<protocol::InitProducerIdResponse>(request, 5).message.error_code;
}

ErrorCode try_create(RawClient& client, const std::string& name, int32_t partitions) {
  protocol::CreateTopicsRequest request;
  auto& topic = request.topics.emplace_back();
  topic.name = TopicName(name);
  topic.num_partitions = partitions;
  topic.replication_factor = 1;
  return client.call<protocol::CreateTopicsResponse>(request, 7).message.topics.at(0).error_code;
}

Strings committed(RawClient& client, const Topic& topic) {
  return read_values(client, topic, 0, Isolation::kReadCommitted);
}

class Faults : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return broker_.directory() + "/" + name; }
  std::string segment(const Topic& topic, Offset base = 0) const {
    char name[32];
    std::snprintf(name, sizeof name, "%020lld.log", static_cast<long long>(base));
    return file(topic.name + "-0/" + name);
  }
  // Starting fails; the text that it says why with.
  std::string refusal(const Limits& limits = {}) {
    const Ended ended = run_ackord(broker_.arguments(), Millis(30000), limits);
    EXPECT_EQ(ended.status, kCannotStart) << ended.output;
    return ended.output;
  }

  BrokerProcess broker_;
  RawClient client_{broker_.port()};
};

// A file that may not grow is to the broker what a full disk is.
TEST_F(Faults, AFullDiskEndsAcknowledgementsUntilTheNextStart) {
  const Topic full = create_topic(client_, "full");
  const Topic other = create_topic(client_, "other");
  const Topic inputs = create_topic(client_, "inputs");
  set_group_configs(client_, "group", {{"share.auto.offset.reset", "earliest"}});
  produce(client_, inputs, 0, numbered_values(4));
  ShareMember member(broker_.port(), "group");
  member.join({inputs});
  ASSERT_EQ(member.acquire(inputs, 0, 4).size(), 1u);
  TxnProducer txn(broker_.port(), "txn", TxnVersion::k2);
  txn.init();
  ASSERT_EQ(txn.produce(other, 0, {"out"}), ErrorCode::NONE);
  ASSERT_EQ(txn.stage(member, {{inputs, 0, 0, 1}}), staged_ok());

  Strings acknowledged;
  // Larger than the journal's files, which the limit must leave alone.
  const std::string filling(900'000, 'x');
  for (int i = 0; i < 10; ++i) {
    acknowledged.push_back(filling + std::to_string(i));
    produce(client_, full, 0, {acknowledged.back()});
  }
  broker_.limit(RLIMIT_FSIZE, fs::file_size(segment(full)) + 2500);
  ErrorCode code = ErrorCode::NONE;
  for (int i = 0; code == ErrorCode::NONE && i < 100; ++i) {
    const std::string value = std::string(700, 'y') + std::to_string(i);
    code = try_produce(client_, full, 0, value);
    if (code == ErrorCode::NONE) acknowledged.push_back(value);
  }
  EXPECT_EQ(code, ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_THAT(broker_.output(), HasSubstr("offline"));
  EXPECT_THAT(broker_.output(), HasSubstr(segment(full) + ": File too large"));

  // The whole directory: other files might grow, but nobody knows what else has failed.
  EXPECT_EQ(try_produce(client_, other, 0, "late"), ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(try_fetch(client_, full, 0), ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(txn.commit(), ErrorCode::COORDINATOR_NOT_AVAILABLE);
  EXPECT_EQ(try_init(client_, "another"), ErrorCode::COORDINATOR_NOT_AVAILABLE);
  EXPECT_EQ(member.heartbeat(), ErrorCode::COORDINATOR_NOT_AVAILABLE);
  EXPECT_NE(try_create(client_, "new", 1), ErrorCode::NONE);
  EXPECT_EQ(broker_.stop(), kWasOffline);

  broker_.start();
  client_ = RawClient(broker_.port());
  EXPECT_EQ(committed(client_, full), acknowledged);
  EXPECT_EQ(committed(client_, other), Strings{});
  txn.reconnect();
  txn.end_for_sure(true);
  await_share_state(client_, "group", inputs, 0, "2..2:");
  poll_until("the commit", [&] { return committed(client_, other) == Strings{"out"}; });
  EXPECT_EQ(find_topic(client_, "new").partitions, 0);
}

TEST_F(Faults, AFullDiskAtTheStartIsSaid) {
  const Topic topic = create_topic(client_, "t");
  const Strings values(5, std::string(20000, 'x'));
  for (const std::string& value : values) produce(client_, topic, 0, {value});
  broker_.kill9();
  const std::string why = refusal({{RLIMIT_FSIZE, 50000}});
  EXPECT_THAT(why, HasSubstr("cannot write " + segment(topic) + ": File too large"));
  broker_.start();
  client_ = RawClient(broker_.port());
  EXPECT_EQ(committed(client_, topic), values);
}

TEST_F(Faults, AMissingSegmentStopsTheStart) {
  const Topic topic = create_topic(client_, "t", 1, {{"segment.bytes", "1048576"}});
  const std::string value(200000, 'x');
  for (int i = 0; i < 16; ++i) produce(client_, topic, 0, {value});
  for (const bool cleanly : {true, false}) {
    if (cleanly) {
      EXPECT_EQ(broker_.stop(), 0);
    } else {
      broker_.kill9();
    }
    const std::string lost = segment(topic, 5);
    fs::rename(lost, lost + ".away");
    const std::string why = refusal();
    EXPECT_THAT(why, HasSubstr(segment(topic)));
    EXPECT_THAT(why, HasSubstr("segment files are missing"));
    fs::rename(lost + ".away", lost);
    broker_.start();
    client_ = RawClient(broker_.port());
    EXPECT_EQ(committed(client_, topic).size(), 16u);
  }
}

// The state that coordinators live on is checked as it is read.
TEST_F(Faults, AChangedRecordOfACoordinatorStopsTheStart) {
  const Topic topic = create_topic(client_, "t");
  const std::string marked = "a-transactional-id-to-be-found";
  TxnProducer txn(broker_.port(), marked, TxnVersion::k2);
  txn.init();
  ASSERT_EQ(txn.produce(topic, 0, {"v"}), ErrorCode::NONE);
  ASSERT_EQ(txn.commit(), ErrorCode::NONE);
  await_transaction_state(client_, marked, "CompleteCommit");
  EXPECT_EQ(broker_.stop(), 0);
  int changed = 0;
  for (int partition = 0; partition < 3; ++partition) {
    const std::string folder = "__transaction_state-" + std::to_string(partition);
    const std::string path = file(folder + "/00000000000000000000.log");
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    const size_t at = bytes.find(marked);
    if (at == std::string::npos) continue;
    bytes[at] = 'b';
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    ++changed;
    const std::string why = refusal();
    EXPECT_THAT(why, HasSubstr(folder + " offset 0: batch checksum"));
  }
  EXPECT_EQ(changed, 1);
}

TEST_F(Faults, ADirectoryThatCannotBeMade) {
  std::ofstream(broker_.directory() + ".file") << "no folder";
  const std::string directory = broker_.directory() + ".file/data";
  const Ended ended =
      run_ackord({"--set", "listeners=PLAINTEXT://127.0.0.1:" + std::to_string(free_port()),
                  "--set", "log.dirs=" + directory});
  EXPECT_EQ(ended.status, kCannotStart);
  EXPECT_THAT(ended.output, HasSubstr(directory + ": Not a directory"));
}

TEST_F(Faults, AReadOnlyDirectory) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  EXPECT_EQ(broker_.stop(), 0);
  fs::permissions(broker_.directory(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THAT(refusal(), HasSubstr(broker_.directory() + "/.lock: Permission denied"));
  fs::permissions(broker_.directory(), fs::perms::owner_all);
  broker_.start();
}

TEST_F(Faults, TooFewDescriptorsForTheLogsAtTheStart) {
  create_topic(client_, "t", 100);
  EXPECT_EQ(broker_.stop(), 0);
  const std::string why = refusal({{RLIMIT_NOFILE, 80}});
  EXPECT_THAT(why, HasSubstr(broker_.directory()));
  EXPECT_THAT(why, HasSubstr("Too many open files"));
  broker_.start();
}

// Connections do not take the descriptors that the logs need.
TEST_F(Faults, ConnectionsLeaveDescriptorsToTheLogs) {
  const Topic topic = create_topic(client_, "t", 1, {{"segment.bytes", "1048576"}});
  broker_.kill9();
  broker_.set_limits({{RLIMIT_NOFILE, 120}});
  broker_.start();
  client_ = RawClient(broker_.port());
  std::vector<RawClient> crowd;
  for (int i = 0; i < 150; ++i) crowd.emplace_back(broker_.port());
  poll_until("the complaint", [&] {
    return broker_.output().find("the descriptors left are for files") != std::string::npos;
  });
  // The segment is rolled, which takes new files.
  const std::string value(200000, 'x');
  for (int i = 0; i < 16; ++i) produce(client_, topic, 0, {value});
  EXPECT_EQ(committed(client_, topic).size(), 16u);
  EXPECT_TRUE(fs::exists(segment(topic, 15)));
  crowd.clear();
  poll_until("a new connection", [&] {
    try {
      RawClient late(broker_.port());
      return end_offset(late, topic, 0, Isolation::kReadUncommitted) == 16;
    } catch (const std::exception&) {
      return false;
    }
  });
}

// As with a full disk; what had been acknowledged is there after a start with more of them.
TEST_F(Faults, ATopicThatTakesTheLastDescriptors) {
  const Topic topic = create_topic(client_, "t");
  produce(client_, topic, 0, {"before"});
  broker_.limit(RLIMIT_NOFILE, 80);
  EXPECT_NE(try_create(client_, "wide", 200), ErrorCode::NONE);
  EXPECT_THAT(broker_.output(), HasSubstr("Too many open files"));
  EXPECT_EQ(try_produce(client_, topic, 0, "late"), ErrorCode::KAFKA_STORAGE_ERROR);
  EXPECT_EQ(broker_.stop(), kWasOffline);
  broker_.start();
  client_ = RawClient(broker_.port());
  EXPECT_EQ(committed(client_, topic), Strings{"before"});
  EXPECT_EQ(try_produce(client_, topic, 0, "after"), ErrorCode::NONE);
}

}  // namespace
}  // namespace ackord::integration
