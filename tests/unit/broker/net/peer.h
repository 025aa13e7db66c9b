// Peer: the client's end of a connection in tests. Every call has a deadline and fails the test
// when it passes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

namespace ackord::net {

constexpr int kDeadlineMs = 20000;

inline std::string frame(std::string_view payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(size >> shift));
  return out.append(payload);
}

inline bool eventually(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kDeadlineMs);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class Peer {
 public:
  explicit Peer(uint16_t port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Peer() { close(); }

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Ends with a reset instead of an orderly close.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      ASSERT_TRUE(wait(POLLOUT));
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // As much as the other side takes before it has taken nothing for `quiet_ms`.
  size_t send_until_blocked(std::string_view bytes, int quiet_ms) {
    size_t total = 0;
    while (total < bytes.size()) {
      pollfd poll{fd_, POLLOUT, 0};
      if (::poll(&poll, 1, quiet_ms) != 1) break;
      const ssize_t sent =
          ::send(fd_, bytes.data() + total, bytes.size() - total, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent <= 0) break;
      total += static_cast<size_t>(sent);
    }
    return total;
  }

  std::string receive(size_t count) {
    std::string out(count, '\0');
    size_t at = 0;
    while (at < count) {
      if (!wait(POLLIN)) return {};
      const ssize_t got = ::recv(fd_, out.data() + at, count - at, 0);
      if (got <= 0) {
        ADD_FAILURE() << "the connection ended";
        return {};
      }
      at += static_cast<size_t>(got);
    }
    return out;
  }
  std::string receive_frame() {
    const std::string head = receive(4);
    if (head.size() != 4) return {};
    uint32_t size = 0;
    for (const char c : head) size = size << 8 | static_cast<uint8_t>(c);
    return receive(size);
  }
  // True when the connection ends and nothing comes before that.
  bool ends() {
    if (!wait(POLLIN)) return false;
    char one;
    return ::recv(fd_, &one, 1, 0) <= 0;
  }
  bool ends_within(int ms) {
    pollfd poll{fd_, POLLIN, 0};
    if (::poll(&poll, 1, ms) != 1) return false;
    char one;
    return ::recv(fd_, &one, 1, MSG_PEEK) <= 0;
  }
  bool is_quiet(int ms) {
    pollfd poll{fd_, POLLIN, 0};
    return ::poll(&poll, 1, ms) == 0;
  }

 private:
  bool wait(short what) {
    pollfd poll{fd_, what, 0};
    const bool ready = ::poll(&poll, 1, kDeadlineMs) == 1;
    EXPECT_TRUE(ready) << "deadline";
    return ready;
  }

  int fd_;
};

}  // namespace ackord::net
