// Channel: JSON objects, a line each, over one end of a socket pair. Blocking; one thread.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace ackord::engine {

class Channel {
 public:
  // Owns the descriptor.
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  ~Channel();
  Channel(Channel&& other) noexcept;
  Channel(const Channel&) = delete;

  // False when the other end is gone.
  bool send(const boost::json::object& message);
  // Nothing when the other end is gone, or has sent nothing (whole) by then.
  std::optional<boost::json::object> receive(std::chrono::milliseconds limit);
  // Whether the other end is gone, as far as receive() has noticed.
  bool closed() const { return closed_; }

 private:
  int descriptor_;
  std::string received_;
  bool closed_ = false;
};

}  // namespace ackord::engine
