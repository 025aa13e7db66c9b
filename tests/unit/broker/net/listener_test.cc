#include "broker/net/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "tests/unit/broker/net/listener_fixture.h"

namespace ackord::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(ListenerTest, AnswersARequest) {
  Peer peer(listen());
  peer.send(frame("e hello"));
  EXPECT_EQ(peer.receive_frame(), "e hello");
  EXPECT_THAT(sink_.hosts(), ElementsAre("/127.0.0.1"));
  peer.close();
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 1; }));
}

TEST_F(ListenerTest, ConnectionsMadeBeforeItAcceptsWait) {
  Peer peer(listen(settings(), false));
  peer.send(frame("e early"));
  listener_->accept();
  EXPECT_EQ(peer.receive_frame(), "e early");
}

TEST_F(ListenerTest, AcceptsBytesOneByOne) {
  Peer peer(listen());
  for (int round = 0; round < 3; ++round) {
    for (const char c : frame("e drop by drop") + frame("e")) peer.send(std::string(1, c));
    EXPECT_EQ(peer.receive_frame(), "e drop by drop");
    EXPECT_EQ(peer.receive_frame(), "e");
  }
}

TEST_F(ListenerTest, CutsFramesOfEverySizeWhereverTheyLie) {
  Peer peer(listen());
  std::vector<std::string> texts;
  for (const size_t size :
       {1, 2, 8187, 8188, 8189, 8192, 8193, 16384, 65535, 65536, 65537, 200000, 3000000, 3, 5}) {
    std::string text(size, 'e');
    for (size_t i = 1; i < size; ++i) text[i] = static_cast<char>(i * 31 + size);
    texts.push_back(std::move(text));
  }
  std::string all;
  for (const auto& text : texts) all += frame(text);
  std::thread sender([&] { peer.send(all); });
  for (const auto& text : texts) EXPECT_EQ(peer.receive_frame(), text);
  sender.join();
}

TEST_F(ListenerTest, BrokenFramesEndOnlyTheirConnection) {
  auto with_limit = settings();
  with_limit.limits.max_frame_bytes = 1000;
  const uint16_t port = listen(with_limit);
  Peer good(port);
  const std::string too_large = frame(std::string(1001, 'e')).substr(0, 4);
  for (const std::string& bytes : {std::string("\xff\xff\xff\xff", 4), std::string(4, '\0'),
                                   std::string("\x7f\xff\xff\xff", 4), std::string("\x80\0\0\0", 4),
                                   std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), too_large}) {
    Peer bad(port);
    bad.send(bytes);
    EXPECT_TRUE(bad.ends());
    good.send(frame("e still here"));
    EXPECT_EQ(good.receive_frame(), "e still here");
  }
  good.send(frame("e" + std::string(999, 'x')));
  EXPECT_EQ(good.receive_frame().size(), 1000U);
}

TEST_F(ListenerTest, ABrokenFrameComesAfterTheAnswersBeforeIt) {
  Peer peer(listen());
  peer.send(frame("w30 first") + frame("e second") + std::string("\xff\xff\xff\xff", 4));
  EXPECT_EQ(peer.receive_frame(), "w30 first");
  EXPECT_EQ(peer.receive_frame(), "e second");
  EXPECT_TRUE(peer.ends());
}

TEST_F(ListenerTest, AnAnnouncedSizeTakesNoMemory) {
  const uint16_t port = listen();
  const auto resident_kb = [] {
    std::ifstream statm("/proc/self/statm");
    long pages = 0;
    statm >> pages >> pages;
    return pages * 4;
  };
  const long before = resident_kb();
  std::vector<Peer> peers;
  for (int i = 0; i < 50; ++i) {
    peers.emplace_back(port);
    peers.back().send(std::string("\x06\x40\0\0", 4) + std::string(10, 'e'));  // 104857600
  }
  peers.emplace_back(port);
  peers.back().send(frame("e"));
  EXPECT_EQ(peers.back().receive_frame(), "e");
  EXPECT_LT(resident_kb() - before, 50 * 1024);  // not 5 GB
  for (auto& peer : peers) peer.close();
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 51; }));
  EXPECT_EQ(sink_.started(), 1);
}

TEST(FrameBuffer, GrowsWithWhatItHolds) {
  FrameBuffer buffer(100 << 20);
  EXPECT_EQ(buffer.capacity(), FrameBuffer::kFirstStep);
  size_t filled = 0;
  while (filled < 3'000'000) {
    const size_t room = buffer.room().size();
    ASSERT_GT(room, 0U);
    buffer.filled(room);
    filled += room;
    EXPECT_LE(buffer.capacity(), std::max(FrameBuffer::kFirstStep, 2 * filled));
  }
  FrameBuffer small(3);
  EXPECT_EQ(small.capacity(), 3U);
}

