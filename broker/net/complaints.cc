#include "broker/net/complaints.h"

#include <utility>

#include "broker/base/logging.h"

namespace ackord::net {

void Complaints::complain(Complaint kind, int64_t now_ms, std::string_view text) {
  Said& said = said_[static_cast<size_t>(kind)];
  if (now_ms - said.at_ms < 1000) {
    ++said.held_back;
    return;
  }
  said.at_ms = now_ms;
  const uint64_t held_back = std::exchange(said.held_back, 0);
  if (held_back == 0) {
    base::log_warn("{}", text);
  } else {
    base::log_warn("{} (and {} more like it)", text, held_back);
  }
}

}  // namespace ackord::net
