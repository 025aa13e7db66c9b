// From a frame to an answer: request header, table of APIs, decoding, the handler, encoding.
//
// Errors: a frame whose header cannot be read, an API or a version that is not served (ApiVersions
// apart), a body that does not decode: the connection is closed, nothing has happened, and at most
// one line a second of each kind is logged. On a listener that asks for SASL nothing but a login is
// served before the login (sasl_gate.h). Threads: handle() on the connection's core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "broker/api/handler.h"
#include "broker/api/sasl_gate.h"
#include "broker/base/complaint.h"
#include "broker/metadata/configs.h"
#include "protocol/wire/output_chain.h"

namespace ackord::api {

struct Call {
  // The bytes behind the size prefix. `frame` keeps them alive.
  std::shared_ptr<const void> frame;
  std::span<const std::byte> payload;
  std::shared_ptr<Client> client;
  std::function<void()> release_order;
};

struct Answer {
  enum class Kind { kSend, kSendAndClose, kNothing, kClose };
  Kind kind = Kind::kClose;
  protocol::OutputChain bytes;  // response header and body, without the size prefix
  int32_t throttle_ms = 0;      // no further request of the connection starts before it is over
};

class Dispatch {
 public:
  // `logins`: of the listeners that ask who their clients are. It outlives this.
  explicit Dispatch(Services services, const security::SaslListeners& logins)
      : services_(services), gate_(services_, logins) {}

  io::Task<Answer> handle(Call call);
  // The peer has gone: its share sessions end.
  void connection_closed(Client& client);

 private:
  int64_t now_ms() const;
  io::Task<Answer> dispatch(Call call);

  Services services_;
  SaslGate gate_;
  base::Complaint undecodable_;
  base::Complaint unknown_api_;
  base::Complaint unknown_version_;
};

struct ServedApi {
  int16_t key;
  int16_t min_version;
  int16_t max_version;
};
// What ApiVersions lists, and dispatch serves: apis.def, less what the broker's configuration turns
// off.
std::vector<ServedApi> served_apis(const metadata::BrokerConfig& config);

}  // namespace ackord::api
