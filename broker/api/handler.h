// What an API handler gets, and the shape of one.
//
//   io::Task<ProduceResponse> handle(RequestContext& context, ProduceRequest request);
//
// One file per API, its key first (00_produce.cc), opening with a card: versions, behaviour,
// version notes. A handler authorizes, validates and asks the services in a straight line, and
// returns the response struct. It knows no sockets, no bytes, no throttling. It runs on the
// connection's core; `request` borrows from the frame, which lives until the task ends: what is
// kept longer is copied (copying a String owns its characters). Adding one: the JSON pair in
// schemas/, this file, one line in apis.def; the build says which is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/io/core.h"
#include "broker/io/signal.h"
#include "broker/security/principal.h"
#include "broker/security/security_protocol.h"
#include "protocol/types/ids.h"

namespace ackord::log {
class LogService;
}
namespace ackord::metadata {
class MetadataService;
}
namespace ackord::group {
class GroupService;
}
namespace ackord::txn {
class TxnService;
}
namespace ackord::share {
class ShareService;
}

namespace ackord::quota {
class ClientQuotas;
}
namespace ackord::security {
class SaslAuthentication;
}

namespace ackord::api {

class FetchSessions;
class ClientTelemetry;
struct Authorization;

// The services' doors. Built by main, alive as long as any request.
struct Services {
  io::Environment& environment;
  log::LogService& log;
  metadata::MetadataService& metadata;
  group::GroupService& group;
  txn::TxnService& txn;
  share::ShareService& share;
  std::vector<FetchSessions>& fetch_sessions;  // one per core, each used on its own
  quota::ClientQuotas& quotas;
  ClientTelemetry& telemetry;
  Authorization* authorization = nullptr;  // none: everything is allowed (authorize.h)
};

// One connection as handlers see it. Belongs to the connection's core.
struct Client {
  uint64_t connection_id = 0;
  std::string host;      // the peer's address, as "/127.0.0.1" in Kafka's member descriptions
  uint16_t port = 0;     // the peer's
  std::string listener;  // name of the listener it came in by
  security::SecurityProtocol protocol = security::SecurityProtocol::kPlaintext;
  security::Principal principal;
  // Set at once where the listener asks for no SASL; until then only few APIs are served, and
  // frames are bounded closely.
  bool authenticated = true;
  // How far its login has come. Null where the listener asks for no SASL; made with the first
  // frame.
  std::shared_ptr<security::SaslAuthentication> sasl;
  std::string software_name;  // from ApiVersions
  std::string software_version;
  // The peer has gone: long polls end, what was received still takes effect.
  bool gone = false;
  io::Signal on_gone;
};

struct RequestContext {
  Services& services;
  const io::Core& core;  // the connection's core, where the handler runs
  std::shared_ptr<Client> client;
  int16_t api_key = 0;
  int16_t api_version = 0;
  std::string client_id;     // of the request header; "" when null
  size_t request_bytes = 0;  // of the frame
  // Says that what must happen in the order of the requests has happened: the connection's next
  // request may start, if it is one of the same API. Without a call it starts when this one has
  // ended.
  std::function<void()> release_order;

  // Set by a handler instead of an answer: none is sent (acks=0), or the connection is closed.
  bool no_response = false;
  bool close_connection = false;
  // Set beside an answer: it is held back for so long, then sent, then the connection is closed.
  std::optional<int32_t> last_after_ms;
  // For how long the connection's next requests are to wait (throttling.h).
  int32_t throttle_ms = 0;
};

}  // namespace ackord::api
