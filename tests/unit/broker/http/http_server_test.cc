#include "broker/http/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ackord::http {
namespace {

using boost::asio::ip::tcp;
using Clock = std::chrono::steady_clock;

class Client {
 public:
  explicit Client(uint16_t port) : socket_(context_) {
    socket_.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  }
  Client& send(const std::string& text) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(text), ignored);
    return *this;
  }
  // Everything up to the end of the connection.
  std::string read_all() {
    std::string text;
    boost::system::error_code end;
    boost::asio::read(socket_, boost::asio::dynamic_buffer(text), end);
    return text;
  }

 private:
  boost::asio::io_context context_;
  tcp::socket socket_;
};

std::unique_ptr<HttpServer> echo_server(HttpLimits limits = {}) {
  auto server = HttpServer::open(
      "127.0.0.1:0",
      [](std::string target, const HttpReply& reply) { reply({200, "you asked for " + target}); },
      limits);
  EXPECT_TRUE(server.has_value());
  return std::move(*server);
}

TEST(HttpServer, AnswersGetAndHead) {
  const auto server = echo_server();
  const std::string got =
      Client(server->port()).send("GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n").read_all();
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 OK\r\n")) << got;
  EXPECT_TRUE(got.ends_with("\r\n\r\nyou asked for /a")) << got;
  EXPECT_NE(got.find("Content-Length: 16\r\n"), std::string::npos) << got;
  const std::string head =
      Client(server->port()).send("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n").read_all();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n")) << head;
}

TEST(HttpServer, RefusesOtherMethodsAndLargeHeaders) {
  const auto server = echo_server();
  EXPECT_TRUE(Client(server->port())
                  .send("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n")
                  .read_all()
                  .starts_with("HTTP/1.1 405 "));
  const std::string large = "GET / HTTP/1.1\r\nX: " + std::string(20000, 'x') + "\r\n\r\n";
  const std::string refusal = Client(server->port()).send(large).read_all();
  EXPECT_TRUE(refusal.empty() || refusal.starts_with("HTTP/1.1 431 ")) << refusal;
  EXPECT_EQ(Client(server->port()).send("nonsense\r\n\r\n").read_all(), "");
}

TEST(HttpServer, AConnectionEndsWithItsTime) {
  const auto server = echo_server({.lifetime_ms = 100});
  const auto begin = Clock::now();
  EXPECT_EQ(Client(server->port()).send("GET / HT").read_all(), "");
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(90));
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
}

TEST(HttpServer, AboveTheBoundConnectionsAreClosed) {
  const auto server = echo_server({.connections = 2, .lifetime_ms = 60000});
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 2; ++i) idle.push_back(std::make_unique<Client>(server->port()));
  EXPECT_EQ(Client(server->port()).read_all(), "");
  // One goes, and another may come.
  idle.front()->send("GET / HTTP/1.0\r\n\r\n").read_all();
  idle.erase(idle.begin());
  std::string got;
  for (const auto end = Clock::now() + std::chrono::seconds(10); got.empty() && Clock::now() < end;)
    got = Client(server->port()).send("GET / HTTP/1.0\r\n\r\n").read_all();
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ")) << got;
}

TEST(HttpServer, AReplyMayComeLaterOrAfterTheServer) {
  std::atomic<bool> asked = false;
  HttpReply kept;
  auto server = HttpServer::open("127.0.0.1:0", [&](const std::string&, HttpReply reply) {
    kept = std::move(reply);
    asked = true;
  });
  Client client((*server)->port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (!asked) std::this_thread::yield();
  kept({200, "late"});
  EXPECT_TRUE(client.read_all().ends_with("late"));
  asked = false;
  Client other((*server)->port());
  other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (!asked) std::this_thread::yield();
  server->reset();
  kept({200, "too late"});
  EXPECT_EQ(other.read_all(), "");
}

TEST(HttpServer, SaysWhereItCannotListen) {
  const auto server = echo_server();
  const auto taken =
      HttpServer::open("127.0.0.1:" + std::to_string(server->port()), [](auto&&...) {});
  ASSERT_FALSE(taken.has_value());
  EXPECT_NE(taken.error().message.find("cannot listen on 127.0.0.1:"), std::string::npos);
  EXPECT_FALSE(HttpServer::open("nowhere", [](auto&&...) {}).has_value());
}

}  // namespace
}  // namespace ackord::http