TEST_F(ListenerTest, AnswersKeepTheOrderOfTheRequests) {
  Peer peer(listen());
  peer.send(frame("r100 slow") + frame("r15 faster") + frame("r1 fastest") + frame("e now"));
  EXPECT_EQ(peer.receive_frame(), "r100 slow");
  EXPECT_EQ(peer.receive_frame(), "r15 faster");
  EXPECT_EQ(peer.receive_frame(), "r1 fastest");
  EXPECT_EQ(peer.receive_frame(), "e now");
  EXPECT_THAT(sink_.order(), ElementsAre("r100 slow", "r15 faster", "r1 fastest", "e now"));
}

TEST_F(ListenerTest, ANextRequestStartsOnlyWhenTheOneBeforeHasEndedOrReleased) {
  Peer peer(listen());
  peer.send(frame("p") + frame("P") + frame("e after"));
  // The first released, so the second has started; the third waits for the second.
  EXPECT_TRUE(eventually([&] { return sink_.started() == 2; }));
  EXPECT_TRUE(peer.is_quiet(30));
  EXPECT_EQ(sink_.started(), 2);
  // The peer goes: all that was received is handled.
  peer.close();
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 1; }));
  EXPECT_EQ(sink_.ended(), 3);
  EXPECT_EQ(sink_.running(), 0);
}

// The answer goes at once; what comes behind it waits, on this connection alone.
TEST_F(ListenerTest, AThrottledConnectionIsSilent) {
  const uint16_t port = listen();
  Peer peer(port);
  Peer other(port);
  peer.send(frame("t250 first") + frame("e second"));
  EXPECT_EQ(peer.receive_frame(), "t250 first");
  other.send(frame("e other"));
  EXPECT_EQ(other.receive_frame(), "e other");
  EXPECT_TRUE(peer.is_quiet(100));
  EXPECT_EQ(sink_.started(), 2);
  EXPECT_EQ(peer.receive_frame(), "e second");
}

// A Fetch behind a Produce sees what was produced, durable or not yet when it arrived.
TEST_F(ListenerTest, OnlyRequestsOfTheSameApiRunBesideOneThatHasReleased) {
  Peer peer(listen());
  peer.send(frame("p released") + frame("p the same") + frame("e another") + frame("p the first"));
  EXPECT_TRUE(eventually([&] { return sink_.started() == 2; }));
  EXPECT_TRUE(peer.is_quiet(30));
  EXPECT_EQ(sink_.started(), 2);
  peer.close();
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 1; }));
  EXPECT_EQ(sink_.ended(), 4);
}

TEST_F(ListenerTest, ManyPipelinedRequestsWithEveryKindOfOrder) {
  Peer peer(listen());
  std::vector<std::string> texts;
  std::string all;
  for (int i = 0; i < 2000; ++i) {
    const char* kinds[] = {"e ", "r1 ", "r3 ", "w0 ", "e "};
    texts.push_back(kinds[i * 7 % 5] + std::to_string(i));
    all += frame(texts.back());
  }
  std::thread sender([&] { peer.send(all); });
  for (const auto& text : texts) ASSERT_EQ(peer.receive_frame(), text);
  sender.join();
  EXPECT_EQ(sink_.order(), texts);
}

TEST_F(ListenerTest, ARequestWithoutAnswerTakesNoSlot) {
  Peer peer(listen());
  peer.send(frame("n") + frame("e one") + frame("n") + frame("n") + frame("e two"));
  EXPECT_EQ(peer.receive_frame(), "e one");
  EXPECT_EQ(peer.receive_frame(), "e two");
}

TEST_F(ListenerTest, ACloseComesAfterTheAnswersBeforeItAndDropsWhatIsBehindIt) {
  Peer peer(listen());
  peer.send(frame("r40 before") + frame("c") + frame("e behind"));
  EXPECT_EQ(peer.receive_frame(), "r40 before");
  EXPECT_TRUE(peer.ends());
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 1; }));
  EXPECT_THAT(sink_.order(), ElementsAre("r40 before", "c"));
}

TEST_F(ListenerTest, StopsReadingWhenTooManyRequestsAreUnanswered) {
  auto few = settings();
  few.limits.max_unanswered = 8;
  Peer peer(listen(few));
  std::string all;
  for (int i = 0; i < 30000; ++i) all += frame("p" + std::string(1000, 'x'));
  const size_t sent = peer.send_until_blocked(all, 200);
  EXPECT_LT(sent, all.size());
  EXPECT_EQ(sink_.started(), 8);
}

