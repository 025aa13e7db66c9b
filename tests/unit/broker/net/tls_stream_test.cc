#include "broker/net/tls_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include "broker/io/posix/block_on.h"
#include "broker/io/posix/posix_file_system.h"
#include "broker/io/posix/system_random.h"
#include "broker/net/listener.h"
#include "tests/unit/broker/net/fake_sink.h"
#include "tests/unit/broker/net/tls_peer.h"

namespace ackord::net {
namespace {

using test::Certificate;
using testing::ElementsAre;

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    std::signal(SIGPIPE, SIG_IGN);  // as the broker's main does
    cores_.start();
  }
  ~TlsTest() override { cores_.stop(); }

  TlsSettings tls(const Certificate& server) const {
    TlsSettings settings;
    settings.protocols = {"TLSv1.2", "TLSv1.3"};
    settings.key_store.type = "PEM";
    settings.key_store.key = server.key_pem();
    settings.key_store.certificates = server.chain_pem();
    settings.trust_store.type = "PEM";
    settings.trust_store.certificates = authority_.pem();
    return settings;
  }
  TlsSettings tls(TlsClientAuth client_auth = TlsClientAuth::kNone) const {
    auto settings = tls(broker_);
    settings.client_auth = client_auth;
    return settings;
  }
  static ListenerSettings settings() {
    ListenerSettings settings;
    settings.name = "SSL";
    settings.host = "127.0.0.1";
    settings.protocol = security::SecurityProtocol::kSsl;
    return settings;
  }
  uint16_t listen(const TlsSettings& tls, ListenerSettings settings = TlsTest::settings()) {
    auto opened = Listener::open(cores_, environment_, sink_, std::move(settings));
    EXPECT_TRUE(opened.has_value()) << opened.error().message;
    listener_ = std::move(opened.value());
    listener_->use_tls(TlsContext::make(tls).value());
    EXPECT_TRUE(listener_->listen().has_value());
    listener_->accept();
    return listener_->port();
  }
  uint16_t listen() { return listen(tls()); }
  bool handshakes_fail(uint64_t count) {
    return eventually([&] { return listener_->counters().failed_handshakes == count; });
  }

  const Certificate authority_ = Certificate::authority("authority");
  const Certificate broker_ = authority_.issue({{"CN", "broker"}});
  const Certificate client_ = authority_.issue({{"O", "Acme"}, {"CN", "client"}});
  io::AsioCores cores_{2};
  io::PosixFileSystem files_{2};
  io::SystemRandom random_;
  io::Environment environment_{cores_.cores(), files_, random_};
  FakeSink sink_{environment_};
  std::unique_ptr<Listener> listener_;
};

TEST_F(TlsTest, AnswersInBothVersions) {
  const uint16_t port = listen();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsPeer peer(port, {.trusted = &authority_, .version = version});
    ASSERT_TRUE(peer.connected());
    EXPECT_EQ(peer.version(), version == TLS1_2_VERSION ? "TLSv1.2" : "TLSv1.3");
    for (int i = 0; i < 3; ++i) {
      peer.send(frame("e hello") + frame("r1 again"));
      EXPECT_EQ(peer.receive_frame(), "e hello");
      EXPECT_EQ(peer.receive_frame(), "r1 again");
    }
  }
  EXPECT_THAT(sink_.principals().front(), "User:ANONYMOUS");
}

TEST_F(TlsTest, OlderVersionsAreRefused) {
  auto only_new = tls();
  only_new.protocols = {"TLSv1.3"};
  const uint16_t port = listen(only_new);
  EXPECT_FALSE(TlsPeer(port, {.version = TLS1_2_VERSION}).connected());
  EXPECT_FALSE(TlsPeer(port, {.version = TLS1_1_VERSION, .suites = "ALL:@SECLEVEL=0"}).connected());
  EXPECT_TRUE(TlsPeer(port).connected());
  EXPECT_TRUE(handshakes_fail(2));
}

TEST_F(TlsTest, SuitesByTheirStandardNames) {
  auto one = tls();
  one.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};
  const uint16_t port = listen(one);
  TlsPeer peer(port);
  ASSERT_TRUE(peer.connected());
  EXPECT_EQ(peer.version(), "TLSv1.2");
  EXPECT_EQ(peer.suite(), "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
}

