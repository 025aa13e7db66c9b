#include "broker/io/ready_set.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/test_executor.h"

namespace ackord::io {
namespace {

using test::TestCore;

class ReadySetTest : public ::testing::Test {
 protected:
  std::vector<int> take_all() {
    std::vector<int> all;
    while (const auto key = set_->take()) all.push_back(*key);
    return all;
  }
  void notify(Signal& signal) {
    core_.executor.inside([&] { signal.notify(); });
  }

  TestCore core_;
  std::shared_ptr<ReadySet<int>> set_ = std::make_shared<ReadySet<int>>(core_.executor);
};

TEST_F(ReadySetTest, WhatIsNewIsReadyOnce) {
  for (const int key : {1, 2, 3, 2}) set_->add(key);
  EXPECT_EQ(take_all(), (std::vector{1, 2, 3}));
  set_->add(2);
  EXPECT_EQ(take_all(), std::vector<int>());
}

TEST_F(ReadySetTest, WhatIsPutBackComesLastAndOnce) {
  for (const int key : {1, 2, 3}) set_->add(key);
  ASSERT_EQ(set_->take(), 1);
  set_->put_back(1);
  set_->put_back(1);
  EXPECT_EQ(take_all(), (std::vector{2, 3, 1}));
}

TEST_F(ReadySetTest, ASignalBringsItsKeyBackAlsoWhileItIsLookedAt) {
  Signal signal;
  for (const int key : {1, 2}) set_->add(key);
  ASSERT_EQ(set_->take(), 1);
  signal.subscribe(set_->watch(1));
  notify(signal);
  EXPECT_EQ(take_all(), (std::vector{2, 1}));
  notify(signal);
  EXPECT_EQ(take_all(), std::vector<int>()) << "a signal is heard once";
}

TEST_F(ReadySetTest, ASignalOfAnotherCoreComesToo) {
  Signal signal;
  set_->add(1);
  ASSERT_EQ(take_all(), std::vector{1});
  signal.subscribe(set_->watch(1));
  signal.notify();  // on no core
  EXPECT_EQ(set_->ready(), 0u);
  core_.run_until_idle();
  EXPECT_EQ(take_all(), std::vector{1});
}

TEST_F(ReadySetTest, NewsWakeWhoWaits) {
  set_->add(1);
  ASSERT_EQ(take_all(), std::vector{1});
  Signal signal;
  signal.subscribe(set_->watch(1));
  const auto wakeup = Wakeup::make(core_.executor, core_.clock);
  set_->news().subscribe(wakeup);
  notify(signal);
  EXPECT_TRUE(core_.run(wakeup->wait_until(core_.clock.now().steady_ms)));
}

TEST_F(ReadySetTest, WhatWasRemovedIsNotReadyAndComesBackAsNew) {
  Signal signal;
  for (const int key : {1, 2}) set_->add(key);
  signal.subscribe(set_->watch(2));
  set_->remove(2);
  notify(signal);
  EXPECT_EQ(take_all(), std::vector{1});
  set_->add(2);
  EXPECT_EQ(take_all(), std::vector{2});
  EXPECT_EQ(set_->size(), 2u);
}

// Looking often at one thing that never says anything must not fill its signal.
TEST_F(ReadySetTest, AnEarlierWatchIsVoid) {
  Signal signal;
  set_->add(1);
  for (int i = 0; i < 100'000; ++i) signal.subscribe(set_->watch(1));
  EXPECT_LE(signal.size(), 64u);
}

TEST_F(ReadySetTest, ASignalMayOutliveTheSet) {
  Signal signal;
  set_->add(1);
  const auto watch = set_->watch(1);
  signal.subscribe(watch);
  set_.reset();
  notify(signal);
  core_.run_until_idle();
}

}  // namespace
}  // namespace ackord::io