TEST_F(ListenerTest, StopsReadingWhenTooManyBytesAreUnanswered) {
  auto few = settings();
  few.limits.max_unanswered_bytes = 100000;
  Peer peer(listen(few));
  std::string all;
  for (int i = 0; i < 500; ++i) all += frame("p" + std::string(60000, 'x'));
  EXPECT_LT(peer.send_until_blocked(all, 200), all.size());
  EXPECT_EQ(sink_.started(), 2);
}

TEST_F(ListenerTest, GoesOnAfterBackPressure) {
  auto few = settings();
  few.limits.max_unanswered = 2;
  Peer peer(listen(few));
  std::string all;
  for (int i = 0; i < 300; ++i) all += frame("r1 " + std::to_string(i));
  peer.send(all);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(peer.receive_frame(), "r1 " + std::to_string(i));
}

TEST_F(ListenerTest, APeerThatDoesNotReadHoldsOnlyItsOwnConnection) {
  const uint16_t port = listen();
  Peer slow(port, 4096);
  for (int i = 0; i < 10; ++i) slow.send(frame("b3000000"));
  Peer other(port);
  other.send(frame("e fine"));
  EXPECT_EQ(other.receive_frame(), "e fine");
  for (int i = 0; i < 10; ++i) {
    const std::string answer = slow.receive_frame();
    EXPECT_EQ(answer.size(), 3000002U);
    EXPECT_EQ(answer, "<" + std::string(3000000, 'b') + ">");
  }
}

TEST_F(ListenerTest, APeerThatGoesWhileItsAnswerIsWrittenLeavesNothing) {
  const uint16_t port = listen();
  for (int i = 0; i < 20; ++i) {
    Peer peer(port, 4096);
    peer.send(frame("b3000000") + frame("b3000000"));
    peer.receive(100);
    if (i % 2 == 0) peer.reset();
  }
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 20; }));
}

TEST_F(ListenerTest, ADisconnectEndsParkedRequests) {
  const uint16_t port = listen();
  std::vector<Peer> peers;
  for (int i = 0; i < 20; ++i) {
    peers.emplace_back(port);
    peers.back().send(frame("p") + frame("p") + frame("p"));
  }
  EXPECT_TRUE(eventually([&] { return sink_.running() == 60; }));
  for (int i = 0; i < 20; ++i) i % 2 == 0 ? peers[i].close() : peers[i].reset();
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 20 && sink_.running() == 0; }));
  EXPECT_EQ(sink_.ended(), 60);
}

TEST_F(ListenerTest, SendsFileRanges) {
  std::string path = (std::filesystem::temp_directory_path() / "ackord-net-XXXXXX").string();
  ::close(mkstemp(path.data()));
  std::string content(20'000'000, '\0');
  uint32_t state = 1;
  for (char& c : content) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  auto file = files_.open(path, io::OpenMode::kReadWrite).value();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(content));
  ASSERT_TRUE(file->pwritev(std::span(&bytes, 1), 0).has_value());
  ASSERT_TRUE(file->datasync_now().has_value());
  sink_.file = file;
  Peer peer(listen());
  for (const bool cold : {false, true}) {
    if (cold) ::posix_fadvise(file->native_handle(), 0, 0, POSIX_FADV_DONTNEED);
    peer.send(frame("f3 19999990") + frame("e between") + frame("f0 1") + frame("f7 0") +
              frame("f12345 70000"));
    EXPECT_TRUE(peer.receive_frame() == "<" + content.substr(3, 19999990) + ">");
    EXPECT_EQ(peer.receive_frame(), "e between");
    EXPECT_TRUE(peer.receive_frame() == "<" + content.substr(0, 1) + ">");
    EXPECT_EQ(peer.receive_frame(), "<>");
    EXPECT_TRUE(peer.receive_frame() == "<" + content.substr(12345, 70000) + ">");
  }
  // A range that the file does not have ends the connection instead of sending something else.
  peer.send(frame("f19999999 100"));
  peer.receive(6);
  EXPECT_TRUE(peer.ends());
  std::filesystem::remove(path);
}

// A source without a descriptor, as in the simulation.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string content) : content_(std::move(content)) {}
  int native_handle() const override { return -1; }
  bool read_at(uint64_t position, std::span<std::byte> out) const override {
    if (position + out.size() > content_.size()) return false;
    std::memcpy(out.data(), content_.data() + position, out.size());
    return true;
  }

 private:
  std::string content_;
};

