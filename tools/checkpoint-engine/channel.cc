#include "tools/checkpoint-engine/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace ackord::engine {

Channel::~Channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Channel::Channel(Channel&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      received_(std::move(other.received_)),
      closed_(other.closed_) {}

bool Channel::send(const boost::json::object& message) {
  const std::string line = boost::json::serialize(message) + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::send(descriptor_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

std::optional<boost::json::object> Channel::receive(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (const size_t at = received_.find('\n'); at != std::string::npos) {
      boost::json::object message = boost::json::parse(received_.substr(0, at)).as_object();
      received_.erase(0, at + 1);
      return message;
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wait{descriptor_, POLLIN, 0};
    if (left.count() < 0 || ::poll(&wait, 1, static_cast<int>(left.count())) <= 0)
      return std::nullopt;
    char buffer[65536];
    const ssize_t count = ::recv(descriptor_, buffer, sizeof buffer, 0);
    if (count <= 0) {
      closed_ = true;
      return std::nullopt;
    }
    received_.append(buffer, static_cast<size_t>(count));
  }
}

}  // namespace ackord::engine
