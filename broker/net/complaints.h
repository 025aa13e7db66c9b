// Complaints: log lines that a peer can cause, at most one a second of each kind. One core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ackord::net {

enum class Complaint {
  kFrameSize,       // zero, negative or above socket.request.max.bytes
  kFrameCut,        // the peer went within a frame
  kTooMany,         // max.connections
  kTooManyOfOneIp,  // max.connections.per.ip
  kAccept,          // accept() failed
  kLast = kAccept,
};

class Complaints {
 public:
  void complain(Complaint kind, int64_t now_ms, std::string_view text);

 private:
  struct Said {
    int64_t at_ms = INT64_MIN / 2;
    uint64_t held_back = 0;
  };
  std::array<Said, static_cast<size_t>(Complaint::kLast) + 1> said_;
};

}  // namespace ackord::net
