// ListenerTest: a listener on two cores before a FakeSink.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "broker/io/posix/block_on.h"
#include "broker/io/posix/posix_file_system.h"
#include "broker/io/posix/system_random.h"
#include "broker/net/listener.h"
#include "tests/unit/broker/net/fake_sink.h"
#include "tests/unit/broker/net/peer.h"

namespace ackord::net {

class ListenerTest : public testing::Test {
 protected:
  ListenerTest() { cores_.start(); }
  ~ListenerTest() override { cores_.stop(); }

  ListenerSettings settings() {
    ListenerSettings settings;
    settings.host = "127.0.0.1";
    return settings;
  }
  uint16_t listen(ListenerSettings settings, bool accepts = true, SharedLimits shared = {}) {
    auto opened =
        Listener::open(cores_, environment_, sink_, std::move(settings), std::move(shared));
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    listener_ = std::move(opened.value());
    const auto listening = listener_->listen();
    EXPECT_TRUE(listening.has_value()) << listening.error().message;
    if (accepts) listener_->accept();
    return listener_->port();
  }
  uint16_t listen() { return listen(settings()); }
  void stop(int64_t grace_ms) { io::block_on(cores_.at(0), listener_->stop(grace_ms)); }

  io::AsioCores cores_{2};
  io::PosixFileSystem files_{2};
  io::SystemRandom random_;
  io::Environment environment_{cores_.cores(), files_, random_};
  FakeSink sink_{environment_};
  std::unique_ptr<Listener> listener_;
};

}  // namespace ackord::net