TEST_F(TlsTest, FramesOfEverySize) {
  TlsPeer peer(listen());
  std::vector<std::string> texts;
  std::string all;
  for (const size_t size : {1, 2, 8188, 8192, 16384, 16385, 65536, 200000, 3000000, 3}) {
    std::string text(size, 'e');
    for (size_t i = 1; i < size; ++i) text[i] = static_cast<char>(i * 31 + size);
    all += frame(text);
    texts.push_back(std::move(text));
  }
  // Not beside receiving: an SSL object belongs to one thread at a time, and what is sent fits into
  // the buffers and the listener's memory.
  EXPECT_TRUE(peer.send(all.substr(0, all.size() - 3000000 - 7)));
  for (size_t i = 0; i + 2 < texts.size(); ++i) EXPECT_TRUE(peer.receive_frame() == texts[i]) << i;
  EXPECT_TRUE(peer.send(all.substr(all.size() - 3000000 - 7)));
  EXPECT_TRUE(peer.receive_frame() == texts[texts.size() - 2]);
  EXPECT_TRUE(peer.receive_frame() == texts.back());
}

TEST_F(TlsTest, LargeAnswersToASlowPeer) {
  const uint16_t port = listen();
  TlsPeer slow(port, {.receive_buffer = 4096});
  for (int i = 0; i < 5; ++i) slow.send(frame("b3000000"));
  TlsPeer other(port);
  other.send(frame("e fine"));
  EXPECT_EQ(other.receive_frame(), "e fine");
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(slow.receive_frame() == "<" + std::string(3000000, 'b') + ">");
}

TEST_F(TlsTest, FileRangesAreCopied) {
  std::string path = (std::filesystem::temp_directory_path() / "ackord-tls-XXXXXX").string();
  ::close(mkstemp(path.data()));
  std::string content(5'000'000, '\0');
  uint32_t state = 1;
  for (char& c : content) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  auto file = files_.open(path, io::OpenMode::kReadWrite).value();
  const std::span<const std::byte> bytes = std::as_bytes(std::span(content));
  ASSERT_TRUE(file->pwritev(std::span(&bytes, 1), 0).has_value());
  ASSERT_TRUE(file->datasync_now().has_value());
  sink_.file = file;
  TlsPeer peer(listen());
  for (const bool cold : {false, true}) {
    if (cold) ::posix_fadvise(file->native_handle(), 0, 0, POSIX_FADV_DONTNEED);
    peer.send(frame("f3 4999990") + frame("f12345 70000"));
    EXPECT_TRUE(peer.receive_frame() == "<" + content.substr(3, 4999990) + ">");
    EXPECT_TRUE(peer.receive_frame() == "<" + content.substr(12345, 70000) + ">");
  }
  std::filesystem::remove(path);
}

TEST_F(TlsTest, AClientsCertificateIsItsPrincipal) {
  const uint16_t port = listen(tls(TlsClientAuth::kRequired));
  TlsPeer peer(port, {.own = &client_});
  peer.send(frame("e"));
  EXPECT_EQ(peer.receive_frame(), "e");
  EXPECT_THAT(sink_.principals(), ElementsAre("User:CN=client,O=Acme"));
}

TEST_F(TlsTest, RequiredCertificates) {
  const uint16_t port = listen(tls(TlsClientAuth::kRequired));
  EXPECT_TRUE(TlsPeer(port).is_refused());
  const Certificate stranger = Certificate::authority("else").issue({{"CN", "client"}});
  EXPECT_TRUE(TlsPeer(port, {.own = &stranger}).is_refused());
  EXPECT_TRUE(TlsPeer(port, {.own = &stranger, .version = TLS1_2_VERSION}).is_refused());
  EXPECT_TRUE(handshakes_fail(3));
  EXPECT_EQ(sink_.started(), 0);
}

