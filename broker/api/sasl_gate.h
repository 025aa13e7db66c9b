// SaslGate: what comes before dispatch on a listener that asks who its clients are: which frames
// are served, which are tokens, which end the connection (security/sasl_authentication.h). And what
// the handlers of a login share: the outcome of a token, failures held back and logged.
//
// Threads: the connection's core.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "broker/api/handler.h"
#include "broker/io/task.h"
#include "broker/security/sasl_authentication.h"

namespace ackord::api {

struct Answer;
struct Call;

class SaslGate final : public security::SaslCredentials {
 public:
  using Admission = security::SaslAuthentication::Admission;

  // Both outlive it.
  SaslGate(Services& services, const security::SaslListeners& listeners)
      : services_(services), listeners_(listeners) {}

  // Makes the client's login with its first frame.
  Admission admit(Client& client, std::span<const std::byte> frame);
  // Of a frame that is not served.
  io::Task<Answer> answer(Admission admission, Call call);

 private:
  // Of this core's image.
  std::optional<metadata::ScramCredential> scram(metadata::ScramMechanism mechanism,
                                                 std::string_view user) const override;

  Services& services_;
  const security::SaslListeners& listeners_;  // by name
};

// A token of a client that logs in: it is known who it is as soon as that is proved.
security::SaslAuthentication::Reply take_token(Client& client, std::string_view token, io::Now now);
// The login has failed: one line of it a second, and for how long its last answer is held back.
int32_t login_failed(const Client& client, std::string_view reason, io::Now now);
// Ends when the time is over, or the peer has gone.
io::Task<void> hold_back(std::shared_ptr<Client> client, io::Core core, int32_t time_ms);
// What only this login has: printable, without commas.
std::string make_nonce(io::Random& random);

}  // namespace ackord::api
