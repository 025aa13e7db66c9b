// Peers that take what others need: connections, memory, time. Beside each of them a client works.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <memory>
#include <utility>

#include "protocol/generated/alter_client_quotas_request.h"
#include "protocol/generated/alter_client_quotas_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/record_batch/big_endian.h"
#include "tests/integration/connections/shell.h"
#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"
#include "tests/support/certificates.h"

namespace ackord::integration {
namespace {

using testing::HasSubstr;

// A connection that nobody reads from.
class Silent {
 public:
  explicit Silent(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("connect");
  }
  Silent(Silent&& other) noexcept : fd_(std::exchange(other.fd_, -1)), ended_(other.ended_) {}
  Silent(const Silent&) = delete;
  ~Silent() {
    if (fd_ >= 0) ::close(fd_);
  }
  void send(std::string_view bytes) {
    if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) ended_ = true;
  }
  // As much as is taken until nothing has been for `quiet`.
  void send_all(std::string_view bytes, Millis quiet) {
    while (!bytes.empty()) {
      pollfd poll{fd_, POLLOUT, 0};
      if (::poll(&poll, 1, static_cast<int>(quiet.count())) != 1) return;
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  bool ended() {
    char one = 0;
    const ssize_t got = ::recv(fd_, &one, 1, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) ended_ = true;
    return ended_;
  }

 private:
  int fd_;
  bool ended_ = false;
};

std::vector<Silent> silent(uint16_t port, size_t count, std::string_view bytes = {}) {
  std::vector<Silent> all;
  all.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    all.emplace_back(port);
    if (!bytes.empty()) all.back().send(bytes);
  }
  return all;
}

bool all_ended(std::vector<Silent>& all) {
  return std::all_of(all.begin(), all.end(), [](Silent& one) { return one.ended(); });
}

// A client's whole round: connect, write, read.
void work(const BrokerProcess& broker, const std::string& value = "v") {
  RawClient client(broker.port());
  const Topic topic = create_topic(client, fresh_name("limits"));
  EXPECT_EQ(produce(client, topic, 0, {value}), 0);
  EXPECT_EQ(read_values(client, topic, 0, Isolation::kReadUncommitted),
            std::vector<std::string>{value});
}

TEST(ConnectionLimits, FiveThousandIdleConnections) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  const size_t count = std::min<size_t>(5000, limit.rlim_cur / 2);
  BrokerProcess broker;
  work(broker);
  const uint64_t before = broker.resident_bytes();
  const auto idle = silent(broker.port(), count);
  for (int i = 0; i < 5; ++i) work(broker);
  const uint64_t each = (std::max(broker.resident_bytes(), before) - before) / count;
  RecordProperty("connections", static_cast<int>(count));
  RecordProperty("bytes_each", static_cast<int>(each));
  std::cout << count << " idle connections, " << each << " bytes each\n";
  EXPECT_LT(each, 64U * 1024);
}

TEST(ConnectionLimits, HalfOpenTls) {
  const auto authority = test::Certificate::authority("authority");
  const auto server = authority.issue({{"CN", "broker"}});
  const test::TempDirectory files;
  std::ofstream(files / "broker.pem") << server.key_pem() << server.chain_pem();
  const uint16_t port = free_port();
  Surroundings surroundings;
  surroundings.proxied.push_back({port, port, "SSL"});
  BrokerProcess broker({{"ssl.keystore.type", "PEM"},
                        {"ssl.keystore.location", files / "broker.pem"},
                        {"connections.max.authentication.ms", "2000"}},
                       surroundings);
  // One has begun a handshake, one says nothing, one does not speak TLS.
  auto begun = silent(port, 400, std::string_view("\x16\x03\x01\x02\x00\x01\x00", 7));
  auto mute = silent(port, 400);
  auto plain = silent(port, 200, std::string_view("\0\0\0\x0ahello broker", 17));
  work(broker);
  const Output shaken =
      shell("timeout 10 openssl s_client -connect 127.0.0.1:" + std::to_string(port));
  EXPECT_THAT(shaken.text, HasSubstr("CN = broker"));
  poll_until("all closed", [&] { return all_ended(begun) && all_ended(mute) && all_ended(plain); });
  work(broker);
  const std::string output = broker.output();
  EXPECT_THAT(output, HasSubstr("not authenticated within 2000 ms"));
  EXPECT_THAT(output, HasSubstr("TLS handshake failed: wrong version number"));
  // At most a line a second and kind.
  EXPECT_LT(std::count(output.begin(), output.end(), '\n'), 60);
}

// Each has announced a request of 100 MB, sends 5 MB of it, and then no more. Small requests go on
// at once, a large one at the latest when the slow ones have been ended for it.
TEST(ConnectionLimits, FramesThatDoNotEnd) {
  constexpr uint64_t kBudget = 209715200;
  BrokerProcess broker(Settings{{"queued.max.request.bytes", std::to_string(kBudget)}});
  work(broker);
  const uint64_t before = broker.resident_bytes();
  auto slow = silent(broker.port(), 60, std::string_view("\x06\x40\x00\x00", 4));
  const std::string megabyte(1 << 20, 'x');
  for (int round = 0; round < 5; ++round) {
    for (Silent& one : slow) one.send_all(megabyte, Millis(100));
  }
  work(broker);
  work(broker, std::string(900'000, 'x'));
  EXPECT_LT(broker.resident_bytes(), before + kBudget + (150U << 20));
  poll_until("the slow ones are closed", [&] {
    return broker.output().find("slow while memory is short") != std::string::npos;
  });
  work(broker, std::string(900'000, 'x'));
}

// Asks for 1 GB, and takes none of it.
TEST(ConnectionLimits, AReaderThatNeverReads) {
  BrokerProcess broker;
  RawClient client(broker.port());
  const Topic topic = create_topic(client, fresh_name("large"));
  for (int i = 0; i < 20; ++i) produce(client, topic, 0, {std::string(900'000, 'x')});
  const uint64_t before = broker.resident_bytes();
  protocol::FetchRequest request;
  request.max_bytes = 50 << 20;
  auto& wanted = request.topics.emplace_back();
  wanted.topic_id = topic.id;
  auto& partition = wanted.partitions.emplace_back();
  partition.partition = 0;
  partition.fetch_offset = 0;
  partition.partition_max_bytes = 50 << 20;
  std::vector<std::unique_ptr<RawClient>> readers;
  for (int i = 0; i < 8; ++i) {
    readers.push_back(std::make_unique<RawClient>(broker.port()));
    for (int j = 0; j < 60; ++j) readers.back()->send(request, 13);
  }
  for (int i = 0; i < 3; ++i) work(broker);
  EXPECT_LT(broker.resident_bytes(), before + (100U << 20));
}

TEST(ConnectionLimits, ConnectionsOfOneAddress) {
  BrokerProcess broker(
      {{"max.connections.per.ip", "1"}, {"max.connections.per.ip.overrides", "localhost:4"}});
  std::vector<Silent> all;
  const auto ended = [&] {
    return std::count_if(all.begin(), all.end(), [](Silent& one) { return one.ended(); });
  };
  // That of the start may still count.
  poll_until("four of seven stay", [&] {
    all = silent(broker.port(), 7);
    poll_until("three are closed", [&] { return ended() >= 3; });
    return ended() == 3;
  });
  EXPECT_THAT(broker.output(), HasSubstr("max.connections.per.ip=4 reached"));
  all.clear();
  poll_until("there is room", [&] {
    try {
      work(broker);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  });
}

TEST(ConnectionLimits, ConnectionsOfAListener) {
  BrokerProcess broker(Settings{{"listener.name.plaintext.max.connections", "5"}});
  auto first = silent(broker.port(), 5);
  // It waits until there is room.
  RawClient client(broker.port());
  const Pending pending = client.send(protocol::FetchRequest(), 13);
  poll_until("the listener is full",
             [&] { return broker.output().find("max.connections reached") != std::string::npos; });
  first.clear();
  EXPECT_TRUE(client.receive_frame().has_value());
  EXPECT_EQ(pending.version, 13);
}

// connection_creation_rate, which AlterClientQuotas sets for an address.
TEST(ConnectionLimits, ConnectionsThatComeTooFast) {
  BrokerProcess broker(Settings{{"quota.window.num", "2"}});
  RawClient client(broker.port());
  protocol::AlterClientQuotasRequest request;
  auto& entry = request.entries.emplace_back();
  auto& entity = entry.entity.emplace_back();
  entity.entity_type = String("ip");
  entity.entity_name = String("127.0.0.1");
  auto& op = entry.ops.emplace_back();
  op.key = String("connection_creation_rate");
  op.value = 5;
  const auto altered = client.call<protocol::AlterClientQuotasResponse>(request, 1);
  ASSERT_EQ(altered.message.entries.front().error_code, ErrorCode::NONE);
  auto many = silent(broker.port(), 60);
  poll_until("they are refused", [&] {
    return std::count_if(many.begin(), many.end(), [](Silent& one) { return one.ended(); }) >= 40;
  });
  EXPECT_THAT(broker.output(), HasSubstr("connection_creation_rate exceeded client=/127.0.0.1"));
  // Who is connected is served, and later a new connection is, too.
  EXPECT_NE(create_topic(client, fresh_name("t")).name, "");
  poll_until("there is time again", [&] {
    try {
      RawClient later(broker.port());
      create_topic(later, fresh_name("t"));
      return true;
    } catch (const std::exception&) {
      return false;
    }
  });
}

}  // namespace
}  // namespace ackord::integration