TEST_F(TlsTest, RequestedCertificates) {
  const uint16_t port = listen(tls(TlsClientAuth::kRequested));
  TlsPeer nobody(port);
  nobody.send(frame("e"));
  EXPECT_EQ(nobody.receive_frame(), "e");
  TlsPeer somebody(port, {.own = &client_});
  somebody.send(frame("e"));
  EXPECT_EQ(somebody.receive_frame(), "e");
  EXPECT_THAT(sink_.principals(), ElementsAre("User:ANONYMOUS", "User:CN=client,O=Acme"));
  const Certificate stranger = Certificate::authority("else").issue({{"CN", "client"}});
  EXPECT_TRUE(TlsPeer(port, {.own = &stranger}).is_refused());
}

TEST_F(TlsTest, PrincipalsAreMapped) {
  auto mapped = settings();
  mapped.principals = std::make_shared<const security::SslPrincipalMapper>(
      security::SslPrincipalMapper::make("RULE:^CN=(c[^,]*),.*$/$1/U").value());
  const uint16_t port = listen(tls(TlsClientAuth::kRequested), mapped);
  TlsPeer peer(port, {.own = &client_});
  peer.send(frame("e"));
  EXPECT_EQ(peer.receive_frame(), "e");
  EXPECT_THAT(sink_.principals(), ElementsAre("User:CLIENT"));
  // No rule applies: nobody.
  EXPECT_TRUE(TlsPeer(port, {.own = &broker_}).is_refused());
  EXPECT_TRUE(handshakes_fail(1));
}

TEST_F(TlsTest, PeersThatDoNotSpeakTls) {
  const uint16_t port = listen();
  TlsPeer good(port);
  uint64_t failures = 0;
  for (const std::string& bytes :
       {frame("e plain"), std::string("GET / HTTP/1.1\r\n\r\n"), std::string(64, '\xff'),
        std::string("\x16\x03\x01\xff\xff\x01", 6) + std::string(70000, 'x')}) {
    Peer bad(port);
    bad.send_until_blocked(bytes, 20);
    EXPECT_TRUE(handshakes_fail(++failures));
    good.send(frame("e still here"));
    EXPECT_EQ(good.receive_frame(), "e still here");
  }
  EXPECT_EQ(sink_.started(), static_cast<int>(failures));
}

TEST_F(TlsTest, AHandshakeHasADeadline) {
  auto strict = settings();
  strict.max_authentication_ms = 150;
  const uint16_t port = listen(tls(), strict);
  TlsPeer good(port);
  std::vector<Peer> half_open;
  for (int i = 0; i < 50; ++i) {
    half_open.emplace_back(port);
    half_open.back().send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  }
  for (Peer& peer : half_open) EXPECT_TRUE(peer.ends());
  EXPECT_EQ(listener_->counters().late_authentications, 50U);
  good.send(frame("e still here"));
  EXPECT_EQ(good.receive_frame(), "e still here");
}

TEST_F(TlsTest, ANewKeyIsForNewConnections) {
  const uint16_t port = listen();
  TlsPeer before(port);
  EXPECT_EQ(before.server_subject(), "broker");
  const Certificate renewed = authority_.issue({{"CN", "renewed"}});
  listener_->use_tls(TlsContext::make(tls(renewed)).value());
  before.send(frame("e before"));
  EXPECT_EQ(before.receive_frame(), "e before");
  EXPECT_TRUE(eventually([&] { return TlsPeer(port).server_subject() == "renewed"; }));
  before.send(frame("e before"));
  EXPECT_EQ(before.receive_frame(), "e before");
}

TEST_F(TlsTest, StopAnswersWhatHasArrived) {
  TlsPeer peer(listen());
  peer.send(frame("w100 slow"));
  EXPECT_TRUE(eventually([&] { return sink_.started() == 1; }));
  io::block_on(cores_.at(0), listener_->stop(20000));
  EXPECT_EQ(peer.receive_frame(), "w100 slow");
  EXPECT_EQ(peer.receive(1), "(the connection ended)");
  EXPECT_EQ(sink_.closed(), 1);
}

TEST_F(TlsTest, PeersThatGoAtAnyTime) {
  const uint16_t port = listen();
  for (int i = 0; i < 20; ++i) {
    TlsPeer peer(port, {.receive_buffer = 4096});
    peer.send(frame("b3000000") + frame("p"));
    if (i % 2 == 0) peer.receive(100);
  }
  EXPECT_TRUE(eventually([&] { return sink_.closed() == 20; }));
}

}  // namespace
}  // namespace ackord::net
