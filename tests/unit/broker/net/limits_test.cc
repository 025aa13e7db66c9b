// How many connections, how fast, and what they may hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/broker/net/listener_fixture.h"

namespace ackord::net {
namespace {

class LimitsTest : public ListenerTest {};

io::Task<int64_t> count(Listener* listener) { co_return listener->connections(); }

// As with Kafka: those that come then wait until there is room.
TEST_F(LimitsTest, LimitsConnections) {
  auto limited = settings();
  limited.bounds.max_connections = 2;
  const uint16_t port = listen(limited);
  std::optional<Peer> first(std::in_place, port);
  Peer second(port);
  first->send(frame("e"));
  second.send(frame("e"));
  EXPECT_EQ(first->receive_frame(), "e");
  EXPECT_EQ(second.receive_frame(), "e");
  Peer third(port);
  third.send(frame("e third"));
  EXPECT_TRUE(third.is_quiet(50));
  EXPECT_EQ(io::block_on(cores_.at(0), count(listener_.get())), 2);
  first.reset();
  EXPECT_EQ(third.receive_frame(), "e third");
  // A limit that is raised lets in who waits.
  Peer fourth(port);
  fourth.send(frame("e fourth"));
  EXPECT_TRUE(fourth.is_quiet(50));
  listener_->set_bounds({3, INT32_MAX});
  EXPECT_EQ(fourth.receive_frame(), "e fourth");
}

TEST_F(LimitsTest, LimitsConnectionsOfTheBroker) {
  ConnectionBounds bounds;
  bounds.max_connections = 1;
  SharedLimits shared;
  shared.quotas = std::make_shared<ConnectionQuotas>(bounds, quota::Windows());
  const uint16_t port = listen(settings(), true, shared);
  std::optional<Peer> first(std::in_place, port);
  first->send(frame("e"));
  EXPECT_EQ(first->receive_frame(), "e");
  Peer second(port);
  second.send(frame("e second"));
  EXPECT_TRUE(second.is_quiet(50));
  first.reset();
  EXPECT_EQ(second.receive_frame(), "e second");
}

TEST_F(LimitsTest, LimitsConnectionsOfOneAddress) {
  ConnectionBounds bounds;
  bounds.max_per_ip = 1;
  SharedLimits shared;
  shared.quotas = std::make_shared<ConnectionQuotas>(bounds, quota::Windows());
  const uint16_t port = listen(settings(), true, shared);
  Peer first(port);
  first.send(frame("e"));
  EXPECT_EQ(first.receive_frame(), "e");
  EXPECT_TRUE(Peer(port).ends());
  EXPECT_TRUE(eventually([&] { return listener_->counters().too_many_of_address == 1; }));
}

TEST_F(LimitsTest, AnAddressMayHaveALimitOfItsOwn) {
  ConnectionBounds bounds;
  bounds.max_per_ip = 0;
  bounds.per_ip_overrides["127.0.0.1"] = 1;
  SharedLimits shared;
  shared.quotas = std::make_shared<ConnectionQuotas>(bounds, quota::Windows());
  const uint16_t port = listen(settings(), true, shared);
  Peer first(port);
  first.send(frame("e"));
  EXPECT_EQ(first.receive_frame(), "e");
  EXPECT_TRUE(Peer(port).ends());
}

// 4 of them at once are more than 1 a second of a window of two: the last ones come later.
TEST_F(LimitsTest, LimitsTheRateOfNewConnections) {
  auto limited = settings();
  limited.bounds.max_creation_rate = 10;
  SharedLimits shared;
  shared.quotas = std::make_shared<ConnectionQuotas>(ConnectionBounds(), quota::Windows{2, 100});
  const uint16_t port = listen(limited, true, shared);
  const auto began = std::chrono::steady_clock::now();
  std::vector<Peer> peers;
  for (int i = 0; i < 8; ++i) {
    peers.emplace_back(port);
    peers.back().send(frame("e"));
  }
  for (auto& peer : peers) EXPECT_EQ(peer.receive_frame(), "e");
  // 8 at 10 a second, of which those of the first windows come at once.
  EXPECT_GT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(300));
}

TEST_F(LimitsTest, LimitsTheRateOfAnAddress) {
  SharedLimits shared;
  shared.quotas = std::make_shared<ConnectionQuotas>(ConnectionBounds(), quota::Windows{2, 100});
  shared.quotas->set_address_rate([](const std::string& address) -> std::optional<double> {
    return address == "127.0.0.1" ? std::optional<double>(10) : std::nullopt;
  });
  const uint16_t port = listen(settings(), true, shared);
  std::vector<Peer> peers;
  for (int i = 0; i < 20; ++i) peers.emplace_back(port);
  EXPECT_TRUE(eventually([&] { return listener_->counters().too_fast_of_address >= 10; }));
  // Later it may again.
  EXPECT_TRUE(eventually([&] {
    Peer peer(port);
    peer.send(frame("e"));
    return !peer.ends_within(20) && sink_.started() > 0;
  }));
}

TEST_F(LimitsTest, AnUnauthenticatedPeerHasSmallFramesAndLittleTime) {
  auto strict = settings();
  strict.protocol = security::SecurityProtocol::kSaslPlaintext;
  strict.limits.max_unauthenticated_frame_bytes = 100;
  strict.max_authentication_ms = 150;
  const uint16_t port = listen(strict);
  Peer large(port);
  large.send(frame(std::string(101, 'e')).substr(0, 4));
  EXPECT_TRUE(large.ends());
  Peer slow(port);
  slow.send(frame("e" + std::string(99, 'x')));
  EXPECT_EQ(slow.receive_frame().size(), 100U);
  EXPECT_TRUE(slow.ends());
  EXPECT_EQ(listener_->counters().late_authentications, 1U);
}

// A connection takes a second request only when the first one is answered, while all together hold
// what there is.
TEST_F(LimitsTest, AllConnectionsTogetherHoldNoMoreThanTheBudget) {
  SharedLimits shared;
  shared.budget = std::make_shared<RequestBudget>(cores_.size(), 1'000'000, 1000);
  const uint16_t port = listen(settings(), true, shared);
  std::vector<Peer> peers;
  for (int i = 0; i < 20; ++i) {
    peers.emplace_back(port);
    peers.back().send(frame("r1500 " + std::string(60000, 'x')));
  }
  EXPECT_TRUE(eventually([&] { return sink_.started() == 20; }));
  for (Peer& peer : peers) peer.send(frame("r1500 " + std::string(60000, 'x')));
  // Nobody is locked out.
  Peer other(port);
  other.send(frame("e small"));
  EXPECT_EQ(other.receive_frame(), "e small");
  EXPECT_TRUE(peers.front().is_quiet(50));
  EXPECT_EQ(sink_.started(), 21);
  const int64_t held = shared.budget->bytes();
  EXPECT_EQ(held, 20 * 60006);
  // Of large ones one at a time goes on; the other waits until there is a place.
  Peer first(port);
  first.send(frame("e" + std::string(400'000, 'y')).substr(0, 300'000));
  EXPECT_TRUE(eventually([&] { return shared.budget->bytes() == held + 400'001; }));
  Peer second(port);
  second.send(frame("e" + std::string(400'000, 'z')));
  EXPECT_TRUE(second.is_quiet(50));
  peers.clear();
  EXPECT_EQ(second.receive_frame().size(), 400'001U);
  first.close();
  second.close();
  other.close();
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 23; }));
  EXPECT_TRUE(eventually([&] { return shared.budget->bytes() == 0; }));
}

TEST_F(LimitsTest, ConnectionsDoNotQueueMoreThanTheirShare) {
  SharedLimits shared;
  shared.budget = std::make_shared<RequestBudget>(cores_.size(), INT64_MAX / 2, 10);
  const uint16_t port = listen(settings(), true, shared);
  std::vector<Peer> peers;
  std::string all;
  for (int i = 0; i < 40; ++i) all += frame("w5 " + std::to_string(i));
  for (int i = 0; i < 4; ++i) {
    peers.emplace_back(port);
    peers.back().send(all);
  }
  for (auto& peer : peers) {
    for (int i = 0; i < 40; ++i) ASSERT_EQ(peer.receive_frame(), "w5 " + std::to_string(i));
  }
  std::string held;
  for (int i = 0; i < 40; ++i) held += frame("P" + std::string(99, 'x'));
  for (auto& peer : peers) peer.send(held);
  EXPECT_TRUE(eventually([&] { return sink_.started() == 164; }));
  EXPECT_TRUE(peers.front().is_quiet(50));
  // Each has one that runs; of the others 10 and one more a connection are here at most.
  EXPECT_LE(shared.budget->bytes(), (4 + 10 + 4) * 100);
}

}  // namespace
}  // namespace ackord::net
