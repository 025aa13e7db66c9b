// FakeBroker: a server on a thread that answers ApiVersions like a broker and everything else as
// the test says. A real socket, so that what is tested also reads and waits for real.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/config.h"
#include "protocol/json/json_message.h"
#include "protocol/record_batch/big_endian.h"
#include "protocol/wire/header.h"
#include "tools/conform/kit/json.h"

namespace ackord::conform {

class FakeBroker {
 public:
  using Bytes = std::vector<std::byte>;
  // What goes back after a request (its frame without the length): raw bytes; none at all when they
  // are empty; nothing: the connection is closed.
  using Behaviour = std::function<std::optional<Bytes>(const Bytes& frame)>;

  explicit FakeBroker(Behaviour behaviour) : behaviour_(std::move(behaviour)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listener_, 16);
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    accepting_ = std::jthread([this](const std::stop_token& stop) { accept(stop); });
  }
  ~FakeBroker() {
    accepting_.request_stop();
    accepting_.join();
    threads_.clear();
    ::close(listener_);
  }
  FakeBroker(const FakeBroker&) = delete;

  client::Endpoint endpoint() const { return {"127.0.0.1", port_}; }
  // How many requests came that were no ApiVersions.
  int requests() const { return requests_; }

  // A frame with its length in front.
  static Bytes framed(const Bytes& payload) {
    Bytes out(sizeof(int32_t));
    protocol::store_big(out.data(), static_cast<int32_t>(payload.size()));
    out.insert(out.end(), payload.begin(), payload.end());
    return out;
  }
  // A sound answer to the request of a frame.
  static Bytes answer(const Bytes& frame, const std::string& api, const Object& body) {
    protocol::Writer out;
    const auto key = protocol::load_big<int16_t>(frame.data());
    const auto version = protocol::load_big<int16_t>(frame.data() + 2);
    protocol::write_response_header(out, key, version,
                                    protocol::load_big<int32_t>(frame.data() + 4));
    const auto* message = protocol::find_json_message(api + "Response");
    message->encode(body, version, out, protocol::Missing::kDefault).value();
    return framed(out.finish().copy());
  }

 private:
  static constexpr int kPollMs = 20;
  static constexpr int16_t kApiVersions = 18;

  void accept(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd entry{listener_, POLLIN, 0};
      if (::poll(&entry, 1, kPollMs) <= 0) continue;
      const int peer = ::accept(listener_, nullptr, nullptr);
      threads_.emplace_back([this, peer](const std::stop_token& end) { serve(end, peer); });
    }
  }

  void serve(const std::stop_token& stop, int peer) {
    Bytes got;
    while (!stop.stop_requested()) {
      pollfd entry{peer, POLLIN, 0};
      if (::poll(&entry, 1, kPollMs) <= 0) continue;
      std::byte chunk[4096];
      const ssize_t count = ::recv(peer, chunk, sizeof chunk, 0);
      if (count <= 0) break;
      got.insert(got.end(), chunk, chunk + count);
      if (!serve_frames(peer, got)) break;
    }
    ::close(peer);
  }

  // False: the connection ends.
  bool serve_frames(int peer, Bytes& got) {
    while (got.size() >= sizeof(int32_t)) {
      const auto size = protocol::load_big<uint32_t>(got.data());
      if (got.size() < sizeof size + size) return true;
      const Bytes frame(got.begin() + sizeof size, got.begin() + sizeof size + size);
      got.erase(got.begin(), got.begin() + sizeof size + size);
      const auto out = reply(frame);
      if (!out) return false;
      if (!out->empty()) ::send(peer, out->data(), out->size(), MSG_NOSIGNAL);
    }
    return true;
  }

  std::optional<Bytes> reply(const Bytes& frame) {
    if (protocol::load_big<int16_t>(frame.data()) != kApiVersions) {
      ++requests_;
      return behaviour_(frame);
    }
    const auto api = [](int key, int min, int max) {
      return Object{{"apiKey", key}, {"minVersion", min}, {"maxVersion", max}};
    };
    return answer(frame, "ApiVersions",
                  {{"errorCode", 0}, {"apiKeys", list(api(3, 0, 13), api(18, 0, 4))}});
  }

  Behaviour behaviour_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<int> requests_{0};
  std::vector<std::jthread> threads_;
  std::jthread accepting_;
};

}  // namespace ackord::conform