TEST_F(ListenerTest, CopiesRangesThatHaveNoDescriptor) {
  const std::string content(3'000'000, 'm');
  sink_.file = std::make_shared<MemorySource>(content);
  Peer peer(listen());
  peer.send(frame("f10 2500000"));
  EXPECT_TRUE(peer.receive_frame() == "<" + content.substr(10, 2500000) + ">");
}

TEST_F(ListenerTest, FiveHundredConnections) {
  const uint16_t port = listen();
  std::vector<Peer> peers;
  for (int i = 0; i < 500; ++i) peers.emplace_back(port);
  for (int round = 0; round < 5; ++round) {
    for (auto& peer : peers) peer.send(frame("r1 a") + frame("e b"));
    for (auto& peer : peers) {
      ASSERT_EQ(peer.receive_frame(), "r1 a");
      ASSERT_EQ(peer.receive_frame(), "e b");
    }
  }
  peers.clear();
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 500; }));
}

TEST_F(ListenerTest, ClosesIdleConnectionsButNotWaitingOnes) {
  auto impatient = settings();
  impatient.max_idle_ms = 60;
  const uint16_t port = listen(impatient);
  Peer waiting(port);
  waiting.send(frame("w400 long poll"));
  Peer idle(port);
  idle.send(frame("e"));
  EXPECT_EQ(idle.receive_frame(), "e");
  EXPECT_TRUE(idle.ends());
  EXPECT_EQ(waiting.receive_frame(), "w400 long poll");
}

TEST_F(ListenerTest, ManyRequestsAtOnceLeaveTurnsToOtherConnections) {
  const uint16_t port = listen();
  Peer greedy(port);
  Peer elsewhere(port);  // connections go to the cores in turn
  Peer modest(port);
  constexpr int kRequests = 60;
  std::string all;
  for (int i = 0; i < kRequests; ++i) all += frame("s10 busy");
  greedy.send(all);
  EXPECT_TRUE(eventually([&] { return sink_.started() >= 1; }));
  modest.send(frame("e short"));
  EXPECT_EQ(modest.receive_frame(), "e short");
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ(greedy.receive_frame(), "s10 busy");
  EXPECT_NE(sink_.order().back(), "e short") << "it did not wait for all of them";
}

TEST_F(ListenerTest, AnAnswerThatIsNotTakenIsIdle) {
  auto impatient = settings();
  impatient.max_idle_ms = 100;
  impatient.send_buffer_bytes = 4096;
  const uint16_t port = listen(impatient);
  Peer peer(port);
  peer.send(frame("b50000000"));
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 1; }));
}

TEST_F(ListenerTest, StopAnswersWhatWasReceived) {
  const uint16_t port = listen();
  Peer busy(port);
  busy.send(frame("w60 work") + frame("w1 more"));
  Peer parked(port);
  parked.send(frame("p"));
  Peer quiet(port);
  EXPECT_TRUE(eventually([&] { return sink_.started() >= 2; }));
  stop(kDeadlineMs);
  EXPECT_EQ(busy.receive_frame(), "w60 work");
  EXPECT_EQ(busy.receive_frame(), "w1 more");
  EXPECT_TRUE(busy.ends());
  EXPECT_EQ(parked.receive_frame(), "p");
  EXPECT_TRUE(quiet.ends());
  EXPECT_EQ(sink_.running(), 0);
}

TEST_F(ListenerTest, StopWaitsNoLongerThanItsGrace) {
  Peer peer(listen());
  peer.send(frame("w60000 never"));
  EXPECT_TRUE(eventually([&] { return sink_.started() == 1; }));
  stop(30);
  EXPECT_TRUE(peer.ends());
}

TEST_F(ListenerTest, APortThatIsTakenIsAnError) {
  auto taken = settings();
  taken.port = listen();
  const auto second = Listener::open(cores_, environment_, sink_, taken);
  ASSERT_TRUE(second.has_error());
  EXPECT_THAT(second.error().message, HasSubstr("127.0.0.1:" + std::to_string(taken.port)));
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
  auto unknown = settings();
  unknown.host = "no-such-host.invalid";
  EXPECT_THAT(Listener::open(cores_, environment_, sink_, unknown).error().message,
              HasSubstr("no-such-host.invalid"));
}

TEST_F(ListenerTest, AnEmptyHostListensOnEveryAddress) {
  auto everywhere = settings();
  everywhere.host = "";
  Peer peer(listen(everywhere));
  peer.send(frame("e"));
  EXPECT_EQ(peer.receive_frame(), "e");
  EXPECT_THAT(sink_.hosts(), ElementsAre("/127.0.0.1"));
}

}  // namespace
}  // namespace ackord::net
